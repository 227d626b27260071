// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include "diffbench/errors.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

namespace diffbench::bench {

namespace {

namespace fs = std::filesystem;

/// Not of one that has ended, also if nobody has waited for it yet.
bool lives(const fs::path& process) {
  std::string stat; // number, name in parentheses, state: proc(5)
  std::getline(std::ifstream(process / "stat"), stat);
  const std::size_t state = stat.rfind(')') + 2;
  return state < stat.size() && stat[state] != 'Z' && stat[state] != 'X';
}

/// Whether one was there that lived.
bool kill_members(pid_t leader) {
  bool any = false;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t process = 0;
    const auto [last, wrong] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (wrong == std::errc() && last == name.data() + name.size() && ::getsid(process) == leader &&
        lives(entry->path())) {
      ::kill(process, SIGKILL);
      any = true;
    }
  }
  return any;
}

/// Kills all that are in the session of `leader`, a child that has not been waited for: so its
/// number is no other's. Blocks until they have ended, a second or two at most.
void kill_session(pid_t leader) {
  ::kill(-leader, SIGKILL); // all there is where /proc cannot be read
  ::kill(leader, SIGKILL);
  constexpr int tries = 1000; // one that waits for a disk dies later
  for (int i = 0; i < tries && kill_members(leader); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// What a child is to do between its start and the program's.
class Start {
 public:
  explicit Start(const ProcessPlan& plan) {
    posix_spawn_file_actions_init(&actions_);
    if (!plan.input.empty()) { // opened anew for each: it is read from its beginning
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, plan.input.c_str(), O_RDONLY, 0);
    } else {
      lead(plan.in, STDIN_FILENO);
    }
    lead(plan.out, STDOUT_FILENO);
    lead(plan.err, STDERR_FILENO);
    if (!plan.directory.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions_, plan.directory.c_str());
    }
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    const int own = plan.own == ProcessPlan::Own::session ? POSIX_SPAWN_SETSID
                    : plan.own == ProcessPlan::Own::group ? POSIX_SPAWN_SETPGROUP
                                                          : 0;
    posix_spawnattr_setflags(
        &attributes_, static_cast<short>(own | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;
  ~Start() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  /// 0 or an errno.
  [[nodiscard]] int run(const std::string& path, char* const* words, pid_t& pid) const {
    return path.empty() ? posix_spawnp(&pid, words[0], &actions_, &attributes_, words, environ)
                        : posix_spawn(&pid, path.c_str(), &actions_, &attributes_, words, environ);
  }

 private:
  void lead(int from, int to) {
    if (from >= 0) {
      posix_spawn_file_actions_adddup2(&actions_, from, to);
    }
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

} // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileDescriptor::~FileDescriptor() { reset(); }

void FileDescriptor::reset() {
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

Process::Process(const ProcessPlan& plan) : own_(plan.own) {
  const auto fail = [&](int error) {
    throw Error(fmt::format("cannot start {}: {}", plan.words.front(), std::strerror(error)));
  };
  const Start start(plan);
  const std::vector<char*> words = pointers_to(plan.words);
  watch_ = Stopwatch<>();
  if (const int error = start.run(plan.path, words.data(), pid_); error != 0) {
    fail(error);
  }
  // glibc declares it for C.
  ended_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (ended_.get() < 0) {
    const int error = errno;
    kill_now();
    fail(error);
  }
}

Process::~Process() { kill_now(); }

void Process::reap() {
  if (own_ == ProcessPlan::Own::session) {
    kill_session(pid_); // what is left in the background would run beside the next one
  }
  ProcessEnd end{.status = 255};
  int status = 0;
  pid_t waited = 0;
  while ((waited = ::wait4(pid_, &status, 0, &end.usage)) < 0 && errno == EINTR) {
  }
  if (waited == pid_) { // else somebody else has waited for it, and nothing is known
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + end.signal;
  }
  end_ = end;
}

const std::optional<ProcessEnd>& Process::wait(double limit, const std::function<bool()>& stops) {
  constexpr double slice = 0.1;
  const Stopwatch watch;
  while (!end_) {
    const double left = limit - watch.seconds();
    pollfd waiting{.fd = ended_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(1e3 * std::clamp(left, 0.0, slice) + 0.999)) > 0) {
      reap();
    } else if (left <= 0 || (stops && stops())) {
      break;
    }
  }
  return end_;
}

void Process::send(int signal) const {
  if (!end_) {
    ::kill(own_ == ProcessPlan::Own::nothing ? pid_ : -pid_, signal);
  }
}

void Process::kill_now() {
  if (!end_) {
    send(SIGKILL);
    reap();
  }
}

} // namespace diffbench::bench
