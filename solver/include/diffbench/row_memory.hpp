// SPDX-License-Identifier: Apache-2.0
// Memory that a session gives for rows on their way to another place: the messages between ranks.
#pragma once

#include "diffbench/aligned_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace diffbench {

enum class RowMemoryKind {
  host,   ///< for a session on a device page-locked: one copy over the bus, and none on the host
  device, ///< of the session's device, which the host must not touch
};

/// Cells, uninitialised, that the session's upload_rows and download_rows take in whole or in part,
/// and what stands between them. On the same thread as the session, and gone before it.
template <typename T>
class RowMemory {
 public:
  RowMemory() = default;
  RowMemory(const RowMemory&) = delete;
  RowMemory& operator=(const RowMemory&) = delete;
  virtual ~RowMemory() = default;

  /// On a boundary of array_alignment.
  [[nodiscard]] virtual std::span<T> cells() const = 0;
  /// Replaces the first bytes, at most label_bytes. MAY return before that is done: it is before
  /// the session's next copy of rows. `label` may be reused when it returns.
  virtual void write_label(std::span<const std::byte> label) = 0;
  /// Copies the first bytes, at most label_bytes, to `label`. Blocks.
  virtual void read_label(std::span<std::byte> label) = 0;

  static constexpr std::size_t label_bytes = array_alignment;
};

/// Ordinary memory of the host.
template <typename T>
class HostRowMemory final : public RowMemory<T> {
 public:
  /// Throws Error when the memory cannot be had.
  explicit HostRowMemory(std::int64_t cells) : memory_(cells, uninitialised) {
    cells_ = {memory_.data(), static_cast<std::size_t>(cells)};
  }

  [[nodiscard]] std::span<T> cells() const override { return cells_; }
  void write_label(std::span<const std::byte> label) override {
    std::memcpy(cells_.data(), label.data(), label.size());
  }
  void read_label(std::span<std::byte> label) override {
    std::memcpy(label.data(), cells_.data(), label.size());
  }

 private:
  AlignedArray<T> memory_;
  std::span<T> cells_;
};

} // namespace diffbench
