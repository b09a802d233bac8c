#include "runtime/executable/Dump.h"
#include "runtime/executable/Parts.h"
#include "runtime/object/ObjectFile.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <span>

namespace weft {
namespace {

std::string dumpNumbers(const std::vector<double> &numbers) {
  return numbers.empty() ? "" : absl::StrCat("<", absl::StrJoin(numbers, ", "), ">");
}

std::string dumpAttribute(const Attribute &attribute) {
  if (!attribute.text.empty())
    return absl::StrCat("\"", attribute.text, "\"");
  if (!attribute.numbers.empty())
    return absl::StrCat("[", absl::StrJoin(attribute.numbers, ", "), "]");
  return absl::StrCat("[", absl::StrJoin(attribute.integers, ", "), "]");
}

class Dumper {
public:
  explicit Dumper(const Executable &executable) : executable(executable) {}

  std::string dumpCommon() {
    absl::StrAppend(&out, "executable of weft ", executable.weftVersion, " for ",
                    executable.target.instructionSet, "\n", "config ", executable.config.str().size(),
                    " bytes, tokenizer ", executable.tokenizer.str().size(), " bytes\n");
    dumpObject();
    dumpMesh();
    return std::move(out);
  }

  std::string dumpPart() {
    dumpMemory();
    for (const Variable &variable : executable.variables)
      absl::StrAppend(&out, "variable ", variable.name, " : ", variable.type.str(),
                      placed(variable.placement), " at ", at(variable.reference), " = ",
                      std::string(name(variable.initializer.kind)), dumpNumbers(variable.initializer.numbers),
                      variable.trainable ? " trainable" : "", variable.isState ? " state" : "", " saved as ",
                      variable.checkpointName, owner(variable), "\n");
    for (const Cache &cache : executable.caches)
      absl::StrAppend(&out, "cache ", cache.name, " : ", cache.type.str(), " at ", at(cache.reference), "\n");
    for (size_t i = 0; i < executable.kernels.size(); ++i)
      dumpKernel(i);
    for (const Program &program : executable.programs)
      dumpProgram(program);
    return std::move(out);
  }

private:
  std::string at(const Reference &reference) const {
    return absl::StrCat(executable.memory.bases[reference.base].name, "+", reference.offset);
  }

  std::string owner(const Variable &variable) const {
    return executable.mesh.pipelineRanks() == 1 ? ""
                                                : absl::StrCat(" by pipeline rank ", variable.pipelineOwner);
  }

  std::string axisNames(const std::vector<uint32_t> &axes) const {
    return absl::StrCat("[",
                        absl::StrJoin(axes, ", ",
                                      [&](std::string *text, uint32_t axis) {
                                        text->append(executable.mesh.axes[axis].name);
                                      }),
                        "]");
  }

  /// ` of 8x4 split [d0] []`: the global shape, and the axes over which each dimension is split.
  std::string placed(const TensorPlacement &placement) const {
    if (placement.whole())
      return "";
    std::string text = absl::StrCat(" of ", absl::StrJoin(placement.globalShape, "x"), " split");
    for (const DimensionSplit &split : placement.dimensions)
      absl::StrAppend(&text, split.zigzag ? " zigzag " : " ", axisNames(split.axes));
    return text;
  }

  void dumpObject() {
    const KernelObject &object = executable.object;
    if (object.none())
      return;
    const size_t functions = readObject(object.bytes.str())->size();
    absl::StrAppend(&out, "object ", object.target, ", ", object.bytes.str().size(), " bytes, ", functions,
                    functions == 1 ? " function\n" : " functions\n");
  }

  void dumpMesh() {
    const Mesh &mesh = executable.mesh;
    if (mesh == Mesh{})
      return;
    absl::StrAppend(&out, "mesh of ", mesh.ranks(),
                    " ranks: ", absl::StrJoin(mesh.axes, ", ", [](std::string *text, const MeshAxis &axis) {
                      absl::StrAppend(text, axis.name, " = ", axis.size);
                    }));
    std::string_view separator = "; ";
    for (const MeshRole &role : mesh.roles) {
      absl::StrAppend(&out, std::string(separator), role.name, " = ", axisNames(role.axes));
      separator = ", ";
    }
    out += "\n";
  }

  void dumpMemory() {
    absl::StrAppend(&out, "memory ", executable.memory.arenaBytes(), " bytes allocated, ",
                    executable.memory.peakBytes(), " at the peak\n");
    for (const MemoryBase &base : executable.memory.bases) {
      absl::StrAppend(&out, "  base ", base.name, " (", std::string(name(base.kind)), "): ", base.slotCount,
                      " x ", base.slotBytes, " bytes");
      if (base.within != kNone)
        absl::StrAppend(&out, " within ", executable.memory.bases[base.within].name, " at ",
                        absl::StrJoin(base.offsets, " "));
      out += "\n";
    }
    for (const MemoryRow &row : executable.memory.rows)
      absl::StrAppend(&out, "  row ", row.category, " / ", row.name, ": ", row.bytes, " bytes",
                      row.outsideArena ? " outside the arena" : "", "\n");
  }

  void dumpKernel(size_t index) {
    const KernelEntry &kernel = executable.kernels[index];
    absl::StrAppend(&out, "kernel ", index, " ", kernel.call.str());
    std::string_view separator = " {";
    for (const auto &[key, value] : kernel.call.attributes) {
      absl::StrAppend(&out, std::string(separator), key, " = ", dumpAttribute(value));
      separator = ", ";
    }
    absl::StrAppend(&out, kernel.call.attributes.empty() ? "" : "}", " workspace ", kernel.workspaceBytes,
                    "\n");
  }

  void dumpProgram(const Program &program) {
    absl::StrAppend(&out, "program ", program.name, ", ", program.microbatches, " microbatches\n");
    for (const ProgramInput &input : program.inputs)
      absl::StrAppend(&out, "  input ", input.name, " : ", input.type.str(), placed(input.placement), " at ",
                      at(input.reference), input.perMicrobatch ? " per microbatch" : "", "\n");
    for (const ProgramOutput &output : program.outputs)
      absl::StrAppend(&out, "  output ", output.name, " : ", output.type.str(), " at ", at(output.reference),
                      "\n");
    absl::StrAppend(&out, "  schedule: ", dumpSchedule(program), "\n");
    for (const Action &action : program.actions) {
      absl::StrAppend(&out, "  action ", action.name, action.perMicrobatch ? " per microbatch" : "", "\n");
      for (uint32_t i = 0; i < action.commandCount; ++i)
        dumpCommand(program, action.firstCommand + i);
    }
  }

  void dumpCommand(const Program &program, uint32_t index) {
    const Command &command = program.commands[index];
    std::span<const Reference> arguments(program.arguments);
    auto list = [&](uint32_t first, uint32_t count) {
      return absl::StrJoin(
          arguments.subspan(first, count), ", ",
          [&](std::string *text, const Reference &reference) { text->append(at(reference)); });
    };
    std::string what =
        command.kind == CommandKind::Copy
            ? absl::StrCat("copy ", command.copyBytes, " bytes")
            : absl::StrCat("launch ", command.kernel, " ", executable.kernels[command.kernel].call.name);
    absl::StrAppend(&out, "    ", index, ": ", what, " (", list(command.firstArgument, command.operandCount),
                    ") -> (", list(command.firstArgument + command.operandCount, command.resultCount), ")");
    if (command.kind == CommandKind::Launch && executable.kernels[command.kernel].workspaceBytes != 0)
      absl::StrAppend(&out, " workspace ", at(command.workspace));
    absl::StrAppend(&out, "  // ", executable.locations[command.location], "\n");
  }

  const Executable &executable;
  std::string out;
};

} // namespace

std::string dump(const std::vector<Executable> &parts) {
  std::string text = Dumper(parts.front()).dumpCommon();
  for (size_t part = 0; part < parts.size(); ++part)
    absl::StrAppend(&text, parts.size() == 1 ? "" : absl::StrCat(partText(parts, part), "\n"),
                    Dumper(parts[part]).dumpPart());
  return text;
}

std::string dumpSchedule(const Program &program) {
  return absl::StrJoin(program.schedule, " ", [&](std::string *text, const ScheduleItem &item) {
    text->append(program.actions[item.action].name);
    if (item.microbatch != kNone)
      absl::StrAppend(text, ".", item.microbatch);
  });
}

} // namespace weft
