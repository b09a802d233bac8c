#include "passes/analysis/KernelCalls.h"

#include "dialects/nn/NnDialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {
namespace {
DType toDType(Type type) {
  return TypeSwitch<Type, DType>(type)
      .Case<BFloat16Type>([](Type) { return DType::BF16; })
      .Case<Float16Type>([](Type) { return DType::F16; })
      .Case<Float32Type>([](Type) { return DType::F32; })
      .Case<Float64Type>([](Type) { return DType::F64; })
      .Default([](Type type) {
        return type.isInteger(1) ? DType::I1 : type.isInteger(32) ? DType::I32 : DType::I64;
      });
}

Type toElementType(MLIRContext *context, DType type) {
  switch (type) {
  case DType::I1:
    return IntegerType::get(context, 1);
  case DType::I32:
    return IntegerType::get(context, 32);
  case DType::I64:
    return IntegerType::get(context, 64);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  }
  return {};
}

std::vector<int64_t> toVector(ArrayRef<int64_t> values) { return {values.begin(), values.end()}; }

template <typename OpTy> void setAttention(KernelCall &call, OpTy op) {
  call.setNumber("scale", op.getScale().convertToDouble());
  call.setInteger("causal", op.getCausal());
  call.setInteger("window", static_cast<int64_t>(op.getWindow()));
  call.setNumber("softcap", op.getSoftcap().convertToDouble());
  call.setInteger("has_segments", op.getQuerySegments() ? 1 : 0);
  call.setInteger("has_positions", op.getQueryPositions() ? 1 : 0);
  call.setInteger("has_sinks", op.getSinks() ? 1 : 0);
}

template <typename OpTy> void setLoss(KernelCall &call, OpTy op) {
  call.setInteger("ignore_index", static_cast<int64_t>(op.getIgnoreIndex()));
  call.setNumber("label_smoothing", op.getLabelSmoothing().convertToDouble());
  call.setNumber("z_loss", op.getZLoss().convertToDouble());
  call.setNumber("softcap", op.getSoftcap().convertToDouble());
}

void setLossStatistics(KernelCall &call, nn::LinearCrossEntropyStatisticsOp op) {
  call.setNumber("softcap", op.getSoftcap().convertToDouble());
}

void setLossBackward(KernelCall &call, nn::LinearCrossEntropyBackwardOp op) {
  setLoss(call, op);
  if (op.getPartOf())
    call.setInteger("part_of", static_cast<int64_t>(*op.getPartOf()));
}

template <typename OpTy> void setRmsNorm(KernelCall &call, OpTy op) {
  call.setNumber("epsilon", op.getEpsilon().convertToDouble());
  call.setNumber("weight_offset", op.getWeightOffset().convertToDouble());
}

/// Sets the attributes of an op that is a kernel of its own; false for any other op.
bool setAttributes(KernelCall &call, Operation *op) {
  using namespace nn;
  return TypeSwitch<Operation *, bool>(op)
      .Case([&](EinsumOp e) { return call.setText("equation", e.getEquation().str()), true; })
      .Case([&](ReduceOp r) {
        call.setText("kind", stringifyReduction(r.getKind()).str());
        return call.setIntegers("dimensions", toVector(r.getDimensions())), true;
      })
      .Case([&](CumulativeSumOp c) {
        return call.setInteger("dimension", static_cast<int64_t>(c.getDimension())), true;
      })
      .Case([&](TopKOp t) { return call.setInteger("k", tensorType(t.getValues()).getShape().back()), true; })
      .Case(
          [&](TransposeOp t) { return call.setIntegers("permutation", toVector(t.getPermutation())), true; })
      .Case([&](BroadcastOp b) { return call.setIntegers("dimensions", toVector(b.getDimensions())), true; })
      .Case([&](SliceOp s) { return call.setIntegers("offsets", toVector(s.getOffsets())), true; })
      .Case([&](UpdateSliceOp u) { return call.setIntegers("offsets", toVector(u.getOffsets())), true; })
      .Case([&](ConcatenateOp c) {
        return call.setInteger("dimension", static_cast<int64_t>(c.getDimension())), true;
      })
      .Case([&](PadOp p) {
        call.setIntegers("low", toVector(p.getLow()));
        call.setIntegers("high", toVector(p.getHigh()));
        return call.setNumber("value", p.getValue().convertToDouble()), true;
      })
      .Case([&](IotaOp i) {
        return call.setInteger("dimension", static_cast<int64_t>(i.getDimension())), true;
      })
      .Case([&](RandomUniformOp r) {
        call.setInteger("seed", static_cast<int64_t>(r.getSeed()));
        return call.setInteger("op_id", static_cast<int64_t>(r.getOpId())), true;
      })
      .Case<AttentionMergeOp, GatherOp, ScatterAddOp>([](auto) { return true; })
      .Case([&](SquaredNormOp norm) {
        if (norm.getRows())
          call.setInteger("rows", static_cast<int64_t>(*norm.getRows()));
        return true;
      })
      .Case<RmsNormOp, RmsNormBackwardOp>([&](auto norm) { return setRmsNorm(call, norm), true; })
      .Case<LayerNormOp, LayerNormBackwardOp>(
          [&](auto norm) { return call.setNumber("epsilon", norm.getEpsilon().convertToDouble()), true; })
      .Case([&](RopeOp r) {
        call.setInteger("inverse", r.getInverse());
        return call.setInteger("interleaved", r.getInterleaved()), true;
      })
      .Case<AttentionOp, AttentionBackwardOp>(
          [&](auto attention) { return setAttention(call, attention), true; })
      .Case([&](LinearCrossEntropyOp loss) { return setLoss(call, loss), true; })
      .Case([&](LinearCrossEntropyStatisticsOp loss) { return setLossStatistics(call, loss), true; })
      .Case([&](LinearCrossEntropyBackwardOp loss) { return setLossBackward(call, loss), true; })
      .Default(false);
}
} // namespace

TensorType toTensorType(RankedTensorType type) {
  return {toDType(type.getElementType()), toVector(type.getShape())};
}

std::optional<KernelCall> kernelCallFor(Operation *op) {
  KernelCall call;
  if (!setAttributes(call, op))
    return std::nullopt;
  call.name = op->getName().stripDialect().str();
  for (Value operand : op->getOperands())
    call.operands.push_back(toTensorType(nn::tensorType(operand)));
  for (Value result : op->getResults())
    call.results.push_back(toTensorType(nn::tensorType(result)));
  return call;
}

CallIdentity identityOf(sched::LaunchOp launch) {
  return {launch.getKernelAttr(), launch.getSettings(),
          FunctionType::get(launch.getContext(), launch->getOperandTypes(), launch->getResultTypes())};
}

KernelCall kernelCallOf(sched::LaunchOp launch) {
  KernelCall call;
  call.name = launch.getKernel().str();
  for (Value operand : launch.getInputs())
    call.operands.push_back(toTensorType(nn::tensorType(operand)));
  for (Value result : launch.getOutputs())
    call.results.push_back(toTensorType(nn::tensorType(result)));
  for (NamedAttribute setting : launch.getSettings()) {
    weft::Attribute &attribute = call.attributes[setting.getName().str()];
    if (auto text = dyn_cast<StringAttr>(setting.getValue()))
      attribute.text = text.getValue().str();
    else if (auto integers = dyn_cast<DenseI64ArrayAttr>(setting.getValue()))
      attribute.integers = toVector(integers.asArrayRef());
    else if (auto numbers = dyn_cast<DenseF64ArrayAttr>(setting.getValue()))
      attribute.numbers = {numbers.asArrayRef().begin(), numbers.asArrayRef().end()};
  }
  return call;
}

sched::LaunchOp createLaunch(OpBuilder &builder, Location location, const KernelCall &call,
                             ValueRange operands) {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> results;
  for (const TensorType &type : call.results)
    results.push_back(RankedTensorType::get(type.shape, toElementType(context, type.dtype)));
  SmallVector<NamedAttribute> settings;
  for (const auto &[key, attribute] : call.attributes) {
    mlir::Attribute value;
    if (!attribute.text.empty())
      value = builder.getStringAttr(attribute.text);
    else if (!attribute.numbers.empty())
      value = builder.getDenseF64ArrayAttr(attribute.numbers);
    else
      value = builder.getDenseI64ArrayAttr(attribute.integers);
    settings.push_back(builder.getNamedAttr(key, value));
  }
  return sched::LaunchOp::create(builder, location, results, builder.getStringAttr(call.name), operands,
                                 builder.getDictionaryAttr(settings), ArrayAttr(), sched::PlaceAttr(),
                                 builder.getI64IntegerAttr(0));
}

} // namespace weft
