//===- BFloat16Product.cpp - oneDNN's product of bfloat16 matrices --------===//
//
// Sizes and strides of oneDNN's `matmul` may be left to its execution. Then eight primitives serve every
// product: A and B as they lie or transposed, C overwritten or added to. They end in gemm:jit as dnnl_sgemm
// does, take no scratchpad and keep no state. A product of 16 x 16 x 16 takes about 2 us, most of them for
// the descriptions of its matrices. The C interface is used because the C++ one allocates in its headers.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/BFloat16Product.h"

#include "oneapi/dnnl/dnnl.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace weft::cpu {
namespace {

/// Shapes were checked before: what is left is that memory ran out.
void require(dnnl_status_t status) {
  if (status == dnnl_success)
    return;
  std::fprintf(stderr, "oneDNN: a product of bfloat16 matrices failed with status %d\n", status);
  std::abort();
}

dnnl_memory_desc_t describe(int64_t rows, int64_t columns, dnnl_data_type_t type, LyingMatrix lying) {
  const dnnl_dims_t sizes = {rows, columns};
  const dnnl_dims_t strides = {lying.transposed ? 1 : lying.leading, lying.transposed ? lying.leading : 1};
  dnnl_memory_desc_t description;
  require(dnnl_memory_desc_init_by_strides(&description, 2, sizes, type, strides));
  return description;
}

/// A matrix of the caller.
class Matrix {
public:
  Matrix(dnnl_engine_t engine, const dnnl_memory_desc_t &description, void *values) {
    require(dnnl_memory_create(&memory, &description, engine, values));
  }
  ~Matrix() { dnnl_memory_destroy(memory); }
  Matrix(const Matrix &) = delete;
  Matrix &operator=(const Matrix &) = delete;

  dnnl_memory_t memory = nullptr;
};

class Products {
public:
  Products() {
    require(dnnl_engine_create(&engine, dnnl_cpu, 0));
    require(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    for (size_t i = 0; i < primitives.size(); ++i)
      primitives[i] = create({(i & 1) != 0, kAny}, {(i & 2) != 0, kAny}, (i & 4) != 0);
  }

  void run(int64_t m, int64_t n, int64_t k, const BFloat16 *a, LyingMatrix left, const BFloat16 *b,
           LyingMatrix right, float *c, int64_t cLeading, bool adds) {
    // oneDNN only reads them.
    const Matrix first(engine, describe(m, k, dnnl_bf16, left), const_cast<BFloat16 *>(a)),
        second(engine, describe(k, n, dnnl_bf16, right), const_cast<BFloat16 *>(b)),
        result(engine, describe(m, n, dnnl_f32, {false, cLeading}), c);
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, first.memory}, {DNNL_ARG_WEIGHTS, second.memory}, {DNNL_ARG_DST, result.memory}};
    const size_t index = (left.transposed ? 1 : 0) + (right.transposed ? 2 : 0) + (adds ? 4 : 0);
    require(dnnl_primitive_execute(primitives[index], stream, std::size(arguments), arguments));
  }

private:
  static constexpr int64_t kAny = DNNL_RUNTIME_DIM_VAL;

  dnnl_primitive_t create(LyingMatrix left, LyingMatrix right, bool adds) const {
    const dnnl_memory_desc_t first = describe(kAny, kAny, dnnl_bf16, left),
                             second = describe(kAny, kAny, dnnl_bf16, right),
                             result = describe(kAny, kAny, dnnl_f32, {false, kAny});
    dnnl_matmul_desc_t product;
    require(dnnl_matmul_desc_init(&product, &first, &second, nullptr, &result));
    dnnl_primitive_attr_t attributes = nullptr;
    require(dnnl_primitive_attr_create(&attributes));
    dnnl_post_ops_t sum = nullptr;
    require(dnnl_post_ops_create(&sum));
    if (adds)
      require(dnnl_post_ops_append_sum(sum, 1.0f));
    require(dnnl_primitive_attr_set_post_ops(attributes, sum));
    dnnl_primitive_desc_t description = nullptr;
    require(dnnl_primitive_desc_create(&description, &product, attributes, engine, nullptr));
    dnnl_primitive_t primitive = nullptr;
    require(dnnl_primitive_create(&primitive, description));
    dnnl_primitive_desc_destroy(description);
    dnnl_post_ops_destroy(sum);
    dnnl_primitive_attr_destroy(attributes);
    return primitive;
  }

  // As long as the process: threads may multiply until it ends.
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr; ///< of a CPU it has no queue: an execution runs on the calling thread
  std::array<dnnl_primitive_t, 8> primitives = {};
};

} // namespace

void multiplyBFloat16(int64_t m, int64_t n, int64_t k, const BFloat16 *a, LyingMatrix left, const BFloat16 *b,
                      LyingMatrix right, float *c, int64_t cLeading, bool adds) {
  static Products products;
  products.run(m, n, k, a, left, b, right, c, cLeading, adds);
}

} // namespace weft::cpu
