//===- ElementwiseOps.cpp - Reading and checking element-wise programs ----===//
//
// One table says of each opcode what it is called, how many sources it has and which types it takes;
// everything else here holds a call against that table, so that no device meets a program it cannot run.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ElementwiseOps.h"

#include "kernels/common/RowPasses.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace weft {
namespace {

/// What the sources of an instruction may be, and what type its result then has.
enum class Typing {
  Numbers,   ///< result and sources of one type, not i1
  Floats,    ///< result and sources of one floating-point type
  Bits,      ///< result and sources of one type, i1 or an integer
  TestFloat, ///< a float gives an i1
  Compare,   ///< two of a common type give an i1
  Select,
  Cast,
  Bitcast,
  Sum,    ///< floats to a float, or integers to themselves
  Extreme ///< a number to itself
};

struct OpRow {
  std::string_view name;
  int sources;
  Typing typing;
};
constexpr std::array<OpRow, kElementwiseOps> kRows = {{
    {"negate", 1, Typing::Numbers},
    {"abs", 1, Typing::Numbers},
    {"exp", 1, Typing::Floats},
    {"log", 1, Typing::Floats},
    {"sqrt", 1, Typing::Floats},
    {"rsqrt", 1, Typing::Floats},
    {"tanh", 1, Typing::Floats},
    {"sigmoid", 1, Typing::Floats},
    {"sin", 1, Typing::Floats},
    {"cos", 1, Typing::Floats},
    {"erf", 1, Typing::Floats},
    {"floor", 1, Typing::Floats},
    {"sign", 1, Typing::Numbers},
    {"is_finite", 1, Typing::TestFloat},
    {"not", 1, Typing::Bits},
    {"add", 2, Typing::Numbers},
    {"subtract", 2, Typing::Numbers},
    {"multiply", 2, Typing::Numbers},
    {"divide", 2, Typing::Numbers},
    {"maximum", 2, Typing::Numbers},
    {"minimum", 2, Typing::Numbers},
    {"power", 2, Typing::Floats},
    {"and", 2, Typing::Bits},
    {"or", 2, Typing::Bits},
    {"remainder", 2, Typing::Numbers},
    {"equal", 2, Typing::Compare},
    {"not_equal", 2, Typing::Compare},
    {"less", 2, Typing::Compare},
    {"less_equal", 2, Typing::Compare},
    {"greater", 2, Typing::Compare},
    {"greater_equal", 2, Typing::Compare},
    {"select", 3, Typing::Select},
    {"cast", 1, Typing::Cast},
    {"bitcast", 1, Typing::Bitcast},
    {"reduce_sum", 1, Typing::Sum},
    {"reduce_maximum", 1, Typing::Extreme},
    {"reduce_minimum", 1, Typing::Extreme},
}};
const OpRow &row(ElementwiseOp op) { return kRows[static_cast<size_t>(op)]; }

template <typename... Parts> absl::Status invalid(const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat("kernel elementwise: ", parts...));
}

absl::StatusOr<DType> typeFromNumber(int64_t number, const std::string &where) {
  if (number < 0 || number > static_cast<int64_t>(DType::F64))
    return invalid(where, ": ", number, " is not the number of an element type");
  return static_cast<DType>(number);
}

bool sameBitWidth(DType from, DType to) {
  auto pairs = [&](DType a, DType b) { return (from == a && to == b) || (from == b && to == a); };
  return pairs(DType::I32, DType::F32) || pairs(DType::I64, DType::F64);
}

/// True when an instruction of this kind takes these sources and gives this type.
bool typesFit(Typing typing, DType result, const std::vector<DType> &sources) {
  bool allOfResult = true;
  for (DType source : sources)
    allOfResult = allOfResult && source == result;
  switch (typing) {
  case Typing::Numbers:
    return allOfResult && result != DType::I1;
  case Typing::Floats:
    return allOfResult && isFloat(result);
  case Typing::Bits:
    return allOfResult && !isFloat(result);
  case Typing::TestFloat:
    return result == DType::I1 && isFloat(sources[0]);
  case Typing::Compare:
    return result == DType::I1 && sources[0] == sources[1];
  case Typing::Select:
    return sources[0] == DType::I1 && sources[1] == result && sources[2] == result;
  case Typing::Cast:
    return true;
  case Typing::Bitcast:
    return sameBitWidth(sources[0], result);
  case Typing::Sum:
    return isFloat(result) ? isFloat(sources[0]) : allOfResult && result != DType::I1;
  case Typing::Extreme:
    return allOfResult && result != DType::I1;
  }
  return false;
}

absl::Status readShape(const KernelCall &call, ElementwiseProgram &program) {
  auto shape = call.integers("shape");
  if (!shape.ok())
    return shape.status();
  program.shape = *shape;
  constexpr int64_t kMostElements = int64_t{1} << 48;
  int64_t room = kMostElements; // no size may be too large, whatever a size of 0 makes of their product
  for (int64_t size : program.shape) {
    if (size < 0)
      return invalid("attribute 'shape' holds the negative size ", size);
    room /= std::max<int64_t>(size, 1);
    if (room == 0)
      return invalid("attribute 'shape' has more than 2^48 elements");
  }
  return absl::OkStatus();
}

absl::Status readStrides(const KernelCall &call, ElementwiseProgram &program) {
  auto strides = call.integers("operand_strides");
  if (!strides.ok())
    return strides.status();
  size_t rank = program.shape.size();
  if (strides->size() != rank * call.operands.size())
    return invalid("attribute 'operand_strides' holds ", strides->size(), " integers, ", rank,
                   " for each of ", call.operands.size(), " operands were expected");
  bool empty = false;
  for (int64_t size : program.shape)
    empty = empty || size == 0;
  for (size_t operand = 0; operand < call.operands.size(); ++operand) {
    auto begin = strides->begin() + static_cast<int64_t>(operand * rank);
    program.operandStrides.emplace_back(begin, begin + static_cast<int64_t>(rank));
    // `room` is how many elements lie behind the last one that the dimensions so far reach.
    int64_t room = call.operands[operand].elements() - 1;
    for (size_t dim = 0; dim < rank; ++dim) {
      int64_t stride = program.operandStrides[operand][dim], steps = program.shape[dim] - 1;
      if (stride < 0)
        return invalid("operand ", operand, " has the negative stride ", stride);
      if (empty || stride == 0 || steps == 0)
        continue;
      if (room < 0 || stride > room / steps)
        return invalid("the strides of operand ", operand, " reach beyond its ",
                       call.operands[operand].str());
      room -= stride * steps;
    }
    if (!empty && room < 0)
      return invalid("the strides of operand ", operand, " reach beyond its ", call.operands[operand].str());
    program.registerTypes.push_back(call.operands[operand].dtype);
  }
  return absl::OkStatus();
}

absl::Status readConstants(const KernelCall &call, ElementwiseProgram &program) {
  if (!call.has("constants") && !call.has("constant_types"))
    return absl::OkStatus();
  auto types = call.integers("constant_types");
  if (!types.ok())
    return types.status();
  auto found = call.attributes.find("constants");
  size_t count = found == call.attributes.end() ? 0 : found->second.numbers.size();
  if (types->size() != count)
    return invalid(count, " constants have ", types->size(), " types");
  for (size_t i = 0; i < count; ++i) {
    auto type = typeFromNumber((*types)[i], absl::StrCat("constant ", i));
    if (!type.ok())
      return type.status();
    program.constants.push_back({found->second.numbers[i], *type});
    program.registerTypes.push_back(*type);
  }
  return absl::OkStatus();
}

absl::StatusOr<ElementwiseInstruction> readInstruction(const int64_t *fields, size_t index,
                                                       const std::vector<DType> &registers) {
  if (fields[0] < 0 || fields[0] >= kElementwiseOps)
    return invalid("instruction ", index, ": ", fields[0], " is not an opcode");
  ElementwiseInstruction instruction;
  instruction.op = static_cast<ElementwiseOp>(fields[0]);
  std::string where = absl::StrCat("instruction ", index, " (", std::string(name(instruction.op)), ")");
  auto type = typeFromNumber(fields[1], where);
  if (!type.ok())
    return type.status();
  instruction.type = *type;
  std::vector<DType> sources;
  for (int i = 0; i < 3; ++i) {
    int64_t source = fields[2 + i];
    bool wanted = i < sourceCount(instruction.op);
    if (wanted && (source < 0 || source >= static_cast<int64_t>(registers.size())))
      return invalid(where, ": source ", i, " is register ", source, ", of ", registers.size(), " before it");
    if (!wanted && source != -1)
      return invalid(where, ": source ", i, " is register ", source, ", but it takes ",
                     sourceCount(instruction.op));
    instruction.sources[i] = static_cast<int32_t>(source);
    if (wanted)
      sources.push_back(registers[static_cast<size_t>(source)]);
  }
  if (!typesFit(row(instruction.op).typing, instruction.type, sources)) {
    std::string list;
    for (DType source : sources)
      absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(weft::name(source)));
    return invalid(where, ": does not take (", list, ") to ", std::string(weft::name(instruction.type)));
  }
  return instruction;
}

/// True for a result of one element a row.
bool isOfRows(const ElementwiseProgram &program, const TensorType &result) {
  return program.hasReductions() && result.shape.size() + 1 == program.shape.size() &&
         std::equal(result.shape.begin(), result.shape.end(), program.shape.begin());
}

/// Reductions need rows, of at least one element.
absl::Status checkRows(const ElementwiseProgram &program) {
  if (!program.hasReductions())
    return absl::OkStatus();
  if (program.shape.empty())
    return invalid("a reduction needs a dimension, the shape has none");
  for (int64_t size : program.shape)
    if (size == 0)
      return invalid("a reduction needs elements, the shape has the size 0");
  return absl::OkStatus();
}

absl::Status readInstructions(const KernelCall &call, ElementwiseProgram &program) {
  auto fields = call.integers("program");
  if (!fields.ok())
    return fields.status();
  if (fields->size() % 5 != 0)
    return invalid("attribute 'program' holds ", fields->size(), " integers, which 5 does not divide");
  for (size_t i = 0; i < fields->size() / 5; ++i) {
    auto instruction = readInstruction(fields->data() + 5 * i, i, program.registerTypes);
    if (!instruction.ok())
      return instruction.status();
    program.instructions.push_back(*instruction);
    program.registerTypes.push_back(instruction->type);
  }
  return checkRows(program);
}

/// Rows that lie nowhere, of operands that are repeated along them, are bounded by no memory.
absl::Status checkRowLength(const ElementwiseProgram &program) {
  constexpr int64_t kMostRepeated = int64_t{1} << 32;
  if (!program.hasReductions() || program.shape.back() <= kMostRepeated)
    return absl::OkStatus();
  const bool isRead = std::any_of(program.operandStrides.begin(), program.operandStrides.end(),
                                  [](const std::vector<int64_t> &strides) { return strides.back() != 0; });
  const bool isWritten =
      std::find(program.outputIsRow.begin(), program.outputIsRow.end(), false) != program.outputIsRow.end();
  if (isRead || isWritten)
    return absl::OkStatus();
  return invalid("rows of ", program.shape.back(), " elements, none of which lies in memory");
}

absl::Status readOutputs(const KernelCall &call, ElementwiseProgram &program) {
  auto outputs = call.integers("outputs");
  if (!outputs.ok())
    return outputs.status();
  if (outputs->size() != call.results.size() || outputs->empty())
    return invalid("attribute 'outputs' names ", outputs->size(), " registers for ", call.results.size(),
                   " results");
  const std::vector<bool> valuesOfRows = repeatedInRows(program);
  for (size_t i = 0; i < outputs->size(); ++i) {
    int64_t output = (*outputs)[i];
    if (output < 0 || output >= static_cast<int64_t>(program.registerTypes.size()))
      return invalid("result ", i, " is register ", output, ", of ", program.registerTypes.size());
    TensorType expected{program.registerTypes[static_cast<size_t>(output)], program.shape};
    const bool isRow = isOfRows(program, call.results[i]);
    if (!isRow && !(call.results[i] == expected))
      return invalid("result ", i, " is ", call.results[i].str(), ", the program stores ", expected.str());
    if (isRow && !valuesOfRows[static_cast<size_t>(output)])
      return invalid("result ", i, " is ", call.results[i].str(), ", but register ", output,
                     " differs within a row");
    if (isRow && call.results[i].dtype != expected.dtype)
      return invalid("result ", i, " is ", call.results[i].str(), ", register ", output, " holds ",
                     std::string(weft::name(expected.dtype)));
    program.outputs.push_back(static_cast<int32_t>(output));
    program.outputIsRow.push_back(isRow);
  }
  return checkRowLength(program);
}

} // namespace

std::string_view name(ElementwiseOp op) { return row(op).name; }
int sourceCount(ElementwiseOp op) { return row(op).sources; }

DType accumulationType(DType type, DType result) {
  return !isFloat(type) ? type : result == DType::F64 ? DType::F64 : DType::F32;
}

bool ElementwiseProgram::hasReductions() const {
  return std::any_of(instructions.begin(), instructions.end(),
                     [](const ElementwiseInstruction &instruction) { return isReduction(instruction.op); });
}

absl::StatusOr<ElementwiseProgram> parseElementwise(const KernelCall &call) {
  ElementwiseProgram program;
  for (auto read : {readShape, readStrides, readConstants, readInstructions, readOutputs})
    if (absl::Status status = read(call, program); !status.ok())
      return status;
  return program;
}

void appendInstruction(std::vector<int64_t> &program, const ElementwiseInstruction &instruction) {
  program.push_back(static_cast<int64_t>(instruction.op));
  program.push_back(static_cast<int64_t>(instruction.type));
  for (int32_t source : instruction.sources)
    program.push_back(source);
}

} // namespace weft
