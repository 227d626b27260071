// SPDX-License-Identifier: Apache-2.0
// An open file as HDF5 reads it, by no name: the file may have lost its own, where another run has
// replaced it, and HDF5 then refuses to open it.
#pragma once

#include "handle.hpp"

#include <cstddef>

namespace diffbench::cluster {

/// Its pages, mapped: HDF5 takes those that it reads, and copies none (its "file image
/// operations"). The bytes must not change meanwhile.
class FileImage {
 public:
  /// Throws Error. `descriptor` is of a regular file, and may be closed afterwards.
  explicit FileImage(int descriptor);
  FileImage(const FileImage&) = delete;
  FileImage& operator=(const FileImage&) = delete;
  ~FileImage();

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The file, for reading. It must be closed before the image ends. Throws Error.
  [[nodiscard]] Handle open();

 private:
  void* pages_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace diffbench::cluster
