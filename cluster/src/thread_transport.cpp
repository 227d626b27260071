// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/thread_transport.hpp"

#include "diffbench/quantity.hpp"
#include "diffbench/stopwatch.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

namespace diffbench::cluster {

namespace {

using Clock = SteadyClock;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

constexpr int turns_before_sleep = 50;

void copy_on_host(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

/// The system wakes a sleeper late by some 50 us; the rest of a wait is spun, yielding.
constexpr auto late_wake = std::chrono::microseconds(80);

void wait_until(Clock::time_point moment) {
  if (moment - Clock::now() > late_wake) {
    std::this_thread::sleep_until(moment - late_wake);
  }
  while (Clock::now() < moment) {
    std::this_thread::yield();
  }
}

} // namespace

struct ThreadRanks::Shared {
  /// What is said between two ranks for one purpose comes in order.
  enum class Purpose { to_upper, to_lower, data, gather, broadcast };

  struct Route {
    int from = 0;
    int to = 0;
    Purpose purpose = Purpose::data;
    bool operator<(const Route& other) const {
      return std::tie(from, to, purpose) < std::tie(other.from, other.to, other.purpose);
    }
  };

  /// On its way.
  struct Message {
    std::vector<std::byte> bytes;
    Clock::time_point arrival;
  };

  int ranks = 1;
  EmulatedNetwork network;
  Tamper tamper;
  CopyMessage copy; ///< of a halo
  bool device_memory = false;

  std::mutex mutex;
  std::vector<std::condition_variable> come; ///< to each rank
  std::map<Route, std::deque<Message>> messages;
  std::map<Route, Message> held_back;         ///< behind the next one
  std::vector<std::vector<std::byte>> spares; ///< memory of messages that were taken
  std::optional<std::string> ended;

  /// New memory for each message would be given and taken by the system page by page.
  std::vector<std::byte> memory_for(std::size_t bytes) {
    std::vector<std::byte> memory;
    {
      const std::lock_guard lock(mutex);
      if (!spares.empty()) {
        memory = std::move(spares.back());
        spares.pop_back();
      }
    }
    memory.resize(bytes);
    return memory;
  }
  void give_back(std::vector<std::byte> memory) {
    const std::lock_guard lock(mutex);
    spares.push_back(std::move(memory));
  }

  void post(const Route& route, Message message) {
    {
      const std::lock_guard lock(mutex);
      messages[route].push_back(std::move(message));
    }
    come[static_cast<std::size_t>(route.to)].notify_one();
  }

  void end(const std::string& reason) {
    {
      const std::lock_guard lock(mutex);
      ended = ended.value_or(reason);
    }
    for (std::condition_variable& each : come) {
      each.notify_all();
    }
  }

  /// Blocks until it has come; empty when it has not within the limit. Throws Ended.
  std::optional<Message> take(const Route& route, double limit_seconds) {
    std::unique_lock lock(mutex);
    std::deque<Message>& queue = messages[route];
    const auto ready = [&] { return ended || !queue.empty(); };
    // To be woken takes some 50 us.
    for (int turn = 0; turn < turns_before_sleep && !ready(); ++turn) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
    std::condition_variable& mine = come[static_cast<std::size_t>(route.to)];
    if (limit_seconds > 0) {
      mine.wait_for(lock, seconds(limit_seconds), ready);
    } else {
      mine.wait(lock, ready);
    }
    if (ended) {
      throw Ended(*ended);
    }
    if (queue.empty()) {
      return std::nullopt;
    }
    Message message = std::move(queue.front());
    queue.pop_front();
    return message;
  }
};

/// What one rank says and hears.
class ThreadRanks::OneRank final : public Transport {
 public:
  using Purpose = Shared::Purpose;
  using Route = Shared::Route;
  using Message = Shared::Message;

  OneRank(Shared& shared, int rank) : shared_(shared), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return shared_.ranks; }
  [[nodiscard]] Place place() const override {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    return {.rank = rank_, .ranks = shared_.ranks, .host = host.data()};
  }
  [[nodiscard]] std::string description() const override {
    return shared_.network.emulated() ? "threads, emulated network " + to_string(shared_.network)
                                      : "threads";
  }
  void set_time_limit(double limit) override { limit_ = limit; }
  [[nodiscard]] bool takes_device_memory() const override { return shared_.device_memory; }

  [[nodiscard]] std::unique_ptr<HaloExchange> make_halo_exchange(
      const HaloMessages& messages) override;

  void broadcast(std::span<std::byte> bytes) override {
    if (rank_ > 0) {
      put(take({0, rank_, Purpose::broadcast}, 0), bytes, copy_on_host);
      return;
    }
    for (int to = 1; to < shared_.ranks; ++to) {
      say({0, to, Purpose::broadcast}, bytes);
    }
  }

  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    for (int to = 0; to < shared_.ranks; ++to) {
      say({rank_, to, Purpose::gather}, mine);
    }
    for (int from = 0; from < shared_.ranks; ++from) {
      put(take({from, rank_, Purpose::gather}, gather_limit(limit_)),
          all.subspan(static_cast<std::size_t>(from) * mine.size(), mine.size()), copy_on_host);
    }
  }

  void send(int to, std::span<const std::byte> bytes) override {
    say({rank_, to, Purpose::data}, bytes);
  }
  void receive(int from, std::span<std::byte> bytes) override {
    put(take({from, rank_, Purpose::data}, limit_), bytes, copy_on_host);
  }

  void end_all(const std::string& reason) override {
    shared_.end("rank " + std::to_string(rank_) + ": " + reason);
  }

  /// Over the network, to a neighbour.
  void send_halo(int to, Purpose purpose, std::span<const std::byte> bytes);
  /// Throws Error where the message has another size.
  void take_halo(int from, Purpose purpose, std::span<std::byte> bytes) {
    Message message = take({from, rank_, purpose}, limit_);
    wait_until(message.arrival);
    put(std::move(message), bytes, shared_.copy);
  }

 private:
  void say(const Route& route, std::span<const std::byte> bytes) {
    shared_.post(route, {copy_of(bytes, copy_on_host), Clock::now()});
  }

  Message take(const Route& route, double limit) {
    std::optional<Message> message = shared_.take(route, limit);
    if (!message) {
      throw TimedOut("no message from rank " + std::to_string(route.from) + " for " +
                     std::to_string(std::lround(limit * 1000)) + " ms");
    }
    return std::move(*message);
  }

  [[nodiscard]] std::vector<std::byte> copy_of(std::span<const std::byte> bytes,
                                               const CopyMessage& copy) {
    std::vector<std::byte> memory = shared_.memory_for(bytes.size());
    copy(memory.data(), bytes.data(), bytes.size());
    return memory;
  }

  void put(Message message, std::span<std::byte> bytes, const CopyMessage& copy) {
    if (message.bytes.size() != bytes.size()) {
      throw Error("a message of " + std::to_string(message.bytes.size()) + " bytes where " +
                  std::to_string(bytes.size()) + " were expected");
    }
    copy(bytes.data(), message.bytes.data(), bytes.size());
    shared_.give_back(std::move(message.bytes));
  }

  Shared& shared_;
  int rank_;
  double limit_ = 0;
  Clock::time_point link_free_; ///< what was sent has left by then
};

void ThreadRanks::OneRank::send_halo(int to, Purpose purpose, std::span<const std::byte> bytes) {
  Message message{copy_of(bytes, shared_.copy), Clock::now()};
  if (const EmulatedNetwork& network = shared_.network; network.emulated()) {
    link_free_ = std::max(link_free_, message.arrival) +
                 seconds(network.seconds(static_cast<double>(bytes.size())));
    message.arrival = link_free_;
  }
  const Route route{rank_, to, purpose};
  if (!shared_.tamper) {
    shared_.post(route, std::move(message));
    return;
  }
  const Fate fate = shared_.tamper(rank_, to, message.bytes);
  message.arrival += seconds(fate.late_seconds);
  if (fate.lost) {
    return;
  }
  std::optional<Message> earlier;
  {
    const std::lock_guard lock(shared_.mutex);
    if (fate.after_next) {
      shared_.held_back[route] = std::move(message);
      return;
    }
    if (const auto held = shared_.held_back.extract(route)) {
      earlier = std::move(held.mapped());
    }
  }
  shared_.post(route, std::move(message));
  if (earlier) {
    shared_.post(route, std::move(*earlier));
  }
}

class ThreadRanks::Exchange final : public HaloExchange {
 public:
  using Purpose = Shared::Purpose;

  Exchange(OneRank& rank, const HaloMessages& messages) : rank_(rank), messages_(messages) {}

  void run() override {
    const HaloMessages& m = messages_;
    if (m.upper >= 0) {
      rank_.send_halo(m.upper, Purpose::to_upper, m.to_upper);
    }
    if (m.lower >= 0) {
      rank_.send_halo(m.lower, Purpose::to_lower, m.to_lower);
    }
    if (m.upper >= 0) {
      rank_.take_halo(m.upper, Purpose::to_lower, m.from_upper);
    }
    if (m.lower >= 0) {
      rank_.take_halo(m.lower, Purpose::to_upper, m.from_lower);
    }
  }

 private:
  OneRank& rank_;
  HaloMessages messages_;
};

std::unique_ptr<HaloExchange> ThreadRanks::OneRank::make_halo_exchange(
    const HaloMessages& messages) {
  return std::make_unique<Exchange>(*this, messages);
}

ThreadRanks::ThreadRanks(int ranks, const EmulatedNetwork& network, Tamper tamper, CopyMessage copy)
    : shared_(std::make_unique<Shared>()) {
  shared_->ranks = ranks;
  shared_->come = std::vector<std::condition_variable>(static_cast<std::size_t>(ranks));
  shared_->network = network;
  shared_->tamper = std::move(tamper);
  shared_->device_memory = copy != nullptr;
  shared_->copy = copy ? std::move(copy) : copy_on_host;
  for (int rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(std::make_unique<OneRank>(*shared_, rank));
  }
}

ThreadRanks::~ThreadRanks() = default;

Transport& ThreadRanks::transport(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }

// --- networks as text ---------------------------------------------------------------------------

namespace {

constexpr std::array bandwidth_units{TextUnit{"GB/s", 1e9}, TextUnit{"MB/s", 1e6}};

/// In the largest unit that leaves no leading zero.
std::string quantity(double value, std::span<const TextUnit> from_large) {
  const auto fits = [value](const TextUnit& unit) { return value >= unit.factor; };
  const auto found = std::ranges::find_if(from_large, fits);
  const TextUnit& unit = found == from_large.end() ? from_large.back() : *found;
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          value / unit.factor, std::chars_format::general, 6);
  return std::string(digits.data(), end) + std::string(unit.name);
}

} // namespace

EmulatedNetwork parse_network(std::string_view text) {
  const std::size_t comma = text.find(',');
  const auto latency = parse_quantity(text.substr(0, comma), time_units);
  const auto bandwidth = comma == std::string_view::npos
                             ? std::nullopt
                             : parse_quantity(text.substr(comma + 1), bandwidth_units);
  constexpr double longest = 60;
  const EmulatedNetwork network{.latency_seconds = latency.value_or(2 * longest),
                                .bytes_per_second = bandwidth.value_or(0)};
  constexpr double widest = 1e18;
  if (network.latency_seconds > longest ||
      !(network.bytes_per_second >= 1 && network.bytes_per_second <= widest)) {
    throw InvalidInput("'" + std::string(text) +
                       "' is not a network; give a latency and a bandwidth, such as 10us,25GB/s "
                       "(up to 60 s: s, ms, us, ns; GB/s, MB/s)");
  }
  return network;
}

std::string to_string(const EmulatedNetwork& network) {
  std::array<TextUnit, time_units.size()> latency = time_units;
  std::ranges::reverse(latency);
  return quantity(network.latency_seconds, latency) + "," +
         quantity(network.bytes_per_second, bandwidth_units);
}

} // namespace diffbench::cluster
