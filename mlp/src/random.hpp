// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same with every compiler and library: std::mt19937_64 is, its
// distributions and std::shuffle are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace diffbench::mlp {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  /// Fisher and Yates, as in Knuth, "The Art of Computer Programming" vol. 2, algorithm 3.4.2 P.
  /// The bias of the multiplication is below 2^-32 for fewer than 2^32 elements.
  template <typename T>
  void shuffle(std::span<T> elements) {
    for (std::size_t left = elements.size(); left > 1; --left) {
      const auto chosen = static_cast<std::size_t>(uniform() * static_cast<double>(left));
      std::swap(elements[left - 1], elements[chosen]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

} // namespace diffbench::mlp
