#include "compiler/model/BuildPrograms.h"

#include "compiler/model/Families.h"
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "runtime/config/ConfigMesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace weft {
namespace {
constexpr int64_t kIgnoreIndex = -100;

class ProgramsBuilder {
public:
  ProgramsBuilder(ModuleOp module, const Config &config)
      : module(module), config(config), context(module.getContext()), builder(context), b(module, builder),
        i32(builder.getI32Type()), i64(builder.getI64Type()), f32(builder.getF32Type()),
        f64(builder.getF64Type()) {}

  void buildStep();
  void buildEvaluate();
  void buildPrefill();
  void buildDecode();

private:
  RankedTensorType batchType(Type element) {
    return RankedTensorType::get({batch(), config.data.sequenceLength}, element);
  }
  /// Samples of a microbatch, over all data ranks.
  int64_t batch() const { return config.train.microBatch * config.parallel.dataRanks(); }
  /// What a program takes of each sample.
  struct SampleInputs {
    SmallVector<StringRef> names;
    SmallVector<Type> types;
  };
  SampleInputs sampleInputs() {
    SampleInputs inputs = {{"tokens", "targets"}, {}};
    if (config.data.hasSegments())
      inputs.names.append({"segments", "positions"});
    inputs.types.assign(inputs.names.size(), batchType(i32));
    return inputs;
  }
  /// For attention on tokens [batch, sequence]: positions where ranks compute it for a part of the queries.
  SequenceContext sequenceOf(ArrayRef<RotaryTable> tables, Value tokens) {
    const ContextConfig &parts = config.parallel.context;
    bool areApart = parts.size > 1 && parts.method != ContextMethod::AllToAll;
    SequenceContext sequence;
    sequence.tables.assign(tables.begin(), tables.end());
    if (areApart)
      sequence.positions = b.iota(nn::tensorType(tokens).getShape(), i32, 1);
    return sequence;
  }
  /// The same for samples as sampleInputs() has them: attention compares places in the sample, which ascend,
  /// and segments; rotation is by the place in the document.
  SequenceContext sequenceOf(ArrayRef<RotaryTable> tables, ValueRange samples) {
    SequenceContext sequence = sequenceOf(tables, samples[0]);
    if (!config.data.hasSegments())
      return sequence;
    sequence.segments = samples[2];
    sequence.documentPositions = samples[3];
    auto scope = b.scope("rotary");
    SmallVector<int64_t> shape(nn::tensorType(samples[3]).getShape());
    auto rows = [&](Value table) {
      SmallVector<int64_t> whole = {shape[0], shape[1], nn::tensorType(table).getDimSize(1)};
      return b.create<nn::GatherOp>(b.type(whole, f32), table, samples[3]).getResult();
    };
    for (RotaryTable &table : sequence.tables)
      table = {rows(table.cosine), rows(table.sine)};
    return sequence;
  }
  RankedTensorType scalar(Type element) { return RankedTensorType::get({}, element); }

  /// Starts a region's entry block with these argument types and points the builder into it.
  Block *enter(Region &region, ArrayRef<Type> types) {
    Block *block = builder.createBlock(&region);
    for (Type type : types)
      block->addArgument(type, builder.getUnknownLoc());
    return block;
  }

  func::FuncOp beginFunction(StringRef name, ArrayRef<std::pair<StringRef, Type>> arguments,
                             ArrayRef<std::pair<StringRef, Type>> results);

  /// The number of targets that count, i64.
  Value countTargets(Value targets) {
    Value inRange = b.logicalAnd(b.compare(nn::Comparison::ge, targets, b.splat(targets, 0)),
                                 b.compare(nn::Comparison::lt, targets,
                                           b.splat(targets, static_cast<double>(config.model.vocabSize))));
    return b.sumAll(b.cast(inRange, i64));
  }

  Value logitsBehind(Value states, Value position);

  struct Losses {
    Value loss, zLoss; ///< per token, f32
  };
  Losses lossHead(Value hidden, Value targets) {
    Value weight = headWeight(b, config.model);
    auto scope = b.scope("loss");
    auto rows = nn::tensorType(targets).clone(f32);
    auto head = b.create<nn::LinearCrossEntropyOp>(
        rows, rows, rows, hidden, weight, targets, builder.getI64IntegerAttr(kIgnoreIndex),
        builder.getF64FloatAttr(config.loss.labelSmoothing), builder.getF64FloatAttr(config.loss.zLoss),
        builder.getF64FloatAttr(config.model.finalLogitSoftcapping));
    return {head.getLoss(), head.getZLossValue()};
  }

  ModuleOp module;
  const Config &config;
  MLIRContext *context;
  OpBuilder builder;
  ModelBuilder b;
  Type i32, i64, f32, f64;
};

void ProgramsBuilder::buildStep() {
  int64_t microbatches = config.microBatches(), sequence = config.data.sequenceLength;
  SampleInputs samples = sampleInputs();
  const size_t sampleCount = samples.names.size();
  SmallVector<Type> parts = samples.types;
  parts.append({RankedTensorType::get({batch()}, i64), scalar(i64)});
  SmallVector<StringRef> inputNames = samples.names;
  inputNames.append({"sample_ids", "step"});
  SmallVector<Type> whole;
  for (Type part : ArrayRef<Type>(parts).drop_back()) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(part).getShape());
    shape.insert(shape.begin(), microbatches);
    whole.push_back(cast<RankedTensorType>(part).clone(shape));
  }
  whole.push_back(parts.back());

  builder.setInsertionPointToEnd(module.getBody());
  auto step = b.create<nn::StepOp>("step", microbatches, builder.getStrArrayAttr(inputNames));
  step->setAttr("objective", builder.getStringAttr("objective"));
  step->setAttr("denominator", builder.getI64IntegerAttr(0));

  Block *prepare = enter(step.getPrepare(), whole);
  Value count = countTargets(prepare->getArgument(1));
  SmallVector<RotaryTable, 2> tables = buildRotaryTables(b, config.model, sequence);
  SmallVector<Value> prepared = {count};
  for (const RotaryTable &table : tables)
    prepared.append({table.cosine, table.sine});
  b.create<nn::YieldOp>(ArrayAttr(), prepared);

  for (Value value : prepared)
    parts.push_back(value.getType());
  Block *microbatch = enter(step.getMicrobatch(), parts);
  const size_t firstTable = parts.size() - prepared.size() + 1;
  for (auto [index, table] : llvm::enumerate(tables))
    table = {microbatch->getArgument(firstTable + 2 * index),
             microbatch->getArgument(firstTable + 2 * index + 1)};
  ValueRange taken = microbatch->getArguments().take_front(sampleCount);
  SequenceContext context = sequenceOf(tables, taken);
  context.sampleIds = microbatch->getArgument(sampleCount);
  context.step = microbatch->getArgument(sampleCount + 1);
  context.seed = config.train.seed;
  Losses losses = lossHead(buildModel(b, config.model, context, taken[0]), taken[1]);
  SmallVector<StringRef> names = {"objective", "loss_sum"};
  Value lossSum = b.sumAll(losses.loss), objective = lossSum;
  SmallVector<Value> carried = {objective, lossSum};
  if (config.loss.zLoss != 0.0) {
    Value zLossSum = b.sumAll(losses.zLoss);
    carried[0] = b.add(lossSum, zLossSum);
    names.push_back("z_loss_sum");
    carried.push_back(zLossSum);
  }
  SmallVector<StringRef> sums(names.size(), "sum");
  b.create<nn::CarryOp>(builder.getStrArrayAttr(names), builder.getStrArrayAttr(sums), carried);

  SmallVector<Type> updateTypes;
  for (Value value : carried)
    updateTypes.push_back(value.getType());
  for (Value value : prepared)
    updateTypes.push_back(value.getType());
  Block *update = enter(step.getUpdate(), updateTypes);
  Value targetTokens = update->getArgument(carried.size());
  Value divisor = b.cast(b.maximum(targetTokens, b.splat(targetTokens, 1)), f32);
  SmallVector<StringRef> outputNames = {"loss", "target_tokens"};
  SmallVector<Value> outputs = {b.div(update->getArgument(1), divisor), targetTokens};
  if (config.loss.zLoss != 0.0) {
    outputNames.push_back("z_loss");
    outputs.push_back(b.div(update->getArgument(2), divisor));
  }
  b.create<nn::YieldOp>(builder.getStrArrayAttr(outputNames), outputs);
}

func::FuncOp ProgramsBuilder::beginFunction(StringRef name, ArrayRef<std::pair<StringRef, Type>> arguments,
                                            ArrayRef<std::pair<StringRef, Type>> results) {
  SmallVector<Type> argumentTypes, resultTypes;
  for (auto [argument, type] : arguments)
    argumentTypes.push_back(type);
  for (auto [result, type] : results)
    resultTypes.push_back(type);
  builder.setInsertionPointToEnd(module.getBody());
  auto function = b.create<func::FuncOp>(name, builder.getFunctionType(argumentTypes, resultTypes));
  for (auto [index, argument] : llvm::enumerate(arguments))
    function.setArgAttr(index, "nn.name", builder.getStringAttr(argument.first));
  for (auto [index, result] : llvm::enumerate(results))
    function.setResultAttr(index, "nn.name", builder.getStringAttr(result.first));
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

void ProgramsBuilder::buildEvaluate() {
  SampleInputs samples = sampleInputs();
  SmallVector<std::pair<StringRef, Type>> arguments;
  for (auto [name, type] : llvm::zip_equal(samples.names, samples.types))
    arguments.emplace_back(name, type);
  auto function =
      beginFunction("evaluate", arguments, {{"loss_sum", scalar(f64)}, {"target_tokens", scalar(i64)}});
  ValueRange taken = function.getArguments();
  Value targets = taken[1];
  SmallVector<RotaryTable, 2> tables = buildRotaryTables(b, config.model, config.data.sequenceLength);
  Losses losses = lossHead(buildModel(b, config.model, sequenceOf(tables, taken), taken[0]), targets);
  Value lossSum = b.sumAll(losses.loss, f64);
  if (config.train.reduction == ReductionKind::Canonical)
    lossSum = b.create<nn::LeafOp>(lossSum.getType(), lossSum);
  SmallVector<Value> results = {lossSum, countTargets(targets)};
  b.create<func::ReturnOp>(results);
}

/// The logits of the token behind `position` of the states [1, sequence, hidden].
Value ProgramsBuilder::logitsBehind(Value states, Value position) {
  int64_t hidden = config.model.hiddenSize;
  Value zero = b.scalar(i64, 0);
  SmallVector<Value> starts = {zero, position, zero};
  SmallVector<int64_t> offsets = {0, 0, 0};
  Value last = b.create<nn::SliceOp>(b.type({1, 1, hidden}, f32), states, starts, offsets);
  return headLogits(b, config.model, b.reshape(last, {hidden}));
}

void ProgramsBuilder::buildPrefill() {
  int64_t length = config.data.sequenceLength;
  auto function = beginFunction(
      "prefill", {{"tokens", RankedTensorType::get({1, length}, i32)}, {"position", scalar(i64)}},
      {{"logits", RankedTensorType::get({config.model.vocabSize}, f32)}});
  Value tokens = function.getArgument(0);
  SequenceContext sequence = sequenceOf(buildRotaryTables(b, config.model, length), tokens);
  sequence.cache = KeyValueCache{length, Value()};
  Value states = buildModel(b, config.model, sequence, tokens);
  SmallVector<Value> results = {logitsBehind(states, function.getArgument(1))};
  b.create<func::ReturnOp>(results);
}

void ProgramsBuilder::buildDecode() {
  auto function =
      beginFunction("decode", {{"token", RankedTensorType::get({1, 1}, i32)}, {"position", scalar(i64)}},
                    {{"logits", RankedTensorType::get({config.model.vocabSize}, f32)}});
  Value position = function.getArgument(1);
  SequenceContext sequence;
  sequence.tables = buildRotaryTables(b, config.model, 1, position);
  sequence.positions = b.reshape(b.cast(position, i32), {1, 1});
  sequence.cache = KeyValueCache{config.data.sequenceLength, position};
  Value states = buildModel(b, config.model, sequence, function.getArgument(0));
  SmallVector<Value> results = {logitsBehind(states, b.scalar(i64, 0))};
  b.create<func::ReturnOp>(results);
}
} // namespace

namespace {
/// The mesh of a run as an attribute; null for one rank.
dist::MeshAttr meshAttribute(MLIRContext *context, const Mesh &mesh) {
  if (mesh.ranks() == 1)
    return {};
  Builder builder(context);
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SmallVector<NamedAttribute> roles;
  for (const MeshAxis &axis : mesh.axes) {
    names.push_back(builder.getStringAttr(axis.name));
    sizes.push_back(axis.size);
  }
  for (const MeshRole &role : mesh.roles)
    roles.push_back(builder.getNamedAttr(
        role.name, builder.getDenseI64ArrayAttr(SmallVector<int64_t>(role.axes.begin(), role.axes.end()))));
  return dist::MeshAttr::get(context, names, sizes, builder.getDictionaryAttr(roles));
}
} // namespace

OwningOpRef<ModuleOp> buildPrograms(MLIRContext *context, const Config &config) {
  context->loadDialect<nn::NnDialect, func::FuncDialect>();
  dist::MeshAttr mesh = meshAttribute(context, meshOf(config));
  if (!config.model.program.empty()) {
    OwningOpRef<ModuleOp> program = parseSourceFile<ModuleOp>(config.model.program, context);
    if (program && mesh && !(*program)->hasAttr(dist::kMeshAttribute))
      (*program)->setAttr(dist::kMeshAttribute, mesh);
    return program;
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context), StringRef("job"));
  if (mesh)
    (*module)->setAttr(dist::kMeshAttribute, mesh);
  ProgramsBuilder programs(*module, config);
  programs.buildStep();
  programs.buildEvaluate();
  programs.buildPrefill();
  programs.buildDecode();
  return module;
}

} // namespace weft
