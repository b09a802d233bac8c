//===- SentencePieceFallback.h - Unknown characters as bytes --------------===//
//
// The library copies a run of unknown characters once for each of them, which takes quadratic time, but not
// where unknown characters become bytes. The same model with byte pieces behind its own cuts each text alike,
// as these pieces take part in no match: each unknown character comes out as ids from its size on.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_SENTENCEPIECEFALLBACK_H
#define WEFT_RUNTIME_TOKENIZER_SENTENCEPIECEFALLBACK_H

#include <string>
#include <string_view>

namespace weft {

/// The piece of a byte, for example <0x0A>.
std::string fallbackPiece(unsigned char byte);

/// A serialized ModelProto that has no byte pieces, with one for each byte behind its pieces and with byte
/// fallback; without its self-tests, which expect what it did before.
std::string withByteFallback(std::string_view model);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_SENTENCEPIECEFALLBACK_H
