#include "subcommand.hpp"

#include "doctor.hpp"
#include "list.hpp"

#include <array>

namespace diffbench::bench {

namespace {

Action declare_list(CLI::App& /*app*/) {
  return [](const Invocation& invocation) { return run_list(invocation.out); };
}

Action declare_doctor(CLI::App& /*app*/) {
  return [](const Invocation& invocation) { return run_doctor(invocation.out); };
}

} // namespace

std::span<const Subcommand> subcommands() {
  static constexpr std::array table{
      Subcommand{"list", "backends and peers, and whether they can run here", "diffbench list",
                 declare_list},
      Subcommand{"doctor",
                 "what this machine and this build can do, and how to get what is missing",
                 "diffbench doctor", declare_doctor},
  };
  return table;
}

} // namespace diffbench::bench
