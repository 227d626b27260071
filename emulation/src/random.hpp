// SPDX-License-Identifier: Apache-2.0
// The source of every choice of the emulation: small, quick, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace diffbench::emulation {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 <= result < n; its bias is below n / 2^32.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((next() >> 32) * n >> 32); }
  bool coin() { return (next() & 1) != 0; }

  /// Removes an element chosen at random; the order of the others changes.
  template <typename T>
  T take(std::vector<T>& pool) {
    const std::size_t i = below(pool.size());
    T chosen = std::move(pool[i]);
    if (i + 1 != pool.size()) {
      pool[i] = std::move(pool.back());
    }
    pool.pop_back();
    return chosen;
  }

 private:
  std::uint64_t state_;
};

} // namespace diffbench::emulation
