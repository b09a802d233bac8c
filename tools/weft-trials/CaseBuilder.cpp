#include "tools/weft-trials/CaseBuilder.h"

#include "kernels/reference/Rounding.h"

#include "mlir/IR/Verifier.h"

#include <limits>

using namespace mlir;

namespace weft::trials {
namespace {
/// Values that hold nothing ordinary: a tensor of them is drawn as a whole, by `kind`.
double extremeValue(Random &random, int kind, DType element) {
  bool wide = element == DType::F64;
  double sign = random.chance(0.5) ? 1.0 : -1.0;
  switch (kind) {
  case 0:
    return random.chance(0.5) ? 0.0 : -0.0;
  case 1: // subnormal in f32 and bf16, or in f64
    return sign * random.unit() * (wide ? 0x1p-1030 : 0x1p-130);
  case 2: // its square is finite, and so is a sum of some thousand squares
    return sign * random.real(0.5, 1.0) * (wide ? 0x1p400 : 0x1p56);
  default: // many magnitudes in one tensor
    return sign * random.unit() * std::ldexp(1.0, static_cast<int>(random.integer(-24, 12)));
  }
}
constexpr int kExtremeKinds = 4;
} // namespace

func::FuncOp makeFunction(ModuleOp module, TypeRange arguments) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function =
      func::FuncOp::create(builder, module.getLoc(), "main", builder.getFunctionType(arguments, {}));
  function.addEntryBlock();
  return function;
}

void finishFunction(func::FuncOp function, ValueRange results) {
  Block &block = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(block.getArgumentTypes(), results.getTypes()));
}

func::FuncOp Case::function() const { return *module.get().getOps<func::FuncOp>().begin(); }

std::string Case::text() const {
  std::string text;
  llvm::raw_string_ostream(text) << (op ? *op : *function());
  return text;
}

CaseBuilder::CaseBuilder(MLIRContext *context, Random random, Style style)
    : random(random), style(style), module(ModuleOp::create(UnknownLoc::get(context))), builder(context),
      b(builder, UnknownLoc::get(context)), function(makeFunction(*module, {})) {
  builder.setInsertionPointToEnd(&function.getBody().front());
}

Type CaseBuilder::type(DType dtype) {
  switch (dtype) {
  case DType::I1:
    return builder.getI1Type();
  case DType::I32:
    return builder.getI32Type();
  case DType::I64:
    return builder.getI64Type();
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F16:
    return builder.getF16Type();
  case DType::F32:
    return builder.getF32Type();
  case DType::F64:
    return builder.getF64Type();
  }
  return {};
}

Type CaseBuilder::anyElement() {
  if (style.integers && random.chance(0.5))
    return type(random.choose({DType::I32, DType::I64}));
  return element();
}

int64_t CaseBuilder::size() {
  if (style.large)
    return random.choose({1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 64, 67});
  return random.integer(1, 4);
}

SmallVector<int64_t> CaseBuilder::shape(int64_t lowestRank, int64_t highestRank) {
  constexpr int64_t mostElements = 20000;
  SmallVector<int64_t> sizes(random.integer(lowestRank, highestRank));
  int64_t elements = 1;
  for (int64_t &size : sizes) {
    size = this->size();
    if (elements * size > (style.large ? mostElements : 40))
      size = 2;
    elements *= size;
  }
  return sizes;
}

double CaseBuilder::draw(Fill fill) {
  switch (fill) {
  case Fill::Normal:
    return random.normal();
  case Fill::Positive:
    return random.real(0.2, 2.0);
  case Fill::Inner:
    return random.real(-0.9, 0.9);
  case Fill::Spaced:
    break;
  }
  if (!style.smooth)
    return 0.25 * static_cast<double>(random.integer(-6, 6)); // ties and kinks are wanted
  int64_t range = 40 + 2 * static_cast<int64_t>(spaced.size()), step = 0;
  do
    step = random.integer(-range, range);
  while (llvm::is_contained(spaced, step));
  spaced.push_back(step);
  return 0.1 * (static_cast<double>(step) + 0.5);
}

Value CaseBuilder::floats(ArrayRef<int64_t> shape, Fill fill, Type elementType) {
  RankedTensorType type = tensor(shape, elementType ? elementType : element());
  Tensor value = *reference::makeZeros(*interpret::tensorTypeOf(type));
  bool extreme = style.extreme && random.chance(0.5);
  int kind = static_cast<int>(random.integer(0, kExtremeKinds - 1));
  for (double &number : value.reals) {
    number = draw(fill);
    if (extreme)
      number = extremeValue(random, kind, value.dtype);
    if (extreme && fill == Fill::Positive)
      number = std::abs(number);
  }
  return given(std::move(value));
}

Value CaseBuilder::integers(ArrayRef<int64_t> shape, Type elementType, int64_t low, int64_t high) {
  Tensor value = *reference::makeZeros(*interpret::tensorTypeOf(tensor(shape, elementType)));
  for (int64_t &number : value.integers)
    number = random.integer(low, high);
  return given(std::move(value));
}

Value CaseBuilder::any(ArrayRef<int64_t> shape, Type elementType, Fill fill) {
  if (isa<FloatType>(elementType))
    return floats(shape, fill, elementType);
  return elementType.isInteger(1) ? integers(shape, elementType, 0, 1) : integers(shape, elementType, -9, 9);
}

Value CaseBuilder::given(Tensor value) {
  reference::roundTo(value, value.dtype);
  Value argument = function.getBody().addArgument(tensor(value.shape, type(value.dtype)), function.getLoc());
  arguments.push_back(std::move(value));
  return argument;
}

FailureOr<Case> CaseBuilder::finishWhole() {
  finishFunction(function, wholeResults);
  if (failed(verify(*module)))
    return failure();
  Case result;
  result.operands = std::move(arguments);
  result.module = std::move(module);
  return result;
}

FailureOr<Case> CaseBuilder::finish() {
  if (!wholeResults.empty())
    return finishWhole();
  if (!chosen)
    return function.emitError("the generator built no op");
  Case result;
  finishFunction(function, chosen->getOperands());
  if (failed(verify(*module)))
    return failure();
  FailureOr<std::vector<Tensor>> operands =
      interpret::Interpreter(interpret::Types::Declared).run(function, arguments, {});
  if (failed(operands))
    return failure();
  result.operands = std::move(*operands);
  result.module = ModuleOp::create(module->getLoc());
  func::FuncOp alone = makeFunction(*result.module, chosen->getOperandTypes());
  OpBuilder inside = OpBuilder::atBlockEnd(&alone.getBody().front());
  result.op = inside.clone(*chosen);
  result.op->setOperands(alone.getArguments());
  finishFunction(alone, result.op->getResults());
  if (failed(verify(*result.module)))
    return failure();
  result.constantOperands = std::move(constantOperands);
  result.residuals = std::move(residuals);
  return result;
}

} // namespace weft::trials
