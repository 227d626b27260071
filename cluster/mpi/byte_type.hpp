// SPDX-License-Identifier: Apache-2.0
// A message of any number of bytes, for an interface whose counts are int.
#pragma once

#include "call.hpp"

#include <cstddef>
#include <limits>

namespace diffbench::cluster {

/// count() elements of type() are `bytes` bytes in a row. MPI_BYTE as far as an int counts; beyond,
/// one element of a type made of blocks of 1 KiB and the bytes that are left, which reaches 2 TiB.
/// Both have the same signature, so either matches the other.
class ByteType {
 public:
  explicit ByteType(std::size_t bytes,
                    std::size_t largest_count = std::numeric_limits<int>::max()) {
    if (bytes <= largest_count) {
      count_ = static_cast<int>(bytes);
      return;
    }
    constexpr std::size_t block = 1024;
    MPI_Datatype blocks = MPI_DATATYPE_NULL;
    call(MPI_Type_contiguous(block, MPI_BYTE, &blocks), "MPI_Type_contiguous");
    const int lengths[] = {static_cast<int>(bytes / block), static_cast<int>(bytes % block)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes / block * block)};
    const MPI_Datatype types[] = {blocks, MPI_BYTE};
    const int made = MPI_Type_create_struct(2, lengths, places, types, &type_);
    MPI_Type_free(&blocks); // lives on in type_
    call(made, "MPI_Type_create_struct");
    call(MPI_Type_commit(&type_), "MPI_Type_commit");
    own_ = true;
    count_ = 1;
  }
  ByteType(const ByteType&) = delete;
  ByteType& operator=(const ByteType&) = delete;
  /// Messages under way keep the type.
  ~ByteType() {
    if (own_) {
      MPI_Type_free(&type_);
    }
  }

  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 0;
  bool own_ = false;
};

} // namespace diffbench::cluster
