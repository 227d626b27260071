// SPDX-License-Identifier: Apache-2.0
#include "segfault.hpp"

#include "code_site.hpp"
#include "grid.hpp"
#include "program.hpp"
#include "runtime.hpp"
#include "sanitizer.hpp"
#include "user_image.hpp"

#include <emulation/user_reports.h>

#include <cstdio>
#include <vector>

#include <ucontext.h>
#include <csignal>

namespace diffbench::emulation {
namespace {

struct sigaction previous;

struct Explanation {
  FindingKind kind;
  std::string text; ///< empty: none
};

Explanation explain(const void* address) {
  if (stack_overflowed_at(address)) {
    return {FindingKind::kernel_fault, current_place() + " overflowed its stack"};
  }
  const Buffer* buffer = runtime().memory.near(address);
  if (buffer == nullptr) {
    if (has_user_code() &&
        current_place().empty()) { // a sanitizer or debugger says more of our own
      return {is_program() ? FindingKind::host_crash : FindingKind::misuse,
              "the host touched memory that is not there"};
    }
    return {};
  }
  const std::string kernel_place = current_place();
  const std::string who = kernel_place.empty() ? "the host" : kernel_place;
  if (buffer->freed) {
    return {FindingKind::use_after_free,
            "use after free: " + who + " touched " + buffer->description()};
  }
  const auto offset = static_cast<const std::byte*>(address) - buffer->data;
  const bool inside = offset >= 0 && static_cast<std::size_t>(offset) < buffer->bytes;
  if (inside && buffer->users > 0) {
    return {FindingKind::early_read, who + " touched " + buffer->description() +
                                         ", which a kernel uses that it has not waited for"};
  }
  if (inside) {
    return {FindingKind::host_touches_device,
            who + " touched " + buffer->description() + ", which it may only copy from and to"};
  }
  return {FindingKind::out_of_bounds, "out of bounds: " + who + " touched byte " +
                                          std::to_string(offset) + " of " + buffer->description()};
}

// Where the access was made, or returns to (of the C library's copies); 0: unknown.
std::uint64_t instruction_of(void* context) {
#if defined(__x86_64__)
  const auto* const machine = static_cast<const ucontext_t*>(context);
  const auto address = static_cast<std::uint64_t>(machine->uc_mcontext.gregs[REG_RIP]);
  return user_line(address).line != 0 ? address : call_site();
#else
  static_cast<void>(context);
  return call_site();
#endif
}

// The process is about to die, so what is not safe in a signal handler may be tried all the same.
void on_segfault(int, siginfo_t* info, void* context) {
  const Explanation bug = explain(info->si_addr);
  if (!bug.text.empty()) {
    runtime().report(Finding{.kind = bug.kind,
                             .message = bug.text,
                             .at = code_line_of(instruction_of(context)),
                             .by = current_thread()});
  }
  if (is_program()) {
    diffbench_try_program_ended(/*by_itself=*/false);
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
