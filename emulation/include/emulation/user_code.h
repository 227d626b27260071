// SPDX-License-Identifier: Apache-2.0
// What a user's .cu file becomes, once it has been translated (judge/cuda/translation.hpp):
//
//   k<<<g, b, s, st>>>(args)      (emulated_configure(g, b, s, st), k(args))
//   __global__ void k(...) {...}  void k(...) { emulated_kernel("k", [=]() mutable {...},
//                                   [=]() mutable __attribute__((no_sanitize("thread"))) {...}); }
//   __shared__ float a[9], b;     struct S { float a[9], b; }; S& s = emulated_shared<S>(); auto& a
//   = s.a; ... extern __shared__ float a[];  float* a = (float*)emulated_dynamic_shared();
//   __constant__ float c[5];      float c[5], in a section of its own
//
// So a kernel is a function that captures its arguments and launches itself: overloads, templates
// and conversions are those of any call.
#pragma once

#include "emulation/user_calls.h"

#include <cstdio> // which nvcc's header includes, and users rely on
#include <cstdlib>
#include <ctime>
#include <utility>

namespace diffbench::emulation::detail {

/// What lies in the launch's arguments for a kernel whose parameters have the types P.
template <typename... P>
struct KernelCallOf {
  template <std::size_t... i>
  static void call(void (*kernel)(P...), void** arguments,
                   std::integer_sequence<std::size_t, i...>) {
    kernel(*static_cast<P*>(arguments[i])...);
  }
  /// With zeros for arguments: to ask for what kernel_of() returns.
  static const void* key(void (*kernel)(P...)) {
    return kernel_of(
        [](const void* context) {
          alignas(16) static char zeros[4096];
          static_assert(((sizeof(P) <= sizeof zeros) && ...));
          (*static_cast<void (*const*)(P...)>(context))(*reinterpret_cast<P*>(zeros)...);
        },
        &kernel);
  }
};

template <typename... P>
const void* kernel_key(void (*kernel)(P...)) {
  return KernelCallOf<P...>::key(kernel);
}

template <typename Body>
__attribute__((no_sanitize("thread"))) void run_block(const void* captured, ThreadLoop& loop,
                                                      uint3& thread) {
  while (loop.take(thread)) {
    Body own = *static_cast<const Body*>(captured);
    own();
  }
}

} // namespace diffbench::emulation::detail

inline void emulated_configure(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                               cudaStream_t stream = nullptr, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
  diffbench::emulation::detail::configure_launch({grid, block, shared_bytes, stream, nullptr, 0},
                                                 {file, line});
}

/// The launch has a copy of the arguments' bytes, as a card has, whatever destroys these ones.
/// `waits`: its blocks for each other.
template <typename Body>
inline void emulated_kernel(const char* name, Body body, bool waits = false) {
  diffbench::emulation::detail::launch_body(
      {.name = name,
       .captured = &body,
       .bytes = sizeof body,
       .run = [](void* captured) { (*static_cast<Body*>(captured))(); },
       .waits = waits});
}
/// `quick`: the same, which says nothing of its accesses.
template <typename Body, typename Quick>
inline void emulated_kernel(const char* name, Body body, Quick quick) {
  diffbench::emulation::detail::launch_body(
      {name, &body, sizeof body, [](void* captured) { (*static_cast<Body*>(captured))(); }, &quick,
       sizeof quick, &diffbench::emulation::detail::run_block<Quick>});
}

template <typename Variables>
inline Variables& emulated_shared(const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  static char key;
  return *static_cast<Variables*>(diffbench::emulation::detail::shared_variable(
      &key, sizeof(Variables), alignof(Variables), {file, line}));
}

// Launches without chevrons.
template <typename... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  using namespace diffbench::emulation::detail;
  configure_launch(grid, block, shared_bytes, stream);
  KernelCallOf<P...>::call(kernel, arguments, std::index_sequence_for<P...>());
  return cudaPeekAtLastError();
}
template <typename... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  using namespace diffbench::emulation::detail;
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  configure_launch(grid, block, shared_bytes, stream, &cooperative, 1);
  KernelCallOf<P...>::call(kernel, arguments, std::index_sequence_for<P...>());
  return cudaPeekAtLastError();
}
template <typename... P, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...),
                               Arguments&&... arguments) {
  diffbench::emulation::detail::configure_launch(*config);
  kernel(static_cast<Arguments&&>(arguments)...);
  return cudaPeekAtLastError();
}

// Symbols: variables of the device.
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes,
                               std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return diffbench::emulation::detail::copy_to_symbol(&symbol, sizeof(T), from, bytes, offset, kind,
                                                      nullptr, true);
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t stream = nullptr) {
  return diffbench::emulation::detail::copy_to_symbol(&symbol, sizeof(T), from, bytes, offset, kind,
                                                      stream, false);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                 std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return diffbench::emulation::detail::copy_from_symbol(to, &symbol, sizeof(T), bytes, offset, kind,
                                                        nullptr, true);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream = nullptr) {
  return diffbench::emulation::detail::copy_from_symbol(to, &symbol, sizeof(T), bytes, offset, kind,
                                                        stream, false);
}
template <typename P, typename T>
cudaError_t cudaGetSymbolAddress(P** address, const T& symbol) {
  return diffbench::emulation::detail::address_of_symbol(reinterpret_cast<void**>(address),
                                                         &symbol);
}
template <typename T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}
