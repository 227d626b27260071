// SPDX-License-Identifier: Apache-2.0
#include "device_costs.hpp"

#include "columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
    {"mapped", nullptr, as_text, field<&DeviceCosts::mapped>},
    {"pageable_async", nullptr, as_text, field<&DeviceCosts::pageable_async>},
    {"queued_atomics", nullptr, as_text, field<&DeviceCosts::queued_atomics>},
    {"written", nullptr, as_text, field<&DeviceCosts::written>},
};

/// The calls of all kinds, where `kinds` has an object with "calls" for each.
double calls_of(const Value& kinds) {
  double calls = 0;
  if (const auto* all = std::get_if<Value::Object>(&kinds.data())) {
    for (const Member& kind : *all) {
      calls += kind.value.find("calls").number();
    }
  }
  return calls;
}

/// Of all kernels, what stands at these paths.
double sum_of_kernels(const Value& counts, std::initializer_list<const char*> paths) {
  double sum = 0;
  for (const Value& kernel : counts.find("kernels").elements()) {
    for (const char* path : paths) {
      sum += kernel.find(path).number();
    }
  }
  return sum;
}

double copies_in(const Value& counts) {
  return calls_of(counts.find("copies.to_device")) + calls_of(counts.find("copies.to_host"));
}
/// Of the copies that copies_in() counts.
double copied_in(const Value& counts) {
  double bytes = 0;
  for (const char* way : {"to_device", "to_host"}) {
    for (const char* memory : {"pageable", "pinned", "registered"}) {
      bytes += counts.find(fmt::format("copies.{}.{}.bytes", way, memory)).number();
    }
  }
  return bytes;
}
double waits_in(const Value& counts) { return counts.find("waits").number(); }
double allocations_in(const Value& counts) { return calls_of(counts.find("allocations")); }
double launch_count(const Value& counts) { return sum_of_kernels(counts, {"launches"}); }
double managed_in(const Value& counts) {
  return counts.find("migrated.to_device").number() + counts.find("migrated.to_host").number();
}
double mapped_in(const Value& counts) {
  return sum_of_kernels(counts, {"mapped.bytes_read", "mapped.bytes_written"});
}
/// Shared memory, too: a kernel that does many steps a launch has its cells there.
double written_in(const Value& counts) {
  return sum_of_kernels(counts, {"bytes_written", "mapped.bytes_written", "shared_written"});
}
double queued_in(const Value& counts) { return sum_of_kernels(counts, {"queued_atomics"}); }
double async_in(const Value& counts) { return counts.find("asynchronous_pageable.calls").number(); }

double counted_in(const RunCounts& run, double (*count)(const Value&)) {
  return count(run.after) - count(run.before);
}

/// Of one size: what a step more adds.
struct FewAndMany {
  const RunCounts *few, *many;
  [[nodiscard]] double a_step(double (*count)(const Value&)) const {
    return (counted_in(*many, count) - counted_in(*few, count)) /
           static_cast<double>(many->steps - few->steps);
  }
};

std::optional<FewAndMany> pair_of(const std::vector<RunCounts>& runs, std::int64_t field_bytes) {
  FewAndMany pair{};
  for (const RunCounts& run : runs) {
    if (run.after.is_null() || run.field_bytes != field_bytes) {
      continue;
    }
    pair.few = pair.few == nullptr || run.steps < pair.few->steps ? &run : pair.few;
    pair.many = pair.many == nullptr || run.steps > pair.many->steps ? &run : pair.many;
  }
  return pair.few == nullptr || pair.few->steps == pair.many->steps ? std::nullopt
                                                                    : std::optional(pair);
}

double written_share(const std::vector<RunCounts>& runs) {
  double written = 0, to_write = 0;
  for (const RunCounts& run : runs) {
    written += counted_in(run, written_in);
    to_write += static_cast<double>(run.field_bytes) * static_cast<double>(run.steps);
  }
  return written / to_write;
}

} // namespace

std::int64_t launches_in(const Value& counts) {
  return static_cast<std::int64_t>(launch_count(counts));
}

std::optional<DeviceCosts> device_costs(const std::vector<RunCounts>& runs) {
  const auto first = runs.empty() ? std::nullopt : pair_of(runs, runs.front().field_bytes);
  if (!first) {
    return std::nullopt;
  }
  const auto& [few, many] = *first;
  const auto a_step = [&](double (*count)(const Value&)) { return first->a_step(count); };
  const auto field_bytes = static_cast<double>(few->field_bytes);
  // Parameters and residuals are as large in a larger field.
  const bool copies_field = std::ranges::none_of(runs, [&](const RunCounts& run) {
    const auto other = pair_of(runs, run.field_bytes);
    return run.field_bytes != few->field_bytes && other &&
           std::abs(other->a_step(copied_in) - a_step(copied_in)) < 0.5;
  });
  return DeviceCosts{.copies = copies_field ? a_step(copies_in) : 0,
                     .waits = a_step(waits_in),
                     .allocations = a_step(allocations_in),
                     .launches = a_step(launch_count),
                     .managed = a_step(managed_in) / field_bytes,
                     .mapped = a_step(mapped_in) / field_bytes,
                     .pageable_async = static_cast<std::int64_t>(counted_in(*many, async_in)),
                     .queued_atomics = a_step(queued_in) / field_bytes,
                     .written = written_share(runs)};
}

bool is_resident(const DeviceCosts& costs) {
  return !(costs.copies > 0) && !(costs.managed > 0) && !(costs.mapped > 0);
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
  if (costs.managed > 0) {
    notes.push_back(
        fmt::format("managed memory: {:.3g} times the field moves between host and device in a "
                    "step, as both touch the same pages",
                    costs.managed));
  }
  if (costs.mapped > 0) {
    notes.push_back(
        fmt::format("page-locked memory: kernels read and write {:.3g} times the field in a step "
                    "in the host's memory, through the link; copied to the card once it is near",
                    costs.mapped));
  }
  if (costs.pageable_async > 0) {
    notes.push_back(
        fmt::format("asynchronous copies: {} in a run of pageable memory, and for those "
                    "the host waits; memory of cudaMallocHost is fetched without it",
                    costs.pageable_async));
  }
  constexpr double of_threads = 1.0 / 16; // one a warp of float is 1 in 128 bytes
  if (costs.queued_atomics > of_threads) {
    notes.emplace_back(
        "atomics: in a step about every thread writes to one and the same address, and they take "
        "turns; what a block has added up within itself is one for all of its threads");
  }
  return notes;
}

Value costs_json(const std::optional<DeviceCosts>& costs) {
  return costs ? object_of(cost_columns, *costs) : Value();
}

} // namespace diffbench::bench
