//===- ConfigCommand.cpp - weft config check|show|explain|schema ----------===//
//
// Each subcommand asks the library one question and prints the answer: results on standard output, warnings
// and errors on standard error.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/ConfigCommand.h"

#include "runtime/config/ConfigLoader.h"
#include "runtime/config/SchemaReference.h"
#include "tools/weft/Command.h"

#include <cstdio>
#include <memory>

namespace weft {

namespace {
struct RunFileOptions {
  std::string file;
  std::vector<std::string> overrides;
};

struct ExplainOptions {
  std::vector<std::string> paths;
  bool markdown = false;
};
} // namespace

static void print(const std::string &text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// The run file with its overrides; warnings are printed. Ends the command when it does not load.
static LoadedConfig load(const RunFileOptions &options) {
  absl::StatusOr<LoadedConfig> loaded = loadConfig(options.file, options.overrides);
  if (!loaded.ok())
    failCommand(loaded.status());
  for (const std::string &warning : loaded->warnings)
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  return std::move(*loaded);
}

static std::shared_ptr<RunFileOptions> addRunFileOptions(CLI::App &command) {
  auto options = std::make_shared<RunFileOptions>();
  command.add_option("FILE", options->file, "The run file")->required();
  command
      .add_option("--set", options->overrides, "Override a key: --set train.steps=100 (the value is YAML)")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  return options;
}

static void addCheck(CLI::App &config) {
  CLI::App *command = config.add_subcommand("check", "Say what is wrong with a run file");
  auto options = addRunFileOptions(*command);
  command->callback([options] {
    LoadedConfig loaded = load(*options);
    std::printf("%s: ok", options->file.c_str());
    if (!loaded.warnings.empty())
      std::printf(", %zu warning%s", loaded.warnings.size(), loaded.warnings.size() == 1 ? "" : "s");
    std::printf("\n");
  });
}

static void addShow(CLI::App &config) {
  CLI::App *command =
      config.add_subcommand("show", "Print a run file with every value filled in, and where each came from");
  auto options = addRunFileOptions(*command);
  command->callback([options] { print(load(*options).resolvedYaml()); });
}

static void addExplain(CLI::App &config) {
  CLI::App *command = config.add_subcommand("explain", "Say what keys mean, their defaults and their ranges");
  auto options = std::make_shared<ExplainOptions>();
  command->add_option("KEY", options->paths,
                      "Keys or sections, such as train.steps or lr_schedule; none: all");
  command->add_flag("--markdown", options->markdown, "Print the whole reference as docs/config.md has it");
  command->callback([options] {
    if (options->markdown) {
      print(referenceMarkdown());
      return;
    }
    if (options->paths.empty())
      print(explainAll());
    for (const std::string &path : options->paths) {
      absl::StatusOr<std::string> text = explainPath(path);
      if (!text.ok())
        failCommand(text.status());
      print(*text);
    }
  });
}

static void addSchema(CLI::App &config) {
  CLI::App *command = config.add_subcommand("schema", "Print the JSON Schema of run files, for editors");
  command->callback([] { print(jsonSchema()); });
}

void addConfigCommand(CLI::App &app) {
  CLI::App *config = app.add_subcommand("config", "Check, show and explain run files");
  config->require_subcommand(1);
  addCheck(*config);
  addShow(*config);
  addExplain(*config);
  addSchema(*config);
}

} // namespace weft
