//===- SchemaParallel.cpp - The keys of `parallel` ------------------------===//
//
// The sizes of the mesh. They say who computes what, and nothing about what is learned: every one of them may
// change from one job of a run to the next.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Schema.h"
#include "runtime/support/ScheduleShape.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace weft {

/// "One forward, one backward; 1 stage a rank (arXiv:2006.09503)."
static std::string descriptionOf(const schedules::ScheduleDemands &demands) {
  std::string text = absl::StrCat(std::string(demands.summary), "; ", demands.chunks,
                                  demands.chunks == 1 ? " stage" : " stages", " a rank",
                                  demands.hasAnyChunks ? " or more" : "");
  if (demands.fewestPerRank > 0)
    absl::StrAppend(&text, ", ", demands.fewestPerRank, " microbatches a rank or more");
  absl::StrAppend(&text, " (", std::string(demands.source), ").");
  text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  return text;
}

/// A pipeline changes who computes what and when, and no sum.
static void addPipelineKeys(std::vector<Key> &keys) {
  using Parallel = ParallelConfig;
  using Pipeline = PipelineConfig;
  auto add = [&](std::string name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("parallel.pipeline." + name, binding, std::move(doc))
        .mayChange("no bit changes: a pipeline says who computes what, and when");
  };
  add("size", fieldOf<&Config::parallel, &Parallel::pipeline, &Pipeline::size>(),
      "Ranks that have one or more stages of the model each; the loss curve does not depend on it.")
      .unit("ranks")
      .atLeast(1)
      .atMost(schedules::mostRanks);
  Key &schedule = add("schedule", fieldOf<&Config::parallel, &Parallel::pipeline, &Pipeline::schedule>(),
                      "What a rank does for which microbatch, in which order. `weft schedule` shows each, "
                      "docs/pipelines.md compares them and says how to write your own.")
                      .orFile()
                      .usedOverOne("parallel.pipeline.size");
  for (const schedules::ScheduleDemands &demands : schedules::scheduleDemands())
    schedule.choice(std::string(demands.name), descriptionOf(demands));
  schedule.choice("auto", "The best that a search finds, with 1 stage a rank, or 2 where layout says so.");
  add("layout", fieldOf<&Config::parallel, &Parallel::pipeline, &Pipeline::layout>(),
      "Where the model is cut. E is the embedding, t a decoder layer, t*3 three of them, L the final norm "
      "and "
      "head, | a border between stages, which are dealt out to the ranks. A number of stages: as even as can "
      "be, "
      "embedding and head counting as a layer each. auto: as many as the schedule is made for, of nearly "
      "equal "
      "cost, within launch.memory_per_rank where that is given and can be.")
      .textOrInteger("auto, a number of stages, or stages such as \"E t*3 | t*4 | t*4 | t*3 L\"")
      .usedOverOne("parallel.pipeline.size");
}

std::vector<Key> parallelKeys() {
  using Parallel = ParallelConfig;
  constexpr double mostRanks = 65536;
  std::vector<Key> keys;
  auto add = [&](std::string name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("parallel." + name, binding, std::move(doc))
        .mayChange("sums are rounded in another order, so bits differ from an unchanged run");
  };
  add("data_replicate", fieldOf<&Config::parallel, &Parallel::dataReplicate>(),
      "Groups of ranks that read samples of their own and hold the same parameters and optimizer state.")
      .unit("ranks")
      .atLeast(1)
      .atMost(mostRanks)
      .keptByCanonical();
  add("data_shard", fieldOf<&Config::parallel, &Parallel::dataShard>(),
      "Ranks that read samples of their own and, by zero, share what a group holds; -1: what launch.ranks "
      "leaves.")
      .unit("ranks")
      .atLeast(-1)
      .atMost(mostRanks)
      .keptByCanonical();
  add("zero", fieldOf<&Config::parallel, &Parallel::zero>(),
      "What the ranks of data_shard and context share: 0 nothing, 1 the optimizer state, 2 gradients too, 3 "
      "parameters too (arXiv:1910.02054). 2 and 3 communicate in every microbatch, of which a pipeline wants "
      "many.")
      .usedOverOne("parallel.data_shard", {"parallel.context.size"})
      .atLeast(0)
      .atMost(3)
      .keptByCanonical();
  add("tensor", fieldOf<&Config::parallel, &Parallel::tensor>(),
      "Ranks that share the heads, the feed-forward and the vocabulary of every layer; it divides "
      "model.num_attention_heads.")
      .unit("ranks")
      .atLeast(1)
      .atMost(mostRanks);
  add("sequence", fieldOf<&Config::parallel, &Parallel::sequence>(),
      "Whether the ranks of tensor also share the sequence between the products (arXiv:2205.05198).")
      .usedOverOne("parallel.tensor");
  using Context = ContextConfig;
  add("context.size", fieldOf<&Config::parallel, &Parallel::context, &Context::size>(),
      "Ranks that read the same samples, each its own positions of them. It divides data.sequence_length, "
      "with gather and ring into an even number of positions each.")
      .unit("ranks")
      .atLeast(1)
      .atMost(mostRanks);
  add("context.method", fieldOf<&Config::parallel, &Parallel::context, &Context::method>(),
      "How a rank's queries meet the keys of other ranks.")
      .choice("gather", "Every rank gathers all keys and values (arXiv:2407.21783). Each has an early and a "
                        "late chunk of the positions, which balances causal work.")
      .choice("all_to_all", "For the attention alone ranks share heads instead of positions "
                            "(arXiv:2309.14509).")
      .choice("ring",
              "Keys and values travel from rank to rank, and a rank holds those of one other at a time "
              "(arXiv:2310.01889). Positions as with gather.")
      .usedOverOne("parallel.context.size");
  addPipelineKeys(keys);
  return keys;
}

} // namespace weft
