#include "runtime/executable/ExecutableFile.h"
#include "runtime/executable/ExecutableFormat_generated.h"
#include "runtime/executable/FileHeader.h"
#include "runtime/executable/Verify.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <new>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>
#include <xxhash.h>

namespace weft {
namespace {

/// Bytes of meshes in memory, of which every part has one, for each byte of the structure, which has one in
/// all.
constexpr uint64_t kMostMeshBytes = 64;

uint64_t bytesOf(const Mesh &mesh) {
  uint64_t bytes = 0;
  for (const MeshAxis &axis : mesh.axes)
    bytes += sizeof(axis) + axis.name.size();
  for (const MeshRole &role : mesh.roles)
    bytes += sizeof(role) + role.name.size() + sizeof(uint32_t) * role.axes.size();
  return bytes;
}

/// Copies a verified FlatBuffers structure into the structs of Executable.h. Tables may share their vectors
/// in a hostile file, which would multiply its size in memory: everything copied is charged against the
/// structure's own size.
class Unpacker {
public:
  Unpacker(std::string_view file, uint64_t structureBytes)
      : file(file), structureBytes(structureBytes), budget(structureBytes), blobBudget(file.size()) {}

  absl::StatusOr<std::vector<Executable>> unpack(const format::Executable &from);

private:
  bool isSound() const { return flaw == nullptr; }
  void charge(uint64_t bytes) {
    if (bytes > budget)
      flaw = "parts of its structure overlap";
    budget -= isSound() ? bytes : 0;
  }
  /// The FlatBuffers verifier looks at the alignment of a list's length, not of its elements. (Its builder
  /// does not align lists without elements.)
  void requireAligned(const void *elements, uint32_t count, size_t alignment) {
    if (count != 0 && reinterpret_cast<uintptr_t>(elements) % alignment != 0)
      flaw = "a list in its structure is not aligned";
  }
  std::string text(const flatbuffers::String *from);
  template <typename Number> std::vector<Number> numbers(const flatbuffers::Vector<Number> *from);
  template <typename Struct, typename Source> std::vector<Struct> all(const Source *from);
  /// The fields of `from`, the root or a further part, that one pipeline rank runs.
  template <typename Source> absl::Status readPart(const Source &from, Executable &to);
  absl::Status readBlob(const format::Blob &blob, const std::string &what, std::string &to);

  static Reference convert(const format::Reference &from) { return {from.base(), from.offset()}; }
  static Reference convert(const format::Reference *from) { return convert(*from); }
  static ScheduleItem convert(const format::ScheduleItem *from) {
    return {from->action(), from->microbatch()};
  }
  static Command convert(const format::Command *from);
  TensorType convert(const format::TensorType *from);
  TensorPlacement convert(const format::Placement *from);
  DimensionSplit convert(const format::Split *from) { return {numbers(from->axes()), from->zigzag()}; }
  MeshAxis convert(const format::Axis *from) { return {text(from->name()), from->size()}; }
  MeshRole convert(const format::Role *from) { return {text(from->name()), numbers(from->axes())}; }
  KernelEntry convert(const format::Kernel *from);
  Variable convert(const format::Variable *from);
  Cache convert(const format::Cache *from);
  ProgramInput convert(const format::Input *from);
  ProgramOutput convert(const format::Output *from);
  Action convert(const format::Action *from);
  MemoryRow convert(const format::Row *from);
  Program convert(const format::Program *from);
  std::string convert(const flatbuffers::String *from) { return text(from); }

  std::string_view file;
  uint64_t structureBytes;
  uint64_t budget;
  uint64_t blobBudget;
  const char *flaw = nullptr; ///< what is wrong with the structure, once something is
};

std::string Unpacker::text(const flatbuffers::String *from) {
  if (from == nullptr)
    return {};
  charge(from->size());
  return isSound() ? from->str() : std::string();
}

template <typename Number> std::vector<Number> Unpacker::numbers(const flatbuffers::Vector<Number> *from) {
  if (from == nullptr)
    return {};
  charge(sizeof(Number) * uint64_t{from->size()});
  requireAligned(from->Data(), from->size(), alignof(Number));
  return isSound() ? std::vector<Number>(from->begin(), from->end()) : std::vector<Number>();
}

template <typename Struct, typename Source> std::vector<Struct> Unpacker::all(const Source *from) {
  std::vector<Struct> to;
  if (from == nullptr)
    return to;
  // Every element, offset or struct, takes at least 4 bytes of the structure.
  charge(4 * uint64_t{from->size()});
  requireAligned(from->Data(), from->size(), alignof(std::remove_pointer_t<typename Source::return_type>));
  for (uint32_t i = 0; i < from->size() && isSound(); ++i)
    to.push_back(convert(from->Get(i)));
  return to;
}

absl::Status Unpacker::readBlob(const format::Blob &blob, const std::string &what, std::string &to) {
  if (blob.offset() % kAlignment != 0 || blob.offset() > file.size() ||
      blob.bytes() > file.size() - blob.offset())
    return absl::InvalidArgumentError(absl::StrCat(what, " is said to be ", blob.bytes(), " bytes at offset ",
                                                   blob.offset(), " of a file of ", file.size(), " bytes"));
  if (blob.bytes() > blobBudget)
    return absl::InvalidArgumentError(absl::StrCat(what, " shares its bytes with other parts of the file"));
  blobBudget -= blob.bytes();
  std::string_view bytes = file.substr(blob.offset(), blob.bytes());
  if (XXH64(bytes.data(), bytes.size(), 0) != blob.checksum())
    return absl::DataLossError(
        absl::StrCat("the checksum of ", what, " does not match: the file is damaged"));
  to.assign(bytes);
  return absl::OkStatus();
}

Command Unpacker::convert(const format::Command *from) {
  Command to;
  to.kind = static_cast<CommandKind>(from->kind());
  to.operandCount = from->operand_count();
  to.resultCount = from->result_count();
  to.kernel = from->kernel();
  to.firstArgument = from->first_argument();
  to.location = from->location();
  to.workspace = convert(from->workspace());
  to.copyBytes = from->copy_bytes();
  return to;
}

TensorType Unpacker::convert(const format::TensorType *from) {
  return {static_cast<DType>(from->dtype()), numbers(from->shape())};
}

TensorPlacement Unpacker::convert(const format::Placement *from) {
  if (from == nullptr)
    return {};
  return {numbers(from->global_shape()), all<DimensionSplit>(from->dimensions())};
}

KernelEntry Unpacker::convert(const format::Kernel *from) {
  KernelEntry to;
  to.call.name = text(from->name());
  to.call.operands = all<TensorType>(from->operands());
  to.call.results = all<TensorType>(from->results());
  to.workspaceBytes = from->workspace_bytes();
  if (from->attributes() == nullptr)
    return to;
  charge(4 * uint64_t{from->attributes()->size()});
  for (uint32_t i = 0; i < from->attributes()->size() && isSound(); ++i) {
    const format::Attribute *attribute = from->attributes()->Get(i);
    to.call.attributes[text(attribute->key())] = {numbers(attribute->integers()),
                                                  numbers(attribute->numbers()), text(attribute->text())};
  }
  return to;
}

Variable Unpacker::convert(const format::Variable *from) {
  Variable to;
  to.name = text(from->name());
  to.type = convert(from->type());
  to.reference = convert(from->reference());
  to.initializer = {static_cast<InitializerKind>(from->initializer()), numbers(from->initializer_numbers())};
  to.trainable = from->trainable();
  to.isState = from->is_state();
  to.checkpointName = text(from->checkpoint_name());
  to.placement = convert(from->placement());
  to.pipelineOwner = from->pipeline_owner();
  return to;
}

Cache Unpacker::convert(const format::Cache *from) {
  return {text(from->name()), convert(from->type()), convert(from->reference())};
}

ProgramInput Unpacker::convert(const format::Input *from) {
  return {text(from->name()), convert(from->type()), convert(from->reference()), from->per_microbatch(),
          convert(from->placement())};
}

ProgramOutput Unpacker::convert(const format::Output *from) {
  return {text(from->name()), convert(from->type()), convert(from->reference())};
}

Action Unpacker::convert(const format::Action *from) {
  return {text(from->name()), from->per_microbatch(), from->first_command(), from->command_count()};
}

MemoryRow Unpacker::convert(const format::Row *from) {
  return {text(from->category()), text(from->name()), from->bytes(), from->outside_arena()};
}

Program Unpacker::convert(const format::Program *from) {
  Program to;
  to.name = text(from->name());
  to.microbatches = from->microbatches();
  to.inputs = all<ProgramInput>(from->inputs());
  to.outputs = all<ProgramOutput>(from->outputs());
  to.arguments = all<Reference>(from->arguments());
  to.commands = all<Command>(from->commands());
  to.actions = all<Action>(from->actions());
  to.schedule = all<ScheduleItem>(from->schedule());
  return to;
}

template <typename Source> absl::Status Unpacker::readPart(const Source &from, Executable &to) {
  for (uint32_t i = 0; from.bases() != nullptr && i < from.bases()->size() && isSound(); ++i) {
    const format::Base *base = from.bases()->Get(i);
    charge(4);
    to.memory.bases.push_back(
        {text(base->name()), static_cast<BaseKind>(base->kind()), base->slot_count(), base->slot_bytes()});
    MemoryBase &read = to.memory.bases.back();
    read.within = base->within();
    read.offsets = numbers(base->offsets());
    if (base->contents() == nullptr)
      continue;
    absl::Status status = readBlob(*base->contents(), absl::StrCat("base '", read.name, "'"), read.contents);
    if (!status.ok())
      return status;
  }
  to.memory.rows = all<MemoryRow>(from.rows());
  to.variables = all<Variable>(from.variables());
  to.caches = all<Cache>(from.caches());
  to.kernels = all<KernelEntry>(from.kernels());
  to.locations = all<std::string>(from.locations());
  to.programs = all<Program>(from.programs());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Executable>> Unpacker::unpack(const format::Executable &from) {
  Executable common;
  common.weftVersion = text(from.weft_version());
  common.target = {text(from.instruction_set())};
  common.mesh = {all<MeshAxis>(from.mesh_axes()), all<MeshRole>(from.mesh_roles())};
  std::string config, tokenizer;
  if (absl::Status status = readBlob(*from.config(), "the config", config); !status.ok())
    return status;
  if (absl::Status status = readBlob(*from.tokenizer(), "the tokenizer", tokenizer); !status.ok())
    return status;
  common.config = std::move(config);
  common.tokenizer = std::move(tokenizer);
  if (from.object() != nullptr) {
    std::string object;
    if (absl::Status status = readBlob(*from.object()->bytes(), "the object of generated kernels", object);
        !status.ok())
      return status;
    common.object = {text(from.object()->target()), std::move(object)};
  }
  const uint32_t further = from.further_parts() == nullptr ? 0 : from.further_parts()->size();
  if (further * bytesOf(common.mesh) > kMostMeshBytes * structureBytes)
    return absl::InvalidArgumentError(absl::StrCat("its mesh is too large for ", further, " further parts"));
  std::vector<Executable> parts = {common};
  if (absl::Status status = readPart(from, parts.front()); !status.ok())
    return status;
  for (uint32_t i = 0; i < further && isSound(); ++i) {
    charge(4);
    parts.push_back(common);
    if (absl::Status status = readPart(*from.further_parts()->Get(i), parts.back()); !status.ok())
      return status;
  }
  if (!isSound())
    return absl::InvalidArgumentError(flaw);
  return parts;
}

/// The header, once it is known to be one of a version that this build reads, in a file of the size it says.
absl::StatusOr<FileHeader> readHeader(std::string_view bytes) {
  FileHeader header;
  if (bytes.size() < sizeof(kMagic) || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0)
    return absl::InvalidArgumentError("this is no weft executable (it does not start with 'weftexe')");
  if (bytes.size() < kHeaderBytes)
    return absl::DataLossError(
        absl::StrCat("the file ends after ", bytes.size(), " bytes, inside its header: it was cut off"));
  std::memcpy(&header, bytes.data(), kHeaderBytes);
  if (XXH64(&header, offsetof(FileHeader, headerChecksum), 0) != header.headerChecksum)
    return absl::DataLossError("the checksum of the header does not match: the file is damaged");
  if (header.formatVersion < 1 || header.formatVersion > kFormatVersion) {
    std::string writer(header.weftVersion, strnlen(header.weftVersion, sizeof(header.weftVersion)));
    return absl::FailedPreconditionError(
        absl::StrCat("written by weft ", writer, " in format version ", header.formatVersion,
                     ", this is weft " WEFT_VERSION ", which reads versions 1 to ", kFormatVersion));
  }
  if (header.fileBytes != bytes.size())
    return absl::DataLossError(absl::StrCat("the file has ", bytes.size(), " bytes, its header says ",
                                            header.fileBytes, ": it was cut off or appended to"));
  return header;
}

absl::StatusOr<std::vector<Executable>> parse(std::string_view bytes) {
  absl::StatusOr<FileHeader> header = readHeader(bytes);
  if (!header.ok())
    return header.status();
  if (header->structureOffset != kHeaderBytes || header->structureBytes < sizeof(uint64_t) ||
      header->structureBytes > bytes.size() - kHeaderBytes || header->structureBytes > kMaximumStructureBytes)
    return absl::InvalidArgumentError(absl::StrCat("its structure is said to be ", header->structureBytes,
                                                   " bytes at offset ", header->structureOffset));
  std::string_view structure = bytes.substr(kHeaderBytes, header->structureBytes);
  if (XXH64(structure.data(), structure.size(), 0) != header->structureChecksum)
    return absl::DataLossError("the checksum of the structure does not match: the file is damaged");
  // FlatBuffers wants its buffer aligned; callers' bytes may start anywhere.
  std::vector<uint64_t> buffer((structure.size() + 7) / 8);
  std::memcpy(buffer.data(), structure.data(), structure.size());
  const uint8_t *start = reinterpret_cast<const uint8_t *>(buffer.data());
  // A table takes 4 bytes, and the offset that leads to it 4 more: where there are more tables than that,
  // they are shared, and visiting them would not be linear in the file's size.
  constexpr uint32_t kMaximumDepth = 16;
  flatbuffers::Verifier verifier(start, structure.size(), kMaximumDepth,
                                 static_cast<uint32_t>(structure.size() / 8));
  if (!verifier.VerifyBuffer<format::Executable>(nullptr))
    return absl::InvalidArgumentError("its structure does not verify as FlatBuffers");
  absl::StatusOr<std::vector<Executable>> parts =
      Unpacker(bytes, structure.size()).unpack(*flatbuffers::GetRoot<format::Executable>(start));
  if (!parts.ok())
    return parts;
  if (absl::Status status = verify(*parts); !status.ok())
    return status;
  return parts;
}

struct FileContents {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
};

absl::StatusOr<FileContents> readWhole(int descriptor) {
  struct stat information;
  if (::fstat(descriptor, &information) != 0)
    return absl::ErrnoToStatus(errno, "cannot be read");
  if (!S_ISREG(information.st_mode))
    return absl::InvalidArgumentError("is not a regular file");
  size_t size = static_cast<size_t>(information.st_size);
  FileContents contents{std::unique_ptr<char[]>(new (std::nothrow) char[size]), 0};
  if (contents.bytes == nullptr)
    return absl::ResourceExhaustedError(absl::StrCat("has ", size, " bytes, which do not fit into memory"));
  while (contents.size < size) {
    ssize_t count = ::read(descriptor, contents.bytes.get() + contents.size, size - contents.size);
    if (count < 0 && errno != EINTR)
      return absl::ErrnoToStatus(errno, "cannot be read");
    if (count == 0)
      break; // shortened meanwhile: the size in the header will not match
    contents.size += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return contents;
}

} // namespace

absl::StatusOr<std::vector<Executable>> parseExecutables(std::string_view bytes, std::string_view file) {
  absl::StatusOr<std::vector<Executable>> parts = parse(bytes);
  if (parts.ok())
    return parts;
  std::string name(file);
  return absl::Status(parts.status().code(),
                      absl::StrCat(name, ": ", parts.status().message(),
                                   ". Write it again: weft compile RUN.yaml -o ", name));
}

absl::StatusOr<std::vector<Executable>> readExecutables(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not make us wait
  if (descriptor < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  absl::StatusOr<FileContents> contents = readWhole(descriptor);
  ::close(descriptor);
  if (!contents.ok())
    return absl::Status(contents.status().code(), absl::StrCat(path, ": ", contents.status().message()));
  return parseExecutables({contents->bytes.get(), contents->size}, path);
}

} // namespace weft
