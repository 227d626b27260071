// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/agreement.hpp"

#include "diffbench/cluster/watchdog.hpp"
#include "diffbench/errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <vector>

namespace diffbench::cluster {

namespace {

enum class Outcome : unsigned char { done, failed, invalid_input };

struct Report {
  Outcome outcome = Outcome::done;
  std::string message;
};

Report run(const std::function<void()>& step) {
  try {
    step();
    return {};
  } catch (const TimedOut&) {
    throw;
  } catch (const Ended&) {
    throw;
  } catch (const InvalidInput& error) {
    return {Outcome::invalid_input, error.what()};
  } catch (const std::exception& error) {
    return {Outcome::failed, error.what()};
  }
}

// Longer ones are cut: a path of the largest length, and a sentence.
using Message = std::array<char, 4608>;

std::string message_of(Transport& transport, const std::string& mine, std::size_t rank) {
  Message message{};
  mine.copy(message.data(), message.size() - 1);
  std::vector<Message> all(static_cast<std::size_t>(transport.size()));
  transport.all_gather(std::as_bytes(std::span(message)), std::as_writable_bytes(std::span(all)));
  return all[rank].data();
}

} // namespace

void collectively(Transport* transport, const std::function<void()>& step) {
  if (transport == nullptr || transport->size() == 1) {
    step();
    return;
  }
  const Report mine = [&] {
    const Watched watched(transport->watchdog(), "a step with a file", transport->time_limit());
    return run(step);
  }();
  std::vector<Outcome> all(static_cast<std::size_t>(transport->size()));
  transport->all_gather(std::as_bytes(std::span(&mine.outcome, 1)),
                        std::as_writable_bytes(std::span(all)));
  const auto first = std::find_if(all.begin(), all.end(),
                                  [](Outcome outcome) { return outcome != Outcome::done; });
  if (first == all.end()) {
    return;
  }
  const auto rank = static_cast<std::size_t>(first - all.begin());
  const std::string message =
      message_of(*transport, mine.message, rank) + " (rank " + std::to_string(rank) + ")";
  if (*first == Outcome::invalid_input) {
    throw InvalidInput(message);
  }
  throw Error(message);
}

void collectively_in_pieces(Transport* transport, std::int64_t size, std::int64_t piece,
                            const std::function<void(std::int64_t, std::int64_t)>& step) {
  std::int64_t longest = size;
  if (transport != nullptr) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(transport->size()));
    transport->all_gather(std::as_bytes(std::span(&size, 1)),
                          std::as_writable_bytes(std::span(all)));
    longest = *std::ranges::max_element(all);
  }
  for (std::int64_t first = 0; first < longest; first += piece) {
    collectively(transport, [&] {
      if (first < size) {
        step(first, std::min(piece, size - first));
      }
    });
  }
}

} // namespace diffbench::cluster
