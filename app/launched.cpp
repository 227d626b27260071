// SPDX-License-Identifier: Apache-2.0
#include "launched.hpp"

#include "diffbench/cluster/launcher.hpp"
#include "diffbench/cluster/module.hpp"
#include "diffbench/errors.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "option_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace diffbench::bench {

namespace {

// What keeps one rank from MPI keeps nearly always all of them from it: rank 0 says so, and the
// launcher ends the others meanwhile. One that is left is alone in its trouble.
const cluster::Module& load_mpi(const cluster::Launcher& launcher) {
  constexpr std::chrono::seconds patience{2};
  try {
    return cluster::load_module();
  } catch (const Unavailable& error) {
    if (launcher.rank == 0) {
      throw;
    }
    std::this_thread::sleep_for(patience);
    throw Unavailable("rank " + std::to_string(launcher.rank) + ": " + error.what());
  }
}

void refuse_foreign(const cluster::Launcher& launcher, int size) {
  try {
    cluster::require_matching_size(launcher, size);
  } catch (const Unavailable&) {
    if (launcher.rank > 0) {
      throw SaidByRank0{exit_unavailable};
    }
    throw;
  }
}

} // namespace

std::unique_ptr<LaunchedRanks> LaunchedRanks::join(std::span<const std::string> arguments) {
  const auto launcher = cluster::launched_ranks();
  if (!launcher) {
    return nullptr;
  }
  const cluster::Module& mpi = load_mpi(*launcher);
  std::unique_ptr<cluster::Transport> transport = mpi.connect(comm_timeout_in(arguments));
  refuse_foreign(*launcher, transport->size());
  const cluster::Duty duty{.command = fmt::format("{}", fmt::join(arguments, " ")),
                           .stop = interrupted,
                           .heed_stop = request_interrupt};
  return std::unique_ptr<LaunchedRanks>(new LaunchedRanks(std::move(transport), duty));
}

LaunchedRanks::LaunchedRanks(std::unique_ptr<cluster::Transport> transport, cluster::Duty duty)
    : transport_(std::move(transport)), duty_(std::move(duty)) {}

cluster::Ranks& LaunchedRanks::lead() {
  try {
    return ranks_.emplace(*transport_, duty_);
  } catch (const InvalidInput&) { // the ranks differ, and all know it
    throw;
  } catch (const std::exception& error) {
    transport_->end_all(error.what());
    throw;
  }
}

void LaunchedRanks::serve() {
  const InterruptGuard guard; // rank 0 learns of it, and ends all in order
  try {
    cluster::serve(*transport_, duty_);
  } catch (const InvalidInput&) { // the ranks differ, and all know it
    throw SaidByRank0{exit_usage};
  } catch (const std::exception& error) {
    transport_->end_all(error.what());
  }
}

} // namespace diffbench::bench
