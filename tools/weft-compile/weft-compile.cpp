//===- weft-compile.cpp - The compiler as a program -------------------------------===//
//
// `weft` starts it as a child when it must compile, so that a training node needs no MLIR. All logic is in
// compiler/.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compile.h"
#include "compiler/Pipeline.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/FileText.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "tools/weft-compile/ModelCommand.h"
#include "tools/weft-compile/ScheduleCommand.h"
#include "tools/weft-compile/Target.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string_view>

namespace {
struct Arguments {
  std::string config, output, printAfter, reproducer, draw;
  std::vector<std::string> overrides, explain, match;
  weft::MemoryLimits limits;
  std::optional<int64_t> verifiedRanks;
};

std::string explain(const std::string &what, const weft::Compiled &compiled) {
  if (what == "memory")
    return weft::explainMemory(compiled);
  if (what == "placement")
    return compiled.placement;
  if (what == "communication")
    return weft::explainCommunication(compiled);
  return weft::explainFusion(compiled);
}

absl::StatusOr<std::unique_ptr<weft::Tokenizer>> openTokenizer(const weft::Config &config) {
  absl::StatusOr<std::unique_ptr<weft::Tokenizer>> tokenizer = weft::createTokenizer(config.tokenizer);
  if (tokenizer.ok())
    if (absl::Status status = weft::checkVocabulary(**tokenizer, config); !status.ok())
      return status;
  return tokenizer;
}

absl::Status write(weft::Compiled &compiled, const weft::Tokenizer &tokenizer, const std::string &file) {
  const weft::SharedText serialized = tokenizer.serialize();
  for (weft::Executable &part : compiled.parts)
    part.tokenizer = serialized;
  return weft::writeExecutables(compiled.parts, file);
}

absl::Status compile(const Arguments &arguments) {
  auto started = std::chrono::steady_clock::now();
  weft::PhaseClock clock;
  absl::StatusOr<weft::LoadedConfig> loaded = weft::loadConfig(arguments.config, arguments.overrides);
  if (!loaded.ok())
    return weft::withExitCode(loaded.status(), weft::ExitCode::Config);
  for (const std::string &warning : loaded->warnings)
    std::cerr << warning << "\n";
  std::vector<std::string> phases = weft::phaseNames();
  if (!arguments.printAfter.empty() &&
      std::find(phases.begin(), phases.end(), arguments.printAfter) == phases.end())
    return weft::withExitCode(
        absl::InvalidArgumentError(absl::StrCat("--print-after: no phase '", arguments.printAfter,
                                                "'; there are ", absl::StrJoin(phases, ", "))),
        weft::ExitCode::Config);
  absl::StatusOr<std::unique_ptr<weft::Tokenizer>> tokenizer = openTokenizer(loaded->config);
  if (!tokenizer.ok())
    return weft::withExitCode(tokenizer.status(), weft::ExitCode::Config);
  absl::StatusOr<weft::Target> target = weft::openTarget(loaded->config);
  if (!target.ok())
    return weft::withExitCode(target.status(), weft::ExitCode::Config);
  absl::StatusOr<weft::Compiled> compiled =
      weft::compileJob(loaded->config, loaded->resolvedYaml(),
                       {*target, arguments.printAfter, arguments.reproducer,
                        llvm::is_contained(arguments.explain, "placement"),
                        arguments.draw.empty() ? std::vector<std::string>() : arguments.match, &clock,
                        arguments.verifiedRanks.value_or(20), (*tokenizer)->vocabularySize()});
  if (!compiled.ok())
    return weft::withExitCode(compiled.status(), weft::ExitCode::Config);
  for (const std::string &what : arguments.explain)
    if (what != "compilation")
      std::cout << explain(what, *compiled);
  if (arguments.verifiedRanks)
    std::printf("command lists of %lld of %lld ranks agree: %lld calls\n",
                static_cast<long long>(compiled->verifiedRanks),
                static_cast<long long>(compiled->parts.front().mesh.ranks()),
                static_cast<long long>(compiled->verifiedCalls));
  if (!arguments.draw.empty())
    if (absl::Status status = weft::writeFileAtomically(arguments.draw, compiled->picture); !status.ok())
      return weft::withExitCode(status, weft::ExitCode::Config);
  if (absl::Status status = weft::checkMemoryLimit(loaded->config, *compiled, arguments.limits); !status.ok())
    return status;
  if (!arguments.output.empty()) {
    if (absl::Status status = write(*compiled, **tokenizer, arguments.output); !status.ok())
      return status;
    clock.finish("write");
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    std::printf("compiled in %.1f s -> %s\n", seconds, arguments.output.c_str());
  }
  if (llvm::is_contained(arguments.explain, "compilation"))
    std::cout << weft::explainCompilation(clock.costs());
  return absl::OkStatus();
}
} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::string_view(argv[1]) == "schedule")
    return weft::runScheduleCommand(argc - 1, argv + 1);
  if (argc > 1 && std::string_view(argv[1]) == "model")
    return weft::runModelCommand(argc - 1, argv + 1);
  CLI::App app("Compiles a run file to an executable.", "weft-compile");
  app.footer("weft-compile schedule ... is weft schedule, weft-compile model ... is weft model.");
  app.set_version_flag("--version", "weft-compile " WEFT_VERSION);
  Arguments arguments;
  app.add_option("config", arguments.config, "The run file (YAML)")->required();
  app.add_option("-o,--output", arguments.output, "The executable to write; without it nothing is written");
  app.add_option("--set", arguments.overrides, "Overrides a key: --set train.steps=10");
  app.add_option("--print-after", arguments.printAfter,
                 "Prints the IR after a phase: " + absl::StrJoin(weft::phaseNames(), ", "));
  app.add_option("--explain", arguments.explain,
                 "Prints where memory goes, where every value lives and what moves, what a rank sends, what "
                 "became a kernel, or what each phase of the compilation took")
      ->check(CLI::IsMember({"memory", "placement", "communication", "fusion", "compilation"}));
  app.add_option("--draw", arguments.draw, "Writes an SVG picture of which rank holds what");
  arguments.match = {"*layers.0.*", "*embed*", "*head*", "boundary 0"};
  app.add_option("--match", arguments.match, "Shell patterns of the parameters and boundaries to draw")
      ->capture_default_str();
  app.add_option("--memory-per-rank", arguments.limits.perRank,
                 "Refuses a plan that needs more bytes on a rank")
      ->check(CLI::PositiveNumber);
  app.add_option("--memory-limit", arguments.limits.shared,
                 "Refuses a plan that needs more bytes on --memory-ranks ranks together")
      ->check(CLI::PositiveNumber);
  app.add_option("--memory-ranks", arguments.limits.ranks, "How many ranks share --memory-limit (default: 1)")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--verify-ranks", arguments.verifiedRanks,
         "Ranks whose command lists are held against each other, and a line that says so: the first, the "
         "last, others at random (default: 20)")
      ->check(CLI::PositiveNumber);
  app.add_option("--reproducer", arguments.reproducer, "Where a failing pass leaves its input");
  CLI11_PARSE(app, argc, argv);
  absl::Status status = compile(arguments);
  if (status.ok())
    return 0;
  std::cerr << std::string(status.message()) << "\n";
  return static_cast<int>(weft::exitCodeOf(status));
}
