#include "runtime/object/ObjectImage.h"

#include <algorithm>

namespace weft {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMostImageBytes = uint64_t{1} << 30;
constexpr uint16_t kMostSegments = 64;

absl::Status checkHeader(std::string_view file, Elf64_Ehdr &header) {
  if (file.size() < sizeof(header) || file.substr(0, SELFMAG) != ELFMAG)
    return unfit("these ", file.size(), " bytes are no ELF file");
  header = recordAt<Elf64_Ehdr>(file, 0);
  const unsigned char *ident = header.e_ident;
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB || ident[EI_VERSION] != EV_CURRENT ||
      (ident[EI_OSABI] != ELFOSABI_SYSV && ident[EI_OSABI] != ELFOSABI_GNU) || ident[EI_ABIVERSION] != 0)
    return unfit("it is an ELF file of class ", int{ident[EI_CLASS]}, ", byte order ", int{ident[EI_DATA]},
                 ", version ", int{ident[EI_VERSION]}, ", ABI ", int{ident[EI_OSABI]}, ".",
                 int{ident[EI_ABIVERSION]},
                 "; generated kernels are 64-bit, little-endian, of version 1 and the System V or GNU ABI");
  if (header.e_machine != EM_X86_64)
    return unfit("it is for ELF machine ", header.e_machine, ", x86-64 is ", EM_X86_64);
  if (header.e_type != ET_DYN)
    return unfit("it is an ELF file of type ", header.e_type, ", a shared object is ", ET_DYN);
  if (header.e_version != EV_CURRENT || header.e_ehsize != sizeof(Elf64_Ehdr) ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return unfit("its ELF header is of version ", header.e_version, " with ", header.e_ehsize, " bytes and ",
                 header.e_phentsize, " per segment; expected 1, ", sizeof(Elf64_Ehdr), " and ",
                 sizeof(Elf64_Phdr));
  const uint64_t bytes = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (header.e_phnum > kMostSegments || header.e_phoff > file.size() || bytes > file.size() - header.e_phoff)
    return unfit("its ", header.e_phnum, " segments are said to be described at offset ", header.e_phoff,
                 " of ", file.size(), " bytes");
  // The loader does not read its sections; where they are last, they show that the file is whole.
  const uint64_t sections = uint64_t{header.e_shnum} * header.e_shentsize;
  if (header.e_shoff > file.size() || sections > file.size() - header.e_shoff)
    return unfit("its ", header.e_shnum, " sections are said to be described at offset ", header.e_shoff,
                 " of ", file.size(), " bytes");
  return absl::OkStatus();
}

} // namespace

std::optional<std::string_view> ObjectImage::at(uint64_t address, uint64_t size) const {
  for (const Elf64_Phdr &load : loads)
    if (address >= load.p_vaddr && address - load.p_vaddr <= load.p_filesz &&
        size <= load.p_filesz - (address - load.p_vaddr))
      return file.substr(load.p_offset + (address - load.p_vaddr), size);
  return std::nullopt;
}

bool ObjectImage::holds(uint64_t address, uint64_t size, uint32_t flags) const {
  return std::any_of(loads.begin(), loads.end(), [&](const Elf64_Phdr &load) {
    return (load.p_flags & flags) == flags && address >= load.p_vaddr &&
           address - load.p_vaddr <= load.p_memsz && size <= load.p_memsz - (address - load.p_vaddr);
  });
}

absl::Status ObjectImage::addLoad(const Elf64_Phdr &segment) {
  if (segment.p_offset > file.size() || segment.p_filesz > file.size() - segment.p_offset)
    return unfit("a segment of ", segment.p_filesz, " bytes at offset ", segment.p_offset,
                 " passes the end of the object (", file.size(), " bytes)");
  if (segment.p_filesz > segment.p_memsz || segment.p_vaddr > kMostImageBytes ||
      segment.p_memsz > kMostImageBytes - segment.p_vaddr)
    return unfit("a segment of ", segment.p_memsz, " bytes of memory at ", segment.p_vaddr, " with ",
                 segment.p_filesz, " from the file: the file has at most as many, all end before ",
                 kMostImageBytes);
  const bool isPower = segment.p_align != 0 && (segment.p_align & (segment.p_align - 1)) == 0;
  if (!isPower || segment.p_align < kPage || segment.p_align > kMostImageBytes ||
      (segment.p_vaddr - segment.p_offset) % segment.p_align != 0)
    return unfit("a segment at offset ", segment.p_offset, " for address ", segment.p_vaddr,
                 " is not aligned by pages (its alignment is ", segment.p_align, ")");
  if ((segment.p_flags & PF_W) != 0 && (segment.p_flags & PF_X) != 0)
    return unfit("its segment at address ", segment.p_vaddr, " is both writable and executable");
  if (!loads.empty() && segment.p_vaddr / kPage <= (std::max<uint64_t>(end(), 1) - 1) / kPage)
    return unfit("its segment at address ", segment.p_vaddr, " shares a page with the one before it");
  loads.push_back(segment);
  return absl::OkStatus();
}

/// A segment that is not loaded by itself.
absl::Status ObjectImage::add(const Elf64_Phdr &segment) {
  switch (segment.p_type) {
  case PT_NULL:
    return absl::OkStatus();
  case PT_INTERP:
    return unfit("it asks for an interpreter (PT_INTERP), as programs do");
  case PT_TLS:
    return unfit("it has thread-local data (PT_TLS)");
  case PT_GNU_STACK:
    hasStackFlags = true;
    return (segment.p_flags & PF_X) == 0 ? absl::OkStatus() : unfit("it asks for an executable stack");
  case PT_DYNAMIC:
    if (dynamicSegment.has_value())
      return unfit("it has two dynamic sections");
    dynamicSegment = segment;
    [[fallthrough]];
  case PT_PHDR:
  case PT_NOTE:
  case PT_GNU_PROPERTY:
  case PT_GNU_EH_FRAME:
  case PT_GNU_RELRO: // what the loader protects once it has written it
    if (!holds(segment.p_vaddr, segment.p_memsz,
               (segment.p_flags & PF_W) | (segment.p_type == PT_GNU_RELRO ? PF_W : 0)))
      return unfit("its segment of type ", segment.p_type, " at address ", segment.p_vaddr, " with ",
                   segment.p_memsz, " bytes is not within the memory that it loads");
    return absl::OkStatus();
  default:
    return unfit("it has a segment of type ", segment.p_type, ", which generated kernels do not have");
  }
}

absl::Status ObjectImage::checkSegments(const std::vector<Elf64_Phdr> &segments) {
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD)
      if (absl::Status status = addLoad(segment); !status.ok())
        return status;
  if (loads.empty())
    return unfit("it loads nothing into memory");
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type != PT_LOAD)
      if (absl::Status status = add(segment); !status.ok())
        return status;
  if (!dynamicSegment.has_value())
    return unfit("it has no dynamic section");
  if (!hasStackFlags)
    return unfit("it does not say that its stack is not executable (PT_GNU_STACK; ld -z noexecstack)");
  return absl::OkStatus();
}

absl::StatusOr<ObjectImage> ObjectImage::read(std::string_view file) {
  Elf64_Ehdr header;
  if (absl::Status status = checkHeader(file, header); !status.ok())
    return status;
  std::vector<Elf64_Phdr> segments;
  for (uint16_t i = 0; i < header.e_phnum; ++i)
    segments.push_back(recordAt<Elf64_Phdr>(file.substr(header.e_phoff), i));
  ObjectImage image(file);
  if (absl::Status status = image.checkSegments(segments); !status.ok())
    return status;
  return image;
}

} // namespace weft
