//===- TextWindow.h - The logits behind a text that grows -------------------===//
//
// The programs `prefill` and `decode` of a job: the first computes a whole window of the text and keeps the
// keys and values of all layers, the second adds one token to them. When the window is full, it begins anew
// with the last half of it, so a token is computed from at least that many before it, and from one prefill
// for every half window. A job without `decode` (a model given as IR, which keeps nothing) computes the
// window for each token.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_TEXTWINDOW_H
#define WEFT_RUNTIME_TRAIN_TEXTWINDOW_H

#include "runtime/exec/Executor.h"
#include "runtime/train/SequencePart.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// The tokens of a window: what `prefill` of a job sees at once. An error (exit code config) where there are
/// no such programs, or no part of them reads its inputs.
absl::StatusOr<int64_t> textLengthOf(const std::vector<Executable> &parts);

class TextWindow {
public:
  /// `rank`: of the executable's mesh, whose ranks may each take a part of the text or, of a pipeline, none
  /// of it; `length`: textLengthOf. No other program may run between calls.
  static absl::StatusOr<TextWindow> bind(Executor &executor, int64_t rank, int64_t length);

  /// The logits of the token behind `text`, which is not empty: what it was at the last call, and one more
  /// token. Valid until the next call.
  absl::StatusOr<std::span<const float>> logitsBehind(std::span<const int32_t> text);

private:
  /// A program, and what it reads and gives. Inputs that this rank's part does not read are empty.
  struct BoundProgram {
    ProgramHandle handle;
    std::span<int32_t> tokens;
    SequencePart part{0};
    std::span<int64_t> position;
    std::span<const float> logits;
  };

  explicit TextWindow(Executor &executor, int64_t length)
      : executor(&executor), window(static_cast<size_t>(length)) {}
  absl::StatusOr<BoundProgram> bindProgram(const char *name, const char *tokens, int64_t rank,
                                           int64_t length) const;
  absl::StatusOr<std::span<const float>> run(BoundProgram &program, size_t position);

  Executor *executor;
  BoundProgram prefill;
  std::optional<BoundProgram> decode;
  std::vector<int32_t> window; ///< padded with zeros, which causal attention does not see
  size_t begin = 0;            ///< of the text, in the window
  size_t seen = 0;             ///< tokens of the text that were computed, from there on
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_TEXTWINDOW_H
