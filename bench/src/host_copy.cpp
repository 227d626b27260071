#include "host_copy.hpp"

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

} // namespace diffbench::bench
