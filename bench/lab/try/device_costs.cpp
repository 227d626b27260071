// SPDX-License-Identifier: Apache-2.0
#include "device_costs.hpp"

#include "columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <variant>

namespace diffbench::bench {

namespace {

constexpr Column<DeviceCosts> cost_columns[] = {
    {"copies", nullptr, as_text, field<&DeviceCosts::copies>},
    {"waits", nullptr, as_text, field<&DeviceCosts::waits>},
    {"allocations", nullptr, as_text, field<&DeviceCosts::allocations>},
    {"launches", nullptr, as_text, field<&DeviceCosts::launches>},
    {"managed", nullptr, as_text, field<&DeviceCosts::managed>},
    {"pageable_async", nullptr, as_text, field<&DeviceCosts::pageable_async>},
};

/// The calls of all kinds, where `kinds` has an object with "calls" for each.
double calls_of(const Value& kinds) {
  double calls = 0;
  if (const auto* all = std::get_if<std::unique_ptr<Value::Object>>(&kinds.data())) {
    for (const Member& kind : **all) {
      calls += kind.value.find("calls").number();
    }
  }
  return calls;
}

double copies_in(const Value& counts) {
  return calls_of(counts.find("copies.to_device")) + calls_of(counts.find("copies.to_host"));
}
double waits_in(const Value& counts) { return counts.find("waits").number(); }
double allocations_in(const Value& counts) { return calls_of(counts.find("allocations")); }
double launch_count(const Value& counts) { return static_cast<double>(launches_in(counts)); }

} // namespace

std::int64_t launches_in(const Value& counts) {
  std::int64_t launches = 0;
  const Value& kernels = counts.find("kernels");
  if (const auto* list = std::get_if<std::unique_ptr<Value::List>>(&kernels.data())) {
    for (const Value& kernel : **list) {
      launches += static_cast<std::int64_t>(kernel.find("launches").number());
    }
  }
  return launches;
}

std::optional<DeviceCosts> device_costs(const std::vector<RunCounts>& runs) {
  const RunCounts* few = nullptr;
  const RunCounts* many = nullptr;
  for (const RunCounts& run : runs) {
    if (run.after.is_null() || run.cells != runs.front().cells) {
      continue;
    }
    few = few == nullptr || run.steps < few->steps ? &run : few;
    many = many == nullptr || run.steps > many->steps ? &run : many;
  }
  if (few == nullptr || few->steps == many->steps) {
    return std::nullopt;
  }
  const auto a_step = [&](double (*count)(const Value&)) {
    const auto in = [count](const RunCounts& run) { return count(run.after) - count(run.before); };
    return (in(*many) - in(*few)) / static_cast<double>(many->steps - few->steps);
  };
  const auto async = [](const Value& counts) {
    return counts.find("asynchronous_pageable.calls").number();
  };
  return DeviceCosts{
      .copies = a_step(copies_in),
      .waits = a_step(waits_in),
      .allocations = a_step(allocations_in),
      .launches = a_step(launch_count),
      .managed = many->after.find("allocations.managed.calls").number() > 0,
      .pageable_async = static_cast<std::int64_t>(async(many->after) - async(many->before))};
}

bool is_resident(const DeviceCosts& costs) {
  return !(costs.copies > 0) && !(costs.managed && costs.waits > 0);
}

std::vector<std::string> cost_notes(const DeviceCosts& costs) {
  std::vector<std::string> notes;
  if (costs.copies > 0) {
    notes.push_back(
        fmt::format("copies: {:.3g} a step between host and device; a field that stays "
                    "there needs two in all",
                    costs.copies));
  }
  if (costs.allocations > 0) {
    notes.push_back(
        fmt::format("allocations: {:.3g} a step, and each waits for the device; what "
                    "is allocated before the first step serves all",
                    costs.allocations));
  }
  if (costs.managed && costs.waits > 0) {
    notes.push_back(
        fmt::format("managed memory: the host waits {:.3g} times a step, and what it "
                    "touches in between travels to it and back",
                    costs.waits));
  }
  if (costs.pageable_async > 0) {
    notes.push_back(
        fmt::format("asynchronous copies: {} in a run of pageable memory, and for those "
                    "the host waits; memory of cudaMallocHost is fetched without it",
                    costs.pageable_async));
  }
  return notes;
}

Value costs_json(const std::optional<DeviceCosts>& costs) {
  return costs ? object_of(cost_columns, *costs) : Value();
}

} // namespace diffbench::bench
