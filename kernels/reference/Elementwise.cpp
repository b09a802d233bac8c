#include "kernels/reference/Elementwise.h"

#include "kernels/reference/Checks.h"
#include "kernels/reference/Names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weft::reference {
namespace {

constexpr std::array<std::string_view, 15> kUnaryNames = {"negate", "abs",   "exp",     "log",       "sqrt",
                                                          "rsqrt",  "tanh",  "sigmoid", "sin",       "cos",
                                                          "erf",    "floor", "sign",    "is_finite", "not"};
constexpr std::array<std::string_view, 10> kBinaryNames = {
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "and", "or", "remainder"};
constexpr std::array<std::string_view, 6> kComparisonNames = {"eq", "ne", "lt", "le", "gt", "ge"};

template <typename Function> Tensor mapReals(const Tensor &x, Function function) {
  Tensor result = x;
  for (double &value : result.reals)
    value = function(value);
  return result;
}

template <typename Function> Tensor mapIntegers(const Tensor &x, Function function) {
  Tensor result = x;
  for (int64_t &value : result.integers)
    value = wrapInteger(x.dtype, function(value));
  return result;
}

template <typename Function> Tensor zipReals(const Tensor &a, const Tensor &b, Function function) {
  Tensor result = a;
  for (size_t i = 0; i < result.reals.size(); ++i)
    result.reals[i] = function(a.reals[i], b.reals[i]);
  return result;
}

template <typename Function> Tensor zipIntegers(const Tensor &a, const Tensor &b, Function function) {
  Tensor result = a;
  for (size_t i = 0; i < result.integers.size(); ++i)
    result.integers[i] = wrapInteger(a.dtype, function(a.integers[i], b.integers[i]));
  return result;
}

/// Two's complement without the undefined overflow of signed types.
template <typename Function> auto wrapping(Function function) {
  return [function](int64_t a, int64_t b) {
    return static_cast<int64_t>(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  };
}
int64_t negateWrapping(int64_t value) { return static_cast<int64_t>(-static_cast<uint64_t>(value)); }

/// Exact at both ends: exp never overflows.
double sigmoid(double x) {
  double e = std::exp(-std::fabs(x));
  return (x >= 0 ? 1.0 : e) / (1.0 + e);
}
double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return a > b || (a == b && std::signbit(b)) ? a : b;
}
double minimum(double a, double b) { return -maximum(-a, -b); }

absl::Status refuseType(std::string_view op, const Tensor &x, std::string_view wanted) {
  return refuse(op, "operands must be ", std::string(wanted), ", they are ", x.type().str());
}

absl::StatusOr<Tensor> unaryOfReals(Unary op, const Tensor &x) {
  switch (op) {
  case Unary::Negate:
    return mapReals(x, [](double v) { return -v; });
  case Unary::Abs:
    return mapReals(x, [](double v) { return std::fabs(v); });
  case Unary::Exp:
    return mapReals(x, [](double v) { return std::exp(v); });
  case Unary::Log:
    return mapReals(x, [](double v) { return std::log(v); });
  case Unary::Sqrt:
    return mapReals(x, [](double v) { return std::sqrt(v); });
  case Unary::Rsqrt:
    return mapReals(x, [](double v) { return 1.0 / std::sqrt(v); });
  case Unary::Tanh:
    return mapReals(x, [](double v) { return std::tanh(v); });
  case Unary::Sigmoid:
    return mapReals(x, sigmoid);
  case Unary::Sin:
    return mapReals(x, [](double v) { return std::sin(v); });
  case Unary::Cos:
    return mapReals(x, [](double v) { return std::cos(v); });
  case Unary::Erf:
    return mapReals(x, [](double v) { return std::erf(v); });
  case Unary::Floor:
    return mapReals(x, [](double v) { return std::floor(v); });
  case Unary::Sign:
    return mapReals(x, sign);
  case Unary::IsFinite: {
    Tensor result{DType::I1, x.shape, {}, std::vector<int64_t>(x.reals.size())};
    for (size_t i = 0; i < x.reals.size(); ++i)
      result.integers[i] = std::isfinite(x.reals[i]);
    return result;
  }
  case Unary::Not:
    break;
  }
  return refuseType(name(op), x, "i1, i32 or i64");
}

absl::StatusOr<Tensor> unaryOfIntegers(Unary op, const Tensor &x) {
  if (op == Unary::Not)
    return mapIntegers(x, [](int64_t v) { return ~v; });
  if (x.dtype != DType::I1) {
    if (op == Unary::Negate)
      return mapIntegers(x, negateWrapping);
    if (op == Unary::Abs)
      return mapIntegers(x, [](int64_t v) { return v < 0 ? negateWrapping(v) : v; });
    if (op == Unary::Sign)
      return mapIntegers(x, [](int64_t v) { return int64_t{v > 0} - int64_t{v < 0}; });
  }
  bool takesIntegers = op == Unary::Negate || op == Unary::Abs || op == Unary::Sign;
  return refuseType(name(op), x, takesIntegers ? "i32, i64 or of a float type" : "of a float type");
}

absl::StatusOr<Tensor> binaryOfReals(Binary op, const Tensor &a, const Tensor &b) {
  switch (op) {
  case Binary::Add:
    return zipReals(a, b, [](double p, double q) { return p + q; });
  case Binary::Subtract:
    return zipReals(a, b, [](double p, double q) { return p - q; });
  case Binary::Multiply:
    return zipReals(a, b, [](double p, double q) { return p * q; });
  case Binary::Divide:
    return zipReals(a, b, [](double p, double q) { return p / q; });
  case Binary::Maximum:
    return zipReals(a, b, maximum);
  case Binary::Minimum:
    return zipReals(a, b, minimum);
  case Binary::Power:
    return zipReals(a, b, [](double p, double q) { return std::pow(p, q); });
  case Binary::Remainder:
    return zipReals(a, b, [](double p, double q) { return std::fmod(p, q); });
  case Binary::And:
  case Binary::Or:
    break;
  }
  return refuseType(name(op), a, "i1, i32 or i64");
}

absl::StatusOr<Tensor> binaryOfIntegers(Binary op, const Tensor &a, const Tensor &b) {
  if (op == Binary::And)
    return zipIntegers(a, b, [](int64_t p, int64_t q) { return p & q; });
  if (op == Binary::Or)
    return zipIntegers(a, b, [](int64_t p, int64_t q) { return p | q; });
  if (a.dtype == DType::I1)
    return refuseType(name(op), a, op == Binary::Power ? "of a float type" : "i32, i64 or of a float type");
  switch (op) {
  case Binary::Add:
    return zipIntegers(a, b, wrapping([](uint64_t p, uint64_t q) { return p + q; }));
  case Binary::Subtract:
    return zipIntegers(a, b, wrapping([](uint64_t p, uint64_t q) { return p - q; }));
  case Binary::Multiply:
    return zipIntegers(a, b, wrapping([](uint64_t p, uint64_t q) { return p * q; }));
  case Binary::Divide: // by -1 apart: the smallest value overflows there
    return zipIntegers(a, b, [](int64_t p, int64_t q) {
      return q == 0 ? 0 : q == -1 ? negateWrapping(p) : p / q;
    });
  case Binary::Remainder:
    return zipIntegers(a, b, [](int64_t p, int64_t q) { return q == 0 || q == -1 ? 0 : p % q; });
  case Binary::Maximum:
    return zipIntegers(a, b, [](int64_t p, int64_t q) { return std::max(p, q); });
  case Binary::Minimum:
    return zipIntegers(a, b, [](int64_t p, int64_t q) { return std::min(p, q); });
  default:
    return refuseType(name(op), a, "of a float type");
  }
}

template <typename Value> bool holds(Comparison op, Value a, Value b) {
  switch (op) {
  case Comparison::Eq:
    return a == b;
  case Comparison::Ne:
    return a != b;
  case Comparison::Lt:
    return a < b;
  case Comparison::Le:
    return a <= b;
  case Comparison::Gt:
    return a > b;
  case Comparison::Ge:
    return a >= b;
  }
  return false;
}

} // namespace

std::string_view name(Unary op) { return kUnaryNames[static_cast<size_t>(op)]; }
std::string_view name(Binary op) { return kBinaryNames[static_cast<size_t>(op)]; }
std::string_view name(Comparison op) { return kComparisonNames[static_cast<size_t>(op)]; }

std::optional<Unary> unaryFromName(std::string_view name) { return findName<Unary>(kUnaryNames, name); }
std::optional<Binary> binaryFromName(std::string_view name) { return findName<Binary>(kBinaryNames, name); }
std::optional<Comparison> comparisonFromName(std::string_view name) {
  return findName<Comparison>(kComparisonNames, name);
}

absl::StatusOr<Tensor> unary(Unary op, const Tensor &x) {
  if (absl::Status status = checkTensor(name(op), x); !status.ok())
    return status;
  return isFloat(x.dtype) ? unaryOfReals(op, x) : unaryOfIntegers(op, x);
}

absl::StatusOr<Tensor> binary(Binary op, const Tensor &a, const Tensor &b) {
  if (absl::Status status = checkSameType(name(op), a, b); !status.ok())
    return status;
  return isFloat(a.dtype) ? binaryOfReals(op, a, b) : binaryOfIntegers(op, a, b);
}

absl::StatusOr<Tensor> addLogarithms(const Tensor &a, const Tensor &b) {
  constexpr const char *kName = "log-sum-exp";
  if (absl::Status status = checkSameType(kName, a, b); !status.ok())
    return status;
  if (!isFloat(a.dtype))
    return refuse(kName, "only floats have one, the operands are ", a.type().str());
  Tensor result = a;
  for (size_t i = 0; i < result.reals.size(); ++i) {
    double x = a.reals[i], y = b.reals[i], most = std::max(x, y), least = std::min(x, y);
    result.reals[i] = std::isnan(x) || std::isnan(y) ? x + y
                      : std::isinf(most)             ? most
                                                     : most + std::log1p(std::exp(least - most));
  }
  return result;
}

absl::StatusOr<Tensor> compare(Comparison op, const Tensor &a, const Tensor &b) {
  if (absl::Status status = checkSameType(name(op), a, b); !status.ok())
    return status;
  Tensor result{DType::I1, a.shape, {}, {}};
  auto fill = [&](const auto &left, const auto &right) {
    result.integers.reserve(left.size());
    for (size_t i = 0; i < left.size(); ++i)
      result.integers.push_back(holds(op, left[i], right[i]));
  };
  if (isFloat(a.dtype))
    fill(a.reals, b.reals);
  else
    fill(a.integers, b.integers);
  return result;
}

absl::StatusOr<Tensor> select(const Tensor &condition, const Tensor &then, const Tensor &otherwise) {
  if (absl::Status status = checkSameType("select", then, otherwise); !status.ok())
    return status;
  if (absl::Status status = checkTensor("select", condition); !status.ok())
    return status;
  if (TensorType wanted{DType::I1, then.shape}; condition.type() != wanted)
    return refuse("select", "the condition must be ", wanted.str(), ", it is ", condition.type().str());
  Tensor result = then;
  withValues(
      [&](auto &out, const auto &other) {
        for (size_t i = 0; i < out.size(); ++i)
          if (!condition.integers[i])
            out[i] = other[i];
      },
      result, otherwise);
  return result;
}

} // namespace weft::reference
