// SPDX-License-Identifier: Apache-2.0
#include "beside_load.hpp"

#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"

#include <algorithm>
#include <iterator>

namespace diffbench::bench {

namespace {

struct Load {
  const char* name;
  const char* text;
  const char* script; ///< of sh
  bool on_each_cpu = false;
};

constexpr const char* busy_loop = "while :; do :; done";

constexpr Load loads[] = {
    {"loop", "one busy loop", busy_loop},
    {"loops", "a busy loop for each CPU", busy_loop, true},
    {"bursts", "bursts of 30 ms, ten a second",
     "while :; do timeout --foreground 0.03 sh -c 'while :; do :; done'; sleep 0.07; done"},
    {"copies", "a program that fills 256 MiB over and over",
     "while :; do dd if=/dev/zero of=/dev/null bs=256M count=64 2>/dev/null; done"},
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
  for (int i = 0; i < (load.on_each_cpu ? usable_cpus() : 1); ++i) {
    programs_.emplace_back(
        std::vector<std::string>{"timeout", "--foreground", "3600", "sh", "-c", load.script});
  }
}

} // namespace diffbench::bench
