//===- MpiLibrary.h - The MPI library, as this process has it -------------===//
//
// MPI belongs to a process: it is started once and ended once, and its functions are called under one lock,
// by whichever thread. Errors come back as statuses; none aborts the process. Internal to runtime/comm/mpi.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_MPI_MPILIBRARY_H
#define WEFT_RUNTIME_COMM_MPI_MPILIBRARY_H

#define OMPI_SKIP_MPICXX
#include <mpi.h>

#include "absl/status/status.h"

#include <mutex>

namespace weft {

/// Held around every call of the library, and for the state that such calls change.
std::mutex &mpiLock();

/// Starts the library, unless it runs.
absl::Status startMpi();

/// Whether the library runs: started, and not ended.
bool mpiRuns();

/// From now on the library cannot be ended in good order: messages of a rank that was lost may be on their
/// way, and ending would wait for it.
void noteMpiIsBroken();
bool mpiIsBroken();

/// OK, or Internal: "MPI: WHAT: the library's text".
absl::Status mpiStatus(int code, const char *what);

} // namespace weft

/// Returns the status of a call of the library to the caller when it failed.
#define WEFT_CHECK_MPI(call)                                                                                 \
  if (absl::Status weftStatus = ::weft::mpiStatus((call), #call); !weftStatus.ok())                          \
  return weftStatus

#endif // WEFT_RUNTIME_COMM_MPI_MPILIBRARY_H
