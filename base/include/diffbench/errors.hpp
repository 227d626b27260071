// SPDX-License-Identifier: Apache-2.0
// The errors that the libraries throw. Each message is one line that says what is wrong, where, and
// how to mend it, so that a program can print it as it is.
#pragma once

#include <stdexcept>

namespace diffbench {

/// Base of all errors of the library; thrown itself when the system fails (I/O, memory).
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's input is wrong: a problem, an option or a file that cannot be used.
class InvalidInput : public Error {
 public:
  using Error::Error;
};

/// A backend, device or instruction set asked for by name does not exist here.
class Unavailable : public Error {
 public:
  using Error::Error;
};

} // namespace diffbench
