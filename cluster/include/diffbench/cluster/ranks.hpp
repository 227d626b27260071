// SPDX-License-Identifier: Apache-2.0
// Many ranks as one: rank 0 leads, the others serve.
//
// Rank 0 runs the program and has a Ranks, which makes sessions like any backend's; behind each lie
// one session a rank and the exchange of halos. The other ranks do nothing but serve(). Every call
// of a session is a command to all ranks and ends with their agreement: where one of them failed,
// all know it, and the call throws what that rank said. A rank that fails in the middle of
// exchanges, where its neighbours wait for it, ends all (Transport::end_all).
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/cluster/field_digest.hpp"
#include "diffbench/cluster/rank_rows.hpp"
#include "diffbench/cluster/transport.hpp"
#include "diffbench/initial.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace diffbench::cluster {

class Member;
class ThreadRanks;
struct CheckpointFacts;
struct Command;
struct Status;

/// What a rank brings beside its transport. All ranks have the same `command`.
struct Duty {
  std::string command;               ///< the program's arguments
  bool (*stop)() noexcept = nullptr; ///< says that a signal has asked this rank to end
  /// On rank 0: called once, when it is known that some rank was asked to end.
  void (*heed_stop)() noexcept = nullptr;
};

/// How a problem is cut among the ranks, and who solves the parts.
struct RankJob {
  std::string backend;
  Problem problem;
  SessionOptions options = {}; ///< of each rank; threads = 0: its share of its machine's CPUs
  std::int64_t depth = 1;      ///< steps between two exchanges; 0: chosen by trying
  /// On a device: messages in its memory, or Unavailable; otherwise they are staged in page-locked
  /// memory of the host. CPU backends ignore it.
  bool gpu_aware = false;
};

/// Throws Unavailable, saying what to do, where messages cannot be in memory of a device.
void require_device_messages(const Transport& transport);

/// Where the time of a rank's steps went, in seconds.
struct RankTimes {
  double compute = 0; ///< in its own session
  double copy = 0;    ///< between the session and the messages
  double wait = 0;    ///< in the exchange: the messages' way, and the neighbours' delay
  /// Compute and copy of the slowest of it and its neighbours, from exchange to exchange: what is
  /// left where messages take no time.
  double pace = 0;
};

/// A problem that lives on all ranks. Calls block until all ranks are done. Beside what each
/// session does on a whole field, which rank 0 must have memory for, there are calls that need no
/// more than each rank's part.
template <typename T>
class RanksSession : public Session<T> {
 public:
  /// Each rank makes its own rows.
  virtual void initialise(const InitialField& initial) = 0;
  [[nodiscard]] virtual FieldDigest digest() = 0;
  /// Writes the field as a .npy file, the same bytes as from one process. The file appears under
  /// its name when it is complete.
  virtual void write_npy(const std::filesystem::path& path) = 0;
  /// See save_checkpoint().
  virtual void save_checkpoint(const std::filesystem::path& path, CheckpointFacts facts) = 0;
  /// The field of the checkpoint that Ranks::open_checkpoint() has opened, at `path`, the problem
  /// of which must be the session's. Throws InvalidInput where cells, step and problem are not
  /// those that its digest tells of.
  virtual void load_checkpoint(const std::filesystem::path& path) = 0;
  [[nodiscard]] virtual std::int64_t depth() const = 0;
};

/// Told of a call of advance(): of which job, how many steps, and what each rank took for them.
using OnAdvance = std::function<void(const RankJob& job, std::int64_t steps,
                                     const std::vector<RankTimes>& ranks)>;

/// On rank 0, as long as the ranks are to serve.
class Ranks {
 public:
  /// Collective, with serve() on the others. Throws InvalidInput, on all ranks, where they differ
  /// in build, arguments, instruction set or floating-point mode, and says who does.
  Ranks(Transport& transport, Duty duty);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  [[nodiscard]] int size() const;
  [[nodiscard]] Transport& transport();
  /// More threads than CPUs on some machine: results are right, times mean nothing.
  [[nodiscard]] bool oversubscribed(int threads) const;
  [[nodiscard]] int ranks_on_machine() const; ///< on rank 0's
  /// What a rank takes when the user does not say: its share of its machine.
  [[nodiscard]] int threads_per_rank() const;
  /// Some rank was asked to end, this one or another; of the others it is known after a call.
  [[nodiscard]] bool stopped() const;

  /// Throws as the backend's maker does, on whatever rank, and InvalidInput where the rows do not
  /// do for ranks and depth.
  template <typename T>
  [[nodiscard]] std::unique_ptr<RanksSession<T>> make_session(const RankJob& job);
  /// What one exchange of messages of so many bytes with both neighbours takes, in seconds: the
  /// mean of `times`, on the slowest rank.
  [[nodiscard]] double exchange_seconds(std::int64_t bytes, std::int64_t times);
  /// From now on every advance() of every session is told of; the job's depth is the one that runs.
  void on_advance(OnAdvance tell) { on_advance_ = std::move(tell); }
  /// Opens the checkpoint on all ranks for load_checkpoint(), and keeps it open: another run may
  /// meanwhile give its name to another file. What it says. Throws InvalidInput where it cannot be
  /// used.
  [[nodiscard]] CheckpointFacts open_checkpoint(const std::filesystem::path& path);

 private:
  template <typename T>
  class LedSession;

  /// Has all ranks do it. Throws what the first rank that failed said.
  std::vector<Status> call(const Command& command, std::span<const std::byte> from = {},
                           std::span<std::byte> to = {});

  Transport& transport_;
  void (*heed_stop_)() noexcept;
  OnAdvance on_advance_;
  std::unique_ptr<Member> member_;
  bool ended_ = false;
  bool stopped_ = false;
  int next_field_ = 0;
};

/// What the other ranks do until rank 0's Ranks is destroyed. Throws as Ranks() does where the
/// ranks differ, and Ended.
void serve(Transport& transport, Duty duty);

/// Ranks 1, 2, ... of a process, each a thread that serves; rank 0 is the caller's.
class ServingThreads {
 public:
  ServingThreads(ThreadRanks& ranks, const Duty& duty);
  ServingThreads(const ServingThreads&) = delete;
  ServingThreads& operator=(const ServingThreads&) = delete;
  /// Ends them, where Ranks has not done so, and waits for that.
  ~ServingThreads();

 private:
  void stop();

  ThreadRanks& ranks_;
  std::vector<std::thread> threads_;
};

} // namespace diffbench::cluster
