// SPDX-License-Identifier: Apache-2.0
// What a user's translated code calls (user_code.h), but the runtime itself.
#pragma once

#include "emulation/device_code.h"
#include "emulation/host_api.h"

namespace diffbench::emulation::detail {

/// A shared object with a user's code, known from when it is loaded.
struct UserCode {
  const char* const* files; ///< of the user's, up to a null; lies in the object
  char *device_begin, *device_end, *constant_begin, *constant_end, *managed_begin, *managed_end;
};
void register_user_code(const UserCode& code);

/// The next kernel that the host calls is launched like this. `line` is that of the launch; without
/// one it is where this is called.
void configure_launch(const cudaLaunchConfig_t& config, Site line = {nullptr, 0});
inline void configure_launch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                             cudaLaunchAttribute* attributes = nullptr, unsigned count = 0) {
  configure_launch({grid, block, shared_bytes, stream, attributes, count});
}

/// The threads of a block that have not begun, in their order.
struct ThreadLoop {
  uint3 next{};
  dim3 shape;
  unsigned begun = 0, count = 0;
  bool plain = false; ///< so far each has run from its beginning to its end

  /// The thread before it has returned; false: there is no other one.
  __attribute__((always_inline)) bool take(uint3& thread) {
    if (!plain) {
      return take_after_wait(thread);
    }
    if (begun == count) {
      return false;
    }
    thread = next;
    advance();
    return true;
  }
  __attribute__((always_inline)) void advance() {
    ++begun;
    if (++next.x == shape.x) {
      next.x = 0;
      if (++next.y == shape.y) {
        next.y = 0;
        ++next.z;
      }
    }
  }
  bool take_after_wait(uint3& thread);
};

/// The next memory that the host allocates is for an array of this name; a literal.
void name_next(const char* name);

struct KernelBody {
  const char* name;
  const void* captured; ///< a copy of the arguments that it uses
  std::size_t bytes;
  void (*run)(void* captured); ///< for the current thread; also what tells kernels apart
  /// The same code, which does not say what it accesses, for the threads of a block, each with the
  /// arguments as they were; null: there is none.
  const void* quick_captured = nullptr;
  std::size_t quick_bytes = 0;
  void (*run_block)(const void* captured, ThreadLoop& loop, uint3& thread) = nullptr;
  bool waits = false; ///< its blocks for each other
};
void launch_body(const KernelBody& body);

/// What tells the kernel apart, of which `call` is a call.
const void* kernel_of(void (*call)(const void*), const void* context);

/// Of a kernel: gives it up. Of the host: ends the process.
[[noreturn]] void assertion_failed(const char* condition, Site site);

/// The current block's, 0xff when the block starts; the same `key` is the same memory.
void* shared_variable(const void* key, std::size_t bytes, std::size_t alignment, Site site);

cudaError_t copy_to_symbol(const void* symbol, std::size_t symbol_bytes, const void* from,
                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool blocks);
cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t symbol_bytes,
                             std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                             cudaStream_t stream, bool blocks);
cudaError_t address_of_symbol(void** address, const void* symbol);

} // namespace diffbench::emulation::detail
