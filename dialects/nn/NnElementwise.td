//===- NnElementwise.td - Element-wise primitives -------------------------===//
include "dialects/nn/NnBase.td"

// Every dimension passes through; each op names its derivative in Elementwise.cpp.
class NnUnaryOp<string mnemonic, string what> : NnOp<mnemonic, [Pure, SameOperandsAndResultType, Elementwise,
    NnDifferentiable, NnShardable, NnCosted]> {
  let summary = what;
  let description = "Element by element, rounded once to the result type.\n\n"
    "Example:\n```mlir\n%y = nn." # mnemonic # " %x : tensor<4x8xf32>\n```\n\nConstraints: a float tensor; the result has the operand's type.";
  let arguments = (ins NnFloatTensor:$operand);
  let results = (outs NnFloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class NnBinaryOp<string mnemonic, string what, list<Trait> more = []> : NnOp<mnemonic, [Pure, Elementwise,
    SameOperandsAndResultShape, SameOperandsAndResultElementType, NnDifferentiable, NnShardable, NnCosted] # more> {
  let summary = what;
  let description = "Element by element, rounded once to the result type. Nothing broadcasts: `nn.broadcast` says it.\n\n"
    "Example:\n```mlir\n%y = nn." # mnemonic # " %a, %b : tensor<4x8xf32>\n```\n\nConstraints: both operands and the result have one type; on a mesh, placements as the sharding rule says.";
  let arguments = (ins NnTensor:$lhs, NnTensor:$rhs);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<BinaryTypes>(type($lhs), type($rhs), type($result))";
}

def NegateOp : NnUnaryOp<"negate", "Minus x.">;
def AbsOp : NnUnaryOp<"abs", "Absolute value; the derivative at 0 is 0.">;
def ExpOp : NnUnaryOp<"exp", "e to the x.">;
def LogOp : NnUnaryOp<"log", "Natural logarithm.">;
def SqrtOp : NnUnaryOp<"sqrt", "Square root.">;
def RsqrtOp : NnUnaryOp<"rsqrt", "One over the square root.">;
def TanhOp : NnUnaryOp<"tanh", "Hyperbolic tangent.">;
def SigmoidOp : NnUnaryOp<"sigmoid", "1 / (1 + exp(-x)).">;
def SinOp : NnUnaryOp<"sin", "Sine, x in radians.">;
def CosOp : NnUnaryOp<"cos", "Cosine, x in radians.">;
def ErfOp : NnUnaryOp<"erf", "The error function.">;
def FloorOp : NnUnaryOp<"floor", "The largest integer not above x; its derivative is 0.">;
def SignOp : NnUnaryOp<"sign", "-1, 0 or 1; its derivative is 0.">;

def AddOp : NnBinaryOp<"add", "x + y.", [Commutative]> { let hasFolder = 1; }
def SubtractOp : NnBinaryOp<"subtract", "x - y.">;
def MultiplyOp : NnBinaryOp<"multiply", "x * y.", [Commutative]> { let hasFolder = 1; }
def DivideOp : NnBinaryOp<"divide", "x / y; of integers: rounded toward zero, 0 where y is 0.">;
def MaximumOp : NnBinaryOp<"maximum", "The larger of x and y, NaN if one is; where they are equal the derivative goes to x.">;
def MinimumOp : NnBinaryOp<"minimum", "The smaller of x and y, NaN if one is; where they are equal the derivative goes to x.">;
def PowerOp : NnBinaryOp<"power", "x to the y.">;
class NnLogicalOp<string mnemonic, string what> : NnOp<mnemonic, [Pure, SameOperandsAndResultType, Elementwise,
    Commutative, NnShardable, NnCosted]> {
  let summary = what;
  let description = "Example:\n```mlir\n%y = nn." # mnemonic # " %a, %b : tensor<4xi1>\n```\n\nConstraints: i1.";
  let arguments = (ins NnBoolTensor:$lhs, NnBoolTensor:$rhs);
  let results = (outs NnBoolTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def AndOp : NnLogicalOp<"and", "Both are true.">;
def OrOp : NnLogicalOp<"or", "Either is true.">;

def NotOp : NnOp<"not", [Pure, SameOperandsAndResultType, Elementwise, NnShardable, NnCosted]> {
  let summary = "The opposite, of i1.";
  let description = "Example:\n```mlir\n%y = nn.not %x : tensor<4xi1>\n```\n\nConstraints: i1.";
  let arguments = (ins NnBoolTensor:$operand);
  let results = (outs NnBoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def IsFiniteOp : NnOp<"is_finite", [Pure, SameOperandsAndResultShape, Elementwise, NnShardable, NnCosted]> {
  let summary = "True where x is neither infinite nor NaN.";
  let description = "Example:\n```mlir\n%y = nn.is_finite %x : tensor<4xf32> -> tensor<4xi1>\n```\n\nConstraints: float to i1 of the same shape.";
  let arguments = (ins NnFloatTensor:$operand);
  let results = (outs NnBoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def ComparisonAttr : I32EnumAttr<"Comparison", "how two values are compared", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::weft::nn";
}

def CompareOp : NnOp<"compare", [Pure, SameTypeOperands, SameOperandsAndResultShape, Elementwise, NnShardable, NnCosted]> {
  let summary = "Compares element by element.";
  let description = [{
    A comparison with NaN is false, except `ne`, which is true.

    Example:
    ```mlir
    %m = nn.compare lt %a, %b : tensor<4xi32> -> tensor<4xi1>
    ```

    Constraints: operands of one type; result i1 of the same shape.
  }];
  let arguments = (ins ComparisonAttr:$comparison, NnTensor:$lhs, NnTensor:$rhs);
  let results = (outs NnBoolTensor:$result);
  let assemblyFormat = "$comparison $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def SelectOp : NnOp<"select", [Pure, Elementwise, AllTypesMatch<["on_true", "on_false", "result"]>,
    AllShapesMatch<["condition", "result"]>, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Takes one value or the other by a condition.";
  let description = [{
    Example:
    ```mlir
    %y = nn.select %mask, %a, %b : tensor<4xi1>, tensor<4xf32>
    ```

    Constraints: an i1 condition of the result's shape; both values of the result's type.
  }];
  let arguments = (ins NnBoolTensor:$condition, NnTensor:$on_true, NnTensor:$on_false);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)";
}

def CastOp : NnOp<"cast", [Pure, SameOperandsAndResultShape, Elementwise, NnDifferentiable, NnShardable, NnCosted]> {
  let summary = "Rounds to another type.";
  let description = [{
    The only op that converts. Float to narrower float rounds to nearest even; float to integer truncates, saturates,
    and takes NaN to 0; to i1 it asks whether the value differs from 0. In exact mode the reference keeps floats as they are.

    Example:
    ```mlir
    %y = nn.cast %x : tensor<4xf32> -> tensor<4xbf16>
    ```

    Constraints: same shape.
  }];
  let arguments = (ins NnTensor:$operand);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def StopGradientOp : NnOp<"stop_gradient", [Pure, SameOperandsAndResultType, Elementwise, NnShardable, NnCosted]> {
  let summary = "The identity, through which no cotangent passes.";
  let description = "Example:\n```mlir\n%y = nn.stop_gradient %x : tensor<4xf32>\n```\n\nConstraints: the result has the operand's type.";
  let arguments = (ins NnTensor:$operand);
  let results = (outs NnTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}
