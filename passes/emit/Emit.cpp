//===- Emit.cpp - Phase 13: the executable --------------------------------------===//
//
// One walk over each module: bases, variables and constants, then each program's slots, actions and order.
// Nothing is decided here: every place was set by `memory`.
//
//===----------------------------------------------------------------------===//
#include "passes/emit/Emit.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/analysis/KernelCalls.h"
#include "passes/analysis/LocationText.h"
#include "passes/analysis/PipelineModules.h"
#include "passes/memory/Memory.h"
#include "passes/memory/MemoryReport.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace weft {
namespace {
BaseKind toBaseKind(sched::BaseKind kind) {
  switch (kind) {
  case sched::BaseKind::constants:
    return BaseKind::Constants;
  case sched::BaseKind::parameters:
    return BaseKind::Parameters;
  case sched::BaseKind::inputs:
    return BaseKind::Inputs;
  case sched::BaseKind::step:
    return BaseKind::Step;
  case sched::BaseKind::slots:
    return BaseKind::Slots;
  }
  return BaseKind::Step;
}

class Emitter {
public:
  explicit Emitter(ModuleOp module) : module(module), symbols(module) {}

  FailureOr<Executable> run() {
    executable.weftVersion = WEFT_VERSION;
    emitMesh();
    emitBases();
    emitVariables();
    emitCaches();
    emitConstants();
    for (auto program : module.getOps<sched::ProgramOp>())
      if (failed(emitProgram(program)))
        return failure();
    return std::move(executable);
  }

private:
  void emitMesh() {
    auto mesh = module->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
    if (!mesh)
      return;
    for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
      executable.mesh.axes.push_back({name.getValue().str(), static_cast<uint32_t>(size)});
    for (NamedAttribute role : mesh.getRoles()) {
      ArrayRef<int64_t> axes = cast<DenseI64ArrayAttr>(role.getValue()).asArrayRef();
      executable.mesh.roles.push_back({role.getName().str(), {axes.begin(), axes.end()}});
    }
  }

  /// Empty where every rank holds the whole.
  static TensorPlacement placementOf(Operation *op) {
    auto local = op->getAttrOfType<dist::LocalAttr>(dist::kPlacementAttribute);
    TensorPlacement placement;
    if (!local || dist::placementOf(local.getPlacement()).isReplicated())
      return placement;
    placement.globalShape.assign(local.getWholeShape().begin(), local.getWholeShape().end());
    for (const dist::Split &split : dist::placementOf(local.getPlacement()).splits)
      placement.dimensions.push_back({{split.axes.begin(), split.axes.end()}, split.zigzag});
    return placement;
  }

  Reference referenceOf(sched::PlaceAttr place) {
    return {baseIndex.lookup(place.getBase()), static_cast<uint64_t>(place.getOffset())};
  }

  void emitBases() {
    for (auto [index, base] : llvm::enumerate(module.getOps<sched::BaseOp>()))
      baseIndex[base.getName()] = static_cast<uint32_t>(index);
    for (auto base : module.getOps<sched::BaseOp>()) {
      executable.memory.bases.push_back({base.getName().str(), toBaseKind(base.getKind()),
                                         static_cast<uint32_t>(base.getSlots()), base.getBytes()});
      if (!base.getWithin())
        continue;
      executable.memory.bases.back().within = baseIndex.lookup(*base.getWithin());
      executable.memory.bases.back().offsets.assign(base.getOffsets()->begin(), base.getOffsets()->end());
    }
    for (const MemoryReportRow &row : reportMemory(module).rows)
      executable.memory.rows.push_back({row.category, row.name, static_cast<uint64_t>(row.bytes)});
  }

  void emitVariables() {
    for (Operation &op : *module.getBody())
      if (isa<nn::ParameterOp, nn::StateOp>(op))
        emitVariable(op);
  }

  void emitVariable(Operation &op) {
    Variable variable;
    variable.name = variable.checkpointName = op.getAttrOfType<StringAttr>("sym_name").getValue().str();
    variable.type = toTensorType(cast<RankedTensorType>(op.getAttrOfType<TypeAttr>("type").getValue()));
    variable.reference = referenceOf(op.getAttrOfType<sched::PlaceAttr>(kPlaceAttribute));
    variable.trainable = isa<nn::ParameterOp>(op);
    variable.isState = isa<nn::StateOp>(op);
    auto number = [&](StringRef name) {
      auto attribute = op.getAttrOfType<FloatAttr>(name);
      return attribute ? attribute.getValueAsDouble() : 0.0;
    };
    double mean = number("mean"), deviation = number("deviation");
    switch (op.getAttrOfType<nn::InitializerKindAttr>("initializer").getValue()) {
    case nn::InitializerKind::constant:
      variable.initializer = {InitializerKind::Constant, {mean}};
      break;
    case nn::InitializerKind::normal:
      variable.initializer = {InitializerKind::Normal, {mean, deviation}};
      break;
    case nn::InitializerKind::uniform:
      variable.initializer = {InitializerKind::Uniform, {mean - deviation, mean + deviation}};
      break;
    }
    variable.placement = placementOf(&op);
    executable.variables.push_back(std::move(variable));
  }

  void emitCaches() {
    for (auto cache : module.getOps<nn::CacheOp>())
      executable.caches.push_back({cache.getSymName().str(),
                                   toTensorType(cast<RankedTensorType>(cache.getType())),
                                   referenceOf(cache->getAttrOfType<sched::PlaceAttr>(kPlaceAttribute))});
  }

  void emitConstants() {
    module.walk([&](sched::ConstantOp constant) {
      Reference place = referenceOf(*constant.getPlace());
      MemoryBase &base = executable.memory.bases[place.base];
      base.contents.resize(base.slotBytes);
      std::string bytes = bytesOf(cast<DenseElementsAttr>(constant.getValue()));
      std::copy(bytes.begin(), bytes.end(), base.contents.begin() + static_cast<ptrdiff_t>(place.offset));
    });
  }

  /// The elements as the runtime stores them: i1 as one byte each.
  static std::string bytesOf(DenseElementsAttr value) {
    std::string bytes;
    if (value.getElementType().isInteger(1)) {
      for (bool element : value.getValues<bool>())
        bytes += static_cast<char>(element);
      return bytes;
    }
    ArrayRef<char> raw = value.getRawData();
    int64_t copies = value.isSplat() ? value.getNumElements() : 1;
    for (int64_t copy = 0; copy < copies; ++copy)
      bytes.append(raw.begin(), raw.end());
    return bytes;
  }

  LogicalResult emitProgram(sched::ProgramOp op) {
    Program program;
    program.name = op.getName().str();
    program.microbatches = static_cast<uint32_t>(op.getMicrobatches());
    llvm::StringMap<uint32_t> actions;
    Block &body = op.getBody().front();
    for (auto slot : body.getOps<sched::SlotOp>())
      emitSlot(program, slot);
    for (auto action : body.getOps<sched::ActionOp>()) {
      actions[action.getName()] = program.actions.size();
      if (failed(emitAction(program, action)))
        return failure();
    }
    for (auto run : body.getOps<sched::RunOp>())
      program.schedule.push_back({actions.lookup(run.getAction()),
                                  run.getMicrobatch() ? static_cast<uint32_t>(*run.getMicrobatch()) : kNone});
    executable.programs.push_back(std::move(program));
    return success();
  }

  void emitSlot(Program &program, sched::SlotOp slot) {
    StringRef name = slot.getName();
    TensorType type = toTensorType(cast<RankedTensorType>(slot.getType()));
    Reference place = referenceOf(*slot.getPlace());
    if (slot.getKind() == sched::SlotKind::input && name.consume_front("input/"))
      program.inputs.push_back({name.str(), type, place, slot.getPerMicrobatch(), placementOf(slot)});
    else if (slot.getKind() == sched::SlotKind::output && name.consume_front("output/"))
      program.outputs.push_back({name.str(), type, place});
    slotPlaces[slot.getName()] = *slot.getPlace();
  }

  LogicalResult emitAction(Program &program, sched::ActionOp op) {
    Action action;
    action.name = op.getName().str();
    action.perMicrobatch = op.getPerMicrobatch();
    action.firstCommand = static_cast<uint32_t>(program.commands.size());
    places.clear();
    for (Operation &inner : op.getBody().front())
      if (failed(emitOp(program, inner)))
        return failure();
    action.commandCount = static_cast<uint32_t>(program.commands.size()) - action.firstCommand;
    program.actions.push_back(std::move(action));
    return success();
  }

  LogicalResult emitOp(Program &program, Operation &op) {
    if (auto load = dyn_cast<sched::LoadOp>(op)) {
      sched::PlaceAttr place = slotPlaces.lookup(load.getSlot());
      Reference reference = referenceOf(place);
      reference.offset +=
          load.getMicrobatch().value_or(0) * executable.memory.bases[reference.base].slotBytes;
      places[load.getResult()] = reference;
    } else if (auto read = dyn_cast<nn::ReadOp>(op)) {
      Operation *variable = symbols.lookup(read.getVariable());
      places[read.getResult()] = referenceOf(variable->getAttrOfType<sched::PlaceAttr>(kPlaceAttribute));
    } else if (auto constant = dyn_cast<sched::ConstantOp>(op)) {
      places[constant.getResult()] = referenceOf(*constant.getPlace());
    } else if (auto view = dyn_cast<sched::ViewOp>(op)) {
      places[view.getResult()] = places.lookup(view.getOperand());
    } else if (auto launch = dyn_cast<sched::LaunchOp>(op)) {
      return emitLaunch(program, launch);
    } else if (auto copy = dyn_cast<sched::CopyOp>(op)) {
      Command command = begin(program, CommandKind::Copy, copy.getLoc());
      command.operandCount = command.resultCount = 1;
      command.copyBytes = static_cast<uint64_t>(nn::byteSize(nn::tensorType(copy.getValue())));
      program.arguments.push_back(places.lookup(copy.getValue()));
      program.arguments.push_back(referenceOf(copy.getPlace()));
      program.commands.push_back(command);
    } else if (!isa<sched::ReleaseOp, sched::StoreOp, nn::WriteOp>(op)) {
      return op.emitOpError() << "is no command; fuse and memory come before emit";
    }
    return success();
  }

  Command begin(Program &program, CommandKind kind, Location location) {
    Command command;
    command.kind = kind;
    command.firstArgument = static_cast<uint32_t>(program.arguments.size());
    std::string text = locationText(location);
    auto [found, inserted] = locationIndex.try_emplace(text, executable.locations.size());
    if (inserted)
      executable.locations.push_back(text);
    command.location = found->second;
    return command;
  }

  LogicalResult emitLaunch(Program &program, sched::LaunchOp launch) {
    if (!launch.getPlaces())
      return launch.emitOpError() << "has no places; memory comes before emit";
    Command command = begin(program, CommandKind::Launch, launch.getLoc());
    command.operandCount = static_cast<uint16_t>(launch.getInputs().size());
    command.resultCount = static_cast<uint16_t>(launch.getOutputs().size());
    command.kernel = kernelIndexOf(launch);
    if (launch.getWorkspace())
      command.workspace = referenceOf(*launch.getWorkspace());
    for (Value operand : launch.getInputs())
      program.arguments.push_back(places.lookup(operand));
    for (auto [result, place] :
         llvm::zip_equal(launch.getOutputs(), launch.getPlaces()->getAsRange<sched::PlaceAttr>())) {
      places[result] = referenceOf(place);
      program.arguments.push_back(places[result]);
    }
    program.commands.push_back(command);
    return success();
  }

  uint32_t kernelIndexOf(sched::LaunchOp launch) {
    auto [found, inserted] = kernelIndex.try_emplace(identityOf(launch), executable.kernels.size());
    if (inserted)
      executable.kernels.push_back({kernelCallOf(launch), launch.getWorkspaceBytes()});
    return found->second;
  }

  ModuleOp module;
  SymbolTable symbols;
  Executable executable;
  llvm::StringMap<uint32_t> baseIndex, locationIndex;
  llvm::DenseMap<CallIdentity, uint32_t> kernelIndex;
  llvm::StringMap<sched::PlaceAttr> slotPlaces;
  llvm::DenseMap<Value, Reference> places;
};
} // namespace

/// A variable belongs to the first part that holds it.
static void setOwners(std::vector<Executable> &parts) {
  llvm::StringMap<uint32_t> owners;
  for (auto [part, executable] : llvm::enumerate(parts))
    for (Variable &variable : executable.variables)
      variable.pipelineOwner = owners.try_emplace(variable.name, part).first->second;
}

FailureOr<std::vector<Executable>> emitExecutables(ModuleOp module) {
  std::vector<Executable> parts;
  for (ModuleOp own : pipelineModules(module)) {
    auto rank = own->getAttrOfType<IntegerAttr>(sched::kPipelineRankAttribute);
    if (own != module && (!rank || rank.getValue() != parts.size()))
      return own.emitError() << "is not that of pipeline rank " << parts.size() << ", whose turn it is";
    FailureOr<Executable> part = Emitter(own).run();
    if (failed(part))
      return failure();
    parts.push_back(std::move(*part));
  }
  setOwners(parts);
  return parts;
}

} // namespace weft
