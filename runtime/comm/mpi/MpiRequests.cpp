#include "runtime/comm/mpi/MpiRequests.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace weft {

absl::Status MpiRequests::keep(MPI_Request request, const Owner &owner) {
  requests.push_back(request);
  owners.push_back(owner);
  return absl::OkStatus();
}

absl::Status MpiRequests::receiveWhole(void *to, int bytes, int peer, int tag, MPI_Comm communicator) {
  MPI_Request request = MPI_REQUEST_NULL;
  WEFT_CHECK_MPI(MPI_Irecv(to, bytes, MPI_BYTE, peer, tag, communicator, &request));
  return keep(request, {peer, bytes, true, true});
}

absl::Status MpiRequests::sendWhole(const void *from, int bytes, int peer, int tag, MPI_Comm communicator) {
  MPI_Request request = MPI_REQUEST_NULL;
  WEFT_CHECK_MPI(MPI_Isend(from, bytes, MPI_BYTE, peer, tag, communicator, &request));
  return keep(request, {peer, bytes, false, false});
}

absl::Status MpiRequests::receive(void *to, int64_t bytes, int peer, int tag, MPI_Comm communicator) {
  for (int64_t begin = 0; begin < bytes; begin += chunkBytes)
    if (absl::Status status =
            receiveWhole(static_cast<std::byte *>(to) + begin,
                         static_cast<int>(std::min(chunkBytes, bytes - begin)), peer, tag, communicator);
        !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status MpiRequests::send(const void *from, int64_t bytes, int peer, int tag, MPI_Comm communicator) {
  for (int64_t begin = 0; begin < bytes; begin += chunkBytes)
    if (absl::Status status =
            sendWhole(static_cast<const std::byte *>(from) + begin,
                      static_cast<int>(std::min(chunkBytes, bytes - begin)), peer, tag, communicator);
        !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status MpiRequests::sendMet(const void *from, int64_t bytes, int peer, int tag, MPI_Comm communicator) {
  for (int64_t begin = 0; begin < bytes; begin += chunkBytes) {
    const int size = static_cast<int>(std::min(chunkBytes, bytes - begin));
    MPI_Request request = MPI_REQUEST_NULL;
    WEFT_CHECK_MPI(MPI_Issend(static_cast<const std::byte *>(from) + begin, size, MPI_BYTE, peer, tag,
                              communicator, &request));
    if (absl::Status status = keep(request, {peer, size, false, true}); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

/// A longer message is an error of MPI.
absl::Status MpiRequests::checkLength(const Owner &owner, const MPI_Status &outcome) {
  int bytes = 0;
  if (!owner.isReceive)
    return absl::OkStatus();
  WEFT_CHECK_MPI(MPI_Get_count(&outcome, MPI_BYTE, &bytes));
  if (bytes == owner.bytes)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "MPI: a message of ", bytes, " bytes came where ", owner.bytes,
      " were expected: ranks make different calls. With launch.check_collectives on, they are named"));
}

absl::StatusOr<bool> MpiRequests::test() {
  done.resize(requests.size());
  outcomes.resize(requests.size());
  int count = 0;
  const int code =
      MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, done.data(), outcomes.data());
  if (code == MPI_ERR_IN_STATUS) {
    for (int i = 0; i < count; ++i)
      WEFT_CHECK_MPI(outcomes[static_cast<size_t>(i)].MPI_ERROR);
  }
  if (absl::Status status = mpiStatus(code, "MPI_Testsome"); !status.ok())
    return status;
  for (int i = 0; i < count; ++i)
    if (absl::Status status = checkLength(owners[static_cast<size_t>(done[static_cast<size_t>(i)])],
                                          outcomes[static_cast<size_t>(i)]);
        !status.ok())
      return status;
  if (std::any_of(requests.begin(), requests.end(),
                  [](MPI_Request request) { return request != MPI_REQUEST_NULL; }))
    return false;
  requests.clear();
  owners.clear();
  return true;
}

void MpiRequests::abandon() {
  // A receive that nothing was matched with is cancelled at once. Of all others MPI keeps what it needs.
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL)
      continue;
    if (owners[i].isReceive)
      MPI_Cancel(&requests[i]);
    MPI_Request_free(&requests[i]);
  }
  requests.clear();
  owners.clear();
}

} // namespace weft
