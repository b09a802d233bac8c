// Every mistake of tests/lit/dialects/dist/mistakes has its corrected twin in the same file. A twin is not
// only accepted: on virtual ranks it computes what the program means, that is, what it gives where one device
// holds everything and nothing needs to be moved or summed.
#include "compiler/interpret/InputValues.h"
#include "compiler/interpret/Interpreter.h"
#include "compiler/interpret/Programs.h"
#include "compiler/validate/Fingerprint.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/partition/Partition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <iostream>

namespace weft {
namespace {

using interpret::Tensor;

struct Twin {
  std::string file;
  std::string text;
};

/// The sections of all files that expect no error.
std::vector<Twin> twins() {
  std::vector<Twin> found;
  for (const auto &entry : std::filesystem::directory_iterator(WEFT_MISTAKES)) {
    if (entry.path().extension() != ".mlir")
      continue;
    auto buffer = llvm::MemoryBuffer::getFile(entry.path().string());
    if (!buffer) {
      ADD_FAILURE() << entry.path() << ": " << buffer.getError().message();
      continue;
    }
    llvm::SmallVector<llvm::StringRef> sections;
    (*buffer)->getBuffer().split(sections, "// -----");
    for (llvm::StringRef section : sections)
      if (!section.contains("expected-error"))
        found.push_back({entry.path().stem().string(), section.str()});
  }
  llvm::sort(found, [](const Twin &a, const Twin &b) { return a.file < b.file; });
  return found;
}

mlir::Type wholeType(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? mlir::RankedTensorType::get(dist::wholeShape(tensor), tensor.getElementType()) : type;
}

/// Where one device has everything, its own block is all that a ring meets: `first` alone, of whole values.
void meetOwnBlock(dist::RingOp ring) {
  mlir::Block &block = ring.getFirst().front();
  for (auto [result, value] : llvm::zip_equal(ring.getResults(), block.getTerminator()->getOperands()))
    value.setType(wholeType(result.getType()));
  for (auto [argument, operand] : llvm::zip_equal(block.getArguments(), ring->getOperands()))
    argument.replaceAllUsesWith(operand);
  ring->replaceAllUsesWith(block.getTerminator()->getOperands());
  block.getTerminator()->erase();
  ring->getBlock()->getOperations().splice(ring->getIterator(), block.getOperations());
  ring->erase();
}

/// What the program means: every value whole on one device, where everything that dist does is nothing.
void forgetMesh(mlir::ModuleOp module) {
  module.walk([](dist::RingOp ring) { meetOwnBlock(ring); });
  llvm::SmallVector<mlir::Operation *> moves;
  module.walk([&](mlir::Operation *op) {
    for (mlir::NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
      if (attribute.getName().getValue().starts_with("dist."))
        op->removeAttr(attribute.getName());
      else if (auto type = llvm::dyn_cast<mlir::TypeAttr>(attribute.getValue()))
        op->setAttr(attribute.getName(), mlir::TypeAttr::get(wholeType(type.getValue())));
      else if (auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(attribute.getValue())) {
        auto whole = llvm::cast<mlir::ShapedType>(wholeType(dense.getType()));
        op->setAttr(attribute.getName(), dense.isSplat() ? dense.resizeSplat(whole) : dense.reshape(whole));
      }
    for (mlir::Value result : op->getResults())
      result.setType(wholeType(result.getType()));
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (mlir::BlockArgument argument : block.getArguments())
          argument.setType(wholeType(argument.getType()));
    if (auto function = llvm::dyn_cast<mlir::func::FuncOp>(op)) {
      auto whole = [](mlir::TypeRange types) { return llvm::map_to_vector(types, wholeType); };
      function.setType(mlir::FunctionType::get(op->getContext(), whole(function.getArgumentTypes()),
                                               whole(function.getResultTypes())));
    }
    if (llvm::isa_and_nonnull<dist::DistDialect>(op->getDialect()))
      moves.push_back(op);
  });
  for (mlir::Operation *op : moves)
    if (op->getNumResults() == 1 && !llvm::isa<dist::WaitOp>(op) && op->getNumOperands() == 1 &&
        llvm::isa<mlir::RankedTensorType>(op->getResult(0).getType()))
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  for (mlir::Operation *op : moves)
    if (auto wait = llvm::dyn_cast<dist::WaitOp>(op))
      wait.getResult().replaceAllUsesWith(wait.getToken().getDefiningOp()->getOperand(0));
  for (mlir::Operation *op : llvm::reverse(moves))
    op->erase();
}

/// Results and written variables of every program of the module, on the same inputs.
std::vector<Tensor> run(mlir::ModuleOp module) {
  std::vector<Tensor> all;
  for (mlir::Operation *program : interpret::programsOf(module)) {
    auto variables = interpret::initialVariables(module, 1);
    if (failed(variables)) {
      ADD_FAILURE() << "no initial values";
      return {};
    }
    std::vector<Tensor> inputs;
    for (const interpret::ProgramInput &input : interpret::inputsOf(program)) {
      std::optional<TensorType> type = input.wholeType();
      if (!type) {
        ADD_FAILURE() << "input " << input.name << " has no value";
        return {};
      }
      absl::StatusOr<Tensor> value =
          interpret::generate(*type, input.name, 1, interpret::integerBound(input.values, 4));
      if (!value.ok()) {
        ADD_FAILURE() << value.status();
        return {};
      }
      inputs.push_back(*std::move(value));
    }
    interpret::Interpreter interpreter(interpret::Types::Exact);
    std::vector<std::string> written;
    auto results = interpret::runProgram(interpreter, program, std::move(inputs), *variables, &written);
    if (failed(results)) {
      ADD_FAILURE() << interpret::programName(program) << " does not run";
      return {};
    }
    for (Tensor &result : *results)
      all.push_back(std::move(result));
    for (const std::string &name : written)
      all.push_back(variables->at(name));
  }
  return all;
}

TEST(CorrectedTwin, ComputesOnVirtualRanksWhatItMeansOnOneDevice) {
  size_t compared = 0, silent = 0;
  std::set<std::string> files;
  for (const Twin &twin : twins()) {
    SCOPED_TRACE(twin.file);
    files.insert(twin.file);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<nn::NnDialect, sched::SchedDialect, dist::DistDialect, mlir::func::FuncDialect>();
    auto local = mlir::parseSourceString<mlir::ModuleOp>(twin.text, &context);
    ASSERT_TRUE(local);
    mlir::OwningOpRef<mlir::ModuleOp> meaning = local->clone();
    forgetMesh(*meaning);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*meaning)));
    mlir::PassManager passes(&context);
    passes.addPass(createPartition());
    ASSERT_TRUE(mlir::succeeded(passes.run(*local)));
    std::vector<Tensor> expected = run(*meaning), actual = run(*local);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t index = 0; index < expected.size(); ++index)
      EXPECT_LE(tensorError(actual[index], expected[index], normOf(expected[index])), 1e-11)
          << "value " << index;
    compared += expected.size();
    silent += expected.empty();
  }
  std::cout << files.size() << " files, " << compared << " values compared, " << silent
            << " twins without a value\n";
  EXPECT_GE(files.size(), 44u);
  // Declarations of variables, and programs that return nothing.
  EXPECT_LE(silent * 4, files.size());
}

} // namespace
} // namespace weft
