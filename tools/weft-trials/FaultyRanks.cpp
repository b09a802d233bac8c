//===- FaultyRanks.cpp - A training in which one rank dies or freezes -----===//
//
// What `weft train` does with an executable, and nothing else: what is tried is the training itself.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/FaultyRank.h"
#include "tools/weft-trials/TrainExecutable.h"
#include "tools/weft-trials/Trials.h"

#include <cstdio>

namespace weft::trials {

int runFaultyRanks(const FaultyRanksOptions &options) {
  CollectiveCount count;
  TrainRequest request = requestFor(options.file, options.name);
  const Fault fault{options.fault == "die"      ? Fault::Kind::Die
                    : options.fault == "freeze" ? Fault::Kind::Freeze
                                                : Fault::Kind::None,
                    options.rank, options.collective, options.inSave};
  request.wrapCommunicator = [&](std::unique_ptr<Communicator> communicator) {
    return makeFaulty(std::move(communicator), fault, count);
  };
  const int exitStatus = train(request);
  std::printf("%lld collectives, %lld of them in saves\n", static_cast<long long>(count.all.load()),
              static_cast<long long>(count.inSaves.load()));
  return exitStatus;
}

} // namespace weft::trials
