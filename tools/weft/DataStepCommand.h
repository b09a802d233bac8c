//===- DataStepCommand.h - weft data show RUN.yaml --step N ---------------===//
#ifndef WEFT_TOOLS_WEFT_DATASTEPCOMMAND_H
#define WEFT_TOOLS_WEFT_DATASTEPCOMMAND_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct ShowStepOptions {
  std::string file; ///< a run file
  std::vector<std::string> overrides;
  std::string runs = "runs";         ///< whose cache has the prepared data
  int64_t step = 0;                  ///< from 1, as in metrics.jsonl
  std::optional<int64_t> microbatch; ///< of every data rank, from 0; unset: the whole step
  bool isJson = false;
};

/// Prints what a step reads: its samples in order, and what each is made of.
void showStep(const ShowStepOptions &options);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_DATASTEPCOMMAND_H
