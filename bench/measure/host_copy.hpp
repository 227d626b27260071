// SPDX-License-Identifier: Apache-2.0
// The ways in which a CPU copies memory. A plain copy reads the destination's cache lines before it
// writes them, and leaves them in the cache; non-temporal (streaming) stores do neither.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/workers.hpp"
#include "result.hpp"

#include <cstddef>
#include <cstdint>

namespace diffbench::bench {

using HostCopy = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);

/// std::memcpy, which may choose non-temporal stores itself beyond a size of its own.
void copy_plain(std::byte* to, const std::byte* from, std::size_t bytes);

/// A loop of loads and stores as the compiler vectorises it, and no call of memcpy; for arrays that
/// begin with a cache line, and a multiple of 8 bytes.
void copy_loop(std::byte* to, const std::byte* from, std::size_t bytes);

/// Non-temporal stores at every size. All three arguments are multiples of a cache line. Where
/// there are none (not x86) it is copy_plain, and `has_streaming_copy` false.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes);
#if defined(__SSE2__)
inline constexpr bool has_streaming_copy = true;
#else
inline constexpr bool has_streaming_copy = false;
#endif

/// Two arrays to copy between. Page and cache line are aligned alike in both, as in two fields of a
/// solver.
struct CopyArrays {
  /// `bytes` are a multiple of a cache line. Throws Error when the memory cannot be had.
  explicit CopyArrays(std::int64_t bytes);

  AlignedArray<std::byte> to;
  AlignedArray<std::byte> from; ///< no two words alike: a copy that is off by any number shows
};

/// A way to copy the first bytes of two arrays, by all threads of a team.
class TeamCopy {
 public:
  /// `bytes` are a multiple of a cache line.
  TeamCopy(Workers& team, HostCopy copy, CopyArrays& arrays, std::int64_t bytes)
      : team_(team), copy_(copy), arrays_(arrays), bytes_(bytes) {}

  /// Each thread copies its own part that often, without waiting for the others in between.
  void run(std::int64_t copies);
  /// A copy first that is not timed: what others left in the caches is not this one's. A copy that
  /// is a sample by itself is larger than they are.
  Sample sample(std::int64_t copies);
  /// Copies once; whether the bytes arrive.
  [[nodiscard]] bool verify();

 private:
  Workers& team_;
  HostCopy copy_;
  CopyArrays& arrays_;
  std::int64_t bytes_;
};

} // namespace diffbench::bench
