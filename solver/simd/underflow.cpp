// SPDX-License-Identifier: Apache-2.0
#include "simd/underflow.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace diffbench::simd {

namespace {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == sizeof(float), std::uint32_t, std::uint64_t>;

// The layout of T, and the scale as it appears there.
template <typename T>
struct Layout {
  using Bits = BitsOf<T>;
  static constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
  static constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  static constexpr Bits one_exponent = Bits{1} << fraction_bits;
  static constexpr Bits scale =
      std::bit_cast<Bits>(field_scale<T>) - std::bit_cast<Bits>(T{1}); // added to the exponent
  static constexpr T largest = static_cast<T>(sizeof(T) == sizeof(float) ? 0x1p32 : 0x1p256);
};

// The last bit of factor times the scaled smallest denormal number has to be a normal number.
constexpr double least_factor = 0x1p-16;

} // namespace

template <typename T>
bool can_be_scaled(const Problem& problem) {
  const double factor = problem.diffusion_number();
  return has_underflow_flag && factor >= least_factor && factor <= stability_limit &&
         std::abs(static_cast<T>(problem.boundary_value)) <= Layout<T>::largest;
}

// A denormal number with fraction f has the bits f. With the exponent of the scaled smallest normal
// number it is that plus the scaled number, exactly; and the other way round.
template <typename T>
bool to_scaled(std::span<const T> cells, T* scaled) {
  using L = Layout<T>;
  typename L::Bits largest = 0;
  for (const T cell : cells) {
    const auto bits = std::bit_cast<typename L::Bits>(cell);
    const typename L::Bits size = bits & ~L::sign;
    largest = size > largest ? size : largest;
    const bool small = size < L::one_exponent;
    const T sum = std::bit_cast<T>(size + L::scale + (small ? L::one_exponent : 0));
    const T result = sum - (small ? scaled_normal<T> : T{0});
    *scaled++ = std::bit_cast<T>(std::bit_cast<typename L::Bits>(result) | (bits & L::sign));
  }
  return largest <= std::bit_cast<typename L::Bits>(L::largest);
}

template <typename T>
void to_natural(std::span<const T> scaled, T* cells) {
  using L = Layout<T>;
  for (const T number : scaled) {
    const auto bits = std::bit_cast<typename L::Bits>(number);
    const T size = std::bit_cast<T>(bits & ~L::sign);
    const bool small = size < scaled_normal<T>;
    const T sum = size + (small ? scaled_normal<T> : T{0});
    const typename L::Bits result =
        std::bit_cast<typename L::Bits>(sum) - L::scale - (small ? L::one_exponent : 0);
    *cells++ = std::bit_cast<T>(result | (bits & L::sign));
  }
}

#if defined(__x86_64__)

namespace {
// Of MXCSR; Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, 10.2.3.
constexpr unsigned underflow_flag = 1U << 4;
constexpr unsigned underflow_mask = 1U << 11;
constexpr unsigned flush_to_zero = 1U << 15;
} // namespace

FlushToZero::FlushToZero(Form form) : form_(form) {
  if (form_ == Form::scaled) {
    before_ = _mm_getcsr();
    _mm_setcsr((before_ | flush_to_zero | underflow_mask) & ~underflow_flag);
  }
}

FlushToZero::~FlushToZero() {
  if (form_ == Form::scaled) {
    constexpr unsigned ours = underflow_flag | underflow_mask | flush_to_zero;
    _mm_setcsr((_mm_getcsr() & ~ours) | (before_ & ours));
  }
}

bool FlushToZero::underflowed() {
  const unsigned state = _mm_getcsr();
  if ((state & underflow_flag) == 0) {
    return false;
  }
  _mm_setcsr(state & ~underflow_flag);
  return true;
}

#else

FlushToZero::FlushToZero(Form form) : form_(form) {}
FlushToZero::~FlushToZero() = default;
bool FlushToZero::underflowed() { return false; }

#endif

template bool can_be_scaled<float>(const Problem&);
template bool can_be_scaled<double>(const Problem&);
template bool to_scaled<float>(std::span<const float>, float*);
template bool to_scaled<double>(std::span<const double>, double*);
template void to_natural<float>(std::span<const float>, float*);
template void to_natural<double>(std::span<const double>, double*);

} // namespace diffbench::simd
