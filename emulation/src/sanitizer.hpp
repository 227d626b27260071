// SPDX-License-Identifier: Apache-2.0
// Whether the address sanitizer watches this build.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define DIFFBENCH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DIFFBENCH_ADDRESS_SANITIZER 1
#endif
#endif

namespace diffbench::emulation {
#if defined(DIFFBENCH_ADDRESS_SANITIZER)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif
} // namespace diffbench::emulation
