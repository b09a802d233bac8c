#include "compiler/codegen/Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace weft {
namespace {
bool isHalf(DType type) { return type == DType::BF16 || type == DType::F16; }
/// What a function of the library is called after: the type of the registers it takes.
llvm::StringRef suffixOf(DType type) { return type == DType::F64 ? "_f64" : "_f32"; }
} // namespace

VectorType Instructions::registerType(DType type) {
  switch (type) {
  case DType::I1:
    return VectorType::get(lanes, b.getI1Type());
  case DType::I32:
    return VectorType::get(lanes, b.getI32Type());
  case DType::I64:
    return VectorType::get(lanes, b.getI64Type());
  case DType::F64:
    return VectorType::get(lanes, b.getF64Type());
  default:
    return VectorType::get(lanes, b.getF32Type());
  }
}

Value Instructions::splat(VectorType type, double value) {
  return arith::ConstantOp::create(
      b, b.getUnknownLoc(), DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), value)));
}

Value Instructions::splatInteger(VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      b, b.getUnknownLoc(), DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), value)));
}

Value Instructions::zero(Value like) {
  auto type = cast<VectorType>(like.getType());
  return arith::ConstantOp::create(b, b.getUnknownLoc(), b.getZeroAttr(type));
}

Value Instructions::constant(const ElementwiseConstant &constant) {
  return cast(splat(registerType(DType::F64), constant.value), DType::F64, constant.type);
}

Value Instructions::callFunction(const std::string &name, ArrayRef<Value> sources, Type result) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    function =
        func::FuncOp::create(atEnd, b.getUnknownLoc(), name,
                             b.getFunctionType(llvm::to_vector(ValueRange(sources).getTypes()), {result}));
    function.setPrivate();
  }
  return func::CallOp::create(b, b.getUnknownLoc(), function, ValueRange(sources)).getResult(0);
}

Value Instructions::callByLane(llvm::StringRef name, ArrayRef<Value> sources, Type result) {
  Value all = zero(arith::ConstantOp::create(b, b.getUnknownLoc(), b.getZeroAttr(result)));
  for (int64_t lane = 0; lane < lanes; ++lane) {
    SmallVector<Value> elements;
    for (Value source : sources)
      elements.push_back(vector::ExtractOp::create(b, b.getUnknownLoc(), source, lane));
    Value one = callFunction(name.str(), elements, cast<VectorType>(result).getElementType());
    all = vector::InsertOp::create(b, b.getUnknownLoc(), one, all, lane);
  }
  return all;
}

Value Instructions::call(llvm::StringRef name, DType type, ArrayRef<Value> sources) {
  std::string full = ("weft_" + name + suffixOf(type)).str();
  if (type == DType::F64 || sources.size() > 1)
    return callByLane(full, sources, registerType(type));
  return callFunction(full, sources, registerType(type));
}

Value Instructions::widen(Value a, VectorType type) {
  return arith::ExtFOp::create(b, b.getUnknownLoc(), type, a, arith::FastMathFlagsAttr());
}

/// kernels/cpu/Float16-inl.h says the same of one element.
Value Instructions::roundToBf16(Value a) {
  Location loc = b.getUnknownLoc();
  VectorType words = registerType(DType::I32);
  Value bits = arith::BitcastOp::create(b, loc, words, a);
  Value high = splatInteger(words, static_cast<int32_t>(0xFFFF0000u));
  Value last = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, splatInteger(words, 16)),
                                     splatInteger(words, 1));
  Value nearest =
      arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, bits, splatInteger(words, 0x7FFF)), last);
  Value quiet = arith::OrIOp::create(b, loc, bits, splatInteger(words, 0x00400000));
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, a, a);
  Value chosen = arith::SelectOp::create(b, loc, isNan, quiet, nearest);
  return arith::BitcastOp::create(b, loc, a.getType(), arith::AndIOp::create(b, loc, chosen, high));
}

Value Instructions::round(Value a, DType type) {
  Location loc = b.getUnknownLoc();
  if (type == DType::BF16)
    return roundToBf16(a);
  if (type != DType::F16)
    return a;
  auto half = VectorType::get(lanes, b.getF16Type());
  return widen(arith::TruncFOp::create(b, loc, half, a), cast<VectorType>(a.getType()));
}

Value Instructions::unary(ElementwiseOp op, DType type, Value a) {
  Location loc = b.getUnknownLoc();
  Value none = zero(a);
  auto less = [&](Value x, Value y) { return compare(ElementwiseOp::Less, type, x, y); };
  switch (op) {
  case ElementwiseOp::Negate:
    return isFloat(type) ? Value(arith::NegFOp::create(b, loc, a)) : arith::SubIOp::create(b, loc, none, a);
  case ElementwiseOp::Abs: {
    Value negative = isFloat(type) ? Value(arith::SubFOp::create(b, loc, none, a))
                                   : arith::SubIOp::create(b, loc, none, a);
    if (!isFloat(type))
      return arith::SelectOp::create(b, loc, less(a, none), negative, a);
    Value magnitude = arith::SelectOp::create(b, loc, less(none, a), a, negative);
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, a, a);
    return arith::SelectOp::create(b, loc, isNan, a, magnitude);
  }
  case ElementwiseOp::Sign: {
    auto of = cast<VectorType>(a.getType());
    Value one = isFloat(type) ? splat(of, 1) : splatInteger(of, 1);
    Value minusOne = isFloat(type) ? splat(of, -1) : splatInteger(of, -1);
    return arith::SelectOp::create(b, loc, less(none, a), one,
                                   arith::SelectOp::create(b, loc, less(a, none), minusOne, a));
  }
  case ElementwiseOp::Not:
    return arith::XOrIOp::create(b, loc, a, splatInteger(cast<VectorType>(a.getType()), -1));
  case ElementwiseOp::Sqrt:
    return math::SqrtOp::create(b, loc, a);
  case ElementwiseOp::Rsqrt:
    return arith::DivFOp::create(b, loc, splat(registerType(type), 1), math::SqrtOp::create(b, loc, a));
  case ElementwiseOp::Floor:
    return math::FloorOp::create(b, loc, a);
  default:
    return call(name(op), type, a);
  }
}

Value Instructions::integerArithmetic(ElementwiseOp op, DType type, Value x, Value y) {
  Location loc = b.getUnknownLoc();
  Value none = zero(x);
  auto of = cast<VectorType>(x.getType());
  // Neither a division by zero nor the one that overflows reaches the machine.
  auto isSpecial = [&] {
    Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, none);
    Value isMinusOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, splatInteger(of, -1));
    return std::pair(isZero, isMinusOne);
  };
  switch (op) {
  case ElementwiseOp::Add:
    return arith::AddIOp::create(b, loc, x, y);
  case ElementwiseOp::Subtract:
    return arith::SubIOp::create(b, loc, x, y);
  case ElementwiseOp::Multiply:
    return arith::MulIOp::create(b, loc, x, y);
  case ElementwiseOp::Divide: {
    auto [isZero, isMinusOne] = isSpecial();
    Value special = arith::OrIOp::create(b, loc, isZero, isMinusOne);
    Value divisor = arith::SelectOp::create(b, loc, special, splatInteger(of, 1), y);
    Value quotient = arith::DivSIOp::create(b, loc, x, divisor);
    Value negative = arith::SubIOp::create(b, loc, none, x);
    quotient = arith::SelectOp::create(b, loc, isMinusOne, negative, quotient);
    return arith::SelectOp::create(b, loc, isZero, none, quotient);
  }
  case ElementwiseOp::Remainder: {
    auto [isZero, isMinusOne] = isSpecial();
    Value special = arith::OrIOp::create(b, loc, isZero, isMinusOne);
    Value divisor = arith::SelectOp::create(b, loc, special, splatInteger(of, 1), y);
    return arith::SelectOp::create(b, loc, special, none, arith::RemSIOp::create(b, loc, x, divisor));
  }
  case ElementwiseOp::Maximum:
  case ElementwiseOp::Minimum: {
    ElementwiseOp order = op == ElementwiseOp::Maximum ? ElementwiseOp::Greater : ElementwiseOp::Less;
    return arith::SelectOp::create(b, loc, compare(order, type, x, y), x, y);
  }
  case ElementwiseOp::And:
    return arith::AndIOp::create(b, loc, x, y);
  default:
    return arith::OrIOp::create(b, loc, x, y);
  }
}

Value Instructions::arithmetic(ElementwiseOp op, DType type, Value x, Value y) {
  if (!isFloat(type))
    return integerArithmetic(op, type, x, y);
  Location loc = b.getUnknownLoc();
  switch (op) {
  case ElementwiseOp::Add:
    return arith::AddFOp::create(b, loc, x, y);
  case ElementwiseOp::Subtract:
    return arith::SubFOp::create(b, loc, x, y);
  case ElementwiseOp::Multiply:
    return arith::MulFOp::create(b, loc, x, y);
  case ElementwiseOp::Divide:
    return arith::DivFOp::create(b, loc, x, y);
  case ElementwiseOp::Maximum:
  case ElementwiseOp::Minimum: {
    ElementwiseOp order = op == ElementwiseOp::Maximum ? ElementwiseOp::Greater : ElementwiseOp::Less;
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    Value takesFirst = arith::OrIOp::create(b, loc, compare(order, type, x, y), isNan);
    return arith::SelectOp::create(b, loc, takesFirst, x, y);
  }
  default:
    return call(name(op), type, {x, y});
  }
}

Value Instructions::compare(ElementwiseOp op, DType type, Value x, Value y) {
  struct Predicates {
    arith::CmpFPredicate ofFloats;
    arith::CmpIPredicate ofIntegers, ofBits;
  };
  Predicates predicates = [&]() -> Predicates {
    switch (op) {
    case ElementwiseOp::Equal:
      return {arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, arith::CmpIPredicate::eq};
    case ElementwiseOp::NotEqual:
      return {arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, arith::CmpIPredicate::ne};
    case ElementwiseOp::Less:
      return {arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, arith::CmpIPredicate::ult};
    case ElementwiseOp::LessEqual:
      return {arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle, arith::CmpIPredicate::ule};
    case ElementwiseOp::Greater:
      return {arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, arith::CmpIPredicate::ugt};
    default:
      return {arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge, arith::CmpIPredicate::uge};
    }
  }();
  Location loc = b.getUnknownLoc();
  if (isFloat(type))
    return arith::CmpFOp::create(b, loc, predicates.ofFloats, x, y);
  return arith::CmpIOp::create(b, loc, type == DType::I1 ? predicates.ofBits : predicates.ofIntegers, x, y);
}

/// Truncates toward zero; NaN gives 0, what is beyond the integers their least or greatest.
Value Instructions::floatToInteger(Value a, DType from, DType to) {
  Location loc = b.getUnknownLoc();
  const bool wide = to == DType::I64;
  const int64_t least = wide ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min();
  const int64_t most = wide ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
  Value low = splat(registerType(from), static_cast<double>(least));
  Value beyond = splat(registerType(from), -static_cast<double>(least));
  Value result = arith::FPToSIOp::create(b, loc, registerType(to), a);
  auto replace = [&](Value condition, int64_t value) {
    result = arith::SelectOp::create(b, loc, condition, splatInteger(registerType(to), value), result);
  };
  replace(compare(ElementwiseOp::GreaterEqual, from, a, beyond), most);
  replace(compare(ElementwiseOp::Less, from, a, low), least);
  replace(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, a, a), 0);
  return result;
}

Value Instructions::cast(Value a, DType from, DType to) {
  Location loc = b.getUnknownLoc();
  if (to == DType::I1)
    return from == DType::I1 ? a : compare(ElementwiseOp::NotEqual, from, a, zero(a));
  if (from == DType::I1)
    return cast(arith::ExtUIOp::create(b, loc, registerType(DType::I32), a), DType::I32, to);
  if (!isFloat(to)) {
    if (isFloat(from))
      return floatToInteger(a, from, to);
    if (from == to)
      return a;
    return to == DType::I64 ? Value(arith::ExtSIOp::create(b, loc, registerType(to), a))
                            : arith::TruncIOp::create(b, loc, registerType(to), a);
  }
  if (isHalf(to) && from == DType::I64)
    return round(callByLane("weft_round_to_odd_i64", a, registerType(to)), to);
  if (isHalf(to) && from == DType::I32)
    return cast(arith::SIToFPOp::create(b, loc, registerType(DType::F64), a), DType::F64, to);
  if (isHalf(to) && from == DType::F64)
    return round(callByLane("weft_round_to_odd_f64", a, registerType(to)), to);
  if (!isFloat(from))
    return arith::SIToFPOp::create(b, loc, registerType(to), a);
  if (from == DType::F64 && to != DType::F64)
    return arith::TruncFOp::create(b, loc, registerType(to), a);
  if (from != DType::F64 && to == DType::F64)
    return widen(a, registerType(to));
  return round(a, to);
}

Value Instructions::emit(const ElementwiseInstruction &instruction, ArrayRef<Value> sources, DType from) {
  Location loc = b.getUnknownLoc();
  const ElementwiseOp op = instruction.op;
  switch (op) {
  case ElementwiseOp::IsFinite: {
    Value difference = arith::SubFOp::create(b, loc, sources[0], sources[0]);
    return compare(ElementwiseOp::Equal, from, difference, zero(difference));
  }
  case ElementwiseOp::Select:
    return arith::SelectOp::create(b, loc, sources[0], sources[1], sources[2]);
  case ElementwiseOp::Cast:
    return cast(sources[0], from, instruction.type);
  case ElementwiseOp::Bitcast:
    return arith::BitcastOp::create(b, loc, registerType(instruction.type), sources[0]);
  case ElementwiseOp::Equal:
  case ElementwiseOp::NotEqual:
  case ElementwiseOp::Less:
  case ElementwiseOp::LessEqual:
  case ElementwiseOp::Greater:
  case ElementwiseOp::GreaterEqual:
    return compare(op, from, sources[0], sources[1]);
  default:
    break;
  }
  Value result = sources.size() == 1 ? unary(op, instruction.type, sources[0])
                                     : arithmetic(op, instruction.type, sources[0], sources[1]);
  return round(result, instruction.type);
}

Type Instructions::storedType(DType type) {
  switch (type) {
  case DType::I1:
    return b.getI8Type();
  case DType::BF16:
    return b.getI16Type();
  case DType::F16:
    return b.getF16Type();
  default:
    return registerType(type).getElementType();
  }
}

Value Instructions::fromStored(Value stored, DType type) {
  Location loc = b.getUnknownLoc();
  if (type == DType::I1)
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored, zero(stored));
  if (type == DType::F16)
    return widen(stored, registerType(type));
  if (type != DType::BF16)
    return stored;
  VectorType words = registerType(DType::I32);
  Value high =
      arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, words, stored), splatInteger(words, 16));
  return arith::BitcastOp::create(b, loc, registerType(type), high);
}

Value Instructions::toStored(Value value, DType type) {
  Location loc = b.getUnknownLoc();
  auto stored = VectorType::get(lanes, storedType(type));
  if (type == DType::I1)
    return arith::ExtUIOp::create(b, loc, stored, value);
  if (type == DType::F16)
    return arith::TruncFOp::create(b, loc, stored, value);
  if (type != DType::BF16)
    return value;
  VectorType words = registerType(DType::I32);
  Value bits = arith::BitcastOp::create(b, loc, words, value);
  return arith::TruncIOp::create(b, loc, stored,
                                 arith::ShRUIOp::create(b, loc, bits, splatInteger(words, 16)));
}

} // namespace weft
