// SPDX-License-Identifier: Apache-2.0
#include "host_copy.hpp"

#include "cpu_time.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"

#include <algorithm>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace diffbench::bench {

void copy_plain(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

#ifdef __SSE2__
// 16-byte stores are enough: the write-combining buffers gather them to whole cache lines.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(__m128i)) {
    const __m128i value = _mm_load_si128(reinterpret_cast<const __m128i*>(from + at));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), value);
  }
  _mm_sfence();
}
#else
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_plain(to, from, bytes);
}
#endif

CopyArrays::CopyArrays(std::int64_t bytes) : to(bytes, uninitialised), from(bytes, uninitialised) {
  std::uint64_t word = 0;
  constexpr std::int64_t part = 16 << 20; // fresh memory can take a second for a few of them
  for (std::int64_t begin = 0; begin < bytes; begin += part) {
    check_interrupt();
    const std::int64_t end = std::min(bytes, begin + part);
    for (std::int64_t at = begin; at < end; at += sizeof word) {
      word += 0x9e3779b97f4a7c15; // odd, so the period is 2^64
      std::memcpy(from.data() + at, &word, sizeof word);
    }
    // Untouched pages are all one page.
    std::memset(to.data() + begin, 0, static_cast<std::size_t>(end - begin));
  }
}

void TeamCopy::run(std::int64_t copies) {
  const std::int64_t lines = bytes_ / static_cast<std::int64_t>(array_alignment);
  team_.run([&](int thread) {
    const auto edge = [&](int i) {
      return static_cast<std::size_t>(lines * i / team_.count()) * array_alignment;
    };
    const std::size_t begin = edge(thread);
    const std::size_t size = edge(thread + 1) - begin;
    for (std::int64_t i = 0; i < copies; ++i) {
      copy_(arrays_.to.data() + begin, arrays_.from.data() + begin, size);
    }
  });
}

Sample TeamCopy::sample(std::int64_t copies) {
  if (copies > 1) {
    run(1);
  }
  const CpuTime cpu;
  const Stopwatch watch;
  run(copies);
  const double seconds = watch.seconds();
  return {.iterations = copies, .seconds = seconds, .cpu_seconds = cpu.seconds()};
}

bool TeamCopy::verify() {
  const auto size = static_cast<std::size_t>(bytes_);
  std::memset(arrays_.to.data(), 0xff, size);
  run(1);
  return std::memcmp(arrays_.to.data(), arrays_.from.data(), size) == 0;
}

} // namespace diffbench::bench
