#include "runtime/object/ObjectFile.h"
#include "tests/unit/object/TestObjects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <functional>
#include <optional>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// An object whose records a test may change.
class Editor {
public:
  explicit Editor(const std::string &name) : bytes(objectBytes(name)) {}

  template <typename T> T &at(uint64_t offset) { return *reinterpret_cast<T *>(bytes.data() + offset); }
  Elf64_Ehdr &header() { return at<Elf64_Ehdr>(0); }
  /// The first segment of a type that has all of the flags.
  Elf64_Phdr &segment(uint32_t type, uint32_t flags = 0) {
    for (int i = 0; i < header().e_phnum; ++i)
      if (auto &found = at<Elf64_Phdr>(header().e_phoff + i * sizeof(Elf64_Phdr));
          found.p_type == type && (found.p_flags & flags) == flags)
        return found;
    return missing<Elf64_Phdr>("segment");
  }
  Elf64_Dyn &entry(int64_t tag) {
    for (auto *dynamic = &at<Elf64_Dyn>(segment(PT_DYNAMIC).p_offset);; ++dynamic)
      if (dynamic->d_tag == tag)
        return *dynamic;
      else if (dynamic->d_tag == DT_NULL)
        return missing<Elf64_Dyn>("entry");
  }
  /// What stands where an entry of the dynamic section says.
  template <typename T> T &table(int64_t tag, uint64_t index = 0) {
    const uint64_t address = entry(tag).d_un.d_ptr;
    for (int i = 0; i < header().e_phnum; ++i)
      if (const auto &load = at<Elf64_Phdr>(header().e_phoff + i * sizeof(Elf64_Phdr));
          load.p_type == PT_LOAD && address >= load.p_vaddr && address < load.p_vaddr + load.p_filesz)
        return at<T>(load.p_offset + address - load.p_vaddr + index * sizeof(T));
    return missing<T>("table");
  }
  /// The symbol of a name.
  Elf64_Sym &symbol(const std::string &name) {
    for (uint32_t i = 1; i < table<uint32_t>(DT_HASH, 1); ++i)
      if (auto &found = table<Elf64_Sym>(DT_SYMTAB, i); &table<char>(DT_STRTAB, found.st_name) == name)
        return found;
    return missing<Elf64_Sym>("symbol");
  }
  void replace(const std::string &from, const std::string &to) {
    const size_t found = bytes.find(from);
    EXPECT_NE(found, std::string::npos) << from;
    bytes.replace(found, from.size(), to);
  }

  std::string bytes;

private:
  template <typename T> T &missing(const char *what) {
    ADD_FAILURE() << "the object has no such " << what;
    static T none;
    return none;
  }
};

TEST(ObjectFile, ListsItsFunctions) {
  absl::StatusOr<std::vector<std::string>> functions = readObject(objectBytes("kernels"));
  ASSERT_EQ(functions.status(), absl::OkStatus());
  EXPECT_THAT(*functions, ElementsAre("weft_alternate", "weft_multiply_add"));
}

TEST(ObjectFile, MayCallWhatTheListOfImportsHas) {
  for (const char *name : {"imports", "linked"}) { // without and with the libraries' names and versions
    absl::StatusOr<std::vector<std::string>> functions = readObject(objectBytes(name));
    ASSERT_EQ(functions.status(), absl::OkStatus()) << name;
    EXPECT_THAT(*functions, ElementsAre("weft_exp"));
  }
}

TEST(ObjectFile, AHiddenFunctionIsNotForCallers) {
  Editor object("kernels");
  object.symbol("weft_alternate").st_other = STV_HIDDEN;
  EXPECT_THAT(*readObject(object.bytes), ElementsAre("weft_multiply_add"));
}

struct Compiled {
  const char *object;
  const char *message;
};

class RefusesAsItIs : public ::testing::TestWithParam<Compiled> {};

TEST_P(RefusesAsItIs, ByWhatItFound) {
  const std::string bytes = objectBytes(GetParam().object);
  ASSERT_FALSE(bytes.empty());
  absl::Status status = readObject(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    ObjectFile, RefusesAsItIs,
    ::testing::Values(
        Compiled{"constructor", "it runs code while it is loaded (DT_INIT_ARRAY: a constructor)"},
        Compiled{"destructor", "it runs code while it is unloaded (DT_FINI_ARRAY: a destructor)"},
        Compiled{"chosen", "its symbol 'weft_chosen' is chosen by code while it is loaded (IFUNC)"},
        Compiled{"foreign", "it imports 'system'; generated kernels may call exp, expf, log, "},
        Compiled{"data", "its symbol 'weft_state' of type 1 at address "},
        Compiled{"thread_local", "it has thread-local data (PT_TLS)"},
        Compiled{"executable_stack", "it asks for an executable stack"},
        Compiled{"gnu_hash", "(DT_GNU_HASH); link it with --hash-style=sysv"}),
    [](const auto &info) { return info.param.object; });

struct Changed {
  const char *name;
  const char *object;
  std::function<void(Editor &)> change;
  const char *message;
};

class RefusesChanged : public ::testing::TestWithParam<Changed> {};

TEST_P(RefusesChanged, ByWhatItFound) {
  Editor object(GetParam().object);
  ASSERT_EQ(readObject(object.bytes).status(), absl::OkStatus());
  GetParam().change(object);
  absl::Status status = readObject(object.bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

const Changed kHeader[] = {
    {"Magic", "kernels", [](Editor &o) { o.bytes[1] = 'e'; }, "bytes are no ELF file"},
    {"Empty", "kernels", [](Editor &o) { o.bytes.clear(); }, "these 0 bytes are no ELF file"},
    {"Class", "kernels", [](Editor &o) { o.header().e_ident[EI_CLASS] = ELFCLASS32; },
     "it is an ELF file of class 1, byte order 1,"},
    {"Order", "kernels", [](Editor &o) { o.header().e_ident[EI_DATA] = ELFDATA2MSB; }, "byte order 2"},
    {"Abi", "kernels", [](Editor &o) { o.header().e_ident[EI_OSABI] = ELFOSABI_FREEBSD; }, "ABI 9.0"},
    {"Machine", "kernels", [](Editor &o) { o.header().e_machine = EM_AARCH64; },
     "it is for ELF machine 183, x86-64 is 62"},
    {"Type", "kernels", [](Editor &o) { o.header().e_type = ET_EXEC; }, "it is an ELF file of type 2"},
    {"SegmentSize", "kernels", [](Editor &o) { o.header().e_phentsize = 32; }, "32 per segment"},
    {"SegmentTable", "kernels", [](Editor &o) { o.header().e_phoff = ~uint64_t{0}; },
     "segments are said to be described at offset 18446744073709551615"},
    {"ManySegments", "kernels", [](Editor &o) { o.header().e_phnum = 0xffff; }, "its 65535 segments"},
    {"NoSegments", "kernels", [](Editor &o) { o.header().e_phnum = 0; }, "it loads nothing into memory"},
    {"SectionTable", "kernels", [](Editor &o) { o.header().e_shoff = 1 << 20; },
     "sections are said to be described at offset 1048576"},
};

const Changed kSegments[] = {
    {"Interpreter", "kernels", [](Editor &o) { o.segment(PT_GNU_RELRO).p_type = PT_INTERP; },
     "it asks for an interpreter (PT_INTERP)"},
    {"OtherType", "kernels", [](Editor &o) { o.segment(PT_GNU_RELRO).p_type = 0x60000000; },
     "it has a segment of type 1610612736"},
    {"NoStack", "kernels", [](Editor &o) { o.segment(PT_GNU_STACK).p_type = PT_NULL; },
     "it does not say that its stack is not executable"},
    {"Stack", "kernels", [](Editor &o) { o.segment(PT_GNU_STACK).p_flags |= PF_X; }, "an executable stack"},
    {"WritableCode", "kernels", [](Editor &o) { o.segment(PT_LOAD, PF_X).p_flags |= PF_W; },
     "is both writable and executable"},
    {"ExecutableData", "kernels", [](Editor &o) { o.segment(PT_LOAD, PF_W).p_flags |= PF_X; },
     "is both writable and executable"},
    {"FileEnd", "kernels", [](Editor &o) { o.segment(PT_LOAD, PF_X).p_filesz = 1 << 20; },
     "passes the end of the object"},
    {"MemorySize", "kernels", [](Editor &o) { o.segment(PT_LOAD, PF_W).p_memsz = 1; }, "of memory at"},
    {"MemoryEnd", "kernels", [](Editor &o) { o.segment(PT_LOAD, PF_W).p_memsz = uint64_t{1} << 63; },
     "all end before 1073741824"},
    {"Alignment", "kernels", [](Editor &o) { o.segment(PT_LOAD, PF_X).p_align = 16; },
     "is not aligned by pages (its alignment is 16)"},
    {"Offset", "kernels", [](Editor &o) { o.segment(PT_LOAD, PF_X).p_vaddr += 8; },
     "is not aligned by pages"},
    {"Overlap", "kernels",
     [](Editor &o) { o.segment(PT_LOAD, PF_X).p_vaddr = o.segment(PT_LOAD, PF_X).p_offset % 4096; },
     "shares a page with the one before it"},
    {"TwoDynamic", "kernels", [](Editor &o) { o.segment(PT_GNU_STACK) = o.segment(PT_DYNAMIC); },
     "it has two dynamic sections"},
    {"NoDynamic", "kernels", [](Editor &o) { o.segment(PT_DYNAMIC).p_type = PT_NULL; },
     "it has no dynamic section"},
    {"DynamicPlace", "kernels", [](Editor &o) { o.segment(PT_DYNAMIC).p_vaddr += 1 << 24; },
     "is not within the memory that it loads"},
    {"DynamicEnd", "kernels", [](Editor &o) { o.segment(PT_DYNAMIC).p_memsz = 16; },
     "its dynamic section has no end"},
    {"ProtectedPlace", "kernels", [](Editor &o) { o.segment(PT_GNU_RELRO).p_vaddr = 1 << 24; },
     "is not within the memory that it loads"},
    {"ProtectedCode", "kernels",
     [](Editor &o) { o.segment(PT_GNU_RELRO).p_vaddr = o.segment(PT_LOAD, PF_X).p_vaddr; },
     "is not within the memory that it loads"},
};

const Changed kDynamic[] = {
    {"Constructor", "kernels", [](Editor &o) { o.entry(DT_RELAENT).d_tag = DT_INIT; },
     "it runs code while it is loaded (DT_INIT)"},
    {"CodeRelocations", "kernels", [](Editor &o) { o.entry(DT_RELAENT).d_tag = DT_TEXTREL; },
     "it has relocations of its code (DT_TEXTREL)"},
    {"CodeRelocationsFlag", "kernels", [](Editor &o) { o.entry(DT_RELAENT) = {DT_FLAGS, {DF_TEXTREL}}; },
     "it has relocations of its code (DF_TEXTREL)"},
    {"Flags", "kernels", [](Editor &o) { o.entry(DT_RELAENT) = {DT_FLAGS, {DF_STATIC_TLS}}; },
     "its dynamic section has flags 16"},
    {"Stays", "kernels", [](Editor &o) { o.entry(DT_RELAENT) = {DT_FLAGS_1, {DF_1_NODELETE}}; },
     "its dynamic section has flags_1 8"},
    {"Search", "kernels", [](Editor &o) { o.entry(DT_RELAENT).d_tag = DT_RUNPATH; },
     "names folders to search libraries in (DT_RUNPATH)"},
    {"Audit", "kernels", [](Editor &o) { o.entry(DT_RELAENT).d_tag = DT_AUDIT; },
     "its dynamic section has an entry of type 1879047932"},
    {"Twice", "kernels", [](Editor &o) { o.entry(DT_RELAENT).d_tag = DT_STRSZ; },
     "its dynamic section has two entries of type 10"},
    {"Library", "linked", [](Editor &o) { o.replace("libm.so.6", "libx.so.6"); },
     "it needs the library libx.so.6; generated kernels need at most libm.so.6, libc.so.6"},
    {"NoHash", "kernels", [](Editor &o) { o.entry(DT_HASH).d_tag = DT_SONAME; },
     "it has no table of names by their hash (DT_HASH; link it with --hash-style=sysv)"},
    {"Names", "kernels", [](Editor &o) { o.entry(DT_STRSZ).d_un.d_val = 1 << 20; },
     "its table of names, 1048576 bytes"},
    {"NamesEnd", "kernels", [](Editor &o) { o.entry(DT_STRSZ).d_un.d_val = 4; },
     "does not end with a zero byte"},
    {"SymbolSize", "kernels", [](Editor &o) { o.entry(DT_SYMENT).d_un.d_val = 8; }, "symbols of 8 bytes"},
    {"SymbolPlace", "kernels", [](Editor &o) { o.entry(DT_SYMTAB).d_un.d_ptr = 1 << 24; },
     "symbols of 24 bytes at address 16777216"},
    {"SymbolCount", "kernels", [](Editor &o) { o.table<uint32_t>(DT_HASH, 1) = ~uint32_t{0}; },
     "for 4294967295 symbols is not in the file"},
    {"Buckets", "kernels", [](Editor &o) { o.table<uint32_t>(DT_HASH, 0) = 0; }, "with 0 buckets"},
    {"ForeignBucket", "kernels", [](Editor &o) { o.table<uint32_t>(DT_HASH, 2) = 77; },
     "leads to symbol 77 of 3"},
    {"Circle", "kernels",
     [](Editor &o) {
       o.table<uint32_t>(DT_HASH, 2) = 1;
       o.table<uint32_t>(DT_HASH, 2 + o.table<uint32_t>(DT_HASH, 0) + 1) = 1;
     },
     "or in a circle"},
};

const Changed kSymbols[] = {
    {"Import", "imports", [](Editor &o) { o.replace("expf", "exit"); }, "it imports 'exit'"},
    {"Name", "kernels", [](Editor &o) { o.symbol("weft_alternate").st_name = 1 << 20; },
     "a name is said to be at offset 1048576"},
    {"Binding", "kernels",
     [](Editor &o) { o.symbol("weft_alternate").st_info = ELF64_ST_INFO(STB_GNU_UNIQUE, STT_FUNC); },
     "its symbol 'weft_alternate' has binding 10"},
    {"Address", "kernels", [](Editor &o) { o.symbol("weft_alternate").st_value = 8; },
     "its symbol 'weft_alternate' of type 2 at address 8 is no function in its code"},
    {"Absolute", "kernels", [](Editor &o) { o.symbol("weft_alternate").st_shndx = SHN_ABS; },
     "is no function in its code"},
    {"RunsCode", "kernels",
     [](Editor &o) { o.table<Elf64_Rela>(DT_RELA).r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE); },
     "it has a relocation that runs code (IRELATIVE)"},
    {"OtherRelocation", "kernels",
     [](Editor &o) { o.table<Elf64_Rela>(DT_RELA).r_info = ELF64_R_INFO(0, R_X86_64_COPY); },
     "it has a relocation of type 5"},
    {"RelocatedCode", "kernels",
     [](Editor &o) { o.table<Elf64_Rela>(DT_RELA).r_offset = o.symbol("weft_alternate").st_value; },
     "which is outside of its writable memory"},
    {"RelocatedOutside", "kernels", [](Editor &o) { o.table<Elf64_Rela>(DT_RELA).r_offset = ~uint64_t{0}; },
     "it has a relocation at address 18446744073709551615"},
    {"RelocationSymbol", "kernels",
     [](Editor &o) { o.table<Elf64_Rela>(DT_RELA).r_info = ELF64_R_INFO(99, R_X86_64_64); },
     "by symbol 99 of 3"},
    {"RelocationTarget", "kernels", [](Editor &o) { o.table<Elf64_Rela>(DT_RELA).r_addend = -1; },
     "it has a relocation to address -1"},
    {"RelocationTable", "kernels", [](Editor &o) { o.entry(DT_RELASZ).d_un.d_val = 25; },
     "its relocations, 25 bytes"},
    {"RelocationBytes", "kernels", [](Editor &o) { o.entry(DT_RELAENT).d_un.d_val = 16; },
     "its relocations are of 16 bytes"},
    {"RelativeCount", "kernels", [](Editor &o) { o.entry(DT_RELACOUNT).d_un.d_val = 3; },
     "its first 3 relocations are relative, number 2 is not"},
    {"VersionNumbers", "linked", [](Editor &o) { o.entry(DT_VERSYM).d_un.d_ptr = 1 << 24; },
     "its versions of symbols at address 16777216 are not in the file"},
    {"VersionNumber", "linked", [](Editor &o) { o.table<uint16_t>(DT_VERSYM, 1) = 55; },
     "its symbol 1 has version 55, which it does not describe"},
    {"Versions", "linked", [](Editor &o) { o.table<Elf64_Verneed>(DT_VERNEED).vn_version = 2; },
     "its list of needed versions"},
    {"VersionCircle", "linked",
     [](Editor &o) { // to itself, once around the addresses
       o.table<Elf64_Verneed>(DT_VERNEED).vn_next = 0;
       o.table<Elf64_Vernaux>(DT_VERNEED, 1).vna_next = ~uint32_t{0};
     },
     "its list of needed versions"},
};

std::string nameOf(const ::testing::TestParamInfo<Changed> &info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Header, RefusesChanged, ::testing::ValuesIn(kHeader), nameOf);
INSTANTIATE_TEST_SUITE_P(Segments, RefusesChanged, ::testing::ValuesIn(kSegments), nameOf);
INSTANTIATE_TEST_SUITE_P(Dynamic, RefusesChanged, ::testing::ValuesIn(kDynamic), nameOf);
INSTANTIATE_TEST_SUITE_P(Symbols, RefusesChanged, ::testing::ValuesIn(kSymbols), nameOf);

TEST(ObjectFile, ACutObjectIsRefusedAtEveryLength) {
  const std::string bytes = objectBytes("linked");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(readObject(std::string(bytes, 0, size)).ok()) << size; // its end is where reading must end
}

TEST(ObjectFile, WithAnyByteChangedItIsReadOrRefused) {
  for (const char *name : {"kernels", "linked"}) {
    const std::string bytes = objectBytes(name);
    int refused = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      for (int change : {0x01, 0x80, 0xff}) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ change);
        refused += readObject(changed).ok() ? 0 : 1;
      }
    EXPECT_GT(refused, 300) << name;
  }
}

} // namespace
} // namespace weft::testing
