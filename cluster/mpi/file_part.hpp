// One rank's part of a file that all ranks write at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace diffbench::cluster {

/// Writes the bytes into the file, which exists, and closes it: other processes then see them, but
/// a power cut may still lose them. Not collective. Returns in one line what has failed, or
/// nothing.
[[nodiscard]] std::string write_part(const std::filesystem::path& file, std::int64_t offset,
                                     std::span<const std::byte> bytes);

} // namespace diffbench::cluster
