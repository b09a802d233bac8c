//===- ElementwiseGroups.cpp - Regions of element-wise ops ------------------===//
//
// Ops are visited in order. An op joins the groups that define its operands as long as they are open: a group
// is one launch at the place of its last member, so it closes when an op outside it reads one of its values.
// Broadcasts are read in place, by strides; splat constants become immediates.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NnDialect.h"
#include "kernels/common/ElementwiseOps.h"
#include "passes/analysis/KernelCalls.h"
#include "passes/fuse/Fuse.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>
#include <optional>

using namespace mlir;

namespace weft {
namespace {
/// More instructions than this make a block's registers outgrow the first-level cache.
constexpr size_t kMaximumInstructions = 48;

std::optional<ElementwiseOp> comparisonOf(nn::Comparison comparison) {
  switch (comparison) {
  case nn::Comparison::eq:
    return ElementwiseOp::Equal;
  case nn::Comparison::ne:
    return ElementwiseOp::NotEqual;
  case nn::Comparison::lt:
    return ElementwiseOp::Less;
  case nn::Comparison::le:
    return ElementwiseOp::LessEqual;
  case nn::Comparison::gt:
    return ElementwiseOp::Greater;
  case nn::Comparison::ge:
    return ElementwiseOp::GreaterEqual;
  }
  return std::nullopt;
}

std::optional<ElementwiseOp> opcodeOf(Operation *op) {
  using Code = std::optional<ElementwiseOp>;
  return TypeSwitch<Operation *, Code>(op)
      .Case([](nn::NegateOp) { return ElementwiseOp::Negate; })
      .Case([](nn::AbsOp) { return ElementwiseOp::Abs; })
      .Case([](nn::ExpOp) { return ElementwiseOp::Exp; })
      .Case([](nn::LogOp) { return ElementwiseOp::Log; })
      .Case([](nn::SqrtOp) { return ElementwiseOp::Sqrt; })
      .Case([](nn::RsqrtOp) { return ElementwiseOp::Rsqrt; })
      .Case([](nn::TanhOp) { return ElementwiseOp::Tanh; })
      .Case([](nn::SigmoidOp) { return ElementwiseOp::Sigmoid; })
      .Case([](nn::SinOp) { return ElementwiseOp::Sin; })
      .Case([](nn::CosOp) { return ElementwiseOp::Cos; })
      .Case([](nn::ErfOp) { return ElementwiseOp::Erf; })
      .Case([](nn::FloorOp) { return ElementwiseOp::Floor; })
      .Case([](nn::SignOp) { return ElementwiseOp::Sign; })
      .Case([](nn::IsFiniteOp) { return ElementwiseOp::IsFinite; })
      .Case([](nn::NotOp) { return ElementwiseOp::Not; })
      .Case([](nn::AddOp) { return ElementwiseOp::Add; })
      .Case([](nn::SubtractOp) { return ElementwiseOp::Subtract; })
      .Case([](nn::MultiplyOp) { return ElementwiseOp::Multiply; })
      .Case([](nn::DivideOp) { return ElementwiseOp::Divide; })
      .Case([](nn::MaximumOp) { return ElementwiseOp::Maximum; })
      .Case([](nn::MinimumOp) { return ElementwiseOp::Minimum; })
      .Case([](nn::PowerOp) { return ElementwiseOp::Power; })
      .Case([](nn::AndOp) { return ElementwiseOp::And; })
      .Case([](nn::OrOp) { return ElementwiseOp::Or; })
      .Case([](nn::SelectOp) { return ElementwiseOp::Select; })
      .Case([](nn::CastOp) { return ElementwiseOp::Cast; })
      .Case([](nn::CompareOp compare) { return *comparisonOf(compare.getComparison()); })
      .Default([](Operation *) { return Code(); });
}

DType dtypeOf(Value value) { return toTensorType(nn::tensorType(value)).dtype; }

/// The value of a splat constant, if a double holds it exactly.
std::optional<double> splatOf(Value value) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  if (!constant || !constant.getValue().isSplat())
    return std::nullopt;
  mlir::Attribute element = constant.getValue().getSplatValue<mlir::Attribute>();
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValueAsDouble();
  auto integer = cast<IntegerAttr>(element).getValue();
  if (integer.getSignificantBits() > std::numeric_limits<double>::digits)
    return std::nullopt;
  return integer.getBitWidth() == 1 ? static_cast<double>(integer.getZExtValue())
                                    : static_cast<double>(integer.getSExtValue());
}

/// How an operand is read over the iteration space: a value in memory, and its stride along each dimension.
struct Access {
  Value source;
  SmallVector<int64_t> strides;
  bool operator==(const Access &other) const { return source == other.source && strides == other.strides; }
};

Access accessOf(Value value) {
  Access access;
  ArrayRef<int64_t> shape = nn::tensorType(value).getShape();
  // Which dimension of the value so far lies along each dimension of the space; -1 repeats.
  SmallVector<int64_t> along = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  while (auto broadcast = value.getDefiningOp<nn::BroadcastOp>()) {
    for (int64_t &dimension : along) {
      auto found = llvm::find(broadcast.getDimensions(), dimension);
      dimension = dimension < 0 || found == broadcast.getDimensions().end()
                      ? -1
                      : found - broadcast.getDimensions().begin();
    }
    value = broadcast.getOperand();
  }
  ArrayRef<int64_t> stored = nn::tensorType(value).getShape();
  SmallVector<int64_t> dense(stored.size(), 1);
  for (size_t index = stored.size(); index-- > 1;)
    dense[index - 1] = dense[index] * stored[index];
  access.source = value;
  for (int64_t dimension : along)
    access.strides.push_back(dimension < 0 ? 0 : dense[dimension]);
  return access;
}

/// Writes the program of one group.
class ProgramWriter {
public:
  explicit ProgramWriter(ArrayRef<Operation *> members) : members(members) {
    for (Operation *member : members)
      inGroup.insert(member);
  }

  void replace() {
    collectInputs();
    KernelCall call;
    call.name = "elementwise";
    std::vector<int64_t> program, outputs, strides;
    ArrayRef<int64_t> shape = nn::tensorType(members.front()->getResult(0)).getShape();
    for (Operation *member : members)
      write(program, member);
    SmallVector<Value> results = usedOutside();
    for (Value result : results) {
      outputs.push_back(registers.lookup(result));
      call.results.push_back(toTensorType(nn::tensorType(result)));
    }
    SmallVector<Value> operands;
    for (const Access &access : accesses) {
      operands.push_back(access.source);
      call.operands.push_back(toTensorType(nn::tensorType(access.source)));
      strides.insert(strides.end(), access.strides.begin(), access.strides.end());
    }
    call.setIntegers("shape", {shape.begin(), shape.end()});
    call.setIntegers("operand_strides", strides);
    call.attributes["constants"].numbers = constants;
    call.setIntegers("constant_types", constantTypes);
    call.setIntegers("program", program);
    call.setIntegers("outputs", outputs);
    OpBuilder builder(members.back());
    sched::LaunchOp launch = createLaunch(builder, fusedLocation(), call, operands);
    for (auto [result, output] : llvm::zip_equal(results, launch.getOutputs()))
      result.replaceAllUsesExcept(output, llvm::SmallPtrSet<Operation *, 8>(members.begin(), members.end()));
    for (Operation *member : llvm::reverse(members)) {
      member->dropAllUses();
      member->erase();
    }
  }

private:
  /// Numbers operands and constants: registers come in the order operands, constants, instructions.
  void collectInputs() {
    for (Operation *member : members)
      for (Value operand : member->getOperands())
        if (!inGroup.contains(operand.getDefiningOp()) && !constantOf(operand))
          if (Access access = accessOf(operand); !llvm::is_contained(accesses, access))
            accesses.push_back(access);
    for (Operation *member : members)
      for (Value operand : member->getOperands())
        if (!inGroup.contains(operand.getDefiningOp()))
          if (auto constant = constantOf(operand); constant && !constantRegisters.contains(operand)) {
            constantRegisters[operand] = static_cast<int32_t>(accesses.size() + constants.size());
            constants.push_back(*constant);
            constantTypes.push_back(static_cast<int64_t>(dtypeOf(operand)));
          }
    next = static_cast<int32_t>(accesses.size() + constants.size());
  }

  /// The number that a splat constant, or a broadcast of one, holds.
  static std::optional<double> constantOf(Value operand) { return splatOf(accessOf(operand).source); }

  int32_t registerOf(Value operand) {
    if (inGroup.contains(operand.getDefiningOp()))
      return registers.lookup(operand);
    if (auto found = constantRegisters.find(operand); found != constantRegisters.end())
      return found->second;
    Access access = accessOf(operand);
    return static_cast<int32_t>(llvm::find(accesses, access) - accesses.begin());
  }

  void write(std::vector<int64_t> &program, Operation *member) {
    ElementwiseInstruction instruction{*opcodeOf(member), dtypeOf(member->getResult(0))};
    for (auto [index, operand] : llvm::enumerate(member->getOperands()))
      instruction.sources[index] = registerOf(operand);
    appendInstruction(program, instruction);
    registers[member->getResult(0)] = next++;
  }

  SmallVector<Value> usedOutside() {
    SmallVector<Value> results;
    for (Operation *member : members)
      if (llvm::any_of(member->getUsers(), [&](Operation *user) { return !inGroup.contains(user); }))
        results.push_back(member->getResult(0));
    return results;
  }

  Location fusedLocation() {
    SmallVector<Location> locations;
    for (Operation *member : members)
      if (!llvm::is_contained(locations, member->getLoc()))
        locations.push_back(member->getLoc());
    return FusedLoc::get(members.front()->getContext(), locations);
  }

  ArrayRef<Operation *> members;
  llvm::SmallPtrSet<Operation *, 16> inGroup;
  SmallVector<Access> accesses;
  std::vector<double> constants;
  std::vector<int64_t> constantTypes;
  llvm::DenseMap<Value, int32_t> constantRegisters, registers;
  int32_t next = 0;
};

class Grouper {
public:
  Grouper(Block &block, size_t most, ApartCounts &apart) : block(block), most(most), apart(apart) {}

  void run() {
    for (Operation &op : block)
      visit(&op);
    for (Group &group : groups)
      if (!group.members.empty())
        ProgramWriter(group.members).replace();
  }

private:
  struct Group {
    SmallVector<Operation *> members; ///< in block order
    std::string closedBy;             ///< the op outside that reads a value; empty while the group is open
  };

  void visit(Operation *op) {
    if (!isElementwise(op)) {
      // A broadcast that only element-wise ops read is never computed; a store happens when the action ends.
      bool readsNothing = isa<sched::StoreOp, nn::WriteOp>(op) ||
                          (isa<nn::BroadcastOp>(op) && llvm::all_of(op->getUsers(), isElementwise));
      if (!readsNothing)
        for (Value operand : op->getOperands())
          close(operand, op);
      return;
    }
    SmallVector<size_t> joined;
    size_t instructions = 1;
    for (Value operand : op->getOperands()) {
      auto found = groupOf.find(operand.getDefiningOp());
      if (found == groupOf.end()) {
        // Through a broadcast.
        if (groupOf.contains(accessOf(operand).source.getDefiningOp()))
          ++apart["another shape"];
        continue;
      }
      if (llvm::is_contained(joined, found->second))
        continue;
      const Group &group = groups[found->second];
      if (std::string reason = reasonApart(group, op, instructions); !reason.empty()) {
        ++apart[reason];
        continue;
      }
      joined.push_back(found->second);
      instructions += group.members.size();
    }
    size_t target = joined.empty() ? newGroup() : joined.front();
    for (size_t other : ArrayRef<size_t>(joined).drop_front(joined.empty() ? 0 : 1))
      absorb(target, other);
    groups[target].members.push_back(op);
    groupOf[op] = target;
    for (Value operand : op->getOperands()) {
      Operation *definition = accessOf(operand).source.getDefiningOp();
      if (auto found = groupOf.find(definition); found != groupOf.end() && found->second != target)
        groups[found->second].closedBy = "another region";
    }
  }

  /// Why an op does not join a group that defines one of its operands; empty when it does.
  std::string reasonApart(const Group &group, Operation *op, size_t instructions) const {
    if (!sameShape(group, op))
      return "another shape";
    if (!group.closedBy.empty())
      return group.closedBy + " reads in between";
    if (instructions + group.members.size() > most)
      return "more than " + std::to_string(most) + (most == 1 ? " instruction" : " instructions");
    return "";
  }

  size_t newGroup() {
    groups.emplace_back();
    return groups.size() - 1;
  }

  void absorb(size_t target, size_t other) {
    for (Operation *member : groups[other].members)
      groupOf[member] = target;
    llvm::append_range(groups[target].members, groups[other].members);
    groups[other].members.clear();
    llvm::sort(groups[target].members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  void close(Value operand, Operation *reader) {
    auto found = groupOf.find(operand.getDefiningOp());
    if (found == groupOf.end() || !groups[found->second].closedBy.empty())
      return;
    auto launch = dyn_cast<sched::LaunchOp>(reader);
    groups[found->second].closedBy =
        launch ? launch.getKernel().str() : reader->getName().stripDialect().str();
  }

  static bool sameShape(const Group &group, Operation *op) {
    return nn::tensorType(group.members.front()->getResult(0)).getShape() ==
           nn::tensorType(op->getResult(0)).getShape();
  }

  Block &block;
  size_t most; ///< instructions of a region
  ApartCounts &apart;
  SmallVector<Group> groups;
  llvm::DenseMap<Operation *, size_t> groupOf;
};
} // namespace

bool isElementwise(Operation *op) { return opcodeOf(op).has_value(); }

void groupElementwise(Block &block, bool regions, ApartCounts &apart) {
  Grouper(block, regions ? kMaximumInstructions : 1, apart).run();
}

} // namespace weft
