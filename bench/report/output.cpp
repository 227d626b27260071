// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/terminal_text.hpp"
#include "diffbench/text.hpp"
#include "text_width.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <system_error>

namespace diffbench::bench {

namespace fs = std::filesystem;

namespace {

std::string reason(int error_number) { return std::generic_category().message(error_number); }

/// Makes and removes a file in `directory`: the only test that also sees read-only mounts, quotas
/// and full inode tables.
void check_creates(std::string_view option, const fs::path& path, const fs::path& directory) {
  std::string name = (directory / ".diffbench-XXXXXX").string();
  sigset_t all, own;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &own); // a signal that ends us leaves no file
  const int descriptor = ::mkstemp(name.data());
  const int error_number = errno;
  if (descriptor >= 0) {
    ::close(descriptor);
    ::unlink(name.c_str());
  }
  ::pthread_sigmask(SIG_SETMASK, &own, nullptr);
  if (descriptor < 0) {
    throw Error(fmt::format("{} {}: cannot write in {} ({})", option, path.string(),
                            directory.string(), reason(error_number)));
  }
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Of a regular file.
void refuse_to_replace(std::string_view option, const fs::path& path, const OutputKind& kind) {
  const auto refuse = [&](std::string_view why) {
    throw InvalidInput(
        fmt::format("{} {}: {}; remove it, or choose another name", option, path.string(), why));
  };
  constexpr fs::perms write = fs::perms::owner_write | fs::perms::group_write | // root's access()
                              fs::perms::others_write;                          // is always right
  if (::access(path.c_str(), W_OK) != 0 ||
      (fs::status(path).permissions() & write) == fs::perms{}) {
    refuse("is write-protected");
  }
  std::ifstream file(path, std::ios::binary);
  std::string begin(64 << 10, '\0');
  begin.resize(static_cast<std::size_t>(
      file.read(begin.data(), static_cast<std::streamsize>(begin.size())).gcount()));
  const std::string_view searched =
      std::string_view(begin).substr(0, kind.magic.empty() ? begin.find('\n') + 1 : begin.npos);
  const std::size_t mark = searched.rfind(kind.mark);
  const bool is_ours = searched.substr(0, 8 + kind.magic.size()).find(kind.magic) != begin.npos &&
                       mark != begin.npos &&
                       (!kind.magic.empty() || mark + kind.mark.size() == searched.size());
  if (!file.is_open() || (!begin.empty() && !is_ours)) {
    refuse("is there already, and diffbench has not written it for this option");
  }
}

} // namespace

void write_out(std::ostream& out, std::string_view text) {
  errno = 0;
  out << text << std::flush;
  if (out) {
    return;
  }
  if (errno == EPIPE) {
    throw OutputClosed("stdout was closed");
  }
  throw Error(fmt::format("stdout: cannot write ({})", errno != 0 ? reason(errno) : "I/O error"));
}

void write_text(std::ostream& out, const std::string& text) {
  write_out(out, wrapped(without_controls(text, '?', "\n")));
}

void write_to(std::ostream& out, const std::string& path, std::string_view text) {
  if (path == stdout_name) {
    write_out(out, text);
  } else {
    write_atomically(path, [&](std::ostream& file) { file << text; });
  }
}

void Outputs::wrote(const std::string& path) {
  std::error_code error;
  if (path != stdout_name && (fs::is_regular_file(path, error) || fs::is_directory(path, error))) {
    written_.push_back(path);
  }
}

void tell(std::ostream& err, std::string_view message) {
  err << wrapped(fmt::format("diffbench: {}\n", one_line(message)), error_width) << std::flush;
}

void Outputs::finish(std::ostream& err) const {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  if (!written_.empty()) {
    tell(err, fmt::format("wrote {}", fmt::join(written_, ", ")));
  }
}

bool takes_stdout(std::initializer_list<std::string> paths) {
  return std::ranges::find(paths, stdout_name) != paths.end();
}

fs::path place_of(const fs::path& path) {
  std::error_code ignored; // what cannot be resolved cannot be written either
  fs::path place = path;
  constexpr int most_links = 40; // as the system has it
  for (int i = 0; i < most_links && fs::is_symlink(fs::symlink_status(place, ignored)); ++i) {
    place = parent_of(place) / fs::read_symlink(place, ignored);
  }
  const fs::path resolved = fs::weakly_canonical(place, ignored);
  return fs::absolute(resolved.empty() ? place : resolved, ignored).lexically_normal();
}

void refuse_equal_paths(std::initializer_list<std::string> paths) {
  std::set<fs::path> places;
  for (const std::string& path : paths) {
    const fs::path place = path == stdout_name ? fs::path(path) : place_of(path);
    if (!path.empty() && !places.insert(place).second) {
      throw InvalidInput(fmt::format(
          "{}: two outputs, or an output and an input, cannot go to the same place", path));
    }
  }
}

void refuse_to_overwrite(std::string_view option, const fs::path& output,
                         std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored; // one that is not there is not the other
    if (output != stdout_name && fs::equivalent(output, input, ignored)) {
      throw InvalidInput(
          fmt::format("{} {}: is also an input; give another name", option, output.string()));
    }
  }
}

void check_writable_file(std::string_view option, const fs::path& path, const OutputKind& kind) {
  if (path.empty() || path == stdout_name) {
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    throw Error(fmt::format("{} {}: is a directory; give a file", option, path.string()));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0 && fs::is_fifo(status) && errno == ENXIO) {
      throw Error(fmt::format("{} {}: nobody reads from this pipe; start its reader first", option,
                              path.string()));
    }
    if (descriptor < 0) {
      throw Error(fmt::format("{} {}: cannot write ({})", option, path.string(), reason(errno)));
    }
    // A pipe stays open until the program ends: its reader would take a close for the end.
    if (!fs::is_fifo(status)) {
      ::close(descriptor);
    }
    return;
  }
  if (fs::exists(status)) {
    refuse_to_replace(option, path, kind);
  }
  const fs::path parent = parent_of(path);
  if (!fs::is_directory(parent, error)) {
    throw Error(fmt::format("{} {}: the directory {} does not exist; make it first", option,
                            path.string(), parent.string()));
  }
  check_creates(option, path, parent);
}

void check_writable_directory(std::string_view option, const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status)) {
    if (!fs::is_directory(status)) {
      throw Error(fmt::format("{} {}: exists and is not a directory", option, path.string()));
    }
    check_creates(option, path, path);
    return;
  }
  const fs::path parent = parent_of(path);
  if (!fs::is_directory(parent, error)) {
    throw Error(fmt::format("{} {}: the directory {} does not exist; make it first", option,
                            path.string(), parent.string()));
  }
  check_creates(option, path, parent);
}

} // namespace diffbench::bench
