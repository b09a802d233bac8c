//===- Generated.cpp - An element-wise call as a generated function -------===//
//
// Tile after tile of the line of elements goes to the function; which thread takes which changes nothing.
// What may share memory, and every check of the call, are those of the interpreter (Elementwise.cpp), which
// stands behind: the function is held to its bits.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/Registry.h"

#include <algorithm>

namespace weft::cpu {
namespace {

class GeneratedKernel final : public Kernel {
public:
  GeneratedKernel(std::unique_ptr<Kernel> interpreter, GeneratedFunction &function, int64_t elements,
                  int64_t tile)
      : interpreter(std::move(interpreter)), function(function), elements(elements), tileElements(tile) {}

  void run(const KernelArguments &arguments, ThreadPool &threads) const override {
    const int64_t tiles = (elements + tileElements - 1) / tileElements;
    threads.forEachTile(tiles, [&](int64_t tile, int) {
      function(arguments.operands.data(), arguments.results.data(), tile * tileElements,
               std::min(elements, (tile + 1) * tileElements));
    });
  }
  int64_t workspaceBytes() const override { return interpreter->workspaceBytes(); }
  bool mayAlias(int operand, int result) const override { return interpreter->mayAlias(operand, result); }

private:
  std::unique_ptr<Kernel> interpreter;
  GeneratedFunction &function;
  int64_t elements, tileElements;
};

} // namespace

KernelOrError createGenerated(const KernelCall &call, GeneratedFunction &function) {
  KernelOrError interpreter = createElementwise(call);
  if (!interpreter.ok())
    return interpreter;
  auto program = parseElementwise(call);
  if (!program.ok())
    return program.status();
  const int64_t elements = TensorType{DType::I1, program->shape}.elements();
  return std::make_unique<GeneratedKernel>(*std::move(interpreter), function, elements,
                                           generatedTileOf(*program));
}

} // namespace weft::cpu
