//===- LocalLine.h - From one thread of a local group to another ----------===//
//
// The k-th send and the k-th receive of a line are one transfer. Whoever begins second copies, outside of the
// group's lock; then both are done. A copy begins only while the group has not failed and neither rank has
// left, and a rank that fails, gives up or leaves first waits for the copies that are under way to or from
// its memory (LocalGroup::settle()): so nobody reads or writes what was given back. Internal to runtime/comm.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_LOCALLINE_H
#define WEFT_RUNTIME_COMM_LOCALLINE_H

#include "kernels/collective/Line.h"

#include <array>
#include <condition_variable>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class LocalGroup;

/// Which end of a line: the rank that sends is member 0.
enum class LineEnd : uint8_t { Send, Receive };

/// The transfers from one rank to another.
struct LocalLine {
  LocalLine(int from, int to);

  struct Transfer {
    CollectiveCall call; ///< as the end that came first says it; its detail is below
    std::string detail;
    const void *from = nullptr;
    void *to = nullptr;
    bool hasBegun[2] = {false, false}; ///< by end
    bool isCopied = false;
  };

  int rankAt(LineEnd end) const { return members[static_cast<size_t>(end)]; }
  int peerAt(LineEnd end) const { return members[1 - static_cast<size_t>(end)]; }
  /// A transfer by its number, which is kept until both ends have waited for it.
  Transfer &at(uint64_t number) { return *transfers[number - firstKept]; }
  /// The first end of the next transfer comes.
  Transfer &add(const CollectiveCall &call);
  /// Makes room for one more.
  void addSpare();
  /// Both ends have waited for the first transfer.
  void takeFirst();
  bool hasBegun(uint64_t number, LineEnd end) const {
    return number < firstKept + transfers.size() &&
           transfers[number - firstKept]->hasBegun[static_cast<size_t>(end)];
  }
  /// Whether a copy is under way.
  bool isCopying() const;

  const std::array<int, 2> members;
  std::vector<std::unique_ptr<Transfer>> transfers, spare; ///< few, so that taking the first is cheap
  uint64_t firstKept = 0;
  std::array<uint64_t, 2> begun{}, finished{}; ///< by end
  std::condition_variable changed;
};

/// This rank's ends of the lines to and from another.
class LocalLineEnds final : public Line {
public:
  LocalLineEnds(std::shared_ptr<LocalGroup> group, int rank, int peer);

  absl::Status send(const CollectiveCall &call, const void *from) override;
  absl::Status receive(const CollectiveCall &call, void *to) override;
  absl::Status finishSend() override;
  absl::Status finishReceive() override;

private:
  std::shared_ptr<LocalGroup> group;
  LocalLine &out, &in; ///< live as long as the group
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_LOCALLINE_H
