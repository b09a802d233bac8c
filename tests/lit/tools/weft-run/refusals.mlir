// What is wrong is named, and the exit code says whether it is the command line or program (2), or a tensor file (3).
// RUN: bash -c 'weft-run %s > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=SEVERAL < %t
// RUN: bash -c 'weft-run %s --function h > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=NONE < %t
// RUN: bash -c 'weft-run %s --function f --input x.bin > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=FORM < %t
// RUN: bash -c 'weft-run %s --function f --input arg0=/nonexistent.npy > %t 2>&1; test $? = 3' && FileCheck %s --check-prefix=MISSING < %t
// RUN: bash -c 'weft-run %s --function f --input /nonexistent.safetensors > %t 2>&1; test $? = 3' && FileCheck %s --check-prefix=MISSINGS < %t
// RUN: bash -c 'weft-run /nonexistent.mlir > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=PROGRAM < %t
// RUN: bash -c 'weft-run %s --types fast > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=TYPES < %t
// RUN: bash -c 'weft-run %s --function f --no-such > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=OPTION < %t
// RUN: rm -rf %t.d && weft-run %s --function g --output %t.d
// RUN: bash -c 'weft-run %s --function f --input arg0=%t.d/result0.npy > %t 2>&1; test $? = 3' && FileCheck %s --check-prefix=SHAPE < %t
// RUN: bash -c 'weft-run %s --function f --input arg1=%t.d/result0.npy > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=UNUSED < %t
// RUN: bash -c 'weft-run %s --function f --input arg0=%t.d/result0.npy --input arg0=%t.d/result0.npy > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=TWICE < %t
// RUN: bash -c 'weft-run %s --function narrow --input arg0=%t.d/result1.npy > %t 2>&1; test $? = 3' && FileCheck %s --check-prefix=FIT < %t
// RUN: bash -c 'weft-run %s --function g --output /proc/nowhere > %t 2>&1; test $? = 3' && FileCheck %s --check-prefix=OUTPUT < %t
// RUN: bash -c 'weft-run %s --function fails > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=FAILS < %t
// RUN: bash -c 'echo "module { nn.what }" | weft-run - > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=PARSE < %t
// RUN: bash -c 'echo "module { }" | weft-run - > %t 2>&1; test $? = 2' && FileCheck %s --check-prefix=EMPTY < %t
// SEVERAL: {{^}}weft-run: the module has several functions or steps; choose one with --function: f, g, narrow, fails{{$}}
// NONE: {{^}}weft-run: --function h: there is no such function or step. There are: f, g, narrow, fails{{$}}
// FORM: {{^}}weft-run: --input x.bin: must be NAME=FILE.npy or FILE.safetensors{{$}}
// MISSING: {{^}}weft-run: /nonexistent.npy: cannot be opened{{$}}
// MISSINGS: {{^}}weft-run: /nonexistent.safetensors: {{.*}}No such file or directory
// PROGRAM: {{^}}weft-run: /nonexistent.mlir: cannot be read: No such file or directory{{$}}
// TYPES: --types: fast not in {exact,declared}
// OPTION: The following argument was not expected: --no-such
// SHAPE: {{^}}weft-run: {{.*}}/result0.npy: arg0 must be tensor<2xf32>, it is tensor<3xf64>{{$}}
// UNUSED: {{^}}weft-run: {{.*}}/result0.npy: arg1 is neither an input of @f nor a variable. There are: arg0, w{{$}}
// TWICE: {{^}}weft-run: --input: arg0 is given twice, by {{.*}}/result0.npy and by {{.*}}/result0.npy{{$}}
// FIT: {{^}}weft-run: {{.*}}/result1.npy: arg0 has values that do not fit tensor<i32>{{$}}
// OUTPUT: {{^}}weft-run: /proc/nowhere: cannot be made: No such file or directory{{$}}
// FAILS: refusals.mlir:[[@LINE+15]]:8: error: 'nn.power' op power: operands must be of a float type, they are tensor<i32>
// PARSE: <stdin>:1:10: error: {{.*}}nn.what
// EMPTY: {{^}}weft-run: the module has no function with a body and no step to run{{$}}
nn.parameter @w : tensor<f32> constant
func.func private @external()
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
func.func @g() -> (tensor<3xf32>, tensor<i64>) {
  %x = nn.constant dense<1.0> : tensor<3xf32>
  %n = nn.constant dense<4294967296> : tensor<i64>
  return %x, %n : tensor<3xf32>, tensor<i64>
}
func.func @narrow(%x: tensor<i32>) -> tensor<i32> { return %x : tensor<i32> }
func.func @fails() -> tensor<i32> {
  %x = nn.constant dense<2> : tensor<i32>
  // The next line has no meaning for integers.
  %y = nn.power %x, %x : tensor<i32>
  return %y : tensor<i32>
}
