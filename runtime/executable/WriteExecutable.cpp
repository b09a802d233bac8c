#include "runtime/executable/ExecutableFile.h"
#include "runtime/executable/ExecutableFormat_generated.h"
#include "runtime/executable/FileHeader.h"
#include "runtime/executable/Verify.h"
#include "runtime/support/FileText.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>
#include <xxhash.h>

namespace weft {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

format::Reference pack(const Reference &reference) { return {reference.base, reference.offset}; }

Offset<format::TensorType> pack(FlatBufferBuilder &builder, const TensorType &type) {
  return format::CreateTensorType(builder, static_cast<uint8_t>(type.dtype),
                                  builder.CreateVector(type.shape));
}

Offset<flatbuffers::Vector<Offset<format::TensorType>>> pack(FlatBufferBuilder &builder,
                                                             const std::vector<TensorType> &types) {
  std::vector<Offset<format::TensorType>> offsets;
  for (const TensorType &type : types)
    offsets.push_back(pack(builder, type));
  return builder.CreateVector(offsets);
}

Offset<format::Kernel> pack(FlatBufferBuilder &builder, const KernelEntry &kernel) {
  std::vector<Offset<format::Attribute>> attributes;
  for (const auto &[key, value] : kernel.call.attributes)
    attributes.push_back(
        format::CreateAttribute(builder, builder.CreateString(key), builder.CreateVector(value.integers),
                                builder.CreateVector(value.numbers), builder.CreateString(value.text)));
  auto name = builder.CreateString(kernel.call.name);
  auto operands = pack(builder, kernel.call.operands);
  auto results = pack(builder, kernel.call.results);
  return format::CreateKernel(builder, name, operands, results, builder.CreateVector(attributes),
                              kernel.workspaceBytes);
}

/// Nothing for what every rank holds whole: so an executable without a mesh has the bytes it always had.
Offset<format::Placement> pack(FlatBufferBuilder &builder, const TensorPlacement &placement) {
  if (placement == TensorPlacement{})
    return 0;
  std::vector<Offset<format::Split>> splits;
  for (const DimensionSplit &split : placement.dimensions)
    splits.push_back(format::CreateSplit(builder, builder.CreateVector(split.axes), split.zigzag));
  auto shape = builder.CreateVector(placement.globalShape);
  return format::CreatePlacement(builder, shape, builder.CreateVector(splits));
}

Offset<format::Axis> pack(FlatBufferBuilder &builder, const MeshAxis &axis) {
  return format::CreateAxis(builder, builder.CreateString(axis.name), axis.size);
}

Offset<format::Role> pack(FlatBufferBuilder &builder, const MeshRole &role) {
  auto name = builder.CreateString(role.name);
  return format::CreateRole(builder, name, builder.CreateVector(role.axes));
}

Offset<format::Variable> pack(FlatBufferBuilder &builder, const Variable &variable) {
  format::Reference reference = pack(variable.reference);
  auto name = builder.CreateString(variable.name);
  auto type = pack(builder, variable.type);
  auto numbers = builder.CreateVector(variable.initializer.numbers);
  auto checkpointName = builder.CreateString(variable.checkpointName);
  return format::CreateVariable(builder, name, type, &reference,
                                static_cast<uint8_t>(variable.initializer.kind), numbers, variable.trainable,
                                variable.isState, checkpointName, pack(builder, variable.placement),
                                variable.pipelineOwner);
}

Offset<format::Cache> pack(FlatBufferBuilder &builder, const Cache &cache) {
  format::Reference reference = pack(cache.reference);
  auto name = builder.CreateString(cache.name);
  return format::CreateCache(builder, name, pack(builder, cache.type), &reference);
}

Offset<format::Input> pack(FlatBufferBuilder &builder, const ProgramInput &input) {
  format::Reference reference = pack(input.reference);
  auto name = builder.CreateString(input.name);
  auto type = pack(builder, input.type);
  return format::CreateInput(builder, name, type, &reference, input.perMicrobatch,
                             pack(builder, input.placement));
}

Offset<format::Output> pack(FlatBufferBuilder &builder, const ProgramOutput &output) {
  format::Reference reference = pack(output.reference);
  auto name = builder.CreateString(output.name);
  return format::CreateOutput(builder, name, pack(builder, output.type), &reference);
}

Offset<format::Action> pack(FlatBufferBuilder &builder, const Action &action) {
  return format::CreateAction(builder, builder.CreateString(action.name), action.perMicrobatch,
                              action.firstCommand, action.commandCount);
}

Offset<format::Row> pack(FlatBufferBuilder &builder, const MemoryRow &row) {
  auto category = builder.CreateString(row.category);
  return format::CreateRow(builder, category, builder.CreateString(row.name), row.bytes, row.outsideArena);
}

Offset<format::Program> pack(FlatBufferBuilder &builder, const Program &program);

/// A vector of tables from a vector of structs that pack() knows.
template <typename Table, typename Struct>
Offset<flatbuffers::Vector<Offset<Table>>> packAll(FlatBufferBuilder &builder,
                                                   const std::vector<Struct> &values) {
  std::vector<Offset<Table>> offsets;
  for (const Struct &value : values)
    offsets.push_back(pack(builder, value));
  return builder.CreateVector(offsets);
}

Offset<format::Program> pack(FlatBufferBuilder &builder, const Program &program) {
  std::vector<format::Reference> arguments;
  for (const Reference &argument : program.arguments)
    arguments.push_back(pack(argument));
  std::vector<format::Command> commands;
  for (const Command &command : program.commands)
    commands.push_back({static_cast<uint8_t>(command.kind), command.operandCount, command.resultCount,
                        command.kernel, command.firstArgument, command.location, pack(command.workspace),
                        command.copyBytes});
  std::vector<format::ScheduleItem> schedule;
  for (const ScheduleItem &item : program.schedule)
    schedule.push_back({item.action, item.microbatch});
  auto name = builder.CreateString(program.name);
  auto inputs = packAll<format::Input>(builder, program.inputs);
  auto outputs = packAll<format::Output>(builder, program.outputs);
  auto actions = packAll<format::Action>(builder, program.actions);
  return format::CreateProgram(
      builder, name, program.microbatches, inputs, outputs, builder.CreateVectorOfStructs(arguments),
      builder.CreateVectorOfStructs(commands), actions, builder.CreateVectorOfStructs(schedule));
}

/// Lays blobs out one after the other, from `next` on.
struct BlobLayout {
  uint64_t next;
  std::vector<const std::string *> contents;

  format::Blob add(const std::string &bytes) {
    format::Blob blob(next, bytes.size(), XXH64(bytes.data(), bytes.size(), 0));
    next = aligned(next + bytes.size());
    contents.push_back(&bytes);
    return blob;
  }
};

/// What one pipeline rank runs.
struct PackedPart {
  Offset<flatbuffers::Vector<Offset<format::Base>>> bases;
  Offset<flatbuffers::Vector<Offset<format::Row>>> rows;
  Offset<flatbuffers::Vector<Offset<format::Variable>>> variables;
  Offset<flatbuffers::Vector<Offset<format::Kernel>>> kernels;
  Offset<flatbuffers::Vector<Offset<flatbuffers::String>>> locations;
  Offset<flatbuffers::Vector<Offset<format::Program>>> programs;
  Offset<flatbuffers::Vector<Offset<format::Cache>>> caches;
};

PackedPart packPart(FlatBufferBuilder &builder, const Executable &executable, BlobLayout &blobs) {
  std::vector<Offset<format::Base>> bases;
  for (const MemoryBase &base : executable.memory.bases) {
    auto name = builder.CreateString(base.name);
    format::Blob blob;
    if (base.kind == BaseKind::Constants)
      blob = blobs.add(base.contents);
    Offset<flatbuffers::Vector<uint64_t>> offsets;
    if (!base.offsets.empty())
      offsets = builder.CreateVector(base.offsets);
    bases.push_back(format::CreateBase(builder, name, static_cast<uint8_t>(base.kind), base.slotCount,
                                       base.slotBytes, base.kind == BaseKind::Constants ? &blob : nullptr,
                                       base.within, offsets));
  }
  std::vector<Offset<flatbuffers::String>> locations;
  for (const std::string &location : executable.locations)
    locations.push_back(builder.CreateString(location));
  PackedPart part;
  part.bases = builder.CreateVector(bases);
  part.rows = packAll<format::Row>(builder, executable.memory.rows);
  part.variables = packAll<format::Variable>(builder, executable.variables);
  part.kernels = packAll<format::Kernel>(builder, executable.kernels);
  part.locations = builder.CreateVector(locations);
  part.programs = packAll<format::Program>(builder, executable.programs);
  if (!executable.caches.empty())
    part.caches = packAll<format::Cache>(builder, executable.caches);
  return part;
}

/// The structure, with its blobs where `blobs` places them.
void buildStructure(FlatBufferBuilder &builder, const std::vector<Executable> &parts, BlobLayout &blobs) {
  const Executable &common = parts.front();
  format::Blob config = blobs.add(common.config.str()), tokenizer = blobs.add(common.tokenizer.str());
  auto version = builder.CreateString(common.weftVersion);
  auto instructionSet = builder.CreateString(common.target.instructionSet);
  const PackedPart first = packPart(builder, common, blobs);
  std::vector<Offset<format::Part>> further;
  for (size_t i = 1; i < parts.size(); ++i) {
    const PackedPart part = packPart(builder, parts[i], blobs);
    further.push_back(format::CreatePart(builder, part.bases, part.rows, part.variables, part.kernels,
                                         part.locations, part.programs, part.caches));
  }
  Offset<flatbuffers::Vector<Offset<format::Axis>>> axes;
  if (!common.mesh.axes.empty())
    axes = packAll<format::Axis>(builder, common.mesh.axes);
  Offset<flatbuffers::Vector<Offset<format::Role>>> roles;
  if (!common.mesh.roles.empty())
    roles = packAll<format::Role>(builder, common.mesh.roles);
  Offset<flatbuffers::Vector<Offset<format::Part>>> furtherParts;
  if (!further.empty())
    furtherParts = builder.CreateVector(further);
  Offset<format::Object> object;
  if (!common.object.none()) {
    const format::Blob bytes = blobs.add(common.object.bytes.str());
    object = format::CreateObject(builder, builder.CreateString(common.object.target), &bytes);
  }
  builder.Finish(format::CreateExecutable(builder, version, instructionSet, &config, &tokenizer, first.bases,
                                          first.rows, first.variables, first.kernels, first.locations,
                                          first.programs, axes, roles, furtherParts, first.caches, object));
}

constexpr uint64_t kTable =
    128; // a table of ours with its vtable, offsets and alignment, without its vectors

/// An upper bound of the size of what one pipeline rank runs.
uint64_t partBound(const Executable &executable) {
  auto placementBound = [](const TensorPlacement &placement) {
    uint64_t bytes = kTable + 8 * placement.globalShape.size();
    for (const DimensionSplit &split : placement.dimensions)
      bytes += kTable + 4 * split.axes.size();
    return bytes;
  };
  uint64_t bytes = kTable;
  for (const MemoryBase &base : executable.memory.bases)
    bytes += kTable + base.name.size() + 8 * base.offsets.size();
  for (const MemoryRow &row : executable.memory.rows)
    bytes += kTable + row.category.size() + row.name.size();
  for (const Variable &variable : executable.variables)
    bytes += 2 * kTable + variable.name.size() + variable.checkpointName.size() +
             8 * (variable.type.shape.size() + variable.initializer.numbers.size()) +
             placementBound(variable.placement);
  for (const Cache &cache : executable.caches)
    bytes += 2 * kTable + cache.name.size() + 8 * cache.type.shape.size();
  for (const KernelEntry &kernel : executable.kernels) {
    bytes += kTable + kernel.call.name.size();
    for (const std::vector<TensorType> *types : {&kernel.call.operands, &kernel.call.results})
      for (const TensorType &type : *types)
        bytes += kTable + 8 * type.shape.size();
    for (const auto &[key, value] : kernel.call.attributes)
      bytes += kTable + key.size() + value.text.size() + 8 * (value.integers.size() + value.numbers.size());
  }
  for (const std::string &location : executable.locations)
    bytes += 16 + location.size();
  for (const Program &program : executable.programs) {
    bytes += kTable + program.name.size() + sizeof(format::Reference) * program.arguments.size() +
             sizeof(format::Command) * program.commands.size() +
             sizeof(format::ScheduleItem) * program.schedule.size();
    for (const ProgramInput &input : program.inputs)
      bytes += 2 * kTable + input.name.size() + 8 * input.type.shape.size() + placementBound(input.placement);
    for (const ProgramOutput &output : program.outputs)
      bytes += 2 * kTable + output.name.size() + 8 * output.type.shape.size();
    for (const Action &action : program.actions)
      bytes += kTable + action.name.size();
  }
  return bytes;
}

/// An upper bound of the structure's size: FlatBuffers aborts past 2^31 - 1 bytes, so the builder must not
/// get there.
uint64_t structureBound(const std::vector<Executable> &parts) {
  const Executable &common = parts.front();
  uint64_t bytes = 1024 + common.weftVersion.size() + common.target.instructionSet.size() + kTable +
                   common.object.target.size();
  for (const MeshAxis &axis : common.mesh.axes)
    bytes += kTable + axis.name.size();
  for (const MeshRole &role : common.mesh.roles)
    bytes += kTable + role.name.size() + 4 * role.axes.size();
  for (const Executable &part : parts)
    bytes += partBound(part);
  return bytes;
}

/// The first format version whose builds read all of it.
uint32_t versionOf(const std::vector<Executable> &parts) {
  constexpr uint32_t first = 1, withParts = 2, withSnapshots = 3, withObject = 4;
  if (!parts.front().object.none())
    return withObject;
  uint32_t version = parts.size() == 1 ? first : withParts;
  for (const Executable &part : parts)
    for (const MemoryBase &base : part.memory.bases)
      version = std::max(version, base.kind == BaseKind::Snapshot ? withSnapshots
                                  : base.within != kNone          ? withParts
                                                                  : first);
  return version;
}

} // namespace

absl::StatusOr<std::string> serializeExecutables(const std::vector<Executable> &parts) {
  if (absl::Status status = verify(parts); !status.ok())
    return status;
  const std::string &version = parts.front().weftVersion;
  FileHeader header = {};
  if (version.size() >= sizeof(header.weftVersion))
    return absl::InvalidArgumentError(absl::StrCat("weft version '", version, "' is longer than ",
                                                   sizeof(header.weftVersion) - 1, " bytes"));
  if (uint64_t bound = structureBound(parts); bound > kMaximumStructureBytes)
    return absl::ResourceExhaustedError(
        absl::StrCat("the structure of this executable may need ", bound, " bytes, the format holds ",
                     kMaximumStructureBytes, ". Compile with fewer microbatches or layers per program."));
  // Blobs come behind the structure, whose size does not depend on where they are: build once to learn it.
  FlatBufferBuilder measure;
  BlobLayout unplaced{0, {}};
  buildStructure(measure, parts, unplaced);
  FlatBufferBuilder builder(measure.GetSize() + 64);
  BlobLayout blobs{aligned(kHeaderBytes + measure.GetSize()), {}};
  measure.Clear();
  buildStructure(builder, parts, blobs);

  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.formatVersion = versionOf(parts);
  version.copy(header.weftVersion, sizeof(header.weftVersion) - 1);
  header.structureOffset = kHeaderBytes;
  header.structureBytes = builder.GetSize();
  header.structureChecksum = XXH64(builder.GetBufferPointer(), builder.GetSize(), 0);
  header.fileBytes = blobs.next;
  header.headerChecksum = XXH64(&header, offsetof(FileHeader, headerChecksum), 0);

  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  bytes.reserve(blobs.next);
  bytes.append(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  for (const std::string *contents : blobs.contents) {
    bytes.resize(aligned(bytes.size()));
    bytes.append(*contents);
  }
  bytes.resize(blobs.next);
  return bytes;
}

absl::Status writeExecutables(const std::vector<Executable> &parts, const std::string &path) {
  absl::StatusOr<std::string> bytes = serializeExecutables(parts);
  if (!bytes.ok())
    return absl::Status(bytes.status().code(), absl::StrCat(path, ": ", bytes.status().message()));
  return writeFileAtomically(path, *bytes);
}

} // namespace weft
