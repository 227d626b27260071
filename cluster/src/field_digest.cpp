// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/field_digest.hpp"

#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

namespace diffbench::cluster {

namespace {

// The finalizer of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014; constants by Stafford): every bit of the input moves half of the
// output's.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15U; // odd, so places stay apart
constexpr std::uint64_t other_half = 0xd1b54a32d192ed03U;

} // namespace

template <typename T>
FieldDigest digest_of(std::int64_t first_index, std::span<const T> cells) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  FieldDigest sum;
  std::uint64_t place = (static_cast<std::uint64_t>(first_index) + 1) * golden_ratio;
  for (const T cell : cells) {
    // The place is mixed before the bits come in: place and bits with the same sum are no match.
    const std::uint64_t hash = mixed(mixed(place) + std::bit_cast<Bits>(cell));
    sum.high += hash;
    sum.low += mixed(hash ^ other_half);
    place += golden_ratio;
  }
  return sum;
}

template FieldDigest digest_of(std::int64_t, std::span<const float>);
template FieldDigest digest_of(std::int64_t, std::span<const double>);

FieldDigest digest_of_bytes(std::int64_t offset, std::string_view bytes) {
  std::vector<double> words((bytes.size() + 7) / 8);
  if (!bytes.empty()) {
    std::memcpy(words.data(), bytes.data(), bytes.size());
  }
  return digest_of<double>(offset / 8, words);
}

std::string to_string(const FieldDigest& digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {digest.high, digest.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text += digits[(half >> shift) & 15U];
    }
  }
  return text;
}

} // namespace diffbench::cluster
