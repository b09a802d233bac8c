#include "compiler/interpret/Messages.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace weft::interpret {
namespace {

/// Both sides have begun: they must mean the same.
LogicalResult verifySides(const Message &message, int64_t from, int64_t to) {
  if (!message.send || !message.receive)
    return success();
  dist::ReceiveOp receive = message.receive;
  dist::SendOp send = message.send;
  if (send.getOperand().getType() == receive.getType())
    return success();
  InFlightDiagnostic error = receive.emitOpError();
  error << "on pipeline rank " << to << " expects " << dist::describe(receive.getType()) << "; pipeline rank "
        << from << " sends " << dist::describe(cast<RankedTensorType>(send.getOperand().getType()));
  error.attachNote(send.getLoc()) << "sent here";
  return error;
}

} // namespace

std::shared_ptr<Message> Messages::Line::at(size_t number) {
  if (number - over == messages.size())
    messages.push_back(std::make_shared<Message>());
  return messages[number - over];
}

void Messages::Line::dropOver() {
  for (; !messages.empty() && messages.front()->isSent && messages.front()->isHere; ++over)
    messages.pop_front();
}

FailureOr<std::shared_ptr<Message>> Messages::send(dist::SendOp op, int64_t own, const MeshValue &value) {
  auto to = static_cast<int64_t>(op.getTo());
  Line &line = lines[{own, to}];
  std::shared_ptr<Message> message = line.at(line.sends++);
  message->send = op;
  message->value = value;
  if (failed(verifySides(*message, own, to)))
    return failure();
  return message;
}

FailureOr<std::shared_ptr<Message>> Messages::receive(dist::ReceiveOp op, int64_t own) {
  auto from = static_cast<int64_t>(op.getFrom());
  Line &line = lines[{from, own}];
  std::shared_ptr<Message> message = line.at(line.receives++);
  message->receive = op;
  if (failed(verifySides(*message, from, own)))
    return failure();
  return message;
}

FailureOr<bool> Messages::wait(dist::SendWaitOp op, int64_t own, std::string &why) {
  auto to = static_cast<int64_t>(op.getTo());
  Line &line = lines[{own, to}];
  if (line.sendWaits == line.sends)
    return op.emitOpError() << "waits for send " << line.sendWaits << " to pipeline rank " << to
                            << ", but only " << line.sends << " have begun on pipeline rank " << own;
  Message &message = *line.at(line.sendWaits);
  if (!message.receive) {
    why = absl::StrCat("send ", line.sendWaits, " to pipeline rank ", to, " has no receive there yet");
    return false;
  }
  ++line.sendWaits;
  message.isSent = true;
  line.dropOver();
  return true;
}

FailureOr<bool> Messages::wait(dist::ReceiveWaitOp op, int64_t own, std::string &why) {
  auto from = static_cast<int64_t>(op.getFrom());
  Line &line = lines[{from, own}];
  if (line.receiveWaits == line.receives)
    return op.emitOpError() << "waits for receive " << line.receiveWaits << " from pipeline rank " << from
                            << ", but only " << line.receives << " have begun on pipeline rank " << own;
  Message &message = *line.at(line.receiveWaits);
  if (!message.send) {
    why = absl::StrCat("receive ", line.receiveWaits, " from pipeline rank ", from, " has no send there yet");
    return false;
  }
  ++line.receiveWaits;
  message.isHere = true;
  line.dropOver();
  return true;
}

LogicalResult Messages::verifyAllArrived() const {
  for (const auto &[ends, line] : lines)
    for (auto [index, message] : llvm::enumerate(line.messages)) {
      auto [from, to] = ends;
      size_t number = line.over + index;
      dist::SendOp send = message->send;
      dist::ReceiveOp receive = message->receive;
      if (!receive)
        return send.emitOpError() << "on pipeline rank " << from << ": pipeline rank " << to
                                  << " never receives message " << number << " from there";
      if (!send)
        return receive.emitOpError() << "on pipeline rank " << to << ": pipeline rank " << from
                                     << " never sends message " << number << " to there";
      if (!message->isSent)
        return send.emitOpError() << "on pipeline rank " << from << ": message " << number
                                  << " to pipeline rank " << to << " is never waited for (dist.send_wait)";
      if (!message->isHere)
        return receive.emitOpError() << "on pipeline rank " << to << ": message " << number
                                     << " from pipeline rank " << from
                                     << " is never waited for (dist.receive_wait)";
    }
  return success();
}

} // namespace weft::interpret
