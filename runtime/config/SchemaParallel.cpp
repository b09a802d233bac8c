//===- SchemaParallel.cpp - The keys of `parallel` ------------------------===//
//
// The sizes of the mesh. They say who computes what, and nothing about what is learned: every one of them may
// change from one job of a run to the next.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Schema.h"

namespace weft {

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
      "parameters too (arXiv:1910.02054).")
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
  return keys;
}

} // namespace weft
