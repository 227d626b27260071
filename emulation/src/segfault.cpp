#include "segfault.hpp"

#include "grid.hpp"
#include "runtime.hpp"
#include "sanitizer.hpp"

#include <cstdio>
#include <vector>

#include <csignal>

namespace diffbench::emulation {
namespace {

struct sigaction previous;

std::string explain(const void* address) {
  if (stack_overflowed_at(address)) {
    return current_place() + " overflowed its stack";
  }
  const Buffer* buffer = runtime().memory.near(address);
  if (buffer == nullptr) {
    return {};
  }
  const std::string kernel_place = current_place();
  const std::string who = kernel_place.empty() ? "the host" : kernel_place;
  if (buffer->freed) {
    return "use after free: " + who + " touched " + buffer->description();
  }
  const auto offset = static_cast<const std::byte*>(address) - buffer->data;
  const bool inside = offset >= 0 && static_cast<std::size_t>(offset) < buffer->bytes;
  if (inside && buffer->users > 0) {
    return who + " touched " + buffer->description() +
           ", which a kernel uses that it has not waited for";
  }
  if (inside) {
    return who + " touched " + buffer->description() + ", which it may only copy from and to";
  }
  return "out of bounds: " + who + " touched byte " + std::to_string(offset) + " of " +
         buffer->description();
}

// The process is about to die, so what is not safe in a signal handler may be tried all the same.
void on_segfault(int, siginfo_t* info, void*) {
  const std::string bug = explain(info->si_addr);
  if (!bug.empty()) {
    runtime().report(bug);
  }
  // The access is repeated, and faults again.
  sigaction(SIGSEGV, &previous, nullptr);
}

} // namespace

void install_segfault_handler() {
  static bool installed = false;
  if (std::exchange(installed, true)) {
    return;
  }
  // A stack that has overflowed cannot carry the handler. The address sanitizer has a stack for it.
  static std::vector<char> handler_stack(address_sanitizer ? 0 : 256 << 10);
  if (!handler_stack.empty()) {
    stack_t stack{};
    stack.ss_sp = handler_stack.data();
    stack.ss_size = handler_stack.size();
    sigaltstack(&stack, nullptr);
  }
  struct sigaction action {};
  action.sa_sigaction = on_segfault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &previous);
}

} // namespace diffbench::emulation
