//===- RotaryTables.cpp - Rotary frequencies and their scaling variants ------===//
//
// Scaling variants differ in the inverse frequencies, and yarn in a factor on the tables. Formulas: linear,
// arXiv:2306.15595; yarn, arXiv:2309.00071; llama3, arXiv:2407.21783; parameters are those of Hugging Face's
// rope_scaling.
//
//===----------------------------------------------------------------------===//
#include "compiler/model/Blocks.h"
#include "runtime/config/ModelFamilies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace mlir;

namespace weft {
namespace {
/// Inverse frequency i is theta^(-2 i / dimension).
SmallVector<double> plainFrequencies(double theta, int64_t dimension) {
  SmallVector<double> frequencies;
  for (int64_t index = 0; index < dimension / 2; ++index)
    frequencies.push_back(std::pow(theta, -2.0 * index / dimension));
  return frequencies;
}

/// Long wavelengths are interpolated, short ones kept, those between blended.
double llama3Frequency(const RopeScalingConfig &scaling, double frequency) {
  auto original = static_cast<double>(scaling.originalMaxPositionEmbeddings);
  double wavelength = 2.0 * std::numbers::pi / frequency;
  if (wavelength > original / scaling.lowFreqFactor)
    return frequency / scaling.factor;
  if (wavelength < original / scaling.highFreqFactor)
    return frequency;
  double blend =
      (original / wavelength - scaling.lowFreqFactor) / (scaling.highFreqFactor - scaling.lowFreqFactor);
  return (1.0 - blend) * frequency / scaling.factor + blend * frequency;
}

/// The dimension whose wavelength makes `rotations` turns over the original context.
double yarnCorrectionDimension(const ModelConfig &config, double rotations) {
  auto original = static_cast<double>(config.ropeScaling.originalMaxPositionEmbeddings);
  return config.headDim * std::log(original / (rotations * 2.0 * std::numbers::pi)) /
         (2.0 * std::log(config.ropeTheta));
}

void applyYarn(const ModelConfig &config, MutableArrayRef<double> frequencies) {
  const RopeScalingConfig &scaling = config.ropeScaling;
  double low = yarnCorrectionDimension(config, scaling.betaFast);
  double high = yarnCorrectionDimension(config, scaling.betaSlow);
  if (scaling.truncate)
    low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, static_cast<double>(config.headDim - 1));
  if (low == high)
    high += 0.001;
  for (auto [index, frequency] : llvm::enumerate(frequencies)) {
    double ramp = std::clamp((static_cast<double>(index) - low) / (high - low), 0.0, 1.0);
    frequency = frequency / scaling.factor * ramp + frequency * (1.0 - ramp);
  }
}

double yarnAttentionFactor(const RopeScalingConfig &scaling) {
  if (scaling.attentionFactor)
    return *scaling.attentionFactor;
  auto scale = [&](double mscale) {
    return scaling.factor <= 1.0 ? 1.0 : 0.1 * mscale * std::log(scaling.factor) + 1.0;
  };
  if (scaling.mscale && scaling.mscaleAllDim)
    return scale(*scaling.mscale) / scale(*scaling.mscaleAllDim);
  return scale(1.0);
}

/// Of positions f64 [..., half], each row one number.
RotaryTable tableOf(ModelBuilder &b, ArrayRef<double> frequencies, double factor, Value positions) {
  Type f64 = b.builder.getF64Type(), f32 = b.builder.getF32Type();
  auto row = DenseElementsAttr::get(b.type({static_cast<int64_t>(frequencies.size())}, f64), frequencies);
  Value inverse = b.create<nn::ConstantOp>(cast<ElementsAttr>(Attribute(row)));
  Value angle = b.mul(positions, b.broadcastRow(inverse, nn::tensorType(positions).getShape()));
  auto table = [&](Value value) { return b.cast(b.scale(value, factor), f32); };
  Value cosine = table(b.unary<nn::CosOp>(angle));
  return {cosine, table(b.unary<nn::SinOp>(angle))};
}

/// Under the config's scaling.
RotaryTable scaledTable(ModelBuilder &b, const ModelConfig &config, Value positions) {
  SmallVector<double> frequencies = plainFrequencies(config.ropeTheta, config.headDim);
  double factor = 1.0;
  switch (config.ropeScaling.ropeType) {
  case RopeType::Default:
    break;
  case RopeType::Linear:
    for (double &frequency : frequencies)
      frequency /= config.ropeScaling.factor;
    break;
  case RopeType::Llama3:
    for (double &frequency : frequencies)
      frequency = llama3Frequency(config.ropeScaling, frequency);
    break;
  case RopeType::Yarn:
    applyYarn(config, frequencies);
    factor = yarnAttentionFactor(config.ropeScaling);
    break;
  }
  return tableOf(b, frequencies, factor, positions);
}
/// The tables of a family; `positions` gives them f64 [..., half].
SmallVector<RotaryTable, 2> tablesOf(ModelBuilder &b, const ModelConfig &config,
                                     llvm::function_ref<Value()> positions) {
  const FamilyTraits &family = traitsOf(config.family);
  auto scope = b.scope("rotary");
  SmallVector<RotaryTable, 2> tables;
  if (family.takes("rope_theta"))
    tables.push_back(scaledTable(b, config, positions()));
  if (family.takes("rope_local_base_freq"))
    tables.push_back(
        tableOf(b, plainFrequencies(config.ropeLocalBaseFreq, config.headDim), 1.0, positions()));
  return tables;
}
} // namespace

SmallVector<RotaryTable, 2> buildRotaryTables(ModelBuilder &b, const ModelConfig &config, int64_t sequence,
                                              Value first) {
  return tablesOf(b, config, [&] {
    Type f64 = b.builder.getF64Type();
    Value position = b.iota({sequence, config.headDim / 2}, f64, 0);
    return first ? b.add(position, b.broadcastScalar(b.cast(first, f64), position)) : position;
  });
}

SmallVector<RotaryTable, 2> buildRotaryTablesAt(ModelBuilder &b, const ModelConfig &config, Value positions) {
  return tablesOf(b, config, [&] {
    return b.broadcastLast(b.cast(positions, b.builder.getF64Type()), config.headDim / 2);
  });
}

} // namespace weft
