// SPDX-License-Identifier: Apache-2.0
#include "program_run.hpp"

#include "cpu_time.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"
#include "digest.hpp"
#include "interrupt.hpp"
#include "process_session.hpp"
#include "spawn_signals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
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

[[noreturn]] void fail(const std::string& program, const char* what, int error) {
  throw Error(fmt::format("cannot run {}: {}: {}", program, what, std::strerror(error)));
}

bool can_run(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string looked_up(const ProgramPlan& plan) {
  const std::string& name = plan.words.front();
  if (name.find('/') != std::string::npos) {
    const fs::path path = plan.directory.empty() ? fs::path(name) : fs::path(plan.directory) / name;
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

/// What a child is to do between its start and the program's.
class Start {
 public:
  Start(const ProgramPlan& plan, int nowhere, int out, int err) {
    posix_spawn_file_actions_init(&actions_);
    if (plan.input.empty()) {
      posix_spawn_file_actions_adddup2(&actions_, nowhere, STDIN_FILENO);
    } else { // opened anew for each run: it is read from its beginning
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, plan.input.c_str(), O_RDONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    if (!plan.directory.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions_, plan.directory.c_str());
    }
    posix_spawnattr_init(&attributes_);
    // A session of its own: it is killed as a whole, and has no terminal that it could wait for.
    set_default_signals(attributes_, POSIX_SPAWN_SETSID);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;
  ~Start() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  /// 0 or an errno.
  [[nodiscard]] int run(const std::string& path, char* const* arguments, pid_t& pid) const {
    return posix_spawn(&pid, path.c_str(), &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// A child's peak begins with that of its parent, whose memory it shares until the program starts.
std::optional<std::int64_t> peak_of(const rusage& usage) {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  return usage.ru_maxrss > own.ru_maxrss ? std::optional(std::int64_t{usage.ru_maxrss} * 1024)
                                         : std::nullopt;
}

/// A child that runs. What is still there when it goes is killed, with what it has started.
class Running {
 public:
  Running(pid_t pid, const std::string& program)
      : pid_(pid),
        ended_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) { // glibc declares it for C
    if (ended_.get() < 0) {
      const int error = errno;
      kill_and_reap();
      fail(program, "pidfd_open", error);
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (pid_ > 0) {
      kill_and_reap();
    }
  }

  [[nodiscard]] int ended() const { return ended_.get(); } ///< can be read once it has

  /// Of one that has ended. What it has left in the background would run beside the next one.
  [[nodiscard]] ProgramRun reap(double seconds) {
    kill_session(pid_);
    int status = 0;
    rusage usage{};
    while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return {.seconds = seconds,
            .user_seconds = seconds_of(usage.ru_utime),
            .system_seconds = seconds_of(usage.ru_stime),
            .peak_bytes = peak_of(usage),
            .page_faults = usage.ru_minflt + usage.ru_majflt,
            .context_switches = usage.ru_nvcsw + usage.ru_nivcsw,
            .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
  }

 private:
  void kill_and_reap() const {
    kill_session(pid_);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  pid_t pid_;
  FileDescriptor ended_;
};

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
    return errors_.empty() ? last_ : fmt::format("{}", fmt::join(errors_, "; "));
  }

 private:
  void end_line() {
    constexpr const char* space = " \r\t";
    const auto has = [&](std::string_view mark) { return line_.find(mark) != std::string::npos; };
    line_.erase(line_.find_last_not_of(space) + 1);
    line_.erase(0, line_.find_first_not_of(space));
    constexpr std::size_t most = 3;
    if (errors_.size() < most && (has("rror:") || has("error[") || has("CMake Error") ||
                                  has("undefined reference") || has("multiple definition"))) {
      errors_.push_back(line_);
    }
    if (!line_.empty() && (last_.empty() || !has(": *** ["))) { // make only repeats that it failed
      last_ = line_;
    }
    line_.clear();
  }

  std::string line_, last_;
  std::vector<std::string> errors_;
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

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str())); // exec does not write to them
  }
  arguments.push_back(nullptr);
  return arguments;
}

/// A program that has just been started, and the clock since then.
struct Begun {
  Stopwatch<> watch;
  Running child;
};
Begun begin(const ProgramPlan& plan, const std::string& path, int in, int out, int err) {
  const Start start(plan, in, out, err);
  const std::vector<char*> arguments = pointers_to(plan.words);
  check_interrupt();
  pid_t pid = -1;
  const Stopwatch watch;
  if (const int error = start.run(path, arguments.data(), pid); error != 0) {
    fail(plan.words.front(), "start", error);
  }
  return {watch, Running(pid, plan.words.front())};
}

} // namespace

Program::Program(ProgramPlan plan)
    : plan_(std::move(plan)),
      path_(looked_up(plan_)),
      nowhere_(::open("/dev/null", O_RDWR | O_CLOEXEC)) {
  if (nowhere_.get() < 0) {
    throw Error(fmt::format("cannot open /dev/null: {}", std::strerror(errno)));
  }
}

ProgramRun Program::run() const {
  auto [watch, child] = begin(plan_, path_, nowhere_.get(), nowhere_.get(), nowhere_.get());
  pollfd waiting{.fd = child.ended(), .events = POLLIN, .revents = 0};
  while (::poll(&waiting, 1, milliseconds_left(plan_, watch.seconds())) <= 0) {
    check_time(plan_, watch.seconds());
  }
  return child.reap(watch.seconds());
}

ProgramRun Program::run(ProgramOutput& output) const {
  Pipe out;
  Pipe err;
  auto [watch, child] =
      begin(plan_, path_, nowhere_.get(), out.write_end.get(), err.write_end.get());
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
  while (waiting[0].revents == 0) {
    ::poll(waiting.data(), waiting.size(), milliseconds_left(plan_, watch.seconds()));
    check_time(plan_, watch.seconds());
    if (waiting[1].revents != 0 && !drain(waiting[1].fd, read_stdout)) {
      waiting[1].fd = -1;
    }
    if (waiting[2].revents != 0 && !drain(waiting[2].fd, read_stderr)) {
      waiting[2].fd = -1;
    }
  }
  const double seconds = watch.seconds();
  (void)drain(out.read_end.get(), read_stdout);
  (void)drain(err.read_end.get(), read_stderr);
  output.digest = digest.text();
  output.last_words = words.text();
  return child.reap(seconds);
}

} // namespace diffbench::bench
