// SHA-256 of fields: two fields are the same bits when their digests are equal, so that no second
// field has to be held beside a result.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace diffbench::bench {

/// Lower-case hexadecimal. Throws Error when the library refuses.
[[nodiscard]] std::string sha256(std::span<const std::byte> bytes);

template <typename T>
[[nodiscard]] std::string sha256_of_cells(std::span<const T> cells) {
  return sha256(std::as_bytes(cells));
}

} // namespace diffbench::bench
