//===- VerifyObject.cpp - Generated kernels and the calls that name them --===//
//
// The bytes of the object are read as runtime/object reads them before it loads them, so a file that is
// accepted has what its kernels name, on every machine of its instruction set.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/GeneratedKernel.h"
#include "runtime/executable/ObjectTarget.h"
#include "runtime/executable/PlanRules.h"
#include "runtime/object/ObjectFile.h"

#include <algorithm>

namespace weft {

absl::Status verifyObject(const Executable &executable) {
  std::vector<std::string> functions;
  if (const KernelObject &object = executable.object; !object.none()) {
    if (absl::Status status = checkObjectTarget(object.target, executable.target.instructionSet);
        !status.ok())
      return broken("object of generated kernels: ", status.message());
    absl::StatusOr<std::vector<std::string>> read = readObject(object.bytes.str());
    if (!read.ok())
      return broken("object of generated kernels: ", read.status().message());
    functions = *std::move(read);
  }
  for (size_t i = 0; i < executable.kernels.size(); ++i) {
    const KernelCall &call = executable.kernels[i].call;
    if (!call.has(kSymbolAttribute))
      continue;
    const std::string what = absl::StrCat("kernel ", i, " '", call.name, "'");
    if (call.name != "elementwise")
      return broken(what, ": it names a generated function, elementwise kernels alone do");
    const std::string symbol = call.textOr(kSymbolAttribute, "");
    if (executable.object.none())
      return broken(what, ": it names the generated function '", symbol, "', and there is no object");
    if (!std::binary_search(functions.begin(), functions.end(), symbol))
      return broken(what, ": the object defines no function '", symbol, "' (it defines ", functions.size(),
                    ")");
  }
  return absl::OkStatus();
}

} // namespace weft
