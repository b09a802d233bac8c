#include "runtime/comm/mpi/MpiRequests.h"

#include <algorithm>

namespace weft {

absl::Status MpiRequests::receiveWhole(void *to, int bytes, int peer, int tag, MPI_Comm communicator) {
  MPI_Request request = MPI_REQUEST_NULL;
  WEFT_CHECK_MPI(MPI_Irecv(to, bytes, MPI_BYTE, peer, tag, communicator, &request));
  requests.push_back(request);
  peers.push_back(peer);
  return absl::OkStatus();
}

absl::Status MpiRequests::sendWhole(const void *from, int bytes, int peer, int tag, MPI_Comm communicator) {
  MPI_Request request = MPI_REQUEST_NULL;
  WEFT_CHECK_MPI(MPI_Isend(from, bytes, MPI_BYTE, peer, tag, communicator, &request));
  requests.push_back(request);
  peers.push_back(-1);
  return absl::OkStatus();
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
  if (std::any_of(requests.begin(), requests.end(),
                  [](MPI_Request request) { return request != MPI_REQUEST_NULL; }))
    return false;
  requests.clear();
  peers.clear();
  return true;
}

void MpiRequests::abandon() {
  // A receive that nothing was matched with is cancelled at once. Of all others MPI keeps what it needs.
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL)
      continue;
    if (peers[i] >= 0)
      MPI_Cancel(&requests[i]);
    MPI_Request_free(&requests[i]);
  }
  requests.clear();
  peers.clear();
}

} // namespace weft
