// SPDX-License-Identifier: Apache-2.0
// The transport of an MPI program: each rank is a process.
//
// No call blocks inside MPI while it waits for another rank, except those that start and end MPI:
// all others start a request and wait in one loop (waiting.hpp), which keeps the time limit and
// leaves the CPU to others. Should a call of MPI not come back, a watchdog ends this process.
//
// Ranks that wait for rank 0 to call broadcast() cannot know how long it works on its own. So its
// watchdog's thread sends a sign of life to each of them every now and then, and they wait for as
// long as those come. MPI is in the hands of one thread at a time (MPI_THREAD_SERIALIZED).
//
// A call that has thrown TimedOut, or an Error while requests were under way, leaves them as they
// are: to cancel one is not portable, and MPI may still write into its memory. The rank can then do
// nothing but end_all().
#pragma once

#include "diffbench/cluster/transport.hpp"
#include "diffbench/cluster/watchdog.hpp"
#include "diffbench/stopwatch.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

namespace diffbench::cluster {

class MpiTransport : public Transport {
 public:
  /// Starts MPI: once in a process. The time limit holds from the start. Throws Error.
  explicit MpiTransport(double limit_seconds);
  /// Ends MPI when all ranks have come here. A rank that comes while an exception unwinds its stack
  /// gives the others 5 s: if all fail alike (an input that none of them can use), MPI ends as
  /// usual and the program says why; otherwise, and when requests are under way, MPI would wait for
  /// ever for ranks that wait for this one, so it ends all as end_all() does. That happens before
  /// any handler outside of the transport's life runs: who wants to say what went wrong catches
  /// inside of it and calls end_all() himself.
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] Place place() const override { return place_; }
  [[nodiscard]] std::string description() const override;

  void set_time_limit(double seconds) override;
  [[nodiscard]] double time_limit() const override { return time_limit_; }
  [[nodiscard]] Watchdog* watchdog() override { return &*watchdog_; }

  /// What the library says when it is asked; no of one that cannot be asked.
  [[nodiscard]] bool takes_device_memory() const override;
  [[nodiscard]] std::unique_ptr<HaloExchange> make_halo_exchange(
      const HaloMessages& messages) override;
  void broadcast(std::span<std::byte> bytes) override;
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void send(int to, std::span<const std::byte> bytes) override;
  void receive(int from, std::span<std::byte> bytes) override;
  [[noreturn]] void end_all(const std::string& reason) override;

  /// While it lives, MPI belongs to the thread that has made it, and what it does there is watched.
  class Turn {
   public:
    /// `call` as Watched has it.
    Turn(MpiTransport& transport, const char* call);

   private:
    std::scoped_lock<std::mutex> lock_;
    Watched watched_;
  };

  /// Of all ranks, errors returned.
  [[nodiscard]] MPI_Comm communicator() const { return ranks_; }
  /// Waits for `requests`: true when all have succeeded, false when `statuses` say which has not.
  /// Throws Error, and TimedOut with "rank R: ", what `complaint` says has not happened, and the
  /// limit; 0: waits for ever.
  [[nodiscard]] bool wait(std::span<MPI_Request> requests, std::span<MPI_Status> statuses,
                          const std::function<std::string()>& complaint, double limit_seconds);

 private:
  [[nodiscard]] Place find_place() const;
  void wait_for_one(MPI_Request request, MPI_Status& status, const std::string& complaint,
                    double limit_seconds);
  void wait_for_rank_0(MPI_Request request);
  [[nodiscard]] bool others_leave_too() noexcept;
  void send_sign_of_life();
  [[nodiscard]] bool took_sign_of_life() const;

  MPI_Comm ranks_ = MPI_COMM_NULL;
  MPI_Comm farewell_ = MPI_COMM_NULL; ///< its barrier never meets a collective call of ranks_
  int rank_ = 0;
  int size_ = 1;
  Place place_;
  double time_limit_ = 0;
  bool requests_under_way_ = false; ///< given up, see above
  int exceptions_ = 0;              ///< in flight when this was made

  std::mutex turn_;            ///< to call MPI
  bool signs_of_life_ = false; ///< rank 0 sends them, and the others may count on them
  std::vector<MPI_Request> signs_;
  Stopwatch<> since_sign_;
  std::optional<Watchdog> watchdog_; ///< last: its thread uses the rest
};

} // namespace diffbench::cluster
