#include "runtime/comm/mpi/MpiLibrary.h"

#include "absl/strings/str_cat.h"

#include <atomic>
#include <string_view>

namespace weft {

static std::atomic<bool> isBroken{false};

std::mutex &mpiLock() {
  static std::mutex lock;
  return lock;
}

bool mpiRuns() {
  int started = 0, ended = 0;
  return MPI_Initialized(&started) == MPI_SUCCESS && MPI_Finalized(&ended) == MPI_SUCCESS && started != 0 &&
         ended == 0;
}

void noteMpiIsBroken() { isBroken = true; }
bool mpiIsBroken() { return isBroken; }

absl::Status startMpi() {
  std::lock_guard<std::mutex> lock(mpiLock());
  if (mpiRuns())
    return absl::OkStatus();
  int provided = MPI_THREAD_SINGLE;
  WEFT_CHECK_MPI(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
  WEFT_CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  WEFT_CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  if (provided < MPI_THREAD_SERIALIZED)
    return absl::FailedPreconditionError("MPI: this library was built without threads "
                                         "(MPI_THREAD_SERIALIZED), which weft needs");
  return absl::OkStatus();
}

absl::Status mpiStatus(int code, const char *what) {
  if (code == MPI_SUCCESS)
    return absl::OkStatus();
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
    length = 0;
  const std::string_view call(what);
  return absl::InternalError(absl::StrCat("MPI: ", std::string(call.substr(0, call.find('('))), ": ",
                                          std::string(text, static_cast<size_t>(length))));
}

} // namespace weft
