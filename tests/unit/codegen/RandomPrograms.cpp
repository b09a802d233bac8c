#include "tests/unit/codegen/RandomPrograms.h"

#include "kernels/common/RowPasses.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>

namespace weft::testing {
namespace {
constexpr DType kTypes[] = {DType::I1,  DType::I32, DType::I64, DType::BF16,
                            DType::F16, DType::F32, DType::F64};

bool isComparison(ElementwiseOp op) {
  return op >= ElementwiseOp::Equal && op <= ElementwiseOp::GreaterEqual;
}

uint16_t halfBits(double value, DType type) {
  if (type == DType::F16)
    return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}
} // namespace

double RandomPrograms::number() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kSpecial[] = {
      0.0,     -0.0,    kInfinity,    -kInfinity,    std::numeric_limits<double>::quiet_NaN(),
      1.0,     -1.0,    1e-310,       -1e-40,        3e-39,
      65504.0, 65520.0, 3.4e38,       -3.4e38,       1e300,
      88.8,    -104.5,  2147483647.0, -2147483648.0, 9.3e18};
  if (chance(0.15))
    return kSpecial[integer(0, std::size(kSpecial) - 1)];
  const double scale = std::pow(10.0, static_cast<double>(integer(-3, 3)));
  return std::normal_distribution<double>(0, scale)(engine);
}

std::vector<std::byte> RandomPrograms::values(const TensorType &type) {
  std::vector<std::byte> bytes(static_cast<size_t>(type.bytes()));
  for (int64_t index = 0; index < type.elements(); ++index) {
    std::byte *at = bytes.data() + index * byteSize(type.dtype);
    auto put = [&](auto value) { std::memcpy(at, &value, sizeof(value)); };
    switch (type.dtype) {
    case DType::I1:
      put(static_cast<uint8_t>(integer(0, 1)));
      break;
    case DType::I32:
      put(static_cast<int32_t>(chance(0.1) ? std::numeric_limits<int32_t>::min()
                                           : integer(-5, 5) * integer(1, 1000)));
      break;
    case DType::I64:
      put(chance(0.1) ? std::numeric_limits<int64_t>::min() : integer(-5, 5) * integer(1, int64_t{1} << 55));
      break;
    case DType::BF16:
    case DType::F16:
      put(halfBits(number(), type.dtype));
      break;
    case DType::F32:
      put(static_cast<float>(number()));
      break;
    case DType::F64:
      put(number());
      break;
    }
  }
  return bytes;
}

void RandomPrograms::addOperand(KernelCall &call, std::vector<int64_t> &strides) {
  const DType type = kTypes[integer(0, std::size(kTypes) - 1)];
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (chance(0.2))
    std::shuffle(order.begin(), order.end(), engine);
  const double repeats = chance(0.5) ? 0 : chance(0.2) ? 1 : 0.5;
  std::vector<int64_t> own(shape.size(), 0), stored;
  int64_t stride = 1;
  for (size_t place = order.size(); place-- > 0;) {
    if (chance(repeats))
      continue;
    own[order[place]] = stride;
    stride *= shape[order[place]];
    stored.insert(stored.begin(), shape[order[place]]);
  }
  strides.insert(strides.end(), own.begin(), own.end());
  call.operands.push_back({type, stored});
  registers.push_back(type);
}

/// A register of this type; a cast of any makes one where there is none.
int32_t RandomPrograms::ofType(DType type) {
  std::vector<int32_t> fitting;
  for (size_t reg = 0; reg < registers.size(); ++reg)
    if (registers[reg] == type)
      fitting.push_back(static_cast<int32_t>(reg));
  if (!fitting.empty() && chance(0.9))
    return fitting[static_cast<size_t>(integer(0, static_cast<int64_t>(fitting.size()) - 1))];
  const auto any = static_cast<int32_t>(integer(0, static_cast<int64_t>(registers.size()) - 1));
  appendInstruction(program, {ElementwiseOp::Cast, type, {any, -1, -1}});
  registers.push_back(type);
  return static_cast<int32_t>(registers.size()) - 1;
}

void RandomPrograms::addInstruction() {
  constexpr auto kFirstReduction = static_cast<int64_t>(ElementwiseOp::ReduceSum);
  const bool reduces = hasRows && chance(0.2);
  const auto op = static_cast<ElementwiseOp>(reduces ? integer(kFirstReduction, kElementwiseOps - 1)
                                                     : integer(0, kFirstReduction - 1));
  DType type = kTypes[integer(0, std::size(kTypes) - 1)];
  std::vector<DType> sources(static_cast<size_t>(sourceCount(op)), type);
  DType result = type;
  if (isComparison(op)) {
    result = DType::I1;
  } else if (op == ElementwiseOp::Select) {
    sources[0] = DType::I1;
  } else if (op == ElementwiseOp::Cast) {
    result = kTypes[integer(0, std::size(kTypes) - 1)];
  } else if (op == ElementwiseOp::Bitcast) {
    static constexpr std::pair<DType, DType> kPairs[] = {{DType::I32, DType::F32},
                                                         {DType::F32, DType::I32},
                                                         {DType::I64, DType::F64},
                                                         {DType::F64, DType::I64}};
    std::tie(sources[0], result) = kPairs[integer(0, 3)];
  } else if (op == ElementwiseOp::IsFinite) {
    sources[0] = isFloat(type) ? type : DType::F32;
    result = DType::I1;
  } else if (isReduction(op)) {
    result = sources[0] = type == DType::I1 ? DType::F32 : type;
    if (op == ElementwiseOp::ReduceSum && isFloat(result))
      result = kTypes[integer(3, std::size(kTypes) - 1)];
  } else if (op == ElementwiseOp::Not || op == ElementwiseOp::And || op == ElementwiseOp::Or) {
    result = isFloat(type) ? DType::I1 : type;
    sources.assign(sources.size(), result);
  } else {
    const bool ofNumbers = op == ElementwiseOp::Negate || op == ElementwiseOp::Abs ||
                           op == ElementwiseOp::Sign || op == ElementwiseOp::Remainder ||
                           (op >= ElementwiseOp::Add && op <= ElementwiseOp::Minimum);
    if (ofNumbers ? type == DType::I1 : !isFloat(type))
      result = DType::F32;
    sources.assign(sources.size(), result);
  }
  std::array<int32_t, 3> registersOf = {-1, -1, -1};
  for (size_t source = 0; source < sources.size(); ++source)
    registersOf[source] = ofType(sources[source]);
  appendInstruction(program, {op, result, registersOf});
  registers.push_back(result);
}

/// Some of the results that have one value in each row become results of rows.
void RandomPrograms::storeRows(KernelCall &call) {
  const ElementwiseProgram parsed = parseElementwise(call).value();
  if (!parsed.hasReductions())
    return;
  const std::vector<bool> isRepeated = repeatedInRows(parsed);
  for (size_t result = 0; result < call.results.size(); ++result)
    if (isRepeated[static_cast<size_t>(parsed.outputs[result])] && chance(0.7))
      call.results[result].shape.pop_back();
}

KernelCall RandomPrograms::call() {
  hasRows = false;
  shape.clear();
  for (int64_t rank = integer(0, 3); rank > 0; --rank)
    shape.push_back(chance(0.1) ? 1 : integer(2, 45));
  return callOfShape();
}

KernelCall RandomPrograms::callWithRows() {
  hasRows = true;
  shape.clear();
  for (int64_t rank = integer(0, 2); rank > 0; --rank)
    shape.push_back(chance(0.1) ? 1 : integer(2, 12));
  shape.push_back(chance(0.2) ? integer(1, kReductionLanes - 1) : integer(kReductionLanes, 700));
  return callOfShape();
}

KernelCall RandomPrograms::callOfShape() {
  program.clear(), registers.clear();
  KernelCall call;
  call.name = "elementwise";
  std::vector<int64_t> strides;
  for (int64_t count = integer(1, 4); count > 0; --count)
    addOperand(call, strides);
  call.setIntegers("constant_types", {});
  for (int64_t count = integer(0, 2); count > 0; --count) {
    const DType type = kTypes[integer(0, std::size(kTypes) - 1)];
    call.attributes["constants"].numbers.push_back(number());
    call.attributes["constant_types"].integers.push_back(static_cast<int64_t>(type));
    registers.push_back(type);
  }
  for (int64_t count = integer(1, 24); count > 0; --count)
    addInstruction();
  std::vector<int64_t> outputs = {static_cast<int64_t>(registers.size()) - 1};
  for (int64_t more = integer(0, 2); more > 0; --more)
    outputs.push_back(integer(0, static_cast<int64_t>(registers.size()) - 1));
  for (int64_t output : outputs)
    call.results.push_back({registers[static_cast<size_t>(output)], shape});
  call.setIntegers("shape", shape);
  call.setIntegers("operand_strides", strides);
  call.setIntegers("program", program);
  call.setIntegers("outputs", outputs);
  if (hasRows)
    storeRows(call);
  return call;
}

} // namespace weft::testing
