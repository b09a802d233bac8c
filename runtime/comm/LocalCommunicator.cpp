#include "runtime/comm/LocalCommunicator.h"

#include "absl/strings/str_cat.h"

#include <cstring>

namespace weft {
namespace {

absl::Status checkLengths(const char *what, size_t mine, size_t all, int ranks) {
  if (all % static_cast<size_t>(ranks) == 0 && mine == all / static_cast<size_t>(ranks))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": ", all, " bytes in all are not ", ranks, " times ", mine, " bytes"));
}

absl::Status checkElements(const char *what, size_t bytes, DType type, ReduceKind kind) {
  if (bytes % static_cast<size_t>(byteSize(type)) != 0)
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", bytes, " bytes are no whole number of ",
                                                   std::string(name(type)), " elements"));
  if (type == DType::I1 && kind == ReduceKind::Sum)
    return absl::InvalidArgumentError(absl::StrCat(what, ": i1 has no sum; reduce it with max or min"));
  return absl::OkStatus();
}

/// memmove where there is something to move: empty spans may have null pointers.
void move(std::span<std::byte> to, std::span<const std::byte> from) {
  if (!from.empty())
    std::memmove(to.data(), from.data(), from.size());
}

class LocalCommunicator : public Communicator {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  absl::Status barrier() override { return absl::OkStatus(); }

  absl::Status broadcast(std::span<std::byte> bytes, int root) override {
    if (root < 0 || root >= size())
      return absl::InvalidArgumentError(absl::StrCat("broadcast: root ", root, " of ", size(), " ranks"));
    return absl::OkStatus();
  }

  absl::Status allGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    if (absl::Status status = checkLengths("all_gather", mine.size(), all.size(), size()); !status.ok())
      return status;
    move(all, mine);
    return absl::OkStatus();
  }

  absl::Status allReduce(std::span<std::byte> values, DType type, ReduceKind kind) override {
    return checkElements("all_reduce", values.size(), type, kind);
  }

  absl::Status reduceScatter(std::span<const std::byte> all, std::span<std::byte> mine, DType type,
                             ReduceKind kind) override {
    if (absl::Status status = checkLengths("reduce_scatter", mine.size(), all.size(), size()); !status.ok())
      return status;
    if (absl::Status status = checkElements("reduce_scatter", mine.size(), type, kind); !status.ok())
      return status;
    move(mine, all);
    return absl::OkStatus();
  }
};

} // namespace

std::unique_ptr<Communicator> createLocalCommunicator() { return std::make_unique<LocalCommunicator>(); }

} // namespace weft
