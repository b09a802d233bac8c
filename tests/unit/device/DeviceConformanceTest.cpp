// The contract of Device.h, for every device: a new device adds a line to kDevices.
#include "kernels/common/Waiting.h"
#include "tests/unit/device/TestKernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

namespace weft::testing {
namespace {

struct DeviceUnderTest {
  const char *name;
  std::unique_ptr<Device> (*create)();
};
const DeviceUnderTest kDevices[] = {{"CpuOneThread", [] { return createTestDevice(1); }},
                                    {"CpuTwoThreads", [] { return createTestDevice(2); }}};

class Conformance : public ::testing::TestWithParam<DeviceUnderTest> {
protected:
  std::unique_ptr<Device> device = GetParam().create();

  std::unique_ptr<Memory> allocate(uint64_t bytes) { return *device->allocate(bytes); }
  std::unique_ptr<Kernel> addOf(int64_t count) {
    TensorType type{DType::F32, {count}};
    return *device->createKernel({"add", {type, type}, {type}, {}}, nullptr);
  }
};

/// Arguments of `c = a + b` over memory, with the arrays that the spans point to.
struct AddArguments {
  AddArguments(const void *a, const void *b, void *c) : operands{a, b}, results{c} {}
  KernelArguments get() const { return {operands, results, nullptr}; }
  const void *operands[2];
  void *results[1];
};

TEST_P(Conformance, MemoryIsAlignedZeroAndAsLongAsAsked) {
  for (uint64_t bytes : {1, 63, 4096, 5 << 20}) {
    std::unique_ptr<Memory> memory = allocate(bytes);
    ASSERT_EQ(memory->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % 64, 0u);
    for (uint64_t i = 0; i < bytes; ++i)
      ASSERT_EQ(memory->data()[i], std::byte{0});
    std::memset(memory->data(), 0xff, bytes);
  }
}

TEST_P(Conformance, NoBytesAreAlsoMemory) { EXPECT_EQ(allocate(0)->bytes(), 0u); }

TEST_P(Conformance, MemoryThatCannotBeHadIsAnError) {
  absl::Status status = device->allocate(uint64_t{1} << 56).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            device->name() + ": 72057594037927936 bytes cannot be allocated: Cannot allocate memory");
}

TEST_P(Conformance, AStreamRunsItsWorkInOrder) {
  constexpr int kCount = 1000;
  std::unique_ptr<Memory> memory = allocate(4 * kCount);
  float *values = reinterpret_cast<float *>(memory->data());
  std::iota(values, values + kCount, 0.0f);
  std::unique_ptr<Kernel> add = addOf(kCount);
  std::unique_ptr<Stream> stream = *device->createStream();
  AddArguments doubling(values, values, values);
  for (int i = 0; i < 10; ++i)
    stream->launch(*add, doubling.get());
  ASSERT_TRUE(stream->synchronize().ok());
  for (int i = 0; i < kCount; ++i)
    ASSERT_EQ(values[i], 1024.0f * i);
}

TEST_P(Conformance, MoreWorkThanTheQueueHoldsIsAllDone) {
  std::unique_ptr<Memory> memory = allocate(64);
  float *values = reinterpret_cast<float *>(memory->data());
  float one[1] = {1};
  std::unique_ptr<Kernel> add = addOf(1);
  std::unique_ptr<Stream> stream = *device->createStream();
  AddArguments increment(values, one, values);
  for (int i = 0; i < 20000; ++i)
    stream->launch(*add, increment.get());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(values[0], 20000);
}

TEST_P(Conformance, CopiesMoveBytesInTheStreamsOrder) {
  std::unique_ptr<Memory> memory = allocate(192);
  std::memset(memory->data(), 7, 64);
  std::unique_ptr<Stream> stream = *device->createStream();
  stream->copy(memory->data() + 64, memory->data(), 64);
  stream->copy(memory->data() + 128, memory->data() + 64, 63);
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(memory->data()[190], std::byte{7});
  EXPECT_EQ(memory->data()[191], std::byte{0});
}

TEST_P(Conformance, AnEventStartsAtZeroAndOnlyGrows) {
  std::unique_ptr<Event> event = *device->createEvent();
  EXPECT_EQ(event->value(), 0u);
  event->signal(5);
  event->signal(3);
  EXPECT_EQ(event->value(), 5u);
  EXPECT_TRUE(event->wait(4, absl::ZeroDuration()).ok());
}

TEST_P(Conformance, AHostThatWaitsTooLongIsTold) {
  std::unique_ptr<Event> event = *device->createEvent();
  event->signal(1);
  absl::Status status = event->wait(2, absl::Milliseconds(20));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "an event is at 1 and did not reach 2 within 20ms");
}

TEST_P(Conformance, AHostWakesWhenAStreamSignals) {
  std::unique_ptr<Event> event = *device->createEvent();
  std::unique_ptr<Stream> stream = *device->createStream();
  stream->signal(*event, 9);
  EXPECT_TRUE(event->wait(9, absl::InfiniteDuration()).ok());
}

TEST_P(Conformance, AStreamWaitsForAnotherStreamsSignal) {
  std::unique_ptr<Memory> memory = allocate(128);
  float *values = reinterpret_cast<float *>(memory->data());
  float one[1] = {1};
  std::unique_ptr<Kernel> add = addOf(1);
  std::unique_ptr<Event> produced = *device->createEvent(), consumed = *device->createEvent();
  std::unique_ptr<Stream> producer = *device->createStream(), consumer = *device->createStream();
  AddArguments increment(values, one, values);
  for (uint64_t i = 1; i <= 100; ++i) { // values[i] = i, handed over one by one
    producer->wait(*consumed, i - 1);
    producer->launch(*add, increment.get());
    producer->signal(*produced, i);
    consumer->wait(*produced, i);
    consumer->copy(values + 16, values, 4);
    consumer->signal(*consumed, i);
  }
  ASSERT_TRUE(consumer->synchronize().ok());
  EXPECT_EQ(values[16], 100);
}

TEST_P(Conformance, AWaitForWhatAlreadyHappenedGoesOn) {
  std::unique_ptr<Event> event = *device->createEvent();
  event->signal(3);
  std::unique_ptr<Stream> stream = *device->createStream();
  stream->wait(*event, 2);
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST_P(Conformance, StampsAreTakenWhenTheStreamComesThere) {
  std::unique_ptr<Event> event = *device->createEvent();
  std::unique_ptr<Stream> stream = *device->createStream();
  int64_t before = 0, after = 0;
  stream->stamp(before);
  ASSERT_TRUE(stream->synchronize().ok());
  stream->wait(*event, 1);
  stream->stamp(after);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const int64_t signaled = monotonicNanoseconds();
  event->signal(1);
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_GT(before, 0);
  EXPECT_LT(before, signaled);
  EXPECT_GE(after, signaled);
  EXPECT_LE(after, monotonicNanoseconds());
}

TEST_P(Conformance, DestroyingAStreamDropsItsPendingWait) {
  std::unique_ptr<Event> event = *device->createEvent();
  std::unique_ptr<Stream> stream = *device->createStream();
  stream->wait(*event, 1);
  stream->signal(*event, 2);
  stream.reset();
  EXPECT_EQ(event->value(), 0u);
}

TEST_P(Conformance, SynchronizingAnEmptyStreamReturns) {
  EXPECT_TRUE((*device->createStream())->synchronize().ok());
}

TEST_P(Conformance, AnUnknownKernelIsAnError) {
  TensorType type{DType::F32, {1}};
  EXPECT_EQ(device->createKernel({"no such", {type, type}, {type}, {}}, nullptr).status().code(),
            absl::StatusCode::kUnimplemented);
}

INSTANTIATE_TEST_SUITE_P(Devices, Conformance, ::testing::ValuesIn(kDevices),
                         [](const auto &info) { return info.param.name; });

/// Counts how many of it run at once.
class CountingKernel : public Kernel {
public:
  explicit CountingKernel(std::atomic<int> &most) : most(most) {}
  void run(const KernelArguments &, ThreadPool &threads) const override {
    threads.forEachTile(16, [&](int64_t, int) {
      const int now = ++computing;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      for (int i = 0; i < 500; ++i)
        relax();
      --computing;
    });
  }

private:
  static inline std::atomic<int> computing{0};
  std::atomic<int> &most;
};

TEST(CpuDevice, StreamsOfOnePoolComputeOnItsThreads) {
  std::atomic<int> most{0};
  const CountingKernel kernel(most);
  const auto pool = std::make_shared<ThreadPool>(2);
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<std::unique_ptr<Stream>> streams;
  for (int rank = 0; rank < 5; ++rank) {
    devices.push_back(createCpuDevice({"test", pool, createTestKernel}));
    streams.push_back(*devices.back()->createStream());
  }
  for (int launch = 0; launch < 100; ++launch)
    for (const std::unique_ptr<Stream> &stream : streams)
      stream->launch(kernel, {});
  for (const std::unique_ptr<Stream> &stream : streams)
    EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_LE(most, 2);
}

TEST(CpuDevice, AStreamThatWaitsLeavesItsPlaceToAnother) {
  std::atomic<int> most{0};
  const CountingKernel kernel(most);
  std::unique_ptr<Device> device = createTestDevice(1); // one place for both streams
  std::unique_ptr<Event> event = *device->createEvent(), back = *device->createEvent();
  std::unique_ptr<Stream> first = *device->createStream(), second = *device->createStream();
  for (uint64_t round = 1; round <= 50; ++round) {
    first->launch(kernel, {});
    first->wait(*event, round);
    first->launch(kernel, {});
    first->signal(*back, round);
    second->launch(kernel, {});
    second->signal(*event, round);
    second->wait(*back, round);
  }
  EXPECT_TRUE(first->synchronize().ok());
  EXPECT_TRUE(second->synchronize().ok());
}

TEST(CpuDevice, NamesItself) {
  std::unique_ptr<Device> device = createTestDevice(2);
  EXPECT_EQ(device->name(), "cpu");
  EXPECT_EQ(device->instructionSet(), "test");
}

} // namespace
} // namespace weft::testing
