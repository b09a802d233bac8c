#include "runtime/train/TextWindow.h"

#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <optional>

namespace weft {
namespace {

constexpr const char *kPrefill = "prefill", *kDecode = "decode";
constexpr const char *kWindow = "tokens", *kToken = "token", *kPosition = "position", *kLogits = "logits";

absl::Status misfit(std::string_view program, const std::string &what) {
  return withExitCode(absl::FailedPreconditionError(absl::StrCat(
                          "program '", std::string(program), "' ", what, "; needed are ",
                          program == kPrefill ? "tokens tensor<1xTxi32>" : "token tensor<1x1xi32>",
                          ", position tensor<i64>, and logits tensor<Vxf32> as its result")),
                      ExitCode::Config);
}

/// The length of whole texts of an input of tokens.
int64_t lengthOf(const ProgramInput &tokens) {
  return tokens.placement.globalShape.size() == 2 ? tokens.placement.globalShape[1] : tokens.type.elements();
}

std::vector<Program>::const_iterator findProgram(const std::vector<Program> &programs, const char *name) {
  return std::find_if(programs.begin(), programs.end(),
                      [&](const Program &program) { return program.name == name; });
}

bool hasDecode(const std::vector<Program> &programs) {
  return findProgram(programs, kDecode) != programs.end();
}

/// What some part of a job reads as the text of a program. An error where none reads it and a position.
absl::StatusOr<int64_t> textOf(const std::vector<Executable> &parts, const char *name, const char *tokens) {
  const std::vector<Program> &programs = parts.front().programs;
  const auto found = findProgram(programs, name);
  if (found == programs.end())
    return withExitCode(absl::NotFoundError(absl::StrCat("no program '", name, "' in this executable")),
                        ExitCode::Config);
  std::optional<int64_t> length;
  bool hasPosition = false;
  for (const Executable &part : parts)
    for (const ProgramInput &input : part.programs[static_cast<size_t>(found - programs.begin())].inputs) {
      if (input.name == tokens)
        length = lengthOf(input);
      hasPosition |= input.name == kPosition;
    }
  if (!length || !hasPosition)
    return misfit(name, absl::StrCat("reads no input '", length ? kPosition : tokens, "'"));
  return *length;
}

} // namespace

absl::StatusOr<int64_t> textLengthOf(const std::vector<Executable> &parts) {
  absl::StatusOr<int64_t> length = textOf(parts, kPrefill, kWindow);
  if (!length.ok() || !hasDecode(parts.front().programs))
    return length;
  absl::StatusOr<int64_t> one = textOf(parts, kDecode, kToken);
  if (one.ok() && *one != 1)
    return misfit(kDecode, absl::StrCat("takes ", *one, " tokens at once"));
  return one.ok() ? length : one;
}

absl::StatusOr<TextWindow::BoundProgram> TextWindow::bindProgram(const char *name, const char *tokens,
                                                                 int64_t rank, int64_t length) const {
  absl::StatusOr<ProgramHandle> program = executor->program(name);
  if (!program.ok())
    return withExitCode(program.status(), ExitCode::Config);
  absl::StatusOr<HostTensor> logits = executor->output(*program, kLogits);
  if (!logits.ok())
    return withExitCode(logits.status(), ExitCode::Config);
  if (logits->type->dtype != DType::F32)
    return misfit(name, absl::StrCat("gives logits ", logits->type->str()));
  BoundProgram bound{*program, {}, SequencePart(length), {}, logits->as<float>()};
  const Executable &executable = executor->executable();
  for (const ProgramInput &input : executable.programs[program->index].inputs) {
    absl::StatusOr<HostTensor> tensor = executor->input(*program, input.name);
    if (!tensor.ok())
      return withExitCode(tensor.status(), ExitCode::Config);
    if (input.name == tokens && input.type.dtype == DType::I32) {
      bound.tokens = tensor->as<int32_t>();
      if (input.placement.globalShape.size() == 2)
        bound.part = SequencePart(executable.mesh, rank, length, input.placement.dimensions[1]);
    } else if (input.name == kPosition && input.type == TensorType{DType::I64, {}}) {
      bound.position = tensor->as<int64_t>();
    } else {
      return misfit(name, absl::StrCat("takes ", input.name, " ", input.type.str()));
    }
  }
  return bound;
}

absl::StatusOr<TextWindow> TextWindow::bind(Executor &executor, int64_t rank, int64_t length) {
  TextWindow window(executor, length);
  absl::StatusOr<BoundProgram> prefill = window.bindProgram(kPrefill, kWindow, rank, length);
  if (!prefill.ok())
    return prefill.status();
  window.prefill = *std::move(prefill);
  if (!hasDecode(executor.executable().programs))
    return window;
  absl::StatusOr<BoundProgram> decode = window.bindProgram(kDecode, kToken, rank, 1);
  if (!decode.ok())
    return decode.status();
  window.decode = *std::move(decode);
  return window;
}

absl::StatusOr<std::span<const float>> TextWindow::run(BoundProgram &program, size_t position) {
  if (!program.position.empty())
    program.position[0] = static_cast<int64_t>(position);
  if (absl::Status status = executor->run(program.handle); !status.ok())
    return status;
  return program.logits;
}

absl::StatusOr<std::span<const float>> TextWindow::logitsBehind(std::span<const int32_t> text) {
  const size_t length = window.size();
  const bool goesOn = seen > 0 && text.size() - begin <= length;
  if (goesOn && decode) {
    ++seen;
    if (!decode->tokens.empty())
      decode->tokens[0] = text.back();
    return run(*decode, seen - 1);
  }
  if (!goesOn)
    begin = text.size() - std::min(text.size(), seen > 0 ? std::max<size_t>(length / 2, 1) : length);
  seen = text.size() - begin;
  std::fill(window.begin(), window.end(), 0);
  std::copy(text.begin() + static_cast<int64_t>(begin), text.end(), window.begin());
  if (!prefill.tokens.empty())
    prefill.part.copy(window, prefill.tokens);
  return run(prefill, seen - 1);
}

} // namespace weft
