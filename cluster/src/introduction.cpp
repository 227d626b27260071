// SPDX-License-Identifier: Apache-2.0
#include "introduction.hpp"

#include "diffbench/build_stamp.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace diffbench::cluster {

namespace {

constexpr std::size_t most_cpus = 1024;

/// Sent as it lies in memory, once the builds are known to be the same.
struct Introduction {
  std::array<char, 80> host{};
  std::array<char, 1024> command{}; ///< what fits of it
  std::size_t command_hash = 0;
  std::array<char, 16> isa{};
  std::uint32_t float_mode = 0; ///< rounding, and whether denormals are kept
  int usable_cpus = 1;
  double cpu_quota = 0; ///< infinite without one
  std::array<bool, most_cpus> cpus{};
};

template <std::size_t Size>
void put(std::array<char, Size>& text, std::string_view value) {
  std::copy_n(value.data(), std::min(value.size(), Size - 1), text.data());
}

std::uint32_t float_mode() {
#if defined(__x86_64__)
  return _mm_getcsr() & ~0x3fU; // but for the flags of what has happened
#else
  return static_cast<std::uint32_t>(std::fegetround());
#endif
}

Introduction own(const Transport& transport, const std::string& command) {
  Introduction self;
  put(self.host, transport.place().host);
  put(self.command, command);
  self.command_hash = std::hash<std::string>()(command);
  put(self.isa, to_string(best_isa()));
  self.float_mode = float_mode();
  self.usable_cpus = usable_cpus();
  self.cpu_quota = cpu_quota();
  for (const int cpu : affinity()) {
    if (static_cast<std::size_t>(cpu) < most_cpus) {
      self.cpus[static_cast<std::size_t>(cpu)] = true;
    }
  }
  return self;
}

/// In which way a rank differs from rank 0; empty when it does not.
std::string difference(const Introduction& rank, const Introduction& first) {
  const auto differ = [](const char* what, const char* has, const char* wanted) {
    return std::string(what) + " " + has + ", rank 0 has " + wanted;
  };
  if (rank.command_hash != first.command_hash) {
    return differ("arguments", rank.command.data(), first.command.data());
  }
  if (rank.isa != first.isa) {
    return differ("instruction set", rank.isa.data(), first.isa.data());
  }
  if (rank.float_mode != first.float_mode) {
    return differ("floating-point mode", std::to_string(rank.float_mode).c_str(),
                  std::to_string(first.float_mode).c_str());
  }
  return "";
}

/// Throws on all ranks, with who differs, unless `difference_of(rank)` is empty for all but rank 0.
template <typename DifferenceOf>
void require_alike(std::size_t ranks, DifferenceOf difference_of) {
  constexpr int shown = 8;
  std::string table;
  int found = 0;
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    const std::string how = difference_of(rank);
    if (!how.empty() && ++found <= shown) {
      table += "; rank " + std::to_string(rank) + how;
    }
  }
  if (found > 0) {
    throw InvalidInput(std::to_string(found) + " of " + std::to_string(ranks) +
                       " ranks differ from rank 0, so their bits and times could, too" + table +
                       (found > shown ? "; ..." : "") +
                       "; start the same program with the same arguments on machines of one kind");
  }
}

template <typename Value>
std::vector<Value> gather(Transport& transport, const Value& mine) {
  std::vector<Value> all(static_cast<std::size_t>(transport.size()));
  transport.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

/// First of all, and in a form that does not change: all else is sent as one build has it.
void require_one_build(Transport& transport) {
  std::array<char, 128> mine{};
  put(mine, build_identity());
  const auto all = gather(transport, mine);
  require_alike(all.size(), [&](std::size_t rank) {
    return all[rank] == all[0]
               ? ""
               : ": build " + std::string(all[rank].data()) + ", rank 0 has " + all[0].data();
  });
}

/// The CPUs of a machine that its ranks may use between them. A launcher may have bound each rank
/// to CPUs of its own, and a cgroup's quota may leave fewer than that.
struct Machine {
  int ranks = 0;
  int cpus = 1;
  bool own_cpus = false; ///< no two ranks share one
};

Machine machine_of(std::span<const Introduction> all, const std::array<char, 80>& host) {
  Machine machine;
  std::bitset<most_cpus> together;
  std::size_t bound = 0;
  double quota = std::numeric_limits<double>::infinity();
  for (const Introduction& rank : all) {
    if (rank.host == host) {
      ++machine.ranks;
      quota = std::min(quota, rank.cpu_quota);
      for (std::size_t cpu = 0; cpu < most_cpus; ++cpu) {
        together[cpu] = together[cpu] || rank.cpus[cpu];
        bound += rank.cpus[cpu] ? 1 : 0;
      }
    }
  }
  const auto cpus = static_cast<double>(std::max<std::size_t>(1, together.count()));
  machine.cpus = static_cast<int>(std::min(cpus, std::ceil(quota)));
  machine.own_cpus = bound == together.count() && quota >= cpus;
  return machine;
}

} // namespace

Company introduce(Transport& transport, const std::string& command) {
  require_one_build(transport);
  const Introduction self = own(transport, command);
  const std::vector<Introduction> all = gather(transport, self);
  require_alike(all.size(), [&](std::size_t rank) {
    const std::string how = difference(all[rank], all[0]);
    return how.empty() ? how : " on " + std::string(all[rank].host.data()) + ": " + how;
  });

  const Machine mine = machine_of(all, self.host);
  Company company{
      .threads_per_rank = mine.own_cpus ? self.usable_cpus : std::max(1, mine.cpus / mine.ranks),
      .cpus_per_rank = std::numeric_limits<double>::infinity(),
      .ranks_on_machine = mine.ranks};
  for (const Introduction& rank : all) {
    const Machine machine = machine_of(all, rank.host);
    company.cpus_per_rank =
        std::min(company.cpus_per_rank, static_cast<double>(machine.cpus) / machine.ranks);
  }
  return company;
}

} // namespace diffbench::cluster
