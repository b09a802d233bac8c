#include "compiler/model/BuildPrograms.h"

#include "compiler/model/Families.h"
#include "compiler/model/ModelFunction.h"
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "runtime/config/ConfigMesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace weft {
namespace {
constexpr int64_t kIgnoreIndex = -100;

/// Over all data ranks.
int64_t samplesOfMicrobatch(const Config &config) {
  return config.train.microBatch * config.parallel.dataRanks();
}

class ProgramsBuilder {
public:
  /// `function`: the model, where it is no family's; it is prepared for a microbatch and for one sample.
  ProgramsBuilder(ModuleOp module, const Config &config, ModelFunction *function = nullptr)
      : module(module), config(config), function(function), context(module.getContext()), builder(context),
        b(module, builder), i32(builder.getI32Type()), i64(builder.getI64Type()), f32(builder.getF32Type()),
        f64(builder.getF64Type()) {}

  void buildStep();
  void buildEvaluate();
  void buildPrefill();
  void buildDecode();
  void buildModelFunction();

private:
  RankedTensorType batchType(Type element) {
    return RankedTensorType::get({batch(), config.data.sequenceLength}, element);
  }
  int64_t batch() const { return samplesOfMicrobatch(config); }
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
  /// Rotary tables of whole sequences, where the model has not its own.
  SmallVector<RotaryTable, 2> tables() {
    return function ? SmallVector<RotaryTable, 2>()
                    : buildRotaryTables(b, config.model, config.data.sequenceLength);
  }
  int64_t vocabulary() const { return function ? function->vocabulary() : config.model.vocabSize; }
  ModelOutput model(const SequenceContext &sequence, Value tokens) {
    if (function)
      return function->build(b, sequence, tokens);
    Value states = buildModel(b, config.model, sequence, tokens);
    return {states, headWeight(b, config.model), config.model.finalLogitSoftcapping};
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
    Value inRange = b.logicalAnd(
        b.compare(nn::Comparison::ge, targets, b.splat(targets, 0)),
        b.compare(nn::Comparison::lt, targets, b.splat(targets, static_cast<double>(vocabulary()))));
    return b.sumAll(b.cast(inRange, i64));
  }

  Value logitsBehind(const ModelOutput &output, Value position);

  struct Losses {
    Value loss, zLoss; ///< per token, f32
  };
  Losses lossHead(const ModelOutput &output, Value targets) {
    auto scope = b.scope("loss");
    auto rows = nn::tensorType(targets).clone(f32);
    auto head = b.create<nn::LinearCrossEntropyOp>(
        rows, rows, rows, output.states, output.head, targets, builder.getI64IntegerAttr(kIgnoreIndex),
        builder.getF64FloatAttr(config.loss.labelSmoothing), builder.getF64FloatAttr(config.loss.zLoss),
        builder.getF64FloatAttr(output.logitSoftcap));
    return {head.getLoss(), head.getZLossValue()};
  }

  ModuleOp module;
  const Config &config;
  ModelFunction *function;
  MLIRContext *context;
  OpBuilder builder;
  ModelBuilder b;
  Type i32, i64, f32, f64;
};

void ProgramsBuilder::buildStep() {
  int64_t microbatches = config.microBatches();
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
  SmallVector<RotaryTable, 2> tables = this->tables();
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
  Losses losses = lossHead(model(context, taken[0]), taken[1]);
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
  auto evaluate =
      beginFunction("evaluate", arguments, {{"loss_sum", scalar(f64)}, {"target_tokens", scalar(i64)}});
  ValueRange taken = evaluate.getArguments();
  Value targets = taken[1];
  Losses losses = lossHead(model(sequenceOf(tables(), taken), taken[0]), targets);
  Value lossSum = b.sumAll(losses.loss, f64);
  if (config.train.reduction == ReductionKind::Canonical)
    lossSum = b.create<nn::LeafOp>(lossSum.getType(), lossSum);
  SmallVector<Value> results = {lossSum, countTargets(targets)};
  b.create<func::ReturnOp>(results);
}

/// The logits of the token behind `position` of one sample.
Value ProgramsBuilder::logitsBehind(const ModelOutput &output, Value position) {
  int64_t hidden = nn::tensorType(output.states).getDimSize(2);
  Value zero = b.scalar(i64, 0);
  SmallVector<Value> starts = {zero, position, zero};
  SmallVector<int64_t> offsets = {0, 0, 0};
  Value last = b.create<nn::SliceOp>(b.type({1, 1, hidden}, f32), output.states, starts, offsets);
  Value logits = b.einsum("h,vh->v", b.reshape(last, {hidden}), output.head, f32);
  if (output.logitSoftcap == 0.0)
    return logits;
  Value cap = b.splat(logits, output.logitSoftcap);
  return b.mul(b.tanh(b.div(logits, cap)), cap);
}

void ProgramsBuilder::buildPrefill() {
  int64_t length = config.data.sequenceLength;
  auto prefill = beginFunction(
      "prefill", {{"tokens", RankedTensorType::get({1, length}, i32)}, {"position", scalar(i64)}},
      {{"logits", RankedTensorType::get({vocabulary()}, f32)}});
  Value tokens = prefill.getArgument(0);
  SequenceContext sequence = sequenceOf(tables(), tokens);
  if (!function)
    sequence.cache = KeyValueCache{length, Value()};
  SmallVector<Value> results = {logitsBehind(model(sequence, tokens), prefill.getArgument(1))};
  b.create<func::ReturnOp>(results);
}

void ProgramsBuilder::buildDecode() {
  auto decode =
      beginFunction("decode", {{"token", RankedTensorType::get({1, 1}, i32)}, {"position", scalar(i64)}},
                    {{"logits", RankedTensorType::get({vocabulary()}, f32)}});
  Value position = decode.getArgument(1);
  SequenceContext sequence;
  sequence.tables = buildRotaryTables(b, config.model, 1, position);
  sequence.positions = b.reshape(b.cast(position, i32), {1, 1});
  sequence.cache = KeyValueCache{config.data.sequenceLength, position};
  SmallVector<Value> results = {logitsBehind(model(sequence, decode.getArgument(0)), b.scalar(i64, 0))};
  b.create<func::ReturnOp>(results);
}

void ProgramsBuilder::buildModelFunction() {
  auto ids = batchType(i32);
  SmallVector<std::pair<StringRef, Type>> arguments = {{"tokens", ids}, {"positions", ids}};
  const bool drops = config.model.embdPdrop > 0.0 || config.model.residPdrop > 0.0;
  if (drops)
    arguments.append({{"sample_ids", RankedTensorType::get({batch()}, i64)}, {"step", scalar(i64)}});
  auto written = beginFunction(kModelFunction, arguments, {});
  for (auto [argument, named] : llvm::zip_equal(written.getArguments(), arguments))
    argument.setLoc(NameLoc::get(builder.getStringAttr(named.first)));
  SequenceContext sequence;
  sequence.documentPositions = written.getArgument(1);
  sequence.tables = buildRotaryTablesAt(b, config.model, written.getArgument(1));
  if (drops) {
    sequence.sampleIds = written.getArgument(2);
    sequence.step = written.getArgument(3);
  }
  ModelOutput output = model(sequence, written.getArgument(0));
  SmallVector<Value> results = {output.states, output.head};
  b.create<func::ReturnOp>(results);
  written.setFunctionType(
      builder.getFunctionType(written.getArgumentTypes(), ValueRange(results).getTypes()));
  if (output.logitSoftcap != 0.0)
    written->setAttr(kLogitSoftcap, builder.getF64FloatAttr(output.logitSoftcap));
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

namespace {
/// A file with @model: the programs around it.
LogicalResult buildAround(ModelFunction &function, ModuleOp module, const Config &config,
                          int64_t leastVocabulary) {
  if (function.vocabulary() < leastVocabulary)
    return emitError(function.location())
           << "@model has a head of " << function.vocabulary() << " rows, and the tokenizer has "
           << leastVocabulary << " ids. Works: " << leastVocabulary
           << " rows or more, in the head and in the table of tokens";
  if (failed(function.prepare(samplesOfMicrobatch(config))) || failed(function.prepare(1)))
    return failure();
  ProgramsBuilder programs(module, config, &function);
  programs.buildStep();
  programs.buildEvaluate();
  programs.buildPrefill();
  return success();
}

/// What the file of model.program says; null, with a diagnostic, where it says no job.
OwningOpRef<ModuleOp> readProgram(MLIRContext *context, const Config &config, int64_t leastVocabulary) {
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(config.model.program, context);
  if (!module || module->lookupSymbol<nn::StepOp>("step"))
    return module;
  FailureOr<ModelFunction> function = ModelFunction::take(*module, config.data.sequenceLength);
  if (failed(function) || failed(buildAround(*function, *module, config, leastVocabulary)))
    return {};
  return module;
}
} // namespace

OwningOpRef<ModuleOp> buildPrograms(MLIRContext *context, const Config &config, int64_t leastVocabulary) {
  context->loadDialect<nn::NnDialect, func::FuncDialect>();
  dist::MeshAttr mesh = meshAttribute(context, meshOf(config));
  if (!config.model.program.empty()) {
    OwningOpRef<ModuleOp> program = readProgram(context, config, leastVocabulary);
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

OwningOpRef<ModuleOp> buildModelFunction(MLIRContext *context, const Config &config) {
  context->loadDialect<nn::NnDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  ProgramsBuilder(*module, config).buildModelFunction();
  return module;
}

} // namespace weft
