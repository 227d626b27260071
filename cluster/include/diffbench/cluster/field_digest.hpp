// SPDX-License-Identifier: Apache-2.0
// A digest of a field that its ranks make together, each of its own rows, in any order: the sum
// over all cells of a hash of the cell's place and its bits. Two fields of the same digest are the
// same bits (but for one chance in 2^128 or so; it is no protection against forgery).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace diffbench::cluster {

struct FieldDigest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  /// That of both sets of cells together.
  FieldDigest& operator+=(const FieldDigest& other) {
    high += other.high;
    low += other.low;
    return *this;
  }
  bool operator==(const FieldDigest&) const = default;
};

/// Of cells whose places in the whole field, row-major, are first_index, first_index + 1, ...
template <typename T>
[[nodiscard]] FieldDigest digest_of(std::int64_t first_index, std::span<const T> cells);

/// Of bytes as cells of 64 bits, the last one filled with zeros; `offset`, a multiple of 8, is the
/// place of the first byte.
[[nodiscard]] FieldDigest digest_of_bytes(std::int64_t offset, std::string_view bytes);

/// 32 hexadecimal digits.
[[nodiscard]] std::string to_string(const FieldDigest& digest);

} // namespace diffbench::cluster
