//===- ElementwiseGroups.cpp - Regions of element-wise ops ------------------===//
//
// Ops are visited in order. An op joins the groups that define its operands as long as they are open: a group
// is one launch at the place of its last member, so it closes when an op outside it reads one of its values.
// Broadcasts are read in place, by strides; splat constants become immediates. A group may reduce its
// innermost dimension: then it has values of rows, what is made of these, and what reads them again along the
// row.
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
/// More than one pass over a row keeps their lanes in registers of the machine.
constexpr size_t kMaximumReductions = 8;
/// Rows are what threads share: fewer of a large tensor would leave threads without work.
constexpr int64_t kFewRows = 8, kSmallTensor = 16 * 1024;

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

std::optional<ElementwiseOp> reductionOf(Operation *op) {
  auto reduce = dyn_cast<nn::ReduceOp>(op);
  if (!reduce)
    return std::nullopt;
  switch (reduce.getKind()) {
  case nn::Reduction::sum:
    return ElementwiseOp::ReduceSum;
  case nn::Reduction::max:
    return ElementwiseOp::ReduceMaximum;
  case nn::Reduction::min:
    return ElementwiseOp::ReduceMinimum;
  }
  return std::nullopt;
}

ArrayRef<int64_t> shapeOf(Value value) { return nn::tensorType(value).getShape(); }

/// Why a reduction is a kernel of its own and never part of a region; empty when it may be.
std::string reasonAlone(nn::ReduceOp reduce) {
  ArrayRef<int64_t> shape = shapeOf(reduce.getOperand());
  if (reduce.getDimensions() != ArrayRef<int64_t>{static_cast<int64_t>(shape.size()) - 1})
    return "reduce of other dimensions than the last";
  std::string reason = reasonNoRows(shape);
  return reason.empty() ? reason : "reduce of " + reason;
}

/// Ops of one region have one number, those that may be in any have 0.
int64_t regionOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(kRegionAttribute);
  return number ? number.getInt() : 0;
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

/// True for a value that `operand` repeats along the innermost dimension of `shape`, and nothing else.
bool repeatsRows(Value operand, ArrayRef<int64_t> shape) {
  Access access = accessOf(operand);
  if (shape.empty() || shapeOf(operand) != shape || shapeOf(access.source) != shape.drop_back())
    return false;
  SmallVector<int64_t> rows = accessOf(access.source).strides;
  return access.strides.back() == 0 && ArrayRef(access.strides).drop_back() == ArrayRef(rows);
}

/// Writes the program of one group.
class ProgramWriter {
public:
  ProgramWriter(ArrayRef<Operation *> members, ArrayRef<int64_t> shape) : members(members), shape(shape) {
    for (Operation *member : members)
      inGroup.insert(member);
  }

  void replace() {
    collectInputs();
    KernelCall call;
    call.name = "elementwise";
    std::vector<int64_t> program, outputs, strides;
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
      eraseBroadcasts(member->getResult(0));
      member->dropAllUses();
      member->erase();
    }
  }

private:
  /// Those that only members read, which are gone.
  static void eraseBroadcasts(Value value) {
    for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
      if (isa<nn::BroadcastOp>(user)) {
        eraseBroadcasts(user->getResult(0));
        if (user->use_empty())
          user->erase();
      }
  }

  /// How a member's operand is read over the whole space: a value of rows repeats along them.
  Access accessOver(Value operand) const {
    Access access = accessOf(operand);
    if (access.strides.size() < shape.size())
      access.strides.push_back(0);
    return access;
  }

  /// The member that computes an operand, directly or behind broadcasts.
  Operation *memberBehind(Value operand) const {
    Operation *definition = accessOf(operand).source.getDefiningOp();
    return inGroup.contains(definition) ? definition : nullptr;
  }

  /// Numbers operands and constants: registers come in the order operands, constants, instructions.
  void collectInputs() {
    for (Operation *member : members)
      for (Value operand : member->getOperands())
        if (!memberBehind(operand) && !constantOf(operand))
          if (Access access = accessOver(operand); !llvm::is_contained(accesses, access))
            accesses.push_back(access);
    for (Operation *member : members)
      for (Value operand : member->getOperands())
        if (!memberBehind(operand))
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
    if (Operation *member = memberBehind(operand))
      return registers.lookup(member->getResult(0));
    if (auto found = constantRegisters.find(operand); found != constantRegisters.end())
      return found->second;
    Access access = accessOver(operand);
    return static_cast<int32_t>(llvm::find(accesses, access) - accesses.begin());
  }

  void write(std::vector<int64_t> &program, Operation *member) {
    std::optional<ElementwiseOp> reduction = reductionOf(member);
    ElementwiseInstruction instruction{reduction ? *reduction : *opcodeOf(member),
                                       dtypeOf(member->getResult(0))};
    for (auto [index, operand] : llvm::enumerate(member->getOperands()))
      instruction.sources[index] = registerOf(operand);
    appendInstruction(program, instruction);
    registers[member->getResult(0)] = next++;
  }

  SmallVector<Value> usedOutside() {
    SmallVector<Value> results;
    for (Operation *member : members)
      if (isUsedOutside(member->getResult(0)))
        results.push_back(member->getResult(0));
    return results;
  }
  bool isUsedOutside(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<nn::BroadcastOp>(user) ? isUsedOutside(user->getResult(0)) : !inGroup.contains(user);
    });
  }

  Location fusedLocation() {
    SmallVector<Location> locations;
    for (Operation *member : members)
      if (!llvm::is_contained(locations, member->getLoc()))
        locations.push_back(member->getLoc());
    return FusedLoc::get(members.front()->getContext(), locations);
  }

  ArrayRef<Operation *> members;
  ArrayRef<int64_t> shape;
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
      if (!group.members.empty() && !isLoneReduction(group))
        ProgramWriter(group.members, group.shape).replace();
  }

private:
  struct Group {
    SmallVector<Operation *> members; ///< in block order
    SmallVector<int64_t> shape;       ///< of the space; with reductions there are values of its rows, too
    size_t reductions = 0;
    int64_t region = 0;   ///< regionOf its members
    std::string closedBy; ///< the op outside that reads a value; empty while the group is open

    ArrayRef<int64_t> rows() const { return ArrayRef(shape).drop_back(); }
  };

  static bool isLoneReduction(const Group &group) {
    return group.members.size() == 1 && group.reductions == 1;
  }

  void visit(Operation *op) {
    auto reduce = dyn_cast<nn::ReduceOp>(op);
    const bool isMember = isElementwise(op) || (reduce && most > 1 && reasonAlone(reduce).empty());
    if (!isMember) {
      // A broadcast that only element-wise ops read is never computed; a store happens when the action ends.
      bool readsNothing = isa<sched::StoreOp, nn::WriteOp>(op) ||
                          (isa<nn::BroadcastOp>(op) && llvm::all_of(op->getUsers(), isElementwise));
      if (!readsNothing)
        for (Value operand : op->getOperands())
          close(operand, op);
      return;
    }
    const size_t target = join(op);
    groups[target].members.push_back(op);
    groups[target].reductions += reduce ? 1 : 0;
    groupOf[op] = target;
    for (Value operand : op->getOperands()) {
      Operation *definition = accessOf(operand).source.getDefiningOp();
      if (auto found = groupOf.find(definition); found != groupOf.end() && found->second != target)
        groups[found->second].closedBy = "another region";
    }
  }

  /// The group that `op` belongs to: those of its operands, made one, or a new one.
  size_t join(Operation *op) {
    SmallVector<size_t> joined;
    size_t instructions = 1, reductions = isa<nn::ReduceOp>(op) ? 1 : 0;
    for (Value operand : op->getOperands()) {
      auto found = groupOf.find(accessOf(operand).source.getDefiningOp());
      if (found == groupOf.end() || llvm::is_contained(joined, found->second))
        continue;
      const Group &group = groups[found->second];
      std::string reason = reasonApart(group, op, operand, instructions, reductions);
      if (reason.empty() &&
          !llvm::all_of(joined, [&](size_t other) { return mayMerge(groups[other], group); }))
        reason = "another shape";
      if (!reason.empty()) {
        ++apart[reason];
        continue;
      }
      joined.push_back(found->second);
      instructions += group.members.size();
      reductions += group.reductions;
    }
    if (joined.empty()) {
      Group &group = groups.emplace_back();
      group.shape = llvm::to_vector(shapeOf(isa<nn::ReduceOp>(op) ? op->getOperand(0) : op->getResult(0)));
      group.region = regionOf(op);
      return groups.size() - 1;
    }
    // The space of a merged group is that of the one with rows.
    auto *space = llvm::find_if(joined, [&](size_t group) { return groups[group].reductions > 0; });
    const size_t target = space == joined.end() ? joined.front() : *space;
    for (size_t other : joined)
      if (other != target)
        absorb(target, other);
    return target;
  }

  /// Why an op does not join the group that defines one of its operands; empty when it does.
  std::string reasonApart(const Group &group, Operation *op, Value operand, size_t instructions,
                          size_t reductions) const {
    if (!fits(group, op, operand))
      return "another shape";
    if (group.region != regionOf(op))
      return "a norm that may be computed again is by itself";
    if (!group.closedBy.empty())
      return group.closedBy + " reads in between";
    if (instructions + group.members.size() > most)
      return "more than " + std::to_string(most) + (most == 1 ? " instruction" : " instructions");
    if (reductions + group.reductions > kMaximumReductions)
      return "more than " + std::to_string(kMaximumReductions) + " reductions";
    return "";
  }

  /// Whether the op reads `operand`, a value of the group, at the place where the group computes it.
  static bool fits(const Group &group, Operation *op, Value operand) {
    ArrayRef<int64_t> shape = group.shape;
    if (groupHas(group, operand)) {
      if (isa<nn::ReduceOp>(op) || shapeOf(op->getResult(0)) == shape)
        return shapeOf(operand) == shape;
      return group.reductions > 0 && shapeOf(operand) == group.rows();
    }
    return group.reductions > 0 && shapeOf(op->getResult(0)) == shape && repeatsRows(operand, shape);
  }
  static bool groupHas(const Group &group, Value operand) {
    return llvm::is_contained(group.members, operand.getDefiningOp());
  }

  /// Whether the values of both are computed over one space: a group without reductions may become rows.
  static bool mayMerge(const Group &a, const Group &b) {
    if (a.shape == b.shape)
      return true;
    return (a.reductions > 0 && b.reductions == 0 && a.rows() == ArrayRef(b.shape)) ||
           (b.reductions > 0 && a.reductions == 0 && b.rows() == ArrayRef(a.shape));
  }

  void absorb(size_t target, size_t other) {
    for (Operation *member : groups[other].members)
      groupOf[member] = target;
    llvm::append_range(groups[target].members, groups[other].members);
    groups[target].reductions += groups[other].reductions;
    groups[other].members.clear();
    llvm::sort(groups[target].members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  void close(Value operand, Operation *reader) {
    auto found = groupOf.find(operand.getDefiningOp());
    if (found == groupOf.end() || !groups[found->second].closedBy.empty())
      return;
    auto launch = dyn_cast<sched::LaunchOp>(reader);
    auto reduce = dyn_cast<nn::ReduceOp>(reader);
    std::string name = launch ? launch.getKernel().str() : reader->getName().stripDialect().str();
    if (reduce && !reasonAlone(reduce).empty())
      name = reasonAlone(reduce);
    groups[found->second].closedBy = name;
  }

  Block &block;
  size_t most; ///< instructions of a region
  ApartCounts &apart;
  SmallVector<Group> groups;
  llvm::DenseMap<Operation *, size_t> groupOf;
};
} // namespace

bool isElementwise(Operation *op) { return opcodeOf(op).has_value(); }

std::string reasonNoRows(ArrayRef<int64_t> shape) {
  if (shape.empty() || shape.back() < kReductionLanes)
    return "rows shorter than " + std::to_string(kReductionLanes);
  int64_t rows = 1;
  for (int64_t size : shape.drop_back())
    rows *= size;
  if (rows * shape.back() > kSmallTensor && rows < kFewRows)
    return "fewer than " + std::to_string(kFewRows) + " long rows";
  return "";
}

void groupElementwise(Block &block, bool regions, ApartCounts &apart) {
  Grouper(block, regions ? kMaximumInstructions : 1, apart).run();
}

} // namespace weft
