// What the compiler might generate: functions of two element-wise calls, each for elements [begin, end).
#include <stdint.h>

// result 0 = x * w + w, which may lie where w lay; result 1 = x
void weft_multiply_add(const void *const *operands, void *const *results, int64_t begin, int64_t end) {
  const float *x = operands[0], *w = operands[1];
  float *first = results[0], *second = results[1];
  for (int64_t i = begin; i < end; ++i) {
    const float product = x[i] * w[i];
    second[i] = x[i];
    first[i] = product + w[i];
  }
}

// A table of addresses in the data: relocations that the loader applies.
static float plus(float a, float b) { return a + b; }
static float minus(float a, float b) { return a - b; }
static float (*const volatile kTable[])(float, float) = {plus, minus};

// result = x + 1 where the index is even, x - 1 where it is odd
void weft_alternate(const void *const *operands, void *const *results, int64_t begin, int64_t end) {
  const float *x = operands[0];
  float *result = results[0];
  for (int64_t i = begin; i < end; ++i)
    result[i] = kTable[i % 2](x[i], 1);
}
