//===- weft-opt.cpp - Runs passes on IR, for tests and for reading ----------===//
//
// mlir-opt with our dialects and passes: it also runs the reproducers that a failed pass leaves
// (--run-reproducer). Kernels are those of AVX2, so that what is printed does not depend on the machine.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/DistDialect.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "kernels/cpu/Cpu.h"
#include "passes/differentiate/Differentiate.h"
#include "passes/fuse/Fuse.h"
#include "passes/memory/Memory.h"
#include "passes/partition/Partition.h"
#include "passes/pipeline/Schedule.h"
#include "passes/place/Place.h"
#include "passes/precision/Precision.h"
#include "passes/update/Update.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, weft::nn::NnDialect, weft::dist::DistDialect,
                  weft::sched::SchedDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  weft::registerPrecisionPass();
  weft::registerDifferentiatePass();
  weft::registerUpdatePass();
  weft::registerSeedPlacementsPass();
  weft::registerPlacePass();
  weft::registerPartitionPass();
  weft::registerSchedulePass();
  weft::registerCutPass();
  weft::registerVerifyMessagesPass();
  weft::registerFusePass();
  weft::registerRematerializePass();
  weft::registerMemoryPass();
  weft::registerVerifyPlacesPass();
  if (absl::Status status = weft::cpu::useInstructionSet(weft::cpu::InstructionSet::AVX2); !status.ok())
    llvm::errs() << "weft-opt: the memory phase cannot run here: " << std::string(status.message()) << "\n";
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "weft optimizer driver\n", registry));
}
