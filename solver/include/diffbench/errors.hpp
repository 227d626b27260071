// The errors that the solver throws. Each message is one line that says what is wrong, where, and
// how to mend it, so that a program can print it as it is.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

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

/// Text of a file as a message may quote it: the first 40 characters, with ? for those that are not
/// printable ASCII.
[[nodiscard]] std::string printable(std::string_view text);

} // namespace diffbench
