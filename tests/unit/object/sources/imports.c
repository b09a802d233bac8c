// Calls what objects may call.
#include <stdint.h>

float expf(float);
double tanh(double);
void *memcpy(void *, const void *, unsigned long);

void weft_exp(const void *const *operands, void *const *results, int64_t begin, int64_t end) {
  const float *x = operands[0];
  float *result = results[0];
  memcpy(result + begin, x + begin, sizeof(float) * (unsigned long)(end - begin));
  for (int64_t i = begin; i < end; ++i)
    result[i] = expf(result[i]) + (float)tanh(0);
}
