// SPDX-License-Identifier: Apache-2.0
#include "device_costs.hpp"

#include "columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string_view>
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

/// All that `path` leads to; "*" is each member of an object or element of a list.
double sum_at(const Value& counts, std::string_view path) {
  const std::size_t dot = std::min(path.find('.'), path.size());
  const std::string_view key = path.substr(0, dot),
                         rest = path.substr(std::min(dot + 1, path.size()));
  double sum = 0;
  if (path.empty()) {
    sum = counts.number();
  } else if (key != "*") {
    sum = sum_at(counts.find(key), rest);
  } else if (const auto* all = std::get_if<Value::Object>(&counts.data())) {
    for (const Member& each : *all) {
      sum += sum_at(each.value, rest);
    }
  } else {
    for (const Value& each : counts.elements()) {
      sum += sum_at(each, rest);
    }
  }
  return sum;
}

/// Where the emulation's counts have it.
using Paths = std::span<const char* const>;
constexpr const char* copies[] = {"copies.to_device.*.calls", "copies.to_host.*.calls"};
constexpr const char* copied[] = {"copies.to_device.*.bytes", "copies.to_host.*.bytes"};
constexpr const char* waits[] = {"waits"};
constexpr const char* allocations[] = {"allocations.*.calls"};
constexpr const char* launches[] = {"kernels.*.launches"};
constexpr const char* managed[] = {"migrated.*"};
constexpr const char* mapped[] = {"kernels.*.mapped.bytes_read", "kernels.*.mapped.bytes_written"};
constexpr const char* async[] = {"asynchronous_pageable.calls"};
constexpr const char* queued[] = {"kernels.*.queued_atomics"};
/// Shared memory, too: a kernel that does many steps a launch has its cells there.
constexpr const char* written[] = {"kernels.*.bytes_written", "kernels.*.mapped.bytes_written",
                                   "kernels.*.shared_written"};

double sum_of(const Value& counts, Paths paths) {
  double sum = 0;
  for (const char* path : paths) {
    sum += sum_at(counts, path);
  }
  return sum;
}
double counted_in(const RunCounts& run, Paths paths) {
  return sum_of(run.after, paths) - sum_of(run.before, paths);
}

/// Of one size: what a step more adds.
struct FewAndMany {
  const RunCounts *few, *many;
  [[nodiscard]] double a_step(Paths paths) const {
    return (counted_in(*many, paths) - counted_in(*few, paths)) /
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
  double all = 0, to_write = 0;
  for (const RunCounts& run : runs) {
    all += counted_in(run, written);
    to_write += static_cast<double>(run.field_bytes) * static_cast<double>(run.steps);
  }
  return all / to_write;
}

/// What is said where a cost is above a limit.
struct CostNote {
  double DeviceCosts::*cost;
  double above;
  const char* text;
};
constexpr CostNote cost_notes_of[] = {
    {&DeviceCosts::copies, 0,
     "copies: {:.3g} a step between host and device; a field that stays there needs two in all"},
    {&DeviceCosts::allocations, 0,
     "allocations: {:.3g} a step, each of which may wait for the device, as freeing does; what is "
     "allocated before the first step serves all"},
    {&DeviceCosts::managed, 0,
     "managed memory: {:.3g} times the field moves between host and device in a step, as both "
     "touch the same pages"},
    {&DeviceCosts::mapped, 0,
     "page-locked memory: kernels read and write {:.3g} times the field in a step in the host's "
     "memory, through the link; copied to the card once it is near"},
    {&DeviceCosts::queued_atomics, 1.0 / 16, // one a warp of float is 1 in 128 bytes
     "atomics: in a step about every thread writes to one and the same address, and they take "
     "turns; what a block has added up within itself is one for all of its threads"}};

} // namespace

std::int64_t launches_in(const Value& counts) {
  return static_cast<std::int64_t>(sum_of(counts, launches));
}

std::optional<DeviceCosts> device_costs(const std::vector<RunCounts>& runs) {
  const auto first = runs.empty() ? std::nullopt : pair_of(runs, runs.front().field_bytes);
  if (!first) {
    return std::nullopt;
  }
  const auto& [few, many] = *first;
  const auto a_step = [&](Paths paths) { return first->a_step(paths); };
  const auto field_bytes = static_cast<double>(few->field_bytes);
  // Parameters and residuals are as large in a larger field.
  const bool copies_field = std::ranges::none_of(runs, [&](const RunCounts& run) {
    const auto other = pair_of(runs, run.field_bytes);
    return run.field_bytes != few->field_bytes && other &&
           std::abs(other->a_step(copied) - a_step(copied)) < 0.5;
  });
  return DeviceCosts{.copies = copies_field ? a_step(copies) : 0,
                     .waits = a_step(waits),
                     .allocations = a_step(allocations),
                     .launches = a_step(launches),
                     .managed = a_step(managed) / field_bytes,
                     .mapped = a_step(mapped) / field_bytes,
                     .pageable_async = static_cast<std::int64_t>(counted_in(*many, async)),
                     .queued_atomics = a_step(queued) / field_bytes,
                     .written = written_share(runs)};
}

bool is_resident(const DeviceCosts& costs) {
  return !(costs.copies > 0) && !(costs.managed > 0) && !(costs.mapped > 0);
}

std::vector<std::string> cost_notes(const DeviceCosts& costs) {
  std::vector<std::string> notes;
  for (const CostNote& note : cost_notes_of) {
    if (costs.*note.cost > note.above) {
      notes.push_back(fmt::format(fmt::runtime(note.text), costs.*note.cost));
    }
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
