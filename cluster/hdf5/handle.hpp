// SPDX-License-Identifier: Apache-2.0
// What HDF5's C API hands out and how it fails.
#pragma once

#include "diffbench/errors.hpp"

#include <utility>

#include <hdf5.h>

namespace diffbench::cluster {

/// Before any other call of HDF5: errors are thrown by us alone, and nothing runs at the exit of
/// the program. Again does nothing.
void start_hdf5();

/// Throws Error with HDF5's innermost message, in one line, for the negative values by which it
/// says that `what` failed; other values pass.
hid_t checked(hid_t value, const char* what);

/// Owns one identifier; moved-from and empty ones own none and stand for H5P_DEFAULT.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  Handle() = default;
  /// Throws Error where `id` is a failure of `what`.
  Handle(hid_t id, Closer closer, const char* what) : id_(checked(id, what)), closer_(closer) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, hid_t{0})), closer_(std::exchange(other.closer_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (closer_ != nullptr) {
      closer_(id_);
    }
  }

  [[nodiscard]] hid_t get() const { return id_; }
  /// For what is written out only now (files). Throws Error, and then owns it no more.
  void close(const char* what) {
    if (const Closer closer = std::exchange(closer_, nullptr)) {
      checked(closer(std::exchange(id_, hid_t{0})), what);
    }
  }

 private:
  hid_t id_ = 0;
  Closer closer_ = nullptr;
};

} // namespace diffbench::cluster
