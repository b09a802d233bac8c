#include "tools/weft-trials/FaultyRank.h"

#include "kernels/common/ComputePlace.h"
#include "runtime/comm/CallText.h"
#include "runtime/support/ExitCode.h"

#include <cstdio>

#include <unistd.h>

namespace weft::trials {
namespace {

/// What a rank's communicator and its exchanges share.
struct FaultyState {
  std::unique_ptr<Communicator> inner; ///< null once the rank is dead
  Fault fault;
  CollectiveCount &count;
  int rank, size;
  bool isMine;
  Phase phase = Phase::Start;
  int64_t calls = 0;

  absl::Status deadStatus() const {
    return gaveUp(rank, withExitCode(absl::UnavailableError("it is dead"), ExitCode::PeerLost));
  }

  /// Signals interrupt it, nothing ends it.
  [[noreturn]] static void freeze() {
    while (true)
      ::pause();
  }

  /// Before each collective: the fault, when this is the one.
  absl::Status come() {
    if (!inner)
      return deadStatus();
    if (rank == 0) {
      ++count.all;
      count.inSaves += phase == Phase::Save;
    }
    if (!isMine || (fault.isInSave && phase != Phase::Save) || ++calls != fault.collective)
      return absl::OkStatus();
    const bool dies = fault.kind == Fault::Kind::Die;
    std::fprintf(stderr, "fault: rank %d %s\n", rank, dies ? "dies" : "freezes");
    ComputePlace::giveBackOfThisThread(); // who is dead or frozen computes nothing
    if (!dies)
      freeze();
    inner.reset();
    return deadStatus();
  }
};

class FaultyExchange final : public Exchange {
public:
  FaultyExchange(std::shared_ptr<FaultyState> state, std::shared_ptr<Exchange> inner)
      : state(std::move(state)), inner(std::move(inner)) {}

  int member() const override { return inner->member(); }
  int size() const override { return inner->size(); }
  bool packs() const override { return inner->packs(); }
  absl::Status begin(const CollectiveCall &call, const Transfer &transfer,
                     const ExchangeMemory &memory) override {
    absl::Status status = state->come();
    return status.ok() ? inner->begin(call, transfer, memory) : status;
  }
  std::span<const void *const> sources() const override { return inner->sources(); }
  absl::Status share(std::span<const Piece> pieces, ThreadPool *threads) override {
    return inner->share(pieces, threads);
  }
  void end() override { inner->end(); }

private:
  std::shared_ptr<FaultyState> state;
  std::shared_ptr<Exchange> inner;
};

/// The fault strikes where a rank may wait.
class FaultyLine final : public Line {
public:
  FaultyLine(std::shared_ptr<FaultyState> state, std::shared_ptr<Line> inner)
      : state(std::move(state)), inner(std::move(inner)) {}

  absl::Status send(const CollectiveCall &call, const void *from) override {
    return state->inner ? inner->send(call, from) : state->deadStatus();
  }
  absl::Status receive(const CollectiveCall &call, void *to) override {
    return state->inner ? inner->receive(call, to) : state->deadStatus();
  }
  absl::Status finishSend() override {
    absl::Status status = state->come();
    return status.ok() ? inner->finishSend() : status;
  }
  absl::Status finishReceive() override {
    absl::Status status = state->come();
    return status.ok() ? inner->finishReceive() : status;
  }

private:
  std::shared_ptr<FaultyState> state;
  std::shared_ptr<Line> inner;
};

class FaultyCommunicator final : public Communicator {
public:
  explicit FaultyCommunicator(std::shared_ptr<FaultyState> state) : state(std::move(state)) {}

  int rank() const override { return state->rank; }
  int size() const override { return state->size; }
  absl::Status barrier() override {
    return after([&] { return state->inner->barrier(); });
  }
  absl::Status broadcast(std::span<std::byte> bytes, int root) override {
    return after([&] { return state->inner->broadcast(bytes, root); });
  }
  absl::Status allGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    return after([&] { return state->inner->allGather(mine, all); });
  }
  absl::Status allReduce(std::span<std::byte> values, DType type, ReduceKind kind) override {
    return after([&] { return state->inner->allReduce(values, type, kind); });
  }
  absl::Status reduceScatter(std::span<const std::byte> all, std::span<std::byte> mine, DType type,
                             ReduceKind kind) override {
    return after([&] { return state->inner->reduceScatter(all, mine, type, kind); });
  }
  void setLimits(const WaitLimits &limits) override {
    if (state->inner)
      state->inner->setLimits(limits);
  }
  void enter(Phase phase, int64_t step) override {
    state->phase = phase;
    if (state->inner)
      state->inner->enter(phase, step);
  }
  void abort(absl::Status cause) override {
    if (state->inner)
      state->inner->abort(std::move(cause));
  }
  absl::StatusOr<std::shared_ptr<Exchange>> exchange(std::span<const int64_t> ranks) override {
    if (!state->inner)
      return state->deadStatus();
    absl::StatusOr<std::shared_ptr<Exchange>> inner = state->inner->exchange(ranks);
    if (!inner.ok())
      return inner.status();
    return std::make_shared<FaultyExchange>(state, *std::move(inner));
  }
  absl::StatusOr<std::shared_ptr<Line>> line(int64_t peer) override {
    if (!state->inner)
      return state->deadStatus();
    absl::StatusOr<std::shared_ptr<Line>> inner = state->inner->line(peer);
    if (!inner.ok())
      return inner.status();
    return std::make_shared<FaultyLine>(state, *std::move(inner));
  }
  absl::Status exchangeStatus() const override {
    return state->inner ? state->inner->exchangeStatus() : state->deadStatus();
  }
  Traffic traffic() const override { return state->inner ? state->inner->traffic() : Traffic(); }

private:
  template <typename Call> absl::Status after(const Call &call) {
    absl::Status status = state->come();
    return status.ok() ? call() : status;
  }

  std::shared_ptr<FaultyState> state;
};

} // namespace

std::unique_ptr<Communicator> makeFaulty(std::unique_ptr<Communicator> inner, const Fault &fault,
                                         CollectiveCount &count) {
  const int rank = inner->rank(), size = inner->size();
  const bool isMine = fault.kind != Fault::Kind::None && fault.rank == rank;
  return std::make_unique<FaultyCommunicator>(
      std::make_shared<FaultyState>(std::move(inner), fault, count, rank, size, isMine));
}

} // namespace weft::trials
