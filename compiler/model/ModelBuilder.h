//===- ModelBuilder.h - Writing a model as nn ops ----------------------------===//
//
// A model is a function from tokens to hidden states, written with this builder. Scopes give every op its
// location and every parameter its checkpoint name: inside scope("model.layers.0"),
// parameter("input_layernorm.weight", ...) is model.layers.0.input_layernorm.weight. A parameter is declared
// once in the module, at its first use, and read anew at each use: each use has an accumulator of its own.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_MODELBUILDER_H
#define WEFT_COMPILER_MODEL_MODELBUILDER_H

#include "dialects/nn/ValueBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace weft {

/// How a parameter starts: a constant, or normal with mean 0.
struct ParameterInitializer {
  nn::InitializerKind kind;
  double mean = 0.0, deviation = 0.0;
  static ParameterInitializer constant(double value) { return {nn::InitializerKind::constant, value, 0.0}; }
  static ParameterInitializer normal(double deviation) {
    return {nn::InitializerKind::normal, 0.0, deviation};
  }
};

/// What is true of a parameter beside its shape.
struct ParameterTraits {
  /// One-dimensional in the checkpoint though it has more dimensions here (an attention bias [heads,
  /// dimension]): it does not decay.
  bool oneDimensional = false;
  /// The dimension that tensor parallelism splits (arXiv:1909.08053); -1: none.
  int64_t tensorDimension = -1;
  /// A part of that dimension is a number of whole units, such as heads: it must divide.
  bool wholeParts = false;
};

/// The module it writes into holds no parameters yet.
class ModelBuilder : public nn::ValueBuilder {
public:
  ModelBuilder(mlir::ModuleOp module, mlir::OpBuilder &builder);

  /// Enters a scope until the returned object goes.
  class Scope {
  public:
    Scope(ModelBuilder &builder, llvm::StringRef name);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    ModelBuilder &builder;
    size_t outerLength;
    mlir::Location outerLocation;
  };
  [[nodiscard]] Scope scope(llvm::StringRef name) { return Scope(*this, name); }

  /// The value of the parameter `name` of the current scope, float32.
  mlir::Value parameter(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, ParameterInitializer initializer,
                        ParameterTraits traits = {});
  /// Declares the cache `name` of the current scope, float32 until a recipe says otherwise, at its first use;
  /// its symbol.
  std::string cache(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, ParameterTraits traits);
  mlir::Value boundary(mlir::Value x, int64_t layer);
  /// xxh64 of the current scope's path: what tells random numbers of different places apart.
  int64_t pathHash() const;

private:
  /// Declares the variable that `build` makes, unless the module has it.
  void declare(llvm::StringRef symbol, ParameterTraits traits, llvm::function_ref<mlir::Operation *()> build);

  mlir::ModuleOp module;
  std::string path;
  llvm::StringSet<> declared;      ///< parameters and caches, by their whole names
  mlir::Operation *last = nullptr; ///< of them
};

} // namespace weft

#endif // WEFT_COMPILER_MODEL_MODELBUILDER_H
