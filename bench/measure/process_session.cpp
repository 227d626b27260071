// SPDX-License-Identifier: Apache-2.0
#include "process_session.hpp"

#include <unistd.h>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
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

} // namespace

void kill_session(pid_t leader) {
  ::kill(-leader, SIGKILL); // all there is where /proc cannot be read
  ::kill(leader, SIGKILL);
  constexpr int tries = 1000; // one that waits for a disk dies later
  for (int i = 0; i < tries && kill_members(leader); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

} // namespace diffbench::bench
