#include "ledger.hpp"

#include "findings.hpp"

namespace diffbench::emulation {
namespace {

std::string count_json(const CopyCount& count) {
  return "{\"calls\": " + std::to_string(count.calls) +
         ", \"bytes\": " + std::to_string(count.bytes) + "}";
}

std::string kernel_json(const std::string& name, const KernelCount& count) {
  const auto number = [](const char* key, std::int64_t value) {
    return std::string(", \"") + key + "\": " + std::to_string(value);
  };
  return "{\"name\": " + json_text(name) + number("launches", count.launches) +
         number("threads", count.threads) + number("bytes_read", count.bytes_read) +
         number("bytes_written", count.bytes_written) + "}";
}

} // namespace

std::string Ledger::json() const {
  const char* const ways[] = {"to_device", "to_host", "on_device", "on_host"};
  std::string json = "{\"copies\": {";
  for (std::size_t way = 0; way < copies.size(); ++way) {
    json += std::string(way == 0 ? "\"" : ", \"") + ways[way] +
            "\": {\"pageable\": " + count_json(copies[way][0]) +
            ", \"page_locked\": " + count_json(copies[way][1]) + "}";
  }
  json += "}, \"asynchronous_pageable\": " + count_json(pageable_async) +
          ", \"memsets\": " + count_json(memsets) + ", \"waits\": " + std::to_string(waits) +
          ", \"allocations\": {\"device\": " + count_json({device_allocations, device_bytes}) +
          ", \"page_locked\": " + count_json({pinned_allocations, pinned_bytes}) +
          ", \"managed\": " + count_json({managed_allocations, managed_bytes}) +
          "}, \"frees\": " + std::to_string(frees) + ", \"kernels\": [";
  bool first = true;
  for (const auto& [name, count] : kernels) {
    json += (first ? "" : ", ") + kernel_json(name, count);
    first = false;
  }
  return json + "]}";
}

} // namespace diffbench::emulation
