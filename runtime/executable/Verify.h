//===- Verify.h - Whether an executable may be run ------------------------===//
//
// An executable that passes verify() touches no byte outside its memory plan, whatever its commands are, as
// long as the machine code of its generated kernels, if it has any, does what it should:
// every index is in range, every reference is aligned and ends inside its base (or slot), no size overflows,
// no command writes constants or inputs, results and workspaces of a command are disjoint, every action is
// scheduled, and per-microbatch actions take the microbatches in ascending order, each once. The mesh is one,
// types of variables and inputs are those of a rank's part of their placements, and kernels name axes
// and generated functions that there are. What needs the device's kernels (workspace sizes, operands that
// alias results) or a rank (collectives' shapes) is checked by Executor::create.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_VERIFY_H
#define WEFT_RUNTIME_EXECUTABLE_VERIFY_H

#include "runtime/executable/Executable.h"

#include "absl/status/status.h"

#include <vector>

namespace weft {

/// InvalidArgument naming program, command and location of the first rule broken.
absl::Status verify(const Executable &executable);

/// Also that the parts make one job: there is one for each place along the pipeline of the mesh, all agree in
/// what is common, and have the same programs, with as many microbatches and with the same outputs, which are
/// whole on every rank; inputs and variables that several have are the same, and belong to the first of them.
absl::Status verify(const std::vector<Executable> &parts);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_VERIFY_H
