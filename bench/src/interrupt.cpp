#include "interrupt.hpp"

#include "output.hpp"

#include <unistd.h>

namespace diffbench::bench {

namespace {

volatile std::sig_atomic_t signals_received = 0;

extern "C" void note_signal(int /*signal*/) {
  if (signals_received != 0) {
    ::_exit(exit_interrupted);
  }
  signals_received = 1;
}

} // namespace

InterruptGuard::InterruptGuard() {
  signals_received = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &previous_interrupt_);
  ::sigaction(SIGTERM, &action, &previous_terminate_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &previous_interrupt_, nullptr);
  ::sigaction(SIGTERM, &previous_terminate_, nullptr);
}

bool interrupted() noexcept { return signals_received != 0; }

} // namespace diffbench::bench
