#include "compiler/validate/ProgramImage.h"

#include "compiler/interpret/Programs.h"

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

  void computed(OpResult result, const MeshValue &value, const Ranks &ranks) override {
    if (!isa<RankedTensorType>(result.getType()))
      return; // a collective on its way: its wait has the value
    Operation *op = result.getOwner();
    std::string name = op->getName().getStringRef().str();
    if (op->getNumResults() > 1)
      absl::StrAppend(&name, " result ", result.getResultNumber());
    TracedValue traced{op->getLoc(), name, {}, ""};
    absl::StatusOr<interpret::Tensor> whole = ranks.assemble(value, result.getType());
    if (whole.ok())
      traced.print = fingerprintOf(*whole);
    else
      traced.problem = std::string(whole.status().message());
    image.trace.push_back(std::move(traced));
  }

  void carried(StringRef name, Type type, const MeshValue &value, const Ranks &ranks) override {
    absl::StatusOr<interpret::Tensor> whole = ranks.assemble(value, type);
    if (whole.ok())
      image.values["carried " + name.str()] = *std::move(whole);
    else
      absl::StrAppend(&image.failure, "carried ", name.str(), ": ", std::string(whole.status().message()),
                      "\n");
  }

private:
  ProgramImage &image;
};

std::string placeOf(Location location) {
  std::string text;
  llvm::raw_string_ostream(text) << location;
  return text;
}

} // namespace

ProgramImage runForImage(Operation *program, std::vector<interpret::Tensor> inputs,
                         interpret::Variables variables) {
  ProgramImage image;
  ScopedDiagnosticHandler handler(program->getContext(), [&](Diagnostic &diagnostic) {
    absl::StrAppend(&image.failure, placeOf(diagnostic.getLocation()), ": ", diagnostic.str(), "\n");
    return success();
  });
  ImageObserver observer(image);
  interpret::Interpreter interpreter(interpret::Types::Exact, &observer);
  std::vector<std::string> written;
  FailureOr<std::vector<interpret::Tensor>> outputs =
      interpret::runProgram(interpreter, program, std::move(inputs), variables, &written);
  if (failed(outputs))
    return image;
  for (auto [name, value] : llvm::zip_equal(interpret::outputNames(program), *outputs))
    image.values[name] = std::move(value);
  for (const std::string &name : written)
    image.values["@" + name] = variables.at(name);
  for (const auto &[name, value] : image.values)
    image.largest = std::max(image.largest, normOf(value));
  return image;
}

std::string firstDifferentOp(const ProgramImage &before, const ProgramImage &now) {
  std::map<std::string, std::vector<const TracedValue *>> known;
  for (const TracedValue &value : before.trace)
    known[placeOf(value.location)].push_back(&value);
  for (const TracedValue &value : now.trace) {
    std::string place = placeOf(value.location);
    if (!value.problem.empty())
      return absl::StrCat(value.op, " at ", place, ": ", value.problem);
    bool comparable = false, equal = false;
    for (const TracedValue *old : known[place]) {
      comparable |= old->print.shape == value.print.shape;
      equal |= old->print.matches(value.print, before.largest);
    }
    if (comparable && !equal)
      return absl::StrCat(value.op, " at ", place);
  }
  return "";
}

} // namespace weft
