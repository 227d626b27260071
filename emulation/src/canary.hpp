// SPDX-License-Identifier: Apache-2.0
// Zones round a buffer that nobody may touch: the address sanitizer refuses every access there;
// without it, a pattern shows afterwards what was written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <sanitizer/asan_interface.h>

namespace diffbench::emulation {

// As a float -4.2e37, as an index beyond every buffer: also a value that was only read shows.
inline constexpr std::byte canary{0xfd};
/// Fresh memory, four bytes of it: NaN in every floating-point type; 0x3f3f3f3f: a number.
inline std::uint32_t poison = 0xffff'ffff;
/// NaN, too, and what no program writes.
inline constexpr std::uint32_t unlikely_poison = 0xfff5'a5a5;

inline void fill_with_poison(std::byte* memory, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof poison) {
    std::memcpy(memory + i, &poison, std::min(sizeof poison, bytes - i));
  }
}

inline void close_zone(std::span<std::byte> zone) {
  std::fill(zone.begin(), zone.end(), canary);
  ASAN_POISON_MEMORY_REGION(zone.data(), zone.size());
}

/// Opens the zone for good. false: someone wrote to it.
[[nodiscard]] inline bool open_zone(std::span<std::byte> zone) {
  ASAN_UNPOISON_MEMORY_REGION(zone.data(), zone.size());
  return std::all_of(zone.begin(), zone.end(), [](std::byte b) { return b == canary; });
}

} // namespace diffbench::emulation
