#include "compiler/validate/PhaseCheck.h"

#include "compiler/Pipeline.h"
#include "compiler/interpret/InputValues.h"
#include "compiler/interpret/Programs.h"
#include "compiler/validate/ProgramImage.h"
#include "compiler/validate/Sabotage.h"
#include "compiler/validate/VirtualRanks.h"
#include "kernels/cpu/Cpu.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

using namespace mlir;

namespace weft {
namespace {

/// What comes after it is run, not interpreted.
constexpr char kLastInterpreted[] = "schedule";

/// Of integer inputs that index no table.
constexpr int64_t kIntegerBound = 16;

class PhaseChecker {
public:
  PhaseChecker(uint64_t seed, const Sabotage *sabotage) : seed(seed), sabotage(sabotage) {}

  void observe(const std::string &phase, ModuleOp module) {
    if (report.change || failed)
      return;
    OwningOpRef<ModuleOp> broken;
    if (sabotage && phase == sabotage->phase) {
      broken = module.clone();
      if (!sabotage->apply(*broken)) {
        module.emitError() << "--sabotage " << sabotage->name << ": after " << phase
                           << " the program has nothing that can be broken so";
        failed = true;
        return;
      }
      module = *broken;
    }
    if (!rememberVariables(module))
      return;
    for (Operation *program : interpret::programsOf(module))
      isFused(program) ? checkExecutable(program) : check(phase, program);
  }

  PhaseReport report;
  bool failed = false;

private:
  /// A variable starts alike after every phase, whatever its type has become.
  bool rememberVariables(ModuleOp module) {
    FailureOr<interpret::Variables> initial = interpret::initialVariables(module, seed);
    failed = ::mlir::failed(initial);
    if (failed)
      return false;
    variables.clear();
    for (auto &[name, value] : *initial) {
      auto [known, isNew] = start.try_emplace(name, value);
      interpret::Tensor now = known->second;
      now.dtype = value.dtype;
      variables[name] = std::move(now);
    }
    return true;
  }

  /// Likewise the inputs, by name: of a pipeline they come in another order, and some that nobody reads do
  /// not come at all.
  std::vector<interpret::Tensor> inputsFor(const std::string &name, Operation *program) {
    std::vector<interpret::Tensor> values;
    for (const interpret::ProgramInput &input : interpret::inputsOf(program)) {
      std::optional<TensorType> type = input.wholeType();
      auto [known, isNew] = inputs[name].try_emplace(input.name);
      if (isNew) {
        absl::StatusOr<interpret::Tensor> value =
            interpret::generate(type.value_or(TensorType()), absl::StrCat(name, "/", input.name), seed,
                                interpret::integerBound(input.values, kIntegerBound));
        if (value.ok())
          known->second = *std::move(value);
      }
      interpret::Tensor &value = values.emplace_back(known->second);
      if (type && isFloat(type->dtype))
        value.dtype = type->dtype;
    }
    return values;
  }

  void check(const std::string &phase, Operation *program) {
    std::string name = interpret::programName(program);
    ProgramImage now = runForImage(program, inputsFor(name, program), variables);
    PhaseRow row{phase, name, 0, 0, 0, ""};
    auto before = images.find(name);
    if (before == images.end()) {
      if (!now.failure.empty()) {
        emitError(program->getLoc()) << "the program cannot be run:\n" << now.failure;
        failed = true;
        return;
      }
      row.added = now.values.size();
    } else {
      compare(before->second, now, row);
    }
    report.rows.push_back(row);
    images[name] = std::move(now);
    if (phase == kLastInterpreted)
      rounded[name] = runForImage(program, inputsFor(name, program), variables, interpret::Types::Declared);
  }

  void checkExecutable(Operation *program) {
    std::string name = interpret::programName(program);
    const ProgramImage &exact = images.at(name), &declared = rounded.at(name);
    PhaseRow row{kExecutablePhase, name, 0, 0, 0, ""};
    compare(exact, executeForImage(program, inputsFor(name, program), variables), row,
            [&](const std::string &value) {
              auto found = declared.values.find(value);
              double error = found == declared.values.end()
                                 ? 0
                                 : tensorError(found->second, exact.values.at(value), exact.largest);
              return std::max(kExecutableBound, 2 * error);
            });
    report.rows.push_back(row);
  }

  void compare(
      const ProgramImage &before, const ProgramImage &now, PhaseRow &row,
      function_ref<double(const std::string &)> bound = [](const std::string &) { return kPhaseBound; }) {
    std::vector<std::string> changes;
    for (absl::string_view line : absl::StrSplit(now.failure, '\n', absl::SkipEmpty()))
      changes.emplace_back(line);
    for (const auto &[name, value] : now.values) {
      auto old = before.values.find(name);
      if (old == before.values.end()) {
        ++row.added;
        continue;
      }
      ++row.compared;
      double error = tensorError(value, old->second, before.largest);
      if (error > row.worst || row.worstName.empty())
        row.worst = error, row.worstName = name;
      if (!(error <= bound(name)))
        changes.push_back(absl::StrFormat("%s: error %.3g", name, error));
    }
    for (const auto &[name, value] : before.values)
      if (now.failure.empty() && !now.values.count(name) && !absl::StartsWith(name, "carried "))
        changes.push_back(name + ": is no longer there");
    if (!changes.empty() && !report.change)
      report.change = PhaseChange{row.phase, row.program, changes, firstDifferentOp(before, now)};
  }

  uint64_t seed;
  const Sabotage *sabotage;
  interpret::Variables start, variables;
  std::map<std::string, std::map<std::string, interpret::Tensor>> inputs; ///< by program and name
  std::map<std::string, ProgramImage> images;
  std::map<std::string, ProgramImage> rounded; ///< of the last interpreted phase, in declared types
};

} // namespace

FailureOr<PhaseReport> checkPhases(ModuleOp module, const Config &config, uint64_t seed,
                                   const std::string &sabotage) {
  const Sabotage *broken = sabotage.empty() ? nullptr : findSabotage(sabotage);
  if (!sabotage.empty() && !broken)
    return module.emitError() << "--sabotage " << sabotage
                              << ": there is none of this name. There are: " << sabotageNames();
  // What kernels take, and the memory that they work in, is a matter of the instruction set.
  if (absl::StatusOr<cpu::InstructionSet> set = cpu::useBestInstructionSet(); !set.ok())
    return module.emitError() << std::string(set.status().message());
  PhaseChecker checker(seed, broken);
  PhaseOptions phases;
  phases.stopAfter = "fuse";
  phases.observe = [&](StringRef phase, ModuleOp after) { checker.observe(phase.str(), after); };
  if (failed(runPhases(module, config, phases)) || checker.failed)
    return failure();
  return std::move(checker.report);
}

std::string explain(const PhaseReport &report) {
  std::string text = absl::StrFormat("%-14s %-12s %8s %6s %11s  %s\n", "phase", "program", "compared", "new",
                                     "worst error", "of");
  for (const PhaseRow &row : report.rows)
    absl::StrAppend(&text,
                    absl::StrFormat("%-14s %-12s %8d %6d %11s  %s\n", row.phase, row.program, row.compared,
                                    row.added, row.compared ? absl::StrFormat("%.2g", row.worst) : "-",
                                    row.worstName));
  if (!report.change)
    return text + absl::StrFormat("no phase changed a value (bound %g; the executable %g, or twice what "
                                  "rounding to declared types does)\n",
                                  kPhaseBound, kExecutableBound);
  const PhaseChange &change = *report.change;
  absl::StrAppend(&text, "phase ", change.phase, " changed what ", change.program, " computes:\n");
  for (const std::string &value : change.values)
    absl::StrAppend(&text, "  ", value, "\n");
  if (!change.firstOp.empty())
    absl::StrAppend(&text, "first op that differs: ", change.firstOp, "\n");
  return text;
}

} // namespace weft
