//===- MachineRates.h - What a machine can do ------------------------------===//
//
// Limits are not looked up but measured, by kernels that the model's own work consists of, on the job's own
// threads.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_MACHINERATES_H
#define WEFT_RUNTIME_TRAIN_MACHINERATES_H

#include "runtime/config/Config.h"
#include "runtime/device/Device.h"

namespace weft {

/// The best rates that were seen; 0: not measured.
struct MachineRates {
  double flops = 0;          ///< operations of matrix products a second, in the type of the recipe's products
  double float32Flops = 0;   ///< the same in float32
  double bytesPerSecond = 0; ///< read and written, of memory that no cache holds

  /// Of products that multiply `type`.
  double flopsIn(DType type) const { return type == DType::F32 ? float32Flops : flops; }
};

/// Operations of products in a second.
struct ProductRate {
  double best = 0;      ///< of one product
  double sustained = 0; ///< of all, one behind the other: processors slow down where vectors are wide
};

/// Of size^3 products of operands of `type`, for about `seconds`, and of at least two.
absl::StatusOr<ProductRate> measureProductRate(Device &device, DType type, int64_t size, double seconds);

/// The best one of a 384^3 product in the type of the recipe's products, over about a quarter of a second.
absl::StatusOr<double> measurePeakFlops(Device &device, PrecisionRecipe recipe);

/// Bytes read and written in a second while 64 MiB are copied, over about a quarter of a second.
absl::StatusOr<double> measureMemoryBandwidth(Device &device);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_MACHINERATES_H
