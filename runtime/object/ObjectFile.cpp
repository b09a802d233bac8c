#include "runtime/object/ObjectFile.h"

#include "runtime/object/ObjectImage.h"

#include "absl/strings/str_join.h"

#include <algorithm>
#include <map>
#include <set>

namespace weft {
namespace {

/// Functions of the C library that objects may call, and no others.
constexpr const char *kImports[] = {"exp", "expf", "log",  "logf",  "tanh",   "tanhf",
                                    "sin", "sinf", "cos",  "cosf",  "erf",    "erff",
                                    "pow", "powf", "fmod", "fmodf", "memcpy", "memset"};
constexpr const char *kLibraries[] = {"libm.so.6", "libc.so.6"};

/// What a dynamic section may say. Nothing else: each entry is an instruction to the loader.
constexpr int64_t kTags[] = {DT_NEEDED,   DT_PLTRELSZ,  DT_PLTGOT,  DT_HASH,      DT_STRTAB, DT_SYMTAB,
                             DT_RELA,     DT_RELASZ,    DT_RELAENT, DT_STRSZ,     DT_SYMENT, DT_SONAME,
                             DT_SYMBOLIC, DT_PLTREL,    DT_JMPREL,  DT_BIND_NOW,  DT_FLAGS,  DT_FLAGS_1,
                             DT_VERSYM,   DT_RELACOUNT, DT_VERNEED, DT_VERNEEDNUM};

struct NamedTag {
  int64_t tag;
  const char *what;
};
/// Entries that people may ask about, refused by what they mean.
constexpr NamedTag kRefusedTags[] = {
    {DT_INIT, "runs code while it is loaded (DT_INIT)"},
    {DT_INIT_ARRAY, "runs code while it is loaded (DT_INIT_ARRAY: a constructor)"},
    {DT_PREINIT_ARRAY, "runs code while it is loaded (DT_PREINIT_ARRAY)"},
    {DT_FINI, "runs code while it is unloaded (DT_FINI)"},
    {DT_FINI_ARRAY, "runs code while it is unloaded (DT_FINI_ARRAY: a destructor)"},
    {DT_TEXTREL, "has relocations of its code (DT_TEXTREL)"},
    {DT_RPATH, "names folders to search libraries in (DT_RPATH)"},
    {DT_RUNPATH, "names folders to search libraries in (DT_RUNPATH)"},
    {DT_GNU_HASH, "has a table of names of its own kind (DT_GNU_HASH); link it with --hash-style=sysv"},
    {DT_RELR, "has packed relocations (DT_RELR); link it without --pack-dyn-relocs"},
};

template <typename Values, typename Value> bool contains(const Values &values, const Value &value) {
  return std::find(std::begin(values), std::end(values), value) != std::end(values);
}

class ObjectReader {
public:
  explicit ObjectReader(const ObjectImage &image) : image(image) {}

  absl::StatusOr<std::vector<std::string>> read() {
    for (auto check :
         {&ObjectReader::readDynamic, &ObjectReader::readTables, &ObjectReader::readSymbols,
          &ObjectReader::checkHash, &ObjectReader::checkRelocations, &ObjectReader::checkVersions})
      if (absl::Status status = (this->*check)(); !status.ok())
        return status;
    std::sort(functions.begin(), functions.end());
    return functions;
  }

private:
  absl::Status readDynamic();
  absl::Status addEntry(const Elf64_Dyn &entry);
  absl::Status checkFlags();
  absl::Status readTables();
  absl::Status readSymbols();
  absl::Status readSymbol(const Elf64_Sym &symbol);
  absl::Status checkHash();
  absl::Status checkRelocations();
  absl::Status checkRelocation(const Elf64_Rela &relocation);
  absl::StatusOr<std::string_view> relocationTable(int64_t tag, int64_t sizeTag);
  absl::Status checkVersions();
  absl::Status checkNeededVersions(uint64_t address, std::set<uint16_t> &known);

  uint64_t value(int64_t tag) const {
    auto found = entries.find(tag);
    return found == entries.end() ? 0 : found->second;
  }
  bool has(int64_t tag) const { return entries.count(tag) != 0; }
  /// A name of the table of strings, which ends with a zero byte.
  absl::StatusOr<std::string_view> name(uint64_t offset) const {
    if (offset >= strings.size())
      return unfit("a name is said to be at offset ", offset, " of ", strings.size(), " bytes of names");
    return std::string_view(strings.data() + offset);
  }

  const ObjectImage &image;
  std::map<int64_t, uint64_t> entries; ///< of the dynamic section, without those that repeat
  std::vector<uint64_t> needed;        ///< names of libraries
  std::string_view strings, symbols, hash;
  uint64_t symbolCount = 0;
  std::vector<std::string> functions;
};

absl::Status ObjectReader::addEntry(const Elf64_Dyn &entry) {
  for (const NamedTag &refused : kRefusedTags)
    if (entry.d_tag == refused.tag)
      return unfit("it ", refused.what);
  if (!contains(kTags, entry.d_tag))
    return unfit("its dynamic section has an entry of type ", entry.d_tag,
                 ", which generated kernels do not have");
  if (entry.d_tag == DT_NEEDED)
    needed.push_back(entry.d_un.d_val);
  else if (!entries.try_emplace(entry.d_tag, entry.d_un.d_val).second)
    return unfit("its dynamic section has two entries of type ", entry.d_tag);
  return absl::OkStatus();
}

absl::Status ObjectReader::readDynamic() {
  const Elf64_Phdr &segment = image.dynamic();
  std::optional<std::string_view> bytes = image.at(segment.p_vaddr, segment.p_memsz);
  if (!bytes.has_value() || segment.p_vaddr % alignof(Elf64_Dyn) != 0)
    return unfit("its dynamic section of ", segment.p_memsz, " bytes at address ", segment.p_vaddr,
                 " is not in the file, or not aligned");
  for (uint64_t i = 0; i < bytes->size() / sizeof(Elf64_Dyn); ++i) {
    const auto entry = recordAt<Elf64_Dyn>(*bytes, i);
    if (entry.d_tag == DT_NULL)
      return checkFlags();
    if (absl::Status status = addEntry(entry); !status.ok())
      return status;
  }
  return unfit("its dynamic section has no end");
}

absl::Status ObjectReader::checkFlags() {
  if ((value(DT_FLAGS) & DF_TEXTREL) != 0)
    return unfit("it has relocations of its code (DF_TEXTREL)");
  if (uint64_t others = value(DT_FLAGS) & ~uint64_t{DF_SYMBOLIC | DF_BIND_NOW}; others != 0)
    return unfit("its dynamic section has flags ", others, ", which generated kernels do not have");
  if (uint64_t others = value(DT_FLAGS_1) & ~uint64_t{DF_1_NOW}; others != 0)
    return unfit("its dynamic section has flags_1 ", others, ", which generated kernels do not have");
  return absl::OkStatus();
}

/// The tables of names and symbols: where they are, and that they are whole.
absl::Status ObjectReader::readTables() {
  for (NamedTag table : {NamedTag{DT_STRTAB, "names (DT_STRTAB)"}, NamedTag{DT_SYMTAB, "symbols (DT_SYMTAB)"},
                         NamedTag{DT_HASH, "names by their hash (DT_HASH; link it with --hash-style=sysv)"}})
    if (!has(table.tag))
      return unfit("it has no table of ", table.what);
  std::optional<std::string_view> found = image.at(value(DT_STRTAB), value(DT_STRSZ));
  if (!found.has_value() || found->empty() || found->back() != '\0')
    return unfit("its table of names, ", value(DT_STRSZ), " bytes at address ", value(DT_STRTAB),
                 ", is not in the file, or does not end with a zero byte");
  strings = *found;
  std::optional<std::string_view> sizes = image.at(value(DT_HASH), 2 * sizeof(uint32_t));
  if (!sizes.has_value() || value(DT_HASH) % sizeof(uint32_t) != 0)
    return unfit("its table of hashes at address ", value(DT_HASH), " is not in the file, or not aligned");
  const uint64_t buckets = recordAt<uint32_t>(*sizes, 0);
  symbolCount = recordAt<uint32_t>(*sizes, 1);
  found = image.at(value(DT_HASH), sizeof(uint32_t) * (2 + buckets + symbolCount));
  if (!found.has_value() || buckets == 0)
    return unfit("its table of hashes with ", buckets, " buckets for ", symbolCount,
                 " symbols is not in the file");
  hash = *found;
  found = image.at(value(DT_SYMTAB), sizeof(Elf64_Sym) * symbolCount);
  if (!found.has_value() || value(DT_SYMENT) != sizeof(Elf64_Sym) ||
      value(DT_SYMTAB) % alignof(Elf64_Sym) != 0)
    return unfit("its table of ", symbolCount, " symbols of ", value(DT_SYMENT), " bytes at address ",
                 value(DT_SYMTAB), " is not in the file, or not aligned");
  symbols = *found;
  for (uint64_t offset : needed) {
    absl::StatusOr<std::string_view> library = name(offset);
    if (!library.ok())
      return library.status();
    if (!contains(kLibraries, *library))
      return unfit("it needs the library ", std::string(*library), "; generated kernels need at most ",
                   absl::StrJoin(kLibraries, ", "));
  }
  return absl::OkStatus();
}

absl::Status ObjectReader::readSymbols() {
  for (uint64_t i = 1; i < symbolCount; ++i)
    if (absl::Status status = readSymbol(recordAt<Elf64_Sym>(symbols, i)); !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status ObjectReader::readSymbol(const Elf64_Sym &symbol) {
  absl::StatusOr<std::string_view> found = name(symbol.st_name);
  if (!found.ok())
    return found.status();
  const std::string spelled(*found);
  const int binding = ELF64_ST_BIND(symbol.st_info), type = ELF64_ST_TYPE(symbol.st_info);
  if (type == STT_GNU_IFUNC)
    return unfit("its symbol '", spelled, "' is chosen by code while it is loaded (IFUNC)");
  if (binding == STB_LOCAL)
    return absl::OkStatus();
  if (binding != STB_GLOBAL && binding != STB_WEAK)
    return unfit("its symbol '", spelled, "' has binding ", binding, ", generated kernels are global");
  if (symbol.st_shndx == SHN_UNDEF)
    return contains(kImports, spelled) ? absl::OkStatus()
                                       : unfit("it imports '", spelled, "'; generated kernels may call ",
                                               absl::StrJoin(kImports, ", "));
  if (type != STT_FUNC || symbol.st_shndx >= SHN_LORESERVE || !image.holds(symbol.st_value, 1, PF_X))
    return unfit("its symbol '", spelled, "' of type ", type, " at address ", symbol.st_value,
                 " is no function in its code");
  if (ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT)
    functions.push_back(spelled);
  return absl::OkStatus();
}

/// Every chain of the table ends, so a search does.
absl::Status ObjectReader::checkHash() {
  const uint64_t buckets = recordAt<uint32_t>(hash, 0);
  uint64_t steps = 0;
  for (uint64_t bucket = 0; bucket < buckets; ++bucket)
    for (uint32_t at = recordAt<uint32_t>(hash, 2 + bucket); at != STN_UNDEF;
         at = recordAt<uint32_t>(hash, 2 + buckets + at))
      if (at >= symbolCount || ++steps > symbolCount)
        return unfit("its table of hashes leads to symbol ", at, " of ", symbolCount, ", or in a circle");
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> ObjectReader::relocationTable(int64_t tag, int64_t sizeTag) {
  const uint64_t size = value(sizeTag);
  if (size == 0)
    return std::string_view();
  std::optional<std::string_view> found = image.at(value(tag), size);
  if (!found.has_value() || size % sizeof(Elf64_Rela) != 0 || value(tag) % alignof(Elf64_Rela) != 0)
    return unfit("its relocations, ", size, " bytes at address ", value(tag),
                 ", are not in the file, or not whole");
  return *found;
}

absl::Status ObjectReader::checkRelocations() {
  absl::StatusOr<std::string_view> data = relocationTable(DT_RELA, DT_RELASZ),
                                   calls = relocationTable(DT_JMPREL, DT_PLTRELSZ);
  for (const auto *table : {&data, &calls}) {
    if (!table->ok())
      return table->status();
    for (uint64_t i = 0; i < (*table)->size() / sizeof(Elf64_Rela); ++i)
      if (absl::Status status = checkRelocation(recordAt<Elf64_Rela>(**table, i)); !status.ok())
        return status;
  }
  if ((has(DT_RELAENT) && value(DT_RELAENT) != sizeof(Elf64_Rela)) ||
      (has(DT_PLTREL) && value(DT_PLTREL) != DT_RELA) || has(DT_PLTREL) != has(DT_JMPREL))
    return unfit("its relocations are of ", value(DT_RELAENT), " bytes, and of kind ", value(DT_PLTREL),
                 " for calls; expected ", sizeof(Elf64_Rela), " and ", DT_RELA);
  const uint64_t relative = value(DT_RELACOUNT);
  for (uint64_t i = 0; i < relative; ++i)
    if (i >= data->size() / sizeof(Elf64_Rela) ||
        ELF64_R_TYPE(recordAt<Elf64_Rela>(*data, i).r_info) != R_X86_64_RELATIVE)
      return unfit("it says that its first ", relative, " relocations are relative, number ", i, " is not");
  return absl::OkStatus();
}

absl::Status ObjectReader::checkRelocation(const Elf64_Rela &relocation) {
  const uint64_t type = ELF64_R_TYPE(relocation.r_info), symbol = ELF64_R_SYM(relocation.r_info);
  if (type == R_X86_64_IRELATIVE)
    return unfit("it has a relocation that runs code (IRELATIVE)");
  if (type != R_X86_64_RELATIVE && type != R_X86_64_64 && type != R_X86_64_GLOB_DAT &&
      type != R_X86_64_JUMP_SLOT)
    return unfit("it has a relocation of type ", type, "; generated kernels have ", R_X86_64_RELATIVE, ", ",
                 R_X86_64_64, ", ", R_X86_64_GLOB_DAT, " and ", R_X86_64_JUMP_SLOT);
  if (!image.holds(relocation.r_offset, sizeof(uint64_t), PF_W))
    return unfit("it has a relocation at address ", relocation.r_offset,
                 ", which is outside of its writable memory");
  if (symbol >= symbolCount || (type == R_X86_64_RELATIVE && symbol != 0))
    return unfit("it has a relocation of type ", type, " by symbol ", symbol, " of ", symbolCount);
  if (type == R_X86_64_RELATIVE && static_cast<uint64_t>(relocation.r_addend) > image.end())
    return unfit("it has a relocation to address ", relocation.r_addend, " of ", image.end());
  return absl::OkStatus();
}

/// The versions of the C library's functions that it asks for: lists of lists, and a number for each symbol.
absl::Status ObjectReader::checkVersions() {
  std::set<uint16_t> known = {VER_NDX_LOCAL, VER_NDX_GLOBAL};
  if (has(DT_VERNEED))
    if (absl::Status status = checkNeededVersions(value(DT_VERNEED), known); !status.ok())
      return status;
  if (!has(DT_VERSYM))
    return absl::OkStatus();
  std::optional<std::string_view> numbers = image.at(value(DT_VERSYM), sizeof(uint16_t) * symbolCount);
  if (!numbers.has_value() || value(DT_VERSYM) % alignof(uint16_t) != 0)
    return unfit("its versions of symbols at address ", value(DT_VERSYM), " are not in the file");
  for (uint64_t i = 0; i < symbolCount; ++i)
    if (const auto number = recordAt<uint16_t>(*numbers, i); known.count(number & 0x7fff) == 0)
      return unfit("its symbol ", i, " has version ", number, ", which it does not describe");
  return absl::OkStatus();
}

/// A list of libraries, each with a list of versions, by the distance to the next.
absl::Status ObjectReader::checkNeededVersions(uint64_t address, std::set<uint16_t> &known) {
  constexpr int kMostRecords = 64;
  int records = 0;
  auto recordOf = [&](auto &record, uint64_t at) {
    const std::optional<std::string_view> bytes = image.at(at, sizeof(record));
    if (!bytes.has_value() || at % alignof(Elf64_Verneed) != 0 || ++records > kMostRecords)
      return false;
    std::memcpy(&record, bytes->data(), sizeof(record));
    return true;
  };
  absl::Status damaged = unfit("its list of needed versions at address ", address, " is damaged");
  Elf64_Verneed library;
  for (uint64_t libraryAt = address;; libraryAt += library.vn_next) {
    if (!recordOf(library, libraryAt) || library.vn_version != VER_NEED_CURRENT)
      return damaged;
    absl::StatusOr<std::string_view> file = name(library.vn_file);
    if (!file.ok() || !contains(kLibraries, *file))
      return damaged;
    Elf64_Vernaux version;
    for (uint64_t versionAt = libraryAt + library.vn_aux;; versionAt += version.vna_next) {
      if (!recordOf(version, versionAt) || !name(version.vna_name).ok())
        return damaged;
      known.insert(version.vna_other & 0x7fff);
      if (version.vna_next == 0)
        break;
    }
    if (library.vn_next == 0)
      return absl::OkStatus();
  }
}

} // namespace

absl::StatusOr<std::vector<std::string>> readObject(std::string_view bytes) {
  absl::StatusOr<ObjectImage> image = ObjectImage::read(bytes);
  if (!image.ok())
    return image.status();
  return ObjectReader(*image).read();
}

} // namespace weft
