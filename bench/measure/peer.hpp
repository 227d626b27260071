// SPDX-License-Identifier: Apache-2.0
// Peers: the same problem in NumPy, Numba, PyTorch and others, run by a python3 child in
// the same run, so that a row of the table can stand beside ours; or the same training, or the same
// answers, of a network in PyTorch. bench/peers/peer_protocol.py is the other end.
// numpy_pooled is numpy with a C library that keeps freed memory (why: bench/peers/numpy_roll.py).
//
// The child is asked by one-line JSON requests and answers each with one line. It is in a process
// group of its own, so that Ctrl-C on the terminal reaches only the parent, which ends it in order.
#pragma once

#include "child_process.hpp"
#include "diffbench/backend.hpp"
#include "diffbench/problem.hpp"
#include "diffbench/stopwatch.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

enum class PeerTask {
  diffusion,
  training, ///< a step is one of the optimizer
  epochs,   ///< a step is an epoch of training
  answering,
};

/// Those of the task (peer.cpp has the list), those on the GPU last.
[[nodiscard]] std::vector<std::string> peer_names(PeerTask task = PeerTask::diffusion);

/// What a row of the table is called that comes from a peer: "peer:numpy".
[[nodiscard]] std::string peer_row_name(std::string_view peer);
/// Whether a row of a result file is a peer's.
[[nodiscard]] bool names_peer(std::string_view row);

/// What the peer computes on. Throws InvalidInput, listing the names, for an unknown one.
[[nodiscard]] DeviceKind peer_device(std::string_view name, PeerTask task);

/// Whether the peer can be started: its script is there, a python3 that has its modules, and for
/// those on the GPU a device. Starts each python once, and once for the driver; imports nothing.
/// Throws InvalidInput, listing the names, for an unknown one.
[[nodiscard]] Probe probe_peer(std::string_view name, PeerTask task = PeerTask::diffusion);

/// A python3 that finds these modules, as the peers'; nothing where there is none.
[[nodiscard]] std::optional<std::string> python_with(const std::vector<std::string>& modules);
/// A file among the peers' scripts. Throws Unavailable.
[[nodiscard]] std::filesystem::path peer_script(std::string_view name);

/// What a child is given to work on.
// NOLINTNEXTLINE(bugprone-exception-escape): only an assertion in the JSON's move could throw
struct PeerJob {
  PeerTask task = PeerTask::diffusion;
  nlohmann::json start;         ///< for Peer(start) of its module, but for threads and device
  double most_step_seconds = 0; ///< far more than the slowest takes for a step: a child that hangs
};
/// The field in `initial_npy`.
[[nodiscard]] PeerJob diffusion_job(const Problem& problem,
                                    const std::filesystem::path& initial_npy);

/// How answers of a network are timed one by one: after so many that warm up, for so long, up to
/// `count` of them, or as many as fit in `most_seconds`, and one at least.
struct AnswerPlan {
  std::int64_t warm_calls = 0;
  double warm_seconds = 0;
  std::int64_t count = 1;
  double most_seconds = 1;
};
struct PeerAnswers {
  std::vector<double> seconds; ///< of each, on the child's clock
  double clock_cost = 0;       ///< seconds between two of its readings, which each time includes
};

/// A running peer that holds one field or network. Every call blocks until the child has answered,
/// and throws Error, with the last lines the child wrote to stderr, when it dies, fails or hangs,
/// and when `interrupted` says so meanwhile. After that the peer is of no further use.
class Peer {
 public:
  /// Starts the child and waits until it is ready to be timed (modules imported, code compiled). Of
  /// `session` counts how many threads (0: all usable CPUs) and which device. Throws Unavailable,
  /// with the command that installs what is missing.
  Peer(const std::string& name, const PeerJob& job, const SessionOptions& session,
       std::function<bool()> interrupted = {});
  Peer(const std::string& name, const Problem& problem, const std::filesystem::path& initial_npy,
       const SessionOptions& session, std::function<bool()> interrupted = {})
      : Peer(name, diffusion_job(problem, initial_npy), session, std::move(interrupted)) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  /// Ends the child: asks it to by closing its input, waits briefly, then kills it.
  ~Peer();

  /// Another job of the same task for the same child, whose modules are there.
  void restart(const PeerJob& job);
  /// From process start, or restart, to ready.
  [[nodiscard]] double setup_seconds() const { return setup_seconds_; }
  /// Back to the initial field or parameters, or to the first batch that is answered.
  void reset();
  /// Whether load() does not need it to be made anew, with what it compiles.
  [[nodiscard]] bool takes_other_fields() const { return loads_; }
  /// Resets to the field in this file, of the same shape, from the next reset() on.
  void load(const std::filesystem::path& npy);
  /// Seconds on the child's own clock, round nothing but the steps. The result is complete.
  double advance(std::int64_t steps);
  /// Of a peer that answers. Whatever is asked of it goes through its batches in turn.
  [[nodiscard]] PeerAnswers answer(const AnswerPlan& plan);
  /// Writes the field as it is now, all parameters as one row, or the outputs of the last answer.
  void save(const std::filesystem::path& npy);
  /// The threads that really ran, the versions of library and python, settings of the allocator
  /// where the environment has any, and the page faults a step of the last advance().
  [[nodiscard]] Provenance provenance() const;
  [[nodiscard]] pid_t process() const { return child_.pid(); }
  /// The largest resident size of the child so far, interpreter and libraries included.
  [[nodiscard]] std::int64_t peak_bytes() const;

 private:
  void start(const PeerJob& job);
  /// Sends a request for `steps` time steps of work and returns the answer.
  nlohmann::json ask(const nlohmann::json& request, std::int64_t steps);
  [[noreturn]] void fail(std::string_view what) const;

  std::string name_;
  nlohmann::json resources_; ///< threads and device
  std::function<bool()> interrupted_;
  Stopwatch<> watch_; ///< since the child's start, or restart()
  ChildProcess child_;
  double most_step_seconds_ = 0, setup_seconds_ = 0;
  bool loads_ = false;
  Provenance provenance_;
  std::optional<double> page_faults_per_step_; ///< of the last advance()
};

} // namespace diffbench::bench
