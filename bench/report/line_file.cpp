// SPDX-License-Identifier: Apache-2.0
#include "line_file.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

namespace diffbench::bench {

std::vector<std::string> lines_of_file(std::string_view option, const std::filesystem::path& path) {
  const auto fail = [&](const char* what) {
    throw Error(
        fmt::format("{} {}: cannot {}: {}", option, path.string(), what, std::strerror(errno)));
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail("open");
  }
  errno = 0;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
  }
  if (file.bad() || errno == EISDIR) {
    fail("read");
  }
  return lines;
}

LineFile::LineFile(std::string option, std::filesystem::path path, Sharing sharing,
                   std::chrono::duration<double> longest_wait)
    : option_(std::move(option)),
      path_(std::move(path)),
      file_(::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666)) {
  if (file_.get() < 0) {
    fail("open");
  }
  struct stat about {};
  if (::fstat(file_.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    throw InvalidInput(fmt::format("{} {}: is not a regular file", option_, path_.string()));
  }
  lock(sharing, longest_wait);
}

void LineFile::lock(Sharing sharing, std::chrono::duration<double> longest_wait) const {
  constexpr double patience_after_interrupt = 0.5; // results are kept then, if it can be
  const Stopwatch watch;
  while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      fail("lock");
    }
    if (sharing == Sharing::refuses) {
      throw Error(fmt::format("{} {}: somebody else is writing to it", option_, path_.string()));
    }
    if (watch.seconds() > longest_wait.count()) {
      throw Error(
          fmt::format("{} {}: somebody else has been writing to it for {:g} s; nothing was "
                      "added to it",
                      option_, path_.string(), longest_wait.count()));
    }
    if (watch.seconds() > patience_after_interrupt) {
      check_interrupt();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

bool LineFile::ends_within_a_line() const {
  const off_t size = ::lseek(file_.get(), 0, SEEK_END);
  char last = '\n';
  return size > 0 && ::pread(file_.get(), &last, 1, size - 1) == 1 && last != '\n';
}

void LineFile::drop_last(std::size_t bytes) {
  const off_t size = ::lseek(file_.get(), 0, SEEK_END);
  if (::ftruncate(file_.get(), size - static_cast<off_t>(bytes)) != 0) {
    fail("write");
  }
}

void LineFile::append(std::string_view lines) {
  const std::string text = (ends_within_a_line() ? "\n" : "") + std::string(lines);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = ::write(file_.get(), text.data() + done, text.size() - done);
    if (size < 0 && errno != EINTR) {
      fail("write");
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
  }
  if (::fdatasync(file_.get()) != 0) {
    fail("write");
  }
}

void LineFile::fail(const char* what) const {
  throw Error(
      fmt::format("{} {}: cannot {}: {}", option_, path_.string(), what, std::strerror(errno)));
}

} // namespace diffbench::bench
