// SPDX-License-Identifier: Apache-2.0
#include "fiber.hpp"

#include "sanitizer.hpp"

#include <new>
#include <utility>

#include <sys/mman.h>

#if defined(DIFFBENCH_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

namespace diffbench::emulation {
namespace {

constexpr std::size_t guard_bytes = 4096;

// A new fiber's code is given no pointers, so the switch leaves word here: who switched, and to
// whom.
Fiber* leaving = nullptr;
Fiber* arriving = nullptr;

} // namespace

#if defined(__x86_64__)
// What a called function must preserve by the System V ABI (AMD64 supplement, 3.2.1) goes to the
// stack that is left, whose pointer goes to *left; the rest the compiler takes for changed. The
// modes of floating-point arithmetic are the same for all fibers.
extern "C" void diffbench_switch_stack(void** left, void* entered);
asm(".text\n"
    ".p2align 4\n"
    ".type diffbench_switch_stack, @function\n"
    "diffbench_switch_stack:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size diffbench_switch_stack, . - diffbench_switch_stack\n");

// As if enter() had been called at the top of the stack, by nobody, and had its registers saved.
void Fiber::prepare_stack() {
  constexpr std::size_t saved_registers = 6;
  // Not at the same place of a page for all: they would take each other's lines of the cache.
  static std::size_t made = 0;
  const std::size_t stagger = 7 * made++ % 64 * 64;
  void** top = reinterpret_cast<void**>(mapping_ + guard_bytes + stack_bytes - stagger);
  *--top = nullptr; // where it would return to; also what keeps the ABI's alignment
  *--top = reinterpret_cast<void*>(&Fiber::enter);
  stack_pointer_ = top - saved_registers; // the mapping is zero
}
#else
void Fiber::prepare_stack() {
  getcontext(&context_);
  context_.uc_stack.ss_sp = mapping_ + guard_bytes;
  context_.uc_stack.ss_size = stack_bytes;
  makecontext(&context_, &Fiber::enter, 0);
  // The address sanitizer's swapcontext() would forget the red zones on the stack that it switches
  // to, if it knew the stack's size.
  context_.uc_stack.ss_size = 0;
}
#endif

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_size_(stack_bytes) {
  void* memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  mapping_ = static_cast<std::byte*>(memory);
  mprotect(mapping_, guard_bytes, PROT_NONE);
  stack_bottom_ = mapping_ + guard_bytes;
  prepare_stack();
}

Fiber::~Fiber() {
  if (mapping_ != nullptr) {
    munmap(mapping_, guard_bytes + stack_bytes);
  }
}

void Fiber::enter() {
  Fiber* self = arriving;
  self->arrive();
  self->body_();
}

// First thing on the fiber's own stack after a switch.
void Fiber::arrive() {
#if defined(DIFFBENCH_ADDRESS_SANITIZER)
  // Also tells where the stack lies that was left: for a host thread nobody else knows.
  __sanitizer_finish_switch_fiber(fake_stack_, &leaving->stack_bottom_, &leaving->stack_size_);
#endif
}

void Fiber::switch_to(Fiber& from, Fiber& to) {
  leaving = &from;
  arriving = &to;
#if defined(DIFFBENCH_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_bottom_, to.stack_size_);
#endif
#if defined(__x86_64__)
  diffbench_switch_stack(&from.stack_pointer_, to.stack_pointer_);
#else
  swapcontext(&from.context_, &to.context_);
#endif
  from.arrive();
}

bool Fiber::overflowed_at(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  return mapping_ != nullptr && byte >= mapping_ && byte < mapping_ + guard_bytes;
}

} // namespace diffbench::emulation
