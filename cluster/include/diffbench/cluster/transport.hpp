// SPDX-License-Identifier: Apache-2.0
// How ranks talk to each other. Two transports speak this interface: the processes of an MPI
// program (a module, loaded only under a launcher) and the threads of one process
// (thread_transport.hpp), which is what the tests and a laptop's cluster run on.
//
// Each rank has one Transport and uses it from one thread. A call in which all ranks take part is
// marked collective: all make the same ones in the same order. Every call blocks; one that waits
// for other ranks spins or yields for a moment and then sleeps, so that more ranks than CPUs still
// advance.
#pragma once

#include "diffbench/errors.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace diffbench::cluster {

class Watchdog;

/// Thrown where a message has not come within the time limit (Transport::set_time_limit).
class TimedOut : public Error {
 public:
  using Error::Error;
};

/// Thrown where another rank has ended all (Transport::end_all); what that rank said.
class Ended : public Error {
 public:
  using Error::Error;
};

/// The four messages of an exchange of halos, their places and sizes fixed. Along the rows of the
/// field, `upper` is the rank before this one and `lower` the one after it; -1 and empty messages
/// where there is none. In a periodic field of two ranks both are the same rank.
struct HaloMessages {
  int upper = -1;
  int lower = -1;
  std::span<const std::byte> to_upper;
  std::span<std::byte> from_upper;
  std::span<const std::byte> to_lower;
  std::span<std::byte> from_lower;
};

/// Where all wait for all, under a limit for single messages: a neighbour may have begun to wait
/// for one when this rank came, and may be waiting for a CPU.
constexpr double gather_limit(double limit_seconds) {
  return limit_seconds > 0 ? 1.5 * limit_seconds + 1 : 0;
}

/// An exchange that is set up once and run many times.
class HaloExchange {
 public:
  HaloExchange() = default;
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;
  virtual ~HaloExchange() = default;

  /// Sends both messages as they are now and takes the neighbours' two. Returns when all four have
  /// arrived or left. Throws Error for one of another size, TimedOut, Ended.
  virtual void run() = 0;
};

/// Where a rank lives: its number among the ranks of its machine, and how many these are.
struct Place {
  int rank = 0;
  int ranks = 1;
  std::string host;
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual Place place() const = 0;
  /// Such as "Open MPI 4.1.4" or "threads".
  [[nodiscard]] virtual std::string description() const = 0;

  /// How long a rank waits without progress in run(), send() and receive() before it throws
  /// TimedOut; 0: for ever. Where all take part it is gather_limit(), so that a rank whose
  /// neighbour is silent can say so before the others miss it.
  virtual void set_time_limit(double seconds) = 0;
  [[nodiscard]] virtual double time_limit() const { return 0; }
  /// Ends this process where a step takes longer than it may; null where the ranks are threads of
  /// one process, of which none can end alone.
  [[nodiscard]] virtual Watchdog* watchdog() { return nullptr; }

  /// Whether the messages of an exchange of halos may lie in memory of a CUDA device; the same on
  /// all ranks.
  [[nodiscard]] virtual bool takes_device_memory() const { return false; }
  /// The memory of the messages must outlive the exchange.
  [[nodiscard]] virtual std::unique_ptr<HaloExchange> make_halo_exchange(
      const HaloMessages& messages) = 0;
  /// Collective: the bytes of rank 0 come to all. The others have nothing to do until it calls;
  /// they wait for as long as it lives.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// Collective: the bytes of each rank, equally many, come to all, in the order of ranks.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  virtual void receive(int from, std::span<std::byte> bytes) = 0;

  /// The last resort of a rank that cannot go on: all ranks end, each with Ended where it waits, or
  /// as a process with exit code 1. May not return.
  virtual void end_all(const std::string& reason) = 0;
};

} // namespace diffbench::cluster
