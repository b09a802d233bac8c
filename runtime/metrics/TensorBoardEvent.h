//===- TensorBoardEvent.h - The events that TensorBoard reads -------------===//
//
// TensorFlow's Event messages, as far as scalars need them, in the wire format of Protocol Buffers. Written
// by hand: Debian's SentencePiece has a version of that library inside, and a second one in the same process
// would take its place.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_TENSORBOARDEVENT_H
#define WEFT_RUNTIME_METRICS_TENSORBOARDEVENT_H

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// One Event; times are seconds since 1970-01-01 UTC.
class TensorBoardEvent {
public:
  explicit TensorBoardEvent(double wallTime);

  void setStep(int64_t step);
  void setFileVersion(std::string_view version);
  /// Readers forget what earlier files of the folder say about the step and later ones.
  void setStart();
  void addScalar(std::string_view tag, float value);

  /// The message on the wire.
  std::string bytes() const;

private:
  std::string fields;
  std::string summary;
};

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_TENSORBOARDEVENT_H
