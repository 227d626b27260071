// SPDX-License-Identifier: Apache-2.0
#include "ledger.hpp"

#include "findings.hpp"

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

std::string kernel_json(const std::string& name, const KernelCount& count) {
  return "{" + member("name", json_text(name)) + ", " + member("launches", count.launches) + ", " +
         member("graph_launches", count.graph_launches) + ", " + member("threads", count.threads) +
         ", " + pair_json("bytes_read", "bytes_written", count.traffic.asked) + ", " +
         pair_json("distinct_read", "distinct_written", count.traffic.distinct) + ", " +
         pair_json("moved_read", "moved_written", count.traffic.moved) + "}";
}

} // namespace

std::string Ledger::json() const {
  const char* const ways[] = {"to_device", "to_host", "on_device", "on_host"};
  std::string json = "{\"copies\": {";
  for (std::size_t way = 0; way < copies.size(); ++way) {
    json += std::string(way == 0 ? "" : ", ") +
            member(ways[way], "{" + member("pageable", count_json(copies[way][0])) + ", " +
                                  member("pinned", count_json(copies[way][1])) + ", " +
                                  member("registered", count_json(copies[way][2])) + "}");
  }
  json += "}, " + member("async_copies", count_json(async_copies)) + ", " +
          member("asynchronous_pageable", count_json(pageable_async)) + ", " +
          member("memsets", count_json(memsets)) + ", " + member("waits", waits) + ", " +
          member("drains", drains) + ", \"allocations\": {" +
          member("device", count_json(allocations.device)) + ", " +
          member("pinned", count_json(allocations.pinned)) + ", " +
          member("registered", count_json(allocations.registered)) + ", " +
          member("managed", count_json(allocations.managed)) + "}, " + member("frees", frees) +
          ", \"migrated\": {" + pair_json("to_device", "to_host", migrated) + "}, \"kernels\": [";
  bool first = true;
  for (const auto& [name, count] : kernels) {
    json += (first ? "" : ", ") + kernel_json(name, count);
    first = false;
  }
  return json + "]}";
}

} // namespace diffbench::emulation
