//===- StopSignals.cpp - SIGTERM and SIGINT as a question -----------------===//
//
// The one state of the process that weft has: a signal has no other place to leave word.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/StopSignals.h"

#include <csignal>
#include <initializer_list>

namespace weft {

static volatile std::sig_atomic_t signalCame = 0;

static void noteSignal(int) {
  signalCame = 1;
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
}

void noteStopSignals() {
  for (int number : {SIGTERM, SIGINT}) {
    struct sigaction action{};
    action.sa_handler = noteSignal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

bool stopSignalCame() { return signalCame != 0; }

} // namespace weft
