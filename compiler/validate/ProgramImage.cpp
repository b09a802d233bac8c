#include "compiler/validate/ProgramImage.h"

#include "compiler/interpret/Programs.h"
#include "compiler/validate/VirtualRanks.h"
#include "passes/analysis/PipelineModules.h"

#include "absl/strings/str_cat.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace weft {
namespace {

using interpret::MeshValue;
using interpret::Ranks;

class ImageObserver : public interpret::Observer {
public:
  explicit ImageObserver(ProgramImage &image) : image(image) {}

  void computed(Operation *op, ArrayRef<MeshValue> operands, ArrayRef<MeshValue> results,
                const Ranks &ranks) override {
    if (isa<dist::WaitOp>(op))
      return; // what it waits for has been looked at
    bool isMove = isa<dist::DistDialect>(op->getDialect()) && !isa<dist::RingOp>(op);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), results)) {
      std::string name = op->getName().getStringRef().str();
      if (op->getNumResults() > 1)
        absl::StrAppend(&name, " result ", result.getResultNumber());
      TracedValue traced{op->getLoc(), name, isMove, {}, ""};
      look(value, result.getType(), ranks, traced);
      if (isMove && traced.problem.empty()) {
        TracedValue before = traced;
        look(operands[0], op->getOperand(0).getType(), ranks, before);
        if (before.problem.empty() && !before.print.matches(traced.print, before.print.norm))
          traced.problem = "moves a value, and changes it";
      }
      image.trace.push_back(std::move(traced));
    }
  }

  void carried(StringRef name, Type type, const MeshValue &value, const Ranks &ranks) override {
    absl::StatusOr<interpret::Tensor> whole = ranks.assemble(value, type);
    if (!whole.ok()) {
      absl::StrAppend(&image.failure, "carried ", name.str(), ": ", std::string(whole.status().message()),
                      "\n");
      return;
    }
    // What several ranks of a pipeline carry under one name is one value.
    auto [known, isNew] = image.values.try_emplace("carried " + name.str(), *std::move(whole));
    if (!isNew && !interpret::sameBits(known->second, *whole))
      absl::StrAppend(&image.failure, "carried ", name.str(), ": differs between pipeline ranks\n");
  }

private:
  /// The whole value's fingerprint, or why there is none.
  static void look(const MeshValue &value, Type type, const Ranks &ranks, TracedValue &traced) {
    auto token = dyn_cast<dist::TokenType>(type);
    absl::StatusOr<interpret::Tensor> whole = ranks.assemble(value, token ? token.getTensor() : type);
    if (whole.ok())
      traced.print = fingerprintOf(*whole);
    else
      traced.problem = std::string(whole.status().message());
  }

  ProgramImage &image;
};

std::string placeOf(Location location) {
  std::string text;
  llvm::raw_string_ostream(text) << location;
  return text;
}

ScopedDiagnosticHandler collectFailures(MLIRContext *context, ProgramImage &image) {
  return ScopedDiagnosticHandler(context, [&image](Diagnostic &diagnostic) {
    absl::StrAppend(&image.failure, placeOf(diagnostic.getLocation()), ": ", diagnostic.str(), "\n");
    return success();
  });
}

void keepValues(Operation *program, std::vector<interpret::Tensor> outputs,
                const std::vector<std::string> &written, const interpret::Variables &variables,
                ProgramImage &image) {
  for (auto [name, value] : llvm::zip_equal(interpret::outputNames(program), outputs))
    image.values[name] = std::move(value);
  for (const std::string &name : written)
    image.values["@" + name] = variables.at(name);
  for (const auto &[name, value] : image.values)
    image.largest = std::max(image.largest, normOf(value));
}

} // namespace

ProgramImage runForImage(Operation *program, std::vector<interpret::Tensor> inputs,
                         interpret::Variables variables, interpret::Types types) {
  ProgramImage image;
  ScopedDiagnosticHandler handler = collectFailures(program->getContext(), image);
  ImageObserver observer(image);
  interpret::Interpreter interpreter(types, &observer);
  std::vector<std::string> written;
  FailureOr<std::vector<interpret::Tensor>> outputs =
      interpret::runProgram(interpreter, program, std::move(inputs), variables, &written);
  if (failed(outputs))
    return image;
  keepValues(program, std::move(*outputs), written, variables, image);
  return image;
}

ProgramImage executeForImage(Operation *program, std::vector<interpret::Tensor> inputs,
                             interpret::Variables variables) {
  ProgramImage image;
  ScopedDiagnosticHandler handler = collectFailures(program->getContext(), image);
  absl::StatusOr<std::vector<Executable>> parts = partsOf(jobModuleOf(program));
  std::vector<std::vector<interpret::Tensor>> runs;
  runs.push_back(std::move(inputs));
  absl::StatusOr<std::vector<std::vector<interpret::Tensor>>> outputs =
      parts.ok() ? runOnVirtualRanks(*parts, program, runs, variables) : parts.status();
  if (!outputs.ok()) {
    absl::StrAppend(&image.failure, std::string(outputs.status().message()), "\n");
    return image;
  }
  keepValues(program, std::move(outputs->front()), writtenBy(program), variables, image);
  return image;
}

std::string firstDifferentOp(const ProgramImage &before, const ProgramImage &now) {
  std::map<std::string, std::vector<const TracedValue *>> known;
  auto nameOf = [](const TracedValue &value) {
    return absl::StrCat(value.op, " at ", placeOf(value.location));
  };
  for (const TracedValue &value : before.trace)
    known[nameOf(value)].push_back(&value);
  for (const TracedValue &value : now.trace) {
    std::string name = nameOf(value);
    if (!value.problem.empty())
      return absl::StrCat(name, ": ", value.problem);
    bool comparable = false, equal = false;
    if (!value.isMove)
      for (const TracedValue *old : known[name]) {
        comparable |= old->print.shape == value.print.shape;
        equal |= old->print.matches(value.print, before.largest);
      }
    if (comparable && !equal)
      return name;
  }
  return "";
}

} // namespace weft
