// SPDX-License-Identifier: Apache-2.0
// What a session on a device gives for messages (diffbench/row_memory.hpp): page-locked memory of
// the host, or memory of the device. The session keeps a list of what it has given and is still
// held, so that it knows the memory again without asking the runtime what a pointer is.
#pragma once

#include "diffbench/gpu/memory.hpp"
#include "diffbench/gpu/stream.hpp"
#include "diffbench/row_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace diffbench::kernels {

/// Four pieces in use, so they are looked through one by one.
template <typename T>
class GivenMemory {
 public:
  struct Piece {
    std::span<const T> cells;
    RowMemoryKind kind = RowMemoryKind::host;
  };

  void add(const Piece& piece) { pieces_.push_back(piece); }
  void remove(const T* begin) {
    std::erase_if(pieces_, [begin](const Piece& piece) { return piece.cells.data() == begin; });
  }
  /// That in which `cell` lies, or null.
  [[nodiscard]] const Piece* find(const T* cell) const {
    const std::less<> before;
    for (const Piece& piece : pieces_) {
      const T* const begin = piece.cells.data();
      if (!before(cell, begin) && before(cell, begin + piece.cells.size())) {
        return &piece;
      }
    }
    return nullptr;
  }

 private:
  std::vector<Piece> pieces_;
};

/// Cells are on the list as long as this lives.
template <typename T>
class Listed {
 public:
  Listed(GivenMemory<T>& given, std::span<T> cells, RowMemoryKind kind)
      : given_(given), cells_(cells) {
    given_.add({.cells = cells, .kind = kind});
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;
  ~Listed() { given_.remove(cells_.data()); }

  [[nodiscard]] std::span<T> cells() const { return cells_; }

 private:
  GivenMemory<T>& given_;
  std::span<T> cells_;
};

/// Copies of rows to and from it end before they return, so the host may write and read labels.
template <typename T>
class PinnedRowMemory final : public RowMemory<T> {
 public:
  /// Throws gpu::CudaError.
  PinnedRowMemory(GivenMemory<T>& given, std::int64_t cells)
      : memory_(cells), listed_(given, memory_.cells(), RowMemoryKind::host) {}

  [[nodiscard]] std::span<T> cells() const override { return listed_.cells(); }
  void write_label(std::span<const std::byte> label) override {
    std::memcpy(memory_.data(), label.data(), label.size());
  }
  void read_label(std::span<std::byte> label) override {
    std::memcpy(label.data(), memory_.data(), label.size());
  }

 private:
  gpu::PinnedArray<T> memory_;
  Listed<T> listed_;
};

/// Labels pass through a page-locked buffer, on the session's stream: in order with its copies.
template <typename T>
class DeviceRowMemory final : public RowMemory<T> {
 public:
  /// Throws gpu::CudaError.
  DeviceRowMemory(GivenMemory<T>& given, const gpu::Stream& stream, std::int64_t cells)
      : stream_(stream),
        label_(static_cast<std::int64_t>(RowMemory<T>::label_bytes)),
        memory_(cells),
        listed_(given, {memory_.data(), static_cast<std::size_t>(cells)}, RowMemoryKind::device) {}

  [[nodiscard]] std::span<T> cells() const override { return listed_.cells(); }
  void write_label(std::span<const std::byte> label) override {
    // Of a label that is still on its way the buffer may be rewritten: this one comes after it.
    std::memcpy(label_.data(), label.data(), label.size());
    gpu::copy_to_device(stream_, memory_.data(), label_.data(), label.size());
  }
  void read_label(std::span<std::byte> label) override {
    gpu::copy_to_host(stream_, label_.data(), memory_.data(), label.size());
    stream_.synchronize();
    std::memcpy(label.data(), label_.data(), label.size());
  }

 private:
  const gpu::Stream& stream_;
  gpu::PinnedArray<std::byte> label_;
  gpu::DeviceArray<T> memory_;
  Listed<T> listed_;
};

} // namespace diffbench::kernels
