//===- weft-lsp-server.cpp - Our IR in an editor ------------------------------===//
//
// The language server of MLIR with our dialects: diagnostics while one types, definitions and uses of values
// and symbols, types on hover, in any editor that speaks the Language Server Protocol.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, weft::nn::NnDialect, weft::sched::SchedDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
