// SPDX-License-Identifier: Apache-2.0
// cudaLaunchKernelEx: the arguments are copied at the call, as the runtime does, and the kernel
// runs when the host next waits.
#pragma once

#include "emulation/host_api.h"

#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace diffbench::emulation::detail {

struct KernelCall {
  const void* function;
  std::function<void()> run_thread;  ///< the kernel's code, for the current thread
  /// The same for the threads of a block, of which nothing is looked at; may be empty.
  std::function<void(struct ThreadLoop&, uint3&)> run_block = {};
  std::vector<const void*> pointers; ///< arguments that are pointers, to be checked
  std::vector<const void*> words = {}; ///< of the arguments of a user's kernel, pointers or not
  std::uint64_t site = 0;            ///< of the launch, in a user's code
};

cudaError_t launch(const cudaLaunchConfig_t& config, KernelCall call);

} // namespace diffbench::emulation::detail

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "kernel parameters are copied as bytes");
  // As the runtime's own header does: arguments convert to the parameters' types implicitly.
  return [&](Parameters... values) {
    diffbench::emulation::detail::KernelCall call;
    call.function = reinterpret_cast<const void*>(kernel);
    [[maybe_unused]] const auto note_pointer = [&call](const auto& value) {
      if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(value)>>) {
        call.pointers.push_back(value);
      }
    };
    (note_pointer(values), ...);
    call.run_thread = [kernel, packed = std::tuple<Parameters...>(values...)] {
      std::apply(kernel, packed);
    };
    return diffbench::emulation::detail::launch(*config, std::move(call));
  }(std::forward<Arguments>(arguments)...);
}
