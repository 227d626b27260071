// SPDX-License-Identifier: Apache-2.0
#include "ledger.hpp"

#include "findings.hpp"
#include "memory.hpp"

#include <algorithm>

namespace diffbench::emulation {
namespace {

std::string member(const char* key, const std::string& value) {
  return std::string("\"") + key + "\": " + value;
}
std::string member(const char* key, std::int64_t value) {
  return member(key, std::to_string(value));
}

std::string count_json(const CopyCount& count) {
  return "{" + member("calls", count.calls) + ", " + member("bytes", count.bytes) + "}";
}

std::string pair_json(const char* first, const char* second,
                      const std::array<std::int64_t, 2>& pair) {
  return member(first, pair[0]) + ", " + member(second, pair[1]);
}

std::string traffic_members(const Traffic& traffic) {
  return pair_json("bytes_read", "bytes_written", traffic.asked) + ", " +
         pair_json("distinct_read", "distinct_written", traffic.distinct) + ", " +
         pair_json("moved_read", "moved_written", traffic.moved);
}

std::string kernel_json(const std::string& name, const KernelCount& count) {
  return "{" + member("name", json_text(name)) + ", " + member("launches", count.launches) + ", " +
         member("graph_launches", count.graph_launches) + ", " + member("threads", count.threads) +
         ", " + member("watched_threads", count.watched_threads) + ", " +
         member("footprint", count.footprint) + ", " + traffic_members(count.traffic.card) + ", " +
         member("mapped", "{" + traffic_members(count.traffic.mapped) + "}") + ", " +
         member("shared_written", count.traffic.shared_written) + ", " +
         member("queued_atomics", count.traffic.queued_atomics) + "}";
}

/// Without the brackets.
std::string asked_members(const Asked& asked) {
  const auto of = [&asked](MemoryKind kind) {
    return count_json(asked.allocations[static_cast<std::size_t>(kind)]);
  };
  const char* const ways[] = {"to_device", "to_host", "on_device", "on_host"};
  std::string json = "\"copies\": {";
  for (std::size_t way = 0; way < asked.copies.size(); ++way) {
    json += std::string(way == 0 ? "" : ", ") +
            member(ways[way], "{" + member("pageable", count_json(asked.copies[way][0])) + ", " +
                                  member("pinned", count_json(asked.copies[way][1])) + ", " +
                                  member("registered", count_json(asked.copies[way][2])) + "}");
  }
  return json + "}, \"async_copies\": {" + member("to_device", count_json(asked.async_copies[0])) +
         ", " + member("to_host", count_json(asked.async_copies[1])) + "}, " +
         member("asynchronous_pageable", count_json(asked.pageable_async)) + ", " +
         member("memsets", count_json(asked.memsets)) + ", " + member("waits", asked.waits) + ", " +
         member("drains", asked.drains) + ", \"allocations\": {" +
         member("device", of(MemoryKind::device)) + ", " +
         member("pinned", of(MemoryKind::pinned)) + ", " +
         member("registered", of(MemoryKind::registered)) + ", " +
         member("managed", of(MemoryKind::managed)) + "}, " + member("frees", asked.frees) +
         ", \"migrated\": {" + pair_json("to_device", "to_host", asked.migrated) + "}";
}

} // namespace

void Traffic::add(const Traffic& other) {
  for (std::size_t way = 0; way < 2; ++way) {
    asked[way] += other.asked[way];
    distinct[way] += other.distinct[way];
    moved[way] += other.moved[way];
  }
}

void KernelTraffic::add(const KernelTraffic& other) {
  card.add(other.card);
  mapped.add(other.mapped);
  shared_written += other.shared_written;
  queued_atomics += other.queued_atomics;
}

std::string Ledger::json() const {
  std::string json = "{" + asked_members(*this) + ", \"kernels\": [";
  bool first = true;
  for (const auto& [name, count] : kernels) {
    json += (first ? "" : ", ") + kernel_json(name, count);
    first = false;
  }
  return json + "]}";
}

std::string Ledger::steps_json() const {
  const auto most =
      std::ranges::max_element(issued, {}, [](const auto& each) { return each.second.launches; });
  if (most == issued.end()) {
    return "null";
  }
  const auto& [name, steps] = *most;
  return "{" + member("kernel", json_text(name)) + ", " + member("launches", steps.launches) +
         ", " + member("first", "{" + asked_members(steps.first) + "}") + ", " +
         member("last", "{" + asked_members(steps.last) + "}") + "}";
}

} // namespace diffbench::emulation
