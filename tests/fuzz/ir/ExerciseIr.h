//===- ExerciseIr.h - IR that anybody may have written ----------------------===//
#ifndef WEFT_TESTS_FUZZ_IR_EXERCISEIR_H
#define WEFT_TESTS_FUZZ_IR_EXERCISEIR_H

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::testing {

/// How far a text came.
enum class Reached { Nothing, Parsed, Lowered, Emitted };

/// Parses and verifies the text, asks every op the questions of its interfaces, and runs the passes on what
/// verifies, up to an executable. Whatever the text is, errors are diagnostics: it must return. An executable
/// that its own verifier refuses counts as lowered: weft compile refuses it too.
Reached exerciseIr(std::string_view text);

/// A text made from IR by one to four small changes that keep it close to valid: numbers, names and types
/// exchanged for others of the text or of the dialects, lines repeated, dropped or moved. A function of
/// `seed`.
std::string mutateIr(std::string_view text, uint64_t seed);

} // namespace weft::testing

#endif // WEFT_TESTS_FUZZ_IR_EXERCISEIR_H
