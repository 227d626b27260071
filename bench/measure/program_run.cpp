// SPDX-License-Identifier: Apache-2.0
#include "program_run.hpp"

#include "cpu_time.hpp"
#include "diffbench/errors.hpp"
#include "digest.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

constexpr int slice_ms = 100; ///< in which Ctrl-C is asked for

bool can_run(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string looked_up(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const fs::path path = name;
    if (!can_run(path)) {
      std::error_code ignored;
      throw InvalidInput(fmt::format("{}: {}", name,
                                     fs::exists(path, ignored) ? "cannot be run; is it executable?"
                                                               : "there is no such file"));
    }
    return fs::absolute(path).string();
  }
  const char* const variable = std::getenv("PATH");
  std::string_view places = variable != nullptr ? variable : "/usr/bin:/bin";
  while (!places.empty()) {
    const std::size_t end = std::min(places.find(':'), places.size());
    const fs::path path = fs::path(places.substr(0, end)) / name;
    if (can_run(path)) {
      return fs::absolute(path).string();
    }
    places.remove_prefix(std::min(end + 1, places.size()));
  }
  throw InvalidInput(
      fmt::format("{}: there is no such program in PATH; a path to a file has a slash, as in ./{}",
                  name, name));
}

class Pipe {
 public:
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  FileDescriptor read_end, write_end;
};

/// A child's peak begins with that of its parent, whose memory it shares until the program starts.
std::optional<std::int64_t> peak_of(const rusage& usage) {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  return usage.ru_maxrss > own.ru_maxrss ? std::optional(std::int64_t{usage.ru_maxrss} * 1024)
                                         : std::nullopt;
}

ProgramRun described(const ProcessEnd& end) {
  return {.seconds = end.seconds,
          .user_seconds = seconds_of(end.usage.ru_utime),
          .system_seconds = seconds_of(end.usage.ru_stime),
          .peak_bytes = peak_of(end.usage),
          .page_faults = end.usage.ru_minflt + end.usage.ru_majflt,
          .context_switches = end.usage.ru_nvcsw + end.usage.ru_nivcsw,
          .status = end.status,
          .signal = end.signal};
}

/// What can be read now, not for ever; false at the end.
template <typename Take>
bool drain(int fd, Take take) {
  std::array<std::byte, 1 << 16> buffer;
  for (int part = 0; part < 16; ++part) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      take(std::span(buffer).first(static_cast<std::size_t>(got)));
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

/// The lines of what a program says that are enough for a message.
class LastWords {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte each : bytes) {
      constexpr std::size_t enough = 1000;
      if (const char c = static_cast<char>(each); c == '\n') {
        end_line();
      } else if (line_.size() < enough) {
        line_ += c;
      }
    }
  }
  [[nodiscard]] std::string text() {
    end_line();
    return last_;
  }

 private:
  void end_line() {
    constexpr const char* space = " \r\t";
    line_.erase(line_.find_last_not_of(space) + 1);
    line_.erase(0, line_.find_first_not_of(space));
    if (!line_.empty()) {
      last_ = line_;
    }
    line_.clear();
  }

  std::string line_, last_;
};

void check_time(const ProgramPlan& plan, double seconds) {
  check_interrupt();
  if (plan.limit_seconds > 0 && seconds > plan.limit_seconds) {
    throw Error(fmt::format("did not end within {:g} s, and was killed", plan.limit_seconds));
  }
}

int milliseconds_left(const ProgramPlan& plan, double seconds) {
  return plan.limit_seconds > 0
             ? std::clamp(static_cast<int>(1e3 * (plan.limit_seconds - seconds)) + 1, 1, slice_ms)
             : slice_ms;
}

} // namespace

Program::Program(ProgramPlan plan)
    : plan_(std::move(plan)),
      path_(looked_up(plan_.words.front())),
      nowhere_(::open("/dev/null", O_RDWR | O_CLOEXEC)) {
  if (nowhere_.get() < 0) {
    throw Error(fmt::format("cannot open /dev/null: {}", std::strerror(errno)));
  }
}

ProcessPlan Program::start(int out, int err) const {
  check_interrupt();
  return {.words = plan_.words, .path = path_, .in = nowhere_.get(), .out = out, .err = err};
}

ProgramRun Program::run() const {
  Process child(start(nowhere_.get(), nowhere_.get()));
  while (!child.wait(1e-3 * milliseconds_left(plan_, child.seconds()))) {
    check_time(plan_, child.seconds());
  }
  return described(*child.wait(0));
}

ProgramRun Program::run(ProgramOutput& output) const {
  Pipe out;
  Pipe err;
  Process child(start(out.write_end.get(), err.write_end.get()));
  out.write_end.reset();
  err.write_end.reset();
  Sha256 digest;
  LastWords words;
  output.bytes = 0;
  const auto read_stdout = [&](std::span<const std::byte> bytes) {
    digest.add(bytes);
    output.bytes += std::ssize(bytes);
  };
  const auto read_stderr = [&](std::span<const std::byte> bytes) { words.add(bytes); };
  std::array<pollfd, 3> waiting{pollfd{.fd = child.ended(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = out.read_end.get(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = err.read_end.get(), .events = POLLIN, .revents = 0}};
  // What it has left in the background may keep the pipes open; its own end is what counts.
  while (!child.wait(0)) {
    ::poll(waiting.data(), waiting.size(), milliseconds_left(plan_, child.seconds()));
    check_time(plan_, child.seconds());
    if (waiting[1].revents != 0 && !drain(waiting[1].fd, read_stdout)) {
      waiting[1].fd = -1;
    }
    if (waiting[2].revents != 0 && !drain(waiting[2].fd, read_stderr)) {
      waiting[2].fd = -1;
    }
  }
  (void)drain(out.read_end.get(), read_stdout);
  (void)drain(err.read_end.get(), read_stderr);
  output.digest = digest.text();
  output.last_words = words.text();
  return described(*child.wait(0));
}

} // namespace diffbench::bench
