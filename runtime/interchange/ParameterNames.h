//===- ParameterNames.h - What the name of a tensor says ------------------===//
//
// Parameters have the names of transformers in both places; what their names do not say by themselves is said
// here, once: which tensors are parameters, which have a row for each token, and which dimensions are one in
// transformers.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_INTERCHANGE_PARAMETERNAMES_H
#define WEFT_RUNTIME_INTERCHANGE_PARAMETERNAMES_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::interchange {

/// The output layer of every family, where it is not the embedding.
inline constexpr char kHead[] = "lm_head.weight";

/// Whether a tensor of a checkpoint is a parameter, and not state of the optimizer or of loss scaling.
bool isParameter(const std::string &name);

/// Whether it is the token embedding.
bool isTokenEmbedding(const std::string &name);
/// Whether its rows are those of the vocabulary.
bool hasVocabularyRows(const std::string &name);

/// Constants that older versions of transformers saved with the weights: masks and rotary frequencies, which
/// follow from the config.
bool isKnownBuffer(const std::string &name);

/// The shape that transformers has for a parameter: heads and their width are one dimension, as are the rows
/// of queries, keys and values that one matrix makes. Norms and biases have one dimension, all others two.
std::vector<int64_t> huggingFaceShape(const std::string &name, const std::vector<int64_t> &shape);

} // namespace weft::interchange

#endif // WEFT_RUNTIME_INTERCHANGE_PARAMETERNAMES_H
