#include "kernels/reference/Generate.h"

#include "kernels/common/Philox.h"
#include "kernels/reference/Casts.h"
#include "kernels/reference/Checks.h"
#include "kernels/reference/Shape.h"

namespace weft::reference {

absl::StatusOr<Tensor> full(const TensorType &type, double value) {
  absl::StatusOr<Tensor> one = cast(Tensor{DType::F64, {}, {value}, {}}, type.dtype);
  if (!one.ok())
    return one;
  if (!isFloat(type.dtype) && static_cast<double>(one->integers[0]) != value)
    return refuse("constant", "value ", value, " is not one of ", std::string(name(type.dtype)));
  return broadcast(*one, type.shape, {});
}

absl::StatusOr<Tensor> iota(const TensorType &type, int64_t dimension) {
  absl::StatusOr<Tensor> result = zerosFor("iota", type);
  if (!result.ok())
    return result;
  if (absl::Status status = checkDimension("iota", dimension, *result); !status.ok())
    return status;
  if (type.dtype == DType::I1)
    return refuse("iota", "the result must be i32, i64 or of a float type, it is ", type.str());
  int64_t step = stridesOf(type.shape)[dimension], size = type.shape[dimension];
  withValues(
      [&](auto &out) {
        for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i)
          out[i] = i / step % size;
      },
      *result);
  return result;
}

absl::StatusOr<Tensor> randomUniform(const Tensor &step, const Tensor &sampleIds, std::vector<int64_t> shape,
                                     uint64_t seed, uint64_t opId) {
  constexpr std::string_view op = "random_uniform";
  if (absl::Status status = checkTensor(op, step); !status.ok())
    return status;
  if (absl::Status status = checkTensor(op, sampleIds); !status.ok())
    return status;
  if (step.type() != TensorType{DType::I64, {}})
    return refuse(op, "the step must be tensor<i64>, it is ", step.type().str());
  if (sampleIds.dtype != DType::I64 || sampleIds.rank() != 1)
    return refuse(op, "the sample ids must be one dimension of i64, they are ", sampleIds.type().str());
  TensorType type{DType::F32, std::move(shape)};
  if (type.shape.empty() || type.shape[0] != sampleIds.shape[0])
    return refuse(op, "the result ", type.str(), " must begin with the ", sampleIds.shape[0], " samples");
  absl::StatusOr<Tensor> result = zerosFor(op, type);
  if (!result.ok())
    return result;
  uint64_t key = philoxKey(seed, static_cast<uint64_t>(step.integers[0]), opId);
  int64_t samples = type.shape[0], width = samples == 0 ? 0 : result->elements() / samples;
  for (int64_t sample = 0; sample < samples; ++sample) {
    PhiloxCounter words = {};
    for (int64_t i = 0; i < width; ++i) {
      if (i % 4 == 0)
        words =
            philoxBlock(key, static_cast<uint64_t>(sampleIds.integers[sample]), static_cast<uint64_t>(i / 4));
      result->reals[sample * width + i] = uniformFromBits(words[i % 4]);
    }
  }
  return result;
}

} // namespace weft::reference
