//===- VerifyPlaces.cpp - A plan of memory, held against its program ----------===//
//
// Inside an action every value is a token, and a map says which token each byte holds: loads put theirs down
// first, every command reads and writes in turn. What is left of an action for the order of runs is which
// slots and variables it loads and stores, and over which others it writes.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/VerifyPlaces.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "dialects/sched/Views.h"
#include "kernels/collective/Collective.h"
#include "passes/memory/Memory.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <map>
#include <optional>
#include <vector>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_VERIFYPLACES
#include "passes/memory/Passes.h.inc"

namespace {
constexpr StringLiteral kNoPlace = "has no place; memory comes before places are verified";

/// Bytes of a base.
struct Range {
  StringAttr base;
  int64_t begin = 0, end = 0;

  bool overlaps(const Range &other) const {
    return base == other.base && begin < other.end && other.begin < end;
  }
};

Range rangeOf(sched::PlaceAttr place, Type type) {
  return {place.getBase(), place.getOffset(), place.getOffset() + nn::byteSize(cast<RankedTensorType>(type))};
}

/// Which token each byte holds.
class Contents {
public:
  static constexpr size_t kNothing = SIZE_MAX;

  void write(const Range &range, size_t token) {
    if (range.begin >= range.end)
      return;
    Pieces &pieces = bases[range.base];
    cut(pieces, range.begin);
    cut(pieces, range.end);
    pieces.erase(pieces.lower_bound(range.begin), pieces.lower_bound(range.end));
    pieces[range.begin] = {range.end, token};
  }

  /// The token of the first byte that does not hold `token`, kNothing if it holds none; no value if all hold
  /// it.
  std::optional<size_t> intruder(const Range &range, size_t token) {
    Pieces &pieces = bases[range.base];
    auto piece = pieces.upper_bound(range.begin);
    if (piece != pieces.begin() && std::prev(piece)->second.end > range.begin)
      --piece;
    for (int64_t next = range.begin; next < range.end; next = piece->second.end, ++piece) {
      if (piece == pieces.end() || piece->first > next)
        return kNothing;
      if (piece->second.token != token)
        return piece->second.token;
    }
    return std::nullopt;
  }

private:
  struct Piece {
    int64_t end;
    size_t token;
  };
  using Pieces = std::map<int64_t, Piece>; // by their begins

  static void cut(Pieces &pieces, int64_t at) {
    auto piece = pieces.lower_bound(at);
    if (piece == pieces.begin() || std::prev(piece)->second.end <= at)
      return;
    --piece;
    pieces[at] = piece->second;
    piece->second.end = at;
  }

  llvm::DenseMap<StringAttr, Pieces> bases;
};

/// Bytes that are written, without who wrote them.
class WrittenBytes {
public:
  void add(const Range &range) { bases[range.base].push_back({range.begin, range.end}); }

  /// To be called once, behind the last add.
  void finish() {
    for (auto &[base, pieces] : bases) {
      llvm::sort(pieces);
      std::vector<std::pair<int64_t, int64_t>> joined;
      for (auto [begin, end] : pieces)
        if (!joined.empty() && begin <= joined.back().second)
          joined.back().second = std::max(joined.back().second, end);
        else
          joined.push_back({begin, end});
      pieces = std::move(joined);
    }
  }

  bool overlap(const Range &range) const {
    auto found = bases.find(range.base);
    if (found == bases.end())
      return false;
    auto piece = llvm::partition_point(found->second, [&](auto one) { return one.second <= range.begin; });
    return piece != found->second.end() && piece->first < range.end;
  }

private:
  llvm::DenseMap<StringAttr, std::vector<std::pair<int64_t, int64_t>>> bases; ///< begin and end
};

/// What keeps its value from one action to another: a slot of the step, or a variable.
struct Cell {
  Operation *op;
  Range range;
  bool isKept; ///< until the program ends
};

/// Peers and a direction: transfers of a line are over in the order in which they begin.
struct Line {
  mlir::Attribute axes, peer;
  bool sends;
  auto key() const { return std::tuple(axes.getAsOpaquePointer(), peer.getAsOpaquePointer(), sends); }
};

/// What an action writes until it begins a transfer or waits for one; that comes last, and there is none at
/// the end.
struct Segment {
  WrittenBytes written;
  std::optional<Line> line;
  bool begins = false;
  SmallVector<Range> transferred;
  sched::LaunchOp transfer;
};

struct ActionUse {
  sched::ActionOp op;
  llvm::SetVector<size_t> loads, stores; ///< cells
  std::vector<Segment> segments;
  SmallVector<size_t> writtenOver; ///< cells that it does not store
};

class ProgramVerifier {
public:
  ProgramVerifier(ModuleOp module, sched::ProgramOp program, const SymbolTable &symbols)
      : module(module), program(program), body(program.getBody().front()), symbols(symbols) {}

  LogicalResult run() {
    if (failed(listCells()))
      return failure();
    for (auto action : body.getOps<sched::ActionOp>()) {
      useNamed[action.getName()] = uses.size();
      uses.emplace_back().op = action;
      if (failed(followCommands(uses.back())))
        return failure();
    }
    return followRuns();
  }

private:
  LogicalResult listCells() {
    for (auto base : module.getOps<sched::BaseOp>())
      bases[base.getNameAttr()] = base;
    for (auto slot : body.getOps<sched::SlotOp>()) {
      if (!slot.getPlace())
        return slot.emitOpError() << kNoPlace;
      slots[slot.getName()] = slot;
      if (slot.getKind() != sched::SlotKind::input && slot.getKind() != sched::SlotKind::in_flight)
        addCell(slot, rangeOf(*slot.getPlace(), slot.getType()), slot.getKind() == sched::SlotKind::output);
    }
    bool namesCache = false;
    program.walk([&](Operation *op) { namesCache |= isa_and_nonnull<nn::CacheOp>(variableOf(op)); });
    for (Operation &op : *module.getBody()) {
      auto place = op.getAttrOfType<sched::PlaceAttr>(kPlaceAttribute);
      if (isa<nn::CacheOp>(op) ? !namesCache : !isa<nn::ParameterOp, nn::StateOp>(op))
        continue;
      if (!place)
        return op.emitOpError() << kNoPlace;
      addCell(&op, rangeOf(place, op.getAttrOfType<TypeAttr>("type").getValue()), true);
    }
    return success();
  }

  void addCell(Operation *op, const Range &range, bool isKept) {
    cellOf[op] = cells.size();
    cells.push_back({op, range, isKept});
  }

  Operation *variableOf(Operation *op) const {
    auto name = op->getAttrOfType<FlatSymbolRefAttr>("variable");
    return name && isa<nn::ReadOp, nn::WriteOp>(op) ? symbols.lookup(name.getValue()) : nullptr;
  }

  /// What a load or store names: its slot, or its variable.
  Operation *ownerOf(Operation *op) const {
    if (auto load = dyn_cast<sched::LoadOp>(op))
      return slots.lookup(load.getSlot());
    if (auto store = dyn_cast<sched::StoreOp>(op))
      return slots.lookup(store.getSlot());
    return variableOf(op);
  }

  Range homeOf(Operation *op) const {
    Operation *owner = ownerOf(op);
    if (auto slot = dyn_cast<sched::SlotOp>(owner)) {
      Range range = rangeOf(*slot.getPlace(), slot.getType());
      auto load = dyn_cast<sched::LoadOp>(op);
      if (auto base = bases.lookup(range.base); base && load && load.getMicrobatch()) {
        const auto shift = static_cast<int64_t>(*load.getMicrobatch() * base.getBytes());
        range.begin += shift, range.end += shift;
      }
      return range;
    }
    return rangeOf(owner->getAttrOfType<sched::PlaceAttr>(kPlaceAttribute),
                   owner->getAttrOfType<TypeAttr>("type").getValue());
  }

  //===-- one action -------------------------------------------------------===//

  LogicalResult followCommands(ActionUse &use) {
    contents = Contents();
    held.clear();
    tokens.clear();
    use.segments.emplace_back();
    if (failed(putDownLoads(use)))
      return failure();
    for (Operation &op : use.op.getBody().front()) {
      LogicalResult followed = success();
      if (auto launch = dyn_cast<sched::LaunchOp>(op))
        followed = followLaunch(use, launch);
      else if (auto copy = dyn_cast<sched::CopyOp>(op))
        followed = followCopy(use, copy);
      if (failed(followed))
        return failure();
    }
    if (failed(checkStores(use)))
      return failure();
    for (Segment &segment : use.segments)
      segment.written.finish();
    for (auto [number, cell] : llvm::enumerate(cells))
      if (!use.stores.contains(number) && llvm::any_of(use.segments, [&](const Segment &segment) {
            return segment.written.overlap(cell.range);
          }))
        use.writtenOver.push_back(number);
    return success();
  }

  /// Where a value lies, and the token that its bytes hold.
  struct Held {
    Range range;
    size_t token = 0;
  };

  size_t newToken(Operation *op) {
    tokens.push_back(op);
    return tokens.size() - 1;
  }

  /// What is loaded and what is constant is there from the beginning; two loads of one thing are one.
  LogicalResult putDownLoads(ActionUse &use) {
    std::map<std::pair<const void *, uint64_t>, size_t> known;
    for (Operation &op : use.op.getBody().front()) {
      Range range;
      std::pair<const void *, uint64_t> key;
      if (auto constant = dyn_cast<sched::ConstantOp>(op)) {
        if (!constant.getPlace())
          return constant.emitOpError() << kNoPlace;
        range = rangeOf(*constant.getPlace(), constant.getType());
        key = {constant.getValue().getAsOpaquePointer(), 0};
      } else if (isa<sched::LoadOp, nn::ReadOp>(op)) {
        range = homeOf(&op);
        auto load = dyn_cast<sched::LoadOp>(op);
        key = {ownerOf(&op), load ? load.getMicrobatch().value_or(0) : 0};
        if (auto cell = cellOf.find(ownerOf(&op)); cell != cellOf.end())
          use.loads.insert(cell->second);
      } else {
        continue;
      }
      auto [token, isNew] = known.try_emplace(key, 0);
      if (isNew) {
        token->second = newToken(isa<sched::ConstantOp>(op) ? &op : ownerOf(&op));
        contents.write(range, token->second);
      }
      held[op.getResult(0)] = {range, token->second};
    }
    return success();
  }

  LogicalResult followLaunch(ActionUse &use, sched::LaunchOp launch) {
    for (auto [number, operand] : llvm::enumerate(launch.getInputs()))
      if (failed(checkHeld(launch, "operand " + Twine(number), held.lookup(sched::rootOf(operand)))))
        return failure();
    if (!launch.getPlaces())
      return launch.emitOpError() << kNoPlace;
    SmallVector<Range> results;
    for (auto [result, place] :
         llvm::zip_equal(launch.getOutputs(), launch.getPlaces()->getAsRange<sched::PlaceAttr>()))
      results.push_back(rangeOf(place, result.getType()));
    if (launch.getWorkspace()) {
      const sched::PlaceAttr place = *launch.getWorkspace();
      const Range range = {place.getBase(), place.getOffset(),
                           place.getOffset() + static_cast<int64_t>(launch.getWorkspaceBytes())};
      write(use, range, newToken(launch));
    }
    for (auto [result, range] : llvm::zip_equal(launch.getOutputs(), results)) {
      held[result] = {range, newToken(launch)};
      write(use, range, held[result].token);
    }
    for (auto [number, result] : llvm::enumerate(launch.getOutputs()))
      if (failed(checkHeld(launch, "result " + Twine(number), held.lookup(result))))
        return failure();
    if (const std::optional<LineStep> step = lineStepOf(launch.getKernel().str()))
      followTransfer(use, launch, *step, results);
    return success();
  }

  void followTransfer(ActionUse &use, sched::LaunchOp launch, LineStep step, ArrayRef<Range> results) {
    Segment &segment = use.segments.back();
    segment.transfer = launch;
    segment.line = Line{launch.getSettings().get("axes"), launch.getSettings().get("peer"),
                        step == LineStep::Send || step == LineStep::FinishSend};
    segment.begins = step == LineStep::Send || step == LineStep::Receive;
    if (step == LineStep::Send)
      for (Value operand : launch.getInputs())
        segment.transferred.push_back(held.lookup(sched::rootOf(operand)).range);
    if (step == LineStep::Receive)
      segment.transferred.assign(results.begin(), results.end());
    use.segments.emplace_back();
  }

  LogicalResult followCopy(ActionUse &use, sched::CopyOp copy) {
    const Held source = held.lookup(sched::rootOf(copy.getValue()));
    if (failed(checkHeld(copy, "source", source)))
      return failure();
    write(use, rangeOf(copy.getPlace(), copy.getValue().getType()), source.token);
    return success();
  }

  void write(ActionUse &use, const Range &range, size_t token) {
    contents.write(range, token);
    use.segments.back().written.add(range);
  }

  LogicalResult checkStores(ActionUse &use) {
    for (Operation &op : use.op.getBody().front()) {
      if (!isa<sched::StoreOp, nn::WriteOp>(op))
        continue;
      if (auto cell = cellOf.find(ownerOf(&op)); cell != cellOf.end())
        use.stores.insert(cell->second);
      Value value = sched::rootOf(op.getOperand(0));
      if (failed(checkHeld(&op, "stored value", {homeOf(&op), held.lookup(value).token})))
        return failure();
    }
    return success();
  }

  LogicalResult checkHeld(Operation *op, const Twine &what, const Held &value) {
    const std::optional<size_t> intruder = contents.intruder(value.range, value.token);
    if (!intruder)
      return success();
    InFlightDiagnostic diagnostic =
        op->emitOpError() << what << " is not where it lies: " << describe(value.range) << " do not hold it";
    if (*intruder != Contents::kNothing)
      diagnostic.attachNote(tokens[*intruder]->getLoc()) << "they hold what is from here";
    return diagnostic;
  }

  static std::string describe(const Range &range) {
    return ("bytes " + Twine(range.begin) + " to " + Twine(range.end - 1) + " of base '" +
            range.base.getValue() + "'")
        .str();
  }

  //===-- the order of runs --------------------------------------------------===//

  LogicalResult followRuns() {
    SmallVector<sched::ActionOp> overwriter(cells.size());
    for (auto run : body.getOps<sched::RunOp>()) {
      const ActionUse &use = uses[useNamed.lookup(run.getAction())];
      for (size_t cell : use.loads)
        if (overwriter[cell])
          return lost(run.emitOpError() << "loads " << nameOf(cells[cell]), overwriter[cell]);
      for (const Segment &segment : use.segments)
        if (failed(followSegment(run, segment)))
          return failure();
      for (size_t cell : use.writtenOver)
        overwriter[cell] = use.op;
      for (size_t cell : use.stores)
        overwriter[cell] = {};
    }
    for (auto [number, cell] : llvm::enumerate(cells))
      if (cell.isKept && overwriter[number])
        return lost(program.emitOpError() << "leaves " << nameOf(cell), overwriter[number]);
    return success();
  }

  static std::string nameOf(const Cell &cell) {
    if (auto slot = dyn_cast<sched::SlotOp>(cell.op))
      return ("slot \"" + slot.getName() + "\"").str();
    return ("@" + SymbolTable::getSymbolName(cell.op).getValue()).str();
  }

  static LogicalResult lost(InFlightDiagnostic diagnostic, sched::ActionOp overwriter) {
    diagnostic << ", whose bytes action \"" << overwriter.getName() << "\" wrote over";
    diagnostic.attachNote(overwriter.getLoc()) << "the action is here";
    return diagnostic;
  }

  LogicalResult followSegment(sched::RunOp run, const Segment &segment) {
    for (auto &[line, transfers] : underWay)
      for (Transfer &transfer : transfers)
        for (const Range &range : transfer.ranges)
          if (segment.written.overlap(range)) {
            InFlightDiagnostic diagnostic = run.emitOpError() << "writes " << describe(range)
                                                              << ", of which a transfer is under way";
            diagnostic.attachNote(transfer.launch.getLoc()) << "it begins here";
            return diagnostic;
          }
    if (!segment.line)
      return success();
    auto &transfers = underWay[segment.line->key()];
    if (segment.begins) {
      SmallVector<Range> followed;
      for (const Range &range : segment.transferred)
        if (auto base = bases.lookup(range.base); !base || !base.getWithin())
          followed.push_back(range);
      transfers.push_back({followed, segment.transfer});
    } else if (!transfers.empty()) {
      transfers.pop_front();
    }
    return success();
  }

  ModuleOp module;
  sched::ProgramOp program;
  Block &body;
  const SymbolTable &symbols;

  llvm::DenseMap<StringAttr, sched::BaseOp> bases;
  llvm::StringMap<sched::SlotOp> slots;
  std::vector<Cell> cells;
  llvm::DenseMap<Operation *, size_t> cellOf;
  std::vector<ActionUse> uses;
  llvm::StringMap<size_t> useNamed;

  /// Of the action at hand:
  Contents contents;
  llvm::DenseMap<Value, Held> held; ///< by root
  std::vector<Operation *> tokens;  ///< what the bytes that hold one are

  struct Transfer {
    SmallVector<Range> ranges;
    sched::LaunchOp launch;
  };
  std::map<std::tuple<const void *, const void *, bool>, std::deque<Transfer>> underWay;
};

class VerifyPlacesPass : public impl::VerifyPlacesBase<VerifyPlacesPass> {
public:
  void runOnOperation() override {
    if (failed(verifyPlaces(getOperation())))
      signalPassFailure();
  }
};
} // namespace

LogicalResult verifyPlaces(ModuleOp module) {
  const SymbolTable symbols(module);
  for (auto program : module.getOps<sched::ProgramOp>())
    if (failed(ProgramVerifier(module, program, symbols).run()))
      return failure();
  return success();
}

} // namespace weft
