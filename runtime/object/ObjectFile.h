//===- ObjectFile.h - A shared object of generated kernels, checked -------===//
//
// Generated kernels come as the bytes of an ELF shared object. What the system's loader would do with them is
// read here first, from the bytes alone and with every offset checked: which memory they ask for, which
// functions they define, and which they take from outside. What passes does nothing while it is loaded, takes
// from the process only what kImports lists, and has no memory that is both written and executed. That keeps
// a mistake, or a file of another kind, from being loaded; it does not make foreign machine code harmless.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_OBJECT_OBJECTFILE_H
#define WEFT_RUNTIME_OBJECT_OBJECTFILE_H

#include "absl/status/statusor.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The functions that an object defines for its callers, ascending by name. InvalidArgument, saying what was
/// found in place of what is allowed, unless the bytes are:
///
/// * an ELF64 shared object for x86-64, whose segments lie in the file and apart from each other;
/// * without interpreter, thread-local data, executable stack, or a segment that is writable and executable;
/// * without code that runs by itself (constructors, destructors, IFUNC) and relocations of its code;
/// * in need of libm.so.6 and libc.so.6 at most, and of nothing in them but the functions of kImports
/// (ObjectFile.cpp);
/// * with DT_HASH as its one table of names (`ld --hash-style=sysv`), which is checked as a whole.
absl::StatusOr<std::vector<std::string>> readObject(std::string_view bytes);

} // namespace weft

#endif // WEFT_RUNTIME_OBJECT_OBJECTFILE_H
