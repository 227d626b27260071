// SPDX-License-Identifier: Apache-2.0
// A submission's functions, whatever their form, as one thing: it runs from the field `in` of the
// shared memory to the field `out`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace diffbench::tried {

/// A problem, and where its fields are: offsets into the shared memory, in bytes.
struct Opening {
  std::string form;  ///< "session", "solve" or "step"
  std::string dtype; ///< "float32" or "float64"
  int nx = 0, ny = 0, boundary = 0;
  double boundary_value = 0;
  double factor = 0; ///< rounded to the dtype
  std::size_t in = 0, out = 0;
  std::size_t even = 0, odd = 0; ///< between the steps of the form step
};

class ServedSession {
 public:
  ServedSession() = default;
  ServedSession(const ServedSession&) = delete;
  ServedSession& operator=(const ServedSession&) = delete;
  virtual ~ServedSession() = default;
  /// All of the result is in `out` when it returns. Throws std::runtime_error.
  virtual void run(std::int64_t steps) = 0;
};

/// Throws std::runtime_error where the library lacks functions of that form.
[[nodiscard]] std::unique_ptr<ServedSession> serve(void* library, std::byte* shared,
                                                   const Opening& opening);

} // namespace diffbench::tried
