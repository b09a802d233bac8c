//===- Messages.h - What programs of a pipeline send to each other ----------===//
//
// Between two pipeline ranks there is one queue in each direction: the k-th send meets the k-th receive, and
// the k-th wait is for the k-th of them. Sends and receives begin and go on; a wait is over when the other
// side has begun too. A message carries the values of all ranks of its sender: each goes to the rank that has
// the same place in the other pipeline rank.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_MESSAGES_H
#define WEFT_COMPILER_INTERPRET_MESSAGES_H

#include "compiler/interpret/Ranks.h"

#include <deque>
#include <map>

namespace weft::interpret {

/// From the first of its two beginnings on.
struct Message {
  dist::SendOp send;       ///< null as long as it has not begun
  dist::ReceiveOp receive; ///< likewise
  MeshValue value;         ///< of the send
  bool isSent = false;     ///< the send was waited for: its memory may change
  bool isHere = false;     ///< the receive was waited for: its memory may be read
};

class Messages {
public:
  /// Each of these is `op` in the program of pipeline rank `own`. Failures are reported at an op.
  mlir::FailureOr<std::shared_ptr<Message>> send(dist::SendOp op, int64_t own, const MeshValue &value);
  mlir::FailureOr<std::shared_ptr<Message>> receive(dist::ReceiveOp op, int64_t own);
  /// False when the wait cannot be over yet; `why` then says what is missing.
  mlir::FailureOr<bool> wait(dist::SendWaitOp op, int64_t own, std::string &why);
  mlir::FailureOr<bool> wait(dist::ReceiveWaitOp op, int64_t own, std::string &why);

  /// When all programs have ended: fails if anything was sent, received or waited for on one side alone.
  mlir::LogicalResult verifyAllArrived() const;

private:
  struct Line {
    std::deque<std::shared_ptr<Message>> messages;                   ///< that are not over on both sides
    size_t over = 0;                                                 ///< before them
    size_t sends = 0, receives = 0, sendWaits = 0, receiveWaits = 0; ///< so far
    std::shared_ptr<Message> at(size_t number);
    void dropOver();
  };

  std::map<std::pair<int64_t, int64_t>, Line> lines; ///< by sender and receiver
};

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_MESSAGES_H
