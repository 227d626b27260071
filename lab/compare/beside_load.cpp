// SPDX-License-Identifier: Apache-2.0
#include "beside_load.hpp"

#include "child_process.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/text.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>

namespace diffbench::bench {

namespace {

struct Load {
  const char* name;
  const char* text;
  const char* script; ///< of sh
  bool on_each_cpu = false;
};

constexpr const char* busy_loop = "for i in 0 1 2 3 4 5 6 7 8 9; do :; done";

// What each does over and over while this process lives.
constexpr Load loads[] = {
    {"loop", "one busy loop", busy_loop},
    {"loops", "a busy loop for each CPU", busy_loop, true},
    {"bursts", "bursts of 30 ms, ten a second",
     "timeout --foreground 0.03 sh -c 'while :; do :; done'; sleep 0.07"},
    {"copies", "a program that fills 256 MiB over and over",
     "dd if=/dev/zero of=/dev/null bs=256M count=8 2>/dev/null"},
};

const Load& load_of(std::string_view name) {
  for (const Load& load : loads) {
    if (load.name == name) {
      return load;
    }
  }
  throw unknown_name("load", name, load_names());
}

} // namespace

std::vector<std::string> load_names() {
  std::vector<std::string> names;
  std::ranges::transform(loads, std::back_inserter(names), &Load::name);
  return names;
}

std::string load_text(std::string_view name) { return load_of(name).text; }

BesideLoad::BesideLoad(std::string_view name) {
  const Load& load = load_of(name);
  const std::string script =
      fmt::format("echo $$; exec >&-; while kill -0 {}; do {}; done 2>&-", ::getpid(), load.script);
  for (int i = 0; i < (load.on_each_cpu ? usable_cpus() : 1); ++i) {
    ChildProcess starter({"setsid", "--fork", "sh", "-c", script});
    std::string line;
    (void)starter.read_line(line, std::chrono::seconds(10));
    const auto group = parse_number<pid_t>(line);
    if (!group) {
      throw Error(fmt::format("--beside {}: cannot be started: {}", name, starter.last_words()));
    }
    groups_.push_back(*group);
  }
}

BesideLoad::~BesideLoad() {
  for (const pid_t group : groups_) {
    ::kill(-group, SIGKILL);
  }
}

} // namespace diffbench::bench
