// SPDX-License-Identifier: Apache-2.0
// Writing to stdout and checking output paths.
#pragma once

#include "diffbench/errors.hpp"
#include "exit_code.hpp"

#include <exception>
#include <filesystem>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// Name of the output that stands for stdout.
inline constexpr const char* stdout_name = "-";

/// The reader of stdout went away: not worth a message.
class OutputClosed : public Error {
 public:
  using Error::Error;
};

/// Writes and flushes all of `text`. Throws OutputClosed when nobody reads any more, Error (a full
/// disk) otherwise.
void write_out(std::ostream& out, std::string_view text);

/// The same of text for people, in which what steers a terminal becomes ? but for line ends: a name
/// in it may hold anything. No line is wider than that.
void write_text(std::ostream& out, const std::string& text);

/// A line "diffbench: ..." for stderr, in one piece, as others may write there, too. Where stderr
/// is a terminal, it is broken at its width.
void tell(std::ostream& err, std::string_view message);

/// As write_out() to stdout where `path` is stdout_name, else to the file there: all of it or
/// nothing.
void write_to(std::ostream& out, const std::string& path, std::string_view text);

/// Writes one output after the other: one that fails does not keep the others from being written.
class Outputs {
 public:
  /// What `format` returns to the file at `path`, which may be stdout_name, or empty: nowhere.
  template <typename Format>
  void write(std::ostream& out, const std::string& path, Format&& format) {
    if (!path.empty()) {
      attempt([&] {
        write_to(out, path, std::forward<Format>(format)());
        wrote(path);
      });
    }
  }
  /// For finish() to name what was written in another way; stdout and devices are no files.
  void wrote(const std::string& path);
  /// Calls `write`; of what it throws of Error the first is kept.
  template <typename Write>
  void attempt(Write&& write) {
    try {
      std::forward<Write>(write)();
    } catch (const Error&) {
      if (!failure_) {
        failure_ = std::current_exception();
      }
    }
  }
  /// Throws the first failure, if there was one; else names the files that were written, in a line.
  /// Comes last.
  void finish(std::ostream& err) const;

 private:
  std::vector<std::string> written_;
  std::exception_ptr failure_;
};

/// Whether stdout is one of the places, so that nothing else may go there.
[[nodiscard]] bool takes_stdout(std::initializer_list<std::string> paths);

/// The file that is written or read at `path`: absolute, links resolved, also those to nothing yet.
[[nodiscard]] std::filesystem::path place_of(const std::filesystem::path& path);

/// How a file that the program writes begins: with `magic`, behind a length of at most 8 bytes, and
/// `mark` is in its first 64 KiB; without a magic number the first line ends with the mark.
struct OutputKind {
  std::string_view magic, mark;
};
namespace kind_of_output {
inline constexpr OutputKind json{"{", R"("executable": "diffbench")"};
inline constexpr OutputKind csv{"", "diffbench_version\n"};
inline constexpr OutputKind markdown{"<!-- diffbench -->", ""};
inline constexpr OutputKind page{"<!doctype html>", "<title>diffbench "};
inline constexpr OutputKind trace{"{\n  \"traceEvents\"", R"("name": "diffbench")"};
inline constexpr OutputKind field{"\x93NUMPY", ""};
inline constexpr OutputKind checkpoint{"\x93NUMPY", "diffbench checkpoint "};
} // namespace kind_of_output

/// Throws InvalidInput where two of the paths are one place; empty ones are none.
void refuse_equal_paths(std::initializer_list<std::string> paths);

/// Throws InvalidInput where `output` is the file at one of `inputs`, by whatever path: a recorded
/// run cannot be had again. `option` stands in the message. No path, and stdout_name, are none.
void refuse_to_overwrite(std::string_view option, const std::filesystem::path& output,
                         std::span<const std::string> inputs);

/// Throws Error unless a file can be written at `path`: tries it without changing or leaving
/// anything. `option` stands in the message. No path, and stdout_name, are all right. Throws
/// InvalidInput for a file that may not be replaced: that is write-protected, or neither empty nor
/// of this kind.
void check_writable_file(std::string_view option, const std::filesystem::path& path,
                         const OutputKind& kind);
/// The same for a directory that will be made when it is not there.
void check_writable_directory(std::string_view option, const std::filesystem::path& path);

} // namespace diffbench::bench
