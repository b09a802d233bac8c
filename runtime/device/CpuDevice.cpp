#include "runtime/device/CpuDevice.h"
#include "runtime/device/CpuStream.h"
#include "runtime/object/LoadedObject.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <sys/mman.h>

namespace weft {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

class MappedMemory : public Memory {
public:
  MappedMemory(void *start, uint64_t bytes) : start(start), size(bytes) {}
  ~MappedMemory() override {
    if (start != nullptr)
      ::munmap(start, size);
  }
  std::byte *data() const override { return static_cast<std::byte *>(start); }
  uint64_t bytes() const override { return size; }

private:
  void *start;
  uint64_t size;
};

class CpuCode : public DeviceCode {
public:
  explicit CpuCode(std::shared_ptr<const LoadedObject> object) : object(std::move(object)) {}
  const std::shared_ptr<const LoadedObject> object;
};

class CpuDevice : public Device {
public:
  explicit CpuDevice(CpuDeviceOptions options) : options(std::move(options)) {}

  const std::string &name() const override { return deviceName; }
  const std::string &instructionSet() const override { return options.instructionSet; }

  absl::StatusOr<std::unique_ptr<Memory>> allocate(uint64_t bytes) override {
    if (bytes == 0)
      return std::make_unique<MappedMemory>(nullptr, 0);
    void *start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
      return absl::ResourceExhaustedError(
          absl::StrCat("cpu: ", bytes, " bytes cannot be allocated: ", std::strerror(errno)));
    if (bytes >= kHugePage)
      ::madvise(start, bytes, MADV_HUGEPAGE); // only speed depends on it
    return std::make_unique<MappedMemory>(start, bytes);
  }

  absl::StatusOr<std::unique_ptr<Event>> createEvent() override { return std::make_unique<CpuEvent>(); }
  absl::StatusOr<std::unique_ptr<Stream>> createStream() override {
    return std::make_unique<CpuStream>(options.pool);
  }
  absl::StatusOr<std::unique_ptr<DeviceCode>> loadCode(std::string_view object) override {
    absl::StatusOr<std::shared_ptr<const LoadedObject>> loaded = LoadedObject::load(object);
    if (!loaded.ok())
      return loaded.status();
    return std::make_unique<CpuCode>(*std::move(loaded));
  }
  absl::StatusOr<std::unique_ptr<Kernel>> createKernel(const KernelCall &call,
                                                       const DeviceCode *code) override {
    if (!call.has(kSymbolAttribute))
      return options.kernels(call, nullptr);
    const std::string symbol = call.textOr(kSymbolAttribute, "");
    GeneratedFunction *function =
        code == nullptr ? nullptr : static_cast<const CpuCode *>(code)->object->find(symbol);
    if (function == nullptr)
      return absl::InvalidArgumentError(
          absl::StrCat("cpu: kernel ", call.name, " names the function '", symbol, "', which ",
                       code == nullptr ? "no loaded object defines" : "the loaded object does not define"));
    return options.kernels(call, function);
  }

private:
  std::string deviceName = "cpu";
  CpuDeviceOptions options;
};

} // namespace

std::unique_ptr<Device> createCpuDevice(CpuDeviceOptions options) {
  return std::make_unique<CpuDevice>(std::move(options));
}

} // namespace weft
