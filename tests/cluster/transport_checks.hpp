// SPDX-License-Identifier: Apache-2.0
// What every transport must do, written against its interface alone: the processes of MPI
// (mpi_transport_test.cpp) and threads (thread_transport_test.cpp) run the same.
//
// Each check is called by all ranks, and throws CheckFailed on a rank that has seen something
// wrong.
#pragma once

#include "diffbench/cluster/transport.hpp"
#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace diffbench::cluster {

/// Not an Error, so that no check takes it for one that it waits for.
class CheckFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace checks {

using Bytes = std::vector<std::byte>;

inline void require(bool ok, const std::string& what) {
  if (!ok) {
    throw CheckFailed(what);
  }
}

inline std::string numbered(std::string_view what, std::uint64_t number) {
  return std::string(what) + " " + std::to_string(number);
}

using Word = std::array<std::byte, 8>;

/// Bytes 8 i to 8 i + 7 of the message `number` of a rank: no two messages are alike.
inline Word word_of(int rank, std::uint64_t number, std::uint64_t i) {
  std::uint64_t bits = (static_cast<std::uint64_t>(rank) + 1) * 0x9e3779b97f4a7c15u ^
                       (number + 1) * 0xbf58476d1ce4e5b9u ^ (i + 1) * 0x94d049bb133111ebu;
  bits ^= bits >> 31;
  bits *= 0x9e3779b97f4a7c15u;
  return std::bit_cast<Word>(bits ^ bits >> 32);
}

inline void fill(std::span<std::byte> bytes, int rank, std::uint64_t number) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(Word)) {
    const Word word = word_of(rank, number, i / sizeof(Word));
    std::memcpy(&bytes[i], word.data(), std::min(sizeof(Word), bytes.size() - i));
  }
}

inline void require_filled(std::span<const std::byte> bytes, int rank, std::uint64_t number,
                           const std::string& what) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(Word)) {
    const Word word = word_of(rank, number, i / sizeof(Word));
    if (std::memcmp(&bytes[i], word.data(), std::min(sizeof(Word), bytes.size() - i)) != 0) {
      throw CheckFailed(what + ": among the bytes from " + std::to_string(i) + " on of " +
                        std::to_string(bytes.size()) + " is one that rank " + std::to_string(rank) +
                        " has not sent");
    }
  }
}

/// Memory of a message with sentinels round it.
class Guarded {
 public:
  explicit Guarded(std::size_t size) : bytes_(size + 2 * margin, sentinel) {}
  [[nodiscard]] std::span<std::byte> message() {
    return {bytes_.data() + margin, bytes_.size() - 2 * margin};
  }
  void require_whole(const std::string& what) const {
    const auto is_sentinel = [](std::byte b) { return b == sentinel; };
    require(std::all_of(bytes_.begin(), bytes_.begin() + margin, is_sentinel) &&
                std::all_of(bytes_.end() - margin, bytes_.end(), is_sentinel),
            what + ": bytes beside the message were written");
  }

 private:
  static constexpr std::ptrdiff_t margin = 64;
  static constexpr std::byte sentinel{0xa5};
  Bytes bytes_;
};

/// The message of the Expected that `what` throws; CheckFailed when it throws none.
template <typename Expected, typename Call>
std::string error_of(const std::string& what, Call&& call) {
  try {
    call();
  } catch (const Expected& error) {
    const std::string message = error.what();
    require(!message.empty() && message.find('\n') == message.npos,
            what + ": not one line: " + message);
    return message;
  }
  throw CheckFailed(what + ": nothing was thrown");
}

/// Returns when all ranks have called it.
inline void meet(Transport& transport) {
  const Bytes mine(1);
  Bytes all(static_cast<std::size_t>(transport.size()));
  transport.all_gather(mine, all);
}

struct Neighbours {
  int upper;
  int lower;
};

inline Neighbours neighbours(const Transport& transport, bool periodic) {
  const int rank = transport.rank();
  const int size = transport.size();
  if (periodic) {
    return {(rank + size - 1) % size, (rank + 1) % size};
  }
  return {rank - 1, rank + 1 < size ? rank + 1 : -1};
}

/// A rank's side of an exchange of `up` bytes to each upper neighbour and `down` to each lower one.
class Exchange {
 public:
  Exchange(Transport& transport, bool periodic, std::size_t up, std::size_t down)
      : rank_(transport.rank()),
        neighbours_(neighbours(transport, periodic)),
        to_upper_(neighbours_.upper < 0 ? 0 : up),
        from_upper_(neighbours_.upper < 0 ? 0 : down),
        to_lower_(neighbours_.lower < 0 ? 0 : down),
        from_lower_(neighbours_.lower < 0 ? 0 : up),
        exchange_(transport.make_halo_exchange({neighbours_.upper, neighbours_.lower,
                                                to_upper_.message(), from_upper_.message(),
                                                to_lower_.message(), from_lower_.message()})) {}

  /// With contents that no other `number` has.
  void run(std::uint64_t number, const std::string& what) {
    fill(to_upper_.message(), rank_, 2 * number);
    fill(to_lower_.message(), rank_, 2 * number + 1);
    exchange_->run();
    const std::string which = what + numbered(", run", number) + ", ";
    require_filled(from_upper_.message(), neighbours_.upper, 2 * number + 1, which + "upper");
    require_filled(from_lower_.message(), neighbours_.lower, 2 * number, which + "lower");
    require_filled(to_upper_.message(), rank_, 2 * number, which + "what was sent up");
    require_filled(to_lower_.message(), rank_, 2 * number + 1, which + "what was sent down");
    for (const Guarded* memory : {&to_upper_, &from_upper_, &to_lower_, &from_lower_}) {
      memory->require_whole(which);
    }
  }

 private:
  int rank_;
  Neighbours neighbours_;
  Guarded to_upper_;
  Guarded from_upper_;
  Guarded to_lower_;
  Guarded from_lower_;
  std::unique_ptr<HaloExchange> exchange_;
};

inline void description_and_place(Transport& transport) {
  const std::string description = transport.description();
  require(
      !description.empty() && description.find('\n') == description.npos && description.size() < 60,
      "description: " + description);
  const Place place = transport.place();
  require(transport.rank() >= 0 && transport.rank() < transport.size(), "rank");
  require(place.rank >= 0 && place.rank < place.ranks && place.ranks <= transport.size(),
          "place: " + std::to_string(place.rank) + " of " + std::to_string(place.ranks));
  require(!place.host.empty(), "no host name");
}

/// From one byte, over what MPI sends at once, to what it does not (4 KiB in Open MPI).
inline void halos_of_many_sizes(Transport& transport) {
  for (const bool periodic : {false, true}) {
    for (const std::size_t size : {1u, 8u, 1000u, 4096u, 5003u, 300'007u}) {
      const std::string what =
          std::string(periodic ? "periodic" : "open") + numbered(" halo", size);
      Exchange exchange(transport, periodic, size, size + 3);
      for (std::uint64_t number = 0; number < 5; ++number) {
        exchange.run(number, what);
      }
    }
  }
}

inline void halos_run_often(Transport& transport) {
  for (const bool periodic : {false, true}) {
    Exchange exchange(transport, periodic, 64, 80);
    for (std::uint64_t number = 0; number < 1000; ++number) {
      exchange.run(number, "many runs");
    }
  }
}

/// A fast rank is one run ahead of its neighbour, never more: its next message must wait.
inline void halos_of_ranks_out_of_step(Transport& transport) {
  Exchange exchange(transport, true, 96, 104);
  for (std::uint64_t number = 0; number < 30; ++number) {
    if (number % static_cast<std::uint64_t>(transport.size()) ==
        static_cast<std::uint64_t>(transport.rank())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    exchange.run(number, "out of step");
  }
}

/// As a solver with two fields has.
inline void two_exchanges_in_turn(Transport& transport) {
  Exchange even(transport, true, 48, 40);
  Exchange odd(transport, true, 48, 40);
  for (std::uint64_t number = 0; number < 100; ++number) {
    (number % 2 == 0 ? even : odd).run(number, "in turn");
  }
}

inline void broadcasts(Transport& transport) {
  for (const std::size_t size : {1u, 1000u, 100'000u, 3'000'001u}) {
    Guarded memory(size);
    fill(memory.message(), transport.rank(), size);
    transport.broadcast(memory.message());
    require_filled(memory.message(), 0, size, numbered("broadcast of", size));
    memory.require_whole("broadcast");
  }
}

inline void gathers(Transport& transport) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  for (const std::size_t size : {1u, 24u, 5000u, 1'000'003u}) {
    Bytes mine(size);
    fill(mine, transport.rank(), size);
    Guarded all(size * ranks);
    transport.all_gather(mine, all.message());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      require_filled(all.message().subspan(rank * size, size), static_cast<int>(rank), size,
                     numbered("all_gather of", size));
    }
    all.require_whole("all_gather");
  }
}

/// 64 MiB between the first rank and the last, and several small messages, which stay in order.
inline void big_messages(Transport& transport) {
  const int last = transport.size() - 1;
  if (last == 0) {
    return;
  }
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{64} << 20}) {
    Guarded memory(size);
    if (transport.rank() == 0) {
      fill(memory.message(), 0, size);
      transport.send(last, memory.message());
      transport.receive(last, memory.message());
      require_filled(memory.message(), last, size, numbered("answer of", size));
    } else if (transport.rank() == last) {
      transport.receive(0, memory.message());
      require_filled(memory.message(), 0, size, numbered("message of", size));
      fill(memory.message(), last, size);
      transport.send(0, memory.message());
    }
    memory.require_whole("message");
  }
}

/// Whether it is taken, ranks that are about to exchange must know alike, and as often as they ask.
inline void device_memory(Transport& transport) {
  const bool taken = transport.takes_device_memory();
  require(transport.takes_device_memory() == taken, "another answer the second time");
  std::vector<char> all(static_cast<std::size_t>(transport.size()));
  const char mine = taken ? 1 : 0;
  transport.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  require(std::count(all.begin(), all.end(), mine) == std::ssize(all), "the ranks differ");
}

struct Check {
  const char* name;
  void (*run)(Transport&);
};

/// Any number of ranks; the transport is as good as new after each.
inline constexpr Check lasting[] = {
    {"description and place", description_and_place},
    {"device memory", device_memory},
    {"halos of many sizes", halos_of_many_sizes},
    {"halos run often", halos_run_often},
    {"halos out of step", halos_of_ranks_out_of_step},
    {"two exchanges in turn", two_exchanges_in_turn},
    {"broadcasts", broadcasts},
    {"gathers", gathers},
    {"big messages", big_messages},
};

/// Runs `call` with a time limit of 0.4 s, which it must meet. Returns what it says.
template <typename Call>
std::string timed_out(Transport& transport, Call&& call) {
  constexpr double limit = 0.4;
  transport.set_time_limit(limit);
  const Stopwatch<> watch;
  const std::string message = error_of<TimedOut>("a rank that never sends", call);
  const double seconds = watch.seconds();
  require(seconds >= limit && seconds < limit + 5,
          "timed out after " + std::to_string(seconds) + " s");
  return message;
}

inline std::string exchange_times_out(Transport& transport) {
  Exchange exchange(transport, false, 100, 100);
  return timed_out(transport, [&] { exchange.run(0, "alone"); });
}

inline std::string receive_times_out(Transport& transport) {
  Bytes bytes(100);
  return timed_out(transport, [&] { transport.receive(1, bytes); });
}

inline std::string gather_times_out(Transport& transport) {
  return timed_out(transport, [&] { meet(transport); });
}

/// Rank 0 takes messages of 100 bytes, and the others send `bytes`.
inline std::string exchange_of_wrong_size(Transport& transport, std::size_t bytes) {
  Exchange exchange(transport, false, transport.rank() == 0 ? 100 : bytes, 100);
  if (transport.rank() == 0) {
    return error_of<Error>("a message of another size", [&] { exchange.run(0, "wrong size"); });
  }
  exchange.run(0, "wrong size");
  return {};
}

inline std::string shorter_message(Transport& transport) {
  return exchange_of_wrong_size(transport, 99);
}
inline std::string longer_message(Transport& transport) {
  return exchange_of_wrong_size(transport, 101);
}

inline std::string nothing_at_all(Transport&) { return "a reason"; }

/// Rank 0 is at work of its own, for longer than any limit that messages have. Of processes only:
/// threads of one process wait for as long as it takes.
inline void rank_0_takes_its_time(Transport& transport) {
  constexpr double limit = 0.8;
  transport.set_time_limit(limit);
  if (transport.rank() == 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(2 * gather_limit(limit)));
  }
  std::byte there{};
  transport.broadcast({&there, 1});
}

/// A check after which rank 0 must end all: it returns what rank 0 has met.
struct LastCheck {
  const char* name;
  std::string (*run)(Transport&);
  const char* part_of_reason; ///< that rank 0 gives on every transport
  bool all_ranks;             ///< take part; else rank 0 alone
};

/// Two ranks; each needs a transport of its own, see run_last().
inline constexpr LastCheck last[] = {
    {"exchange_times_out", exchange_times_out, "rank 1", false},
    {"receive_times_out", receive_times_out, "rank 1", false},
    {"gather_times_out", gather_times_out, "rank", false},
    {"shorter_message", shorter_message, "99 bytes", true},
    {"longer_message", longer_message, "100", true},
    {"end_all", nothing_at_all, "a reason", true},
};

/// Rank 0 ends all with "as expected: " and what it met; the others wait for ever until then, and
/// throw Ended or are no more. Returns where end_all() does.
inline void run_last(const LastCheck& check, Transport& transport) {
  if (transport.rank() == 0) {
    const std::string met = check.run(transport);
    require(met.find(check.part_of_reason) != met.npos, "says not where: " + met);
    transport.end_all("as expected: " + met);
    return;
  }
  const std::string heard = error_of<Ended>("after the end", [&] {
    if (check.all_ranks) {
      (void)check.run(transport); // whose end may come before it has done its part
    }
    transport.set_time_limit(0);
    std::byte never{};
    transport.receive(0, {&never, 1});
  });
  require(heard.find("as expected: ") != heard.npos, "what has ended all: " + heard);
}

} // namespace checks
} // namespace diffbench::cluster
