//===- weft-opt.cpp - Runs passes on IR, for tests and for reading ----------===//
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/differentiate/Differentiate.h"
#include "passes/fuse/Fuse.h"
#include "passes/memory/Memory.h"
#include "passes/pipeline/Schedule.h"
#include "passes/precision/Precision.h"
#include "passes/update/Update.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, weft::nn::NnDialect, weft::sched::SchedDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  weft::registerPrecisionPass();
  weft::registerDifferentiatePass();
  weft::registerUpdatePass();
  weft::registerSchedulePass();
  weft::registerFusePass();
  weft::registerMemoryPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "weft optimizer driver\n", registry));
}
