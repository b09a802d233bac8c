//===- ModelReport.h - What a model is, and what a rank holds of it ------------===//
//
// `weft model`: the parameters as the program declares them, block by block; the operations of a token; and
// what the memory plan of a mesh gives parameters, gradients and optimizer on the rank that needs most.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODELREPORT_H
#define WEFT_COMPILER_MODELREPORT_H

#include "runtime/config/Config.h"
#include "runtime/executable/Executable.h"

#include "absl/status/statusor.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

struct Compiled;

struct ModelParameter {
  std::string name; ///< the checkpoint's
  TensorType type;  ///< global
};

/// The parameters of a run's model, in the order of the program. Builds it, and compiles nothing.
absl::StatusOr<std::vector<ModelParameter>> modelParameters(const Config &config);

/// The function of a family's model with its parameters, as model.program may name it: values have the names
/// of the blocks that they are of.
absl::StatusOr<std::string> modelFunctionText(const Config &config);

/// Bytes of the rank that needs most, by its memory plan.
struct MeshMemory {
  std::string mesh; ///< as it was asked for
  int64_t ranks = 1;
  int64_t parameters = 0, gradients = 0, optimizer = 0;
  int64_t all = 0; ///< with activations and all else
};

MeshMemory meshMemory(const Compiled &compiled, std::string mesh);

struct ModelReport {
  std::string family; ///< or the path of a program
  std::vector<ModelParameter> parameters;
  int64_t sequenceLength = 0;
  std::optional<double> flopsPerToken; ///< forward and backward
  std::vector<MeshMemory> meshes;
};

/// The report for people, and for programs.
std::string reportText(const ModelReport &report);
std::string reportJson(const ModelReport &report);
/// The parameters alone: an array of name, shape, dtype.
std::string parametersJson(const std::vector<ModelParameter> &parameters);

/// The families with the keys that each takes.
std::string familiesText();
std::string familiesJson();

} // namespace weft

#endif // WEFT_COMPILER_MODELREPORT_H
