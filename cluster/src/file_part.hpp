// SPDX-License-Identifier: Apache-2.0
// One rank's part of a file that all ranks write at once, each for itself by the system's calls. In
// collective MPI-IO, where one rank's disk is full, Open MPI 4.1 leaves the others waiting inside
// MPI_File_write_at_all, and its MPI_File_close drops the error of close(2), by which network file
// systems report a full disk or quota. The parts are whole blocks, so there is nothing to collect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace diffbench::cluster {

/// Whether write_part() waits for the disk: what is not on it a power cut may lose. A large file is
/// flushed part by part, since at its end a single call would wait for all of it.
enum class Flush { no, yes };

/// Writes the bytes into the file, which exists, and closes it: other processes then see them. Not
/// collective. Throws Error, without the name of the file.
void write_part(const std::filesystem::path& file, std::int64_t offset,
                std::span<const std::byte> bytes, Flush flush);

} // namespace diffbench::cluster
