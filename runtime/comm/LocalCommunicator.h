//===- LocalCommunicator.h - The communicator of one process --------------===//
//
// A group of one rank: what a trainer on one device uses. Every operation checks its arguments as it would
// for many ranks, so a program that is right here is right there.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_LOCALCOMMUNICATOR_H
#define WEFT_RUNTIME_COMM_LOCALCOMMUNICATOR_H

#include "runtime/comm/Communicator.h"

#include <memory>

namespace weft {

std::unique_ptr<Communicator> createLocalCommunicator();

} // namespace weft

#endif // WEFT_RUNTIME_COMM_LOCALCOMMUNICATOR_H
