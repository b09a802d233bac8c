//===- CasesElementwise.cpp - Cases of element-wise primitives --------------===//
//
// One row per op says where its values may lie: a logarithm needs positive ones, a kink must be kept away
// from where derivatives are compared.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/Cases.h"

using namespace mlir;

namespace weft::trials {
namespace {
using nn::Comparison;

Generator unary(StringRef name, Fill fill) {
  return [name, fill](CaseBuilder &c) {
    Value x = c.floats(c.shape(0, 3), fill);
    OperationState state(c.b.location, ("nn." + name).str(), ValueRange{x}, TypeRange{x.getType()});
    c.subject(c.builder.create(state));
  };
}

Generator binary(StringRef name, Fill lhs, Fill rhs, bool floatsOnly = false) {
  return [=](CaseBuilder &c) {
    SmallVector<int64_t> shape = c.shape(0, 3);
    Type type = floatsOnly ? c.element() : c.anyElement();
    Value x = c.any(shape, type, lhs), y = c.any(shape, type, rhs);
    OperationState state(c.b.location, ("nn." + name).str(), ValueRange{x, y}, TypeRange{x.getType()});
    c.subject(c.builder.create(state));
  };
}

Generator logical(StringRef name, unsigned operands) {
  return [=](CaseBuilder &c) {
    SmallVector<int64_t> shape = c.shape(0, 3);
    SmallVector<Value> values;
    for (unsigned index = 0; index < operands; ++index)
      values.push_back(c.any(shape, c.builder.getI1Type()));
    OperationState state(c.b.location, ("nn." + name).str(), values, values.front().getType());
    c.subject(c.builder.create(state));
  };
}

void addOthers(Generators &generators) {
  generators["is_finite"] = [](CaseBuilder &c) {
    Value x = c.floats(c.shape(0, 3));
    if (c.random.chance(0.5)) // some are not
      x = c.b.div(x, c.any(nn::tensorType(x).getShape(), c.element(), Fill::Spaced));
    c.subject(c.b.isFinite(x).getDefiningOp());
  };
  generators["compare"] = [](CaseBuilder &c) {
    SmallVector<int64_t> shape = c.shape(0, 3);
    Type type = c.anyElement();
    auto kind = c.random.choose(
        {Comparison::eq, Comparison::ne, Comparison::lt, Comparison::le, Comparison::gt, Comparison::ge});
    Value x = c.any(shape, type, Fill::Spaced), y = c.any(shape, type, Fill::Spaced);
    c.subject(c.b.compare(kind, x, y).getDefiningOp());
  };
  generators["select"] = [](CaseBuilder &c) {
    SmallVector<int64_t> shape = c.shape(0, 3);
    Type type = c.anyElement();
    Value condition = c.any(shape, c.builder.getI1Type()), x = c.any(shape, type), y = c.any(shape, type);
    c.subject(c.b.select(condition, x, y).getDefiningOp());
  };
  generators["cast"] = [](CaseBuilder &c) {
    Type from = c.anyElement(), to = c.element();
    if (c.style.integers)
      to = c.type(c.random.choose({DType::I1, DType::I32, DType::I64, DType::BF16, DType::F32, DType::F64}));
    Value x = c.any(c.shape(0, 3), from, Fill::Spaced);
    Type type = c.b.withElement(x, to);
    c.subject(nn::CastOp::create(c.builder, c.b.location, type, x));
  };
  generators["stop_gradient"] = [](CaseBuilder &c) {
    Value x = c.any(c.shape(0, 3), c.anyElement());
    c.subject(nn::StopGradientOp::create(c.builder, c.b.location, x.getType(), x));
  };
  generators["leaf"] = [](CaseBuilder &c) {
    Value x = c.floats(c.shape(0, 3));
    c.subject(nn::LeafOp::create(c.builder, c.b.location, x.getType(), x));
  };
  generators["boundary"] = [](CaseBuilder &c) {
    Value x = c.any(c.shape(0, 3), c.anyElement());
    c.subject(nn::BoundaryOp::create(c.builder, c.b.location, x.getType(),
                                     c.builder.getI64IntegerAttr(c.random.integer(0, 9)), x,
                                     c.random.chance(0.5) ? c.builder.getUnitAttr() : UnitAttr()));
  };
}
} // namespace

void addElementwiseCases(Generators &generators) {
  for (StringRef name : {"negate", "exp", "tanh", "sigmoid", "sin", "cos", "erf"})
    generators[name.str()] = unary(name, Fill::Normal);
  for (StringRef name : {"log", "sqrt", "rsqrt"})
    generators[name.str()] = unary(name, Fill::Positive);
  for (StringRef name : {"abs", "floor", "sign"})
    generators[name.str()] = unary(name, Fill::Spaced);
  generators["join"] = [](CaseBuilder &c) {
    SmallVector<int64_t> shape = c.shape(0, 3);
    Value first = c.floats(shape), second = c.floats(shape);
    c.subject(nn::JoinOp::create(c.builder, c.b.location, first.getType(), first, second));
  };
  for (StringRef name : {"add", "subtract", "multiply"})
    generators[name.str()] = binary(name, Fill::Normal, Fill::Normal);
  for (StringRef name : {"maximum", "minimum"})
    generators[name.str()] = binary(name, Fill::Spaced, Fill::Spaced);
  generators["divide"] = binary("divide", Fill::Normal, Fill::Positive);
  generators["power"] = binary("power", Fill::Positive, Fill::Normal, true);
  generators["and"] = logical("and", 2);
  generators["or"] = logical("or", 2);
  generators["not"] = logical("not", 1);
  addOthers(generators);
}

} // namespace weft::trials
