// SPDX-License-Identifier: Apache-2.0
#include "process_session.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace diffbench::bench {

namespace {

/// Of a name in /proc; 0 for one that is no process.
pid_t process_of(std::string_view name) {
  pid_t process = 0;
  for (const char digit : name) {
    if (digit < '0' || digit > '9') {
      return 0;
    }
    process = 10 * process + (digit - '0');
  }
  return process;
}

/// Not of one that has ended, also if nobody has waited for it yet.
bool lives(int proc, std::string_view name) {
  constexpr std::string_view rest = "/stat";
  std::array<char, 32> path{};
  name.copy(path.data(), path.size() - rest.size() - 1);
  rest.copy(path.data() + name.size(), rest.size());
  const int file = ::openat(proc, path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  std::array<char, 256> text; // number, name in parentheses, state: proc(5)
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  const std::string_view stat(text.data(), static_cast<std::size_t>(got > 0 ? got : 0));
  const std::size_t state = stat.rfind(')') + 2;
  return state < stat.size() && stat[state] != 'Z' && stat[state] != 'X';
}

/// `take` is called with each name in a directory. readdir(3) may allocate memory, which a signal
/// handler may not.
template <typename Take>
void each_name(int directory, Take take) {
  alignas(dirent64) std::array<char, 8192> entries;
  long bytes = 0;
  while ((bytes = ::syscall(SYS_getdents64, directory, entries.data(), entries.size())) > 0) {
    for (std::size_t at = 0; at < static_cast<std::size_t>(bytes);) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      take(std::string_view(entry->d_name));
      at += entry->d_reclen;
    }
  }
}

/// Whether one was there that lived.
bool kill_members(int proc, pid_t leader) {
  bool any = false;
  ::lseek(proc, 0, SEEK_SET);
  each_name(proc, [&](std::string_view name) {
    const pid_t process = process_of(name);
    if (process > 0 && ::getsid(process) == leader && lives(proc, name)) {
      ::kill(process, SIGKILL);
      any = true;
    }
  });
  return any;
}

} // namespace

void kill_session(pid_t leader) noexcept {
  const int error = errno;
  ::kill(-leader, SIGKILL); // all there is where /proc cannot be read
  ::kill(leader, SIGKILL);
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc >= 0) {
    constexpr int tries = 1000; // of 1 ms: one that waits for a disk dies later
    for (int i = 0; i < tries && kill_members(proc, leader); ++i) {
      ::poll(nullptr, 0, 1);
    }
    ::close(proc);
  }
  errno = error;
}

} // namespace diffbench::bench
