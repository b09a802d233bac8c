//===- main.cpp - A program that uses weft as an installed library --------===//
//
// Describes one kernel call, as a device backend outside the project would meet it, and reads an attribute
// back.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/KernelCall.h"

#include <cstdio>

int main() {
  weft::KernelCall call;
  call.name = "rms_norm";
  call.operands = {{weft::DType::F32, {4, 288}}, {weft::DType::F32, {288}}};
  call.results = {{weft::DType::F32, {4, 288}}, {weft::DType::F32, {4}}};
  call.setNumber("epsilon", 1e-5);
  absl::StatusOr<double> epsilon = call.number("epsilon");
  if (!epsilon.ok()) {
    std::fprintf(stderr, "%s\n", std::string(epsilon.status().message()).c_str());
    return 1;
  }
  std::printf("%s epsilon %g\n", call.str().c_str(), *epsilon);
  return 0;
}
