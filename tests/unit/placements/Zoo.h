//===- Zoo.h - Small models on meshes of every kind ------------------------------===//
#ifndef WEFT_TESTS_UNIT_PLACEMENTS_ZOO_H
#define WEFT_TESTS_UNIT_PLACEMENTS_ZOO_H

#include <string>
#include <vector>

namespace weft {

/// A model on a mesh: what its run file adds to the smallest one.
struct Job {
  const char *name;
  std::vector<std::string> settings;
};

inline const std::vector<Job> &jobs() {
  static const std::vector<Job> list = {
      {"data_parallel", {"parallel.data_shard=2"}},
      {"zero_1", {"parallel.data_shard=4", "parallel.zero=1"}},
      {"zero_2", {"parallel.data_shard=2", "parallel.zero=2", "precision.recipe=bf16"}},
      {"zero_3", {"parallel.data_shard=2", "parallel.zero=3", "precision.recipe=bf16"}},
      {"hybrid_zero_3", {"parallel.data_replicate=2", "parallel.data_shard=2", "parallel.zero=3"}},
      {"canonical", {"parallel.data_shard=4", "train.reduction=canonical"}},
      {"canonical_hybrid_zero_3",
       {"parallel.data_replicate=2", "parallel.data_shard=2", "parallel.zero=3", "train.reduction=canonical",
        "model.tie_word_embeddings=true"}},
      {"tensor", {"parallel.tensor=2", "model.tie_word_embeddings=true"}},
      {"tensor_sequence_zero_1",
       {"parallel.data_shard=2", "parallel.tensor=2", "parallel.zero=1", "parallel.sequence=true"}},
      {"tied_embeddings_zero_2",
       {"parallel.data_shard=2", "parallel.tensor=2", "parallel.zero=2", "parallel.sequence=true",
        "model.tie_word_embeddings=true"}},
      {"ring_zero_1", {"parallel.context.size=2", "parallel.context.method=ring", "parallel.zero=1"}},
      {"query_groups_fewer_than_tensor", {"parallel.tensor=4", "parallel.sequence=true"}},
      {"odd_vocabulary",
       {"parallel.data_shard=3", "parallel.tensor=2", "parallel.zero=3", "model.vocab_size=259",
        "train.global_batch=12"}},
      {"pipeline", {"parallel.pipeline.size=2", "parallel.data_shard=2"}},
      {"pipeline_there_and_back",
       {"parallel.pipeline={size: 2, schedule: zb_v}", "model.num_hidden_layers=4", "parallel.tensor=2",
        "model.tie_word_embeddings=true"}},
      {"pipeline_canonical",
       {"parallel.pipeline={size: 3, schedule: zb_h1}", "model.num_hidden_layers=4", "parallel.data_shard=2",
        "parallel.zero=1", "train.reduction=canonical"}},
      {"pipeline_tensor_sequence_zero_3",
       {"parallel.pipeline={size: 2, schedule: interleaved}", "model.num_hidden_layers=4",
        "parallel.data_shard=2", "parallel.zero=3", "parallel.tensor=2", "parallel.sequence=true"}},
      {"pipeline_ring",
       {"parallel.pipeline={size: 2, schedule: gpipe}", "parallel.context.size=2",
        "parallel.context.method=ring"}},
  };
  return list;
}

inline constexpr char smallRun[] = R"(
model: {family: llama, hidden_size: 16, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2,
        intermediate_size: 32, vocab_size: 258}
tokenizer: {kind: bytes}
data: {train: [{path: corpus.txt}], sequence_length: 8}
optimizer: {kind: adamw, lr: 1.0e-3}
train: {steps: 4, micro_batch: 2, global_batch: 16}
)";

} // namespace weft

#endif // WEFT_TESTS_UNIT_PLACEMENTS_ZOO_H
