//===- FaultyRanks.cpp - A training in which one rank dies or freezes -----===//
//
// What `weft train` does with an executable, and nothing else: what is tried is the training itself.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/FaultyRank.h"
#include "tools/weft-trials/Trials.h"

#include "runtime/support/ExitCode.h"
#include "runtime/train/TrainRun.h"

#include <cstdio>

namespace weft::trials {

int runFaultyRanks(const FaultyRanksOptions &options) {
  CollectiveCount count;
  TrainRequest request;
  request.file = options.file;
  request.name = options.name;
  request.compile = [](const CompileRequest &) {
    return withExitCode(
        absl::InvalidArgumentError("a run with faulty ranks takes an executable: weft compile makes one"),
        ExitCode::Config);
  };
  const Fault fault{options.fault == "die"      ? Fault::Kind::Die
                    : options.fault == "freeze" ? Fault::Kind::Freeze
                                                : Fault::Kind::None,
                    options.rank, options.collective, options.inSave};
  request.wrapCommunicator = [&](std::unique_ptr<Communicator> communicator) {
    return makeFaulty(std::move(communicator), fault, count);
  };
  const absl::Status status = trainRun(request);
  if (!status.message().empty())
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  std::printf("%lld collectives, %lld of them in saves\n", static_cast<long long>(count.all.load()),
              static_cast<long long>(count.inSaves.load()));
  return static_cast<int>(exitCodeOf(status));
}

} // namespace weft::trials
