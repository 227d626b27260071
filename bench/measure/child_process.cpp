// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace diffbench::bench {

namespace {

constexpr auto slice = std::chrono::milliseconds(100);

FileDescriptor checked(int fd, const char* what) {
  if (fd < 0) {
    throw Error(fmt::format("cannot start a child process: {}: {}", what, std::strerror(errno)));
  }
  return FileDescriptor(fd);
}

} // namespace

ChildProcess::Channel::Channel() {
  // A socket pair instead of two pipes: one descriptor to poll, and a send that reports a dead
  // reader without raising SIGPIPE.
  std::array<int, 2> ends{};
  const int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data());
  ours = checked(made < 0 ? made : ends[0], "socketpair");
  childs = FileDescriptor(ends[1]);
  errors = checked(memfd_create("stderr of a child", MFD_CLOEXEC), "memfd_create");
}

ChildProcess::ChildProcess(const std::vector<std::string>& command)
    : process_({.words = command,
                .in = channel_.childs.get(),
                .out = channel_.childs.get(),
                .err = channel_.errors.get(),
                .own = ProcessPlan::Own::group}) {
  channel_.childs.reset();
}

ChildProcess::~ChildProcess() {
  channel_.ours.reset();
  go_on(); // a stopped one would not end by itself
  wait(std::chrono::milliseconds(500));
}

void ChildProcess::stop() {
  if (stopped_ || process_.wait(0)) {
    return;
  }
  process_.send(SIGSTOP);
  stopped_ = true;
  // It may run on for a moment on another CPU.
  for (int tries = 0; tries < 10'000; ++tries) {
    siginfo_t info{};
    const int asked =
        waitid(P_PID, static_cast<id_t>(pid()), &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT);
    if (asked != 0 || info.si_pid != 0) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void ChildProcess::go_on() {
  if (std::exchange(stopped_, false)) {
    process_.send(SIGCONT);
  }
}

bool ChildProcess::write_line(const std::string& line) {
  std::string text = line + '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t sent = send(channel_.ours.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return false;
    }
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
  return true;
}

ChildProcess::Outcome ChildProcess::read_line(std::string& line,
                                              std::chrono::duration<double> limit,
                                              const std::function<bool()>& interrupted) {
  const Stopwatch watch;
  while (true) {
    if (const std::size_t end = received_.find('\n', looked_); end != std::string::npos) {
      line = received_.substr(0, end);
      received_.erase(0, end + 1);
      looked_ = 0;
      return Outcome::line;
    }
    looked_ = received_.size();
    if (interrupted && interrupted()) {
      return Outcome::interrupted;
    }
    if (watch.seconds() > limit.count()) {
      return Outcome::timeout;
    }
    pollfd waiting{.fd = channel_.ours.get(), .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, static_cast<int>(slice.count())) <= 0) {
      continue; // nothing yet, or a signal came
    }
    std::array<char, 4096> buffer;
    const ssize_t got = recv(channel_.ours.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return Outcome::closed;
    }
  }
}

std::optional<int> ChildProcess::wait(std::chrono::duration<double> limit) {
  const auto& end = process_.wait(limit.count());
  return end ? std::optional(end->status) : std::nullopt;
}

std::string ChildProcess::last_words(int count) const {
  // The end of the file is enough; pread leaves the position, which the child shares, alone.
  std::array<char, 4096> buffer;
  const off_t size = lseek(channel_.errors.get(), 0, SEEK_END);
  const off_t start = std::max<off_t>(0, size - static_cast<off_t>(buffer.size()));
  const ssize_t got = pread(channel_.errors.get(), buffer.data(), buffer.size(), start);
  std::string_view text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));

  std::string words;
  for (int line = 0; line < count && !text.empty(); ++line) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
      text.remove_suffix(1);
    }
    const std::size_t newline = text.rfind('\n');
    const std::size_t first = newline == std::string_view::npos ? 0 : newline + 1;
    std::string_view last = text.substr(first);
    last.remove_prefix(std::min(last.find_first_not_of(' '), last.size()));
    words = words.empty() ? std::string(last) : fmt::format("{} | {}", last, words);
    text = text.substr(0, first);
  }
  return words;
}

} // namespace diffbench::bench
