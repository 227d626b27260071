// SPDX-License-Identifier: Apache-2.0
// SHA-256 of fields: two fields are the same bits when their digests are equal, so that no second
// field has to be held beside a result.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace diffbench::bench {

/// Of bytes that come piece by piece. Throws Error when the library refuses.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();
  void add(std::span<const std::byte> bytes);
  /// Lower-case hexadecimal; nothing may be added afterwards.
  [[nodiscard]] std::string text();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Of all of it at once.
[[nodiscard]] inline std::string sha256(std::span<const std::byte> bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.text();
}

template <typename T>
[[nodiscard]] std::string sha256_of_cells(std::span<const T> cells) {
  return sha256(std::as_bytes(cells));
}

} // namespace diffbench::bench
