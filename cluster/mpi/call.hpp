// SPDX-License-Identifier: Apache-2.0
// MPI's C interface, and how its calls fail: each returns a code, which call() makes an Error of.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <array>
#include <string>
#include <string_view>

#include <mpi.h>

namespace diffbench::cluster {

/// MPI's text for a code, in one line.
[[nodiscard]] inline std::string mpi_error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
    return "error " + std::to_string(code);
  }
  return one_line({text.data(), static_cast<std::size_t>(length)});
}

/// Throws Error when `code`, which the function of that name has returned, is not MPI_SUCCESS. The
/// communicator's error handler must be MPI_ERRORS_RETURN.
inline void call(int code, std::string_view function) {
  if (code != MPI_SUCCESS) {
    throw Error(std::string(function) + " failed: " + mpi_error_text(code));
  }
}

} // namespace diffbench::cluster
