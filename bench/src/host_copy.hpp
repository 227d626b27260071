// The ways in which a CPU copies memory. A plain copy reads the destination's cache lines before it
// writes them, and leaves them in the cache; non-temporal (streaming) stores do neither.
#pragma once

#include <cstddef>

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

} // namespace diffbench::bench
