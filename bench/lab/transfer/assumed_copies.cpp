// SPDX-License-Identifier: Apache-2.0
#include "assumed_copies.hpp"

#include "assumed_phases.hpp"
#include "assumed_report.hpp"
#include "columns.hpp"
#include "context.hpp"
#include "linear_cost.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

namespace {

struct AssumedCopy {
  const AssumedCard* card;
  const char* way; ///< "pageable", or "pinned", as which registered memory is copied
  const char* direction;
  std::int64_t bytes; ///< in each direction
  Assumption seconds;

  [[nodiscard]] Assumption rate() const {
    const auto count = static_cast<double>(bytes);
    return {count / seconds.high, count / seconds.low};
  }
};

constexpr Column<AssumedCopy> assumed_copy_columns[] = {
    {"backend", nullptr, as_text,
     [](const AssumedCopy& copy) -> Value {
       return fmt::format("{} {}", copy.way, copy.direction);
     }},
    {"way", nullptr, as_text, field<&AssumedCopy::way>},
    {"direction", nullptr, as_text, field<&AssumedCopy::direction>},
    {"assumed", nullptr, as_text, field<&AssumedCopy::card, &AssumedCard::id>},
    {"bytes", nullptr, as_text, field<&AssumedCopy::bytes>},
    {"seconds_per_copy", nullptr, as_text, field<&AssumedCopy::seconds, span_json>},
    {"bytes_per_second", nullptr, as_text,
     [](const AssumedCopy& copy) { return span_json(copy.rate()); }},
};

/// Page-locking, and the copies to the card that pay for it.
struct AssumedPinning {
  const AssumedCard* card;
  std::int64_t bytes;
  Assumption seconds;
  std::optional<std::int64_t> least, most; ///< copies; empty: never
};

std::string copies_cell(const std::optional<std::int64_t>& copies) {
  return copies ? std::to_string(*copies) : "never";
}

constexpr Column<AssumedPinning> assumed_pinning_columns[] = {
    {"bytes", "page-locking", as_bytes, field<&AssumedPinning::bytes>,
     [](const AssumedPinning& line) { return assumed_name(format_bytes(line.bytes), *line.card); }},
    {"assumed", nullptr, as_text, field<&AssumedPinning::card, &AssumedCard::id>},
    {"seconds", "takes", as_seconds_span, field<&AssumedPinning::seconds, span_json>},
    {"copies_to_pay.low", "paid for after", as_text, field<&AssumedPinning::least>,
     [](const AssumedPinning& line) { return copies_cell(line.least); }},
    {"copies_to_pay.high", "at worst", as_text, field<&AssumedPinning::most>,
     [](const AssumedPinning& line) { return copies_cell(line.most); }},
};

/// A figure of both ends; copies do not depend on the dtype.
template <typename Of>
Assumption at_ends(const AssumedCard& card, Of of) {
  return span_between(of(AssumedEnd(card, Dtype::float32, AssumedEnd::Bound::fast)),
                      of(AssumedEnd(card, Dtype::float32, AssumedEnd::Bound::slow)));
}

/// Both at once: at best side by side, at worst in turns. A driver's buffer has no two sides.
Assumption both_ways(const AssumedCard& card, double bytes, bool locked) {
  return at_ends(card, [&](const AssumedEnd& end) {
    const double there = copy_seconds(end, bytes, CopyTo::card, locked);
    const double back = copy_seconds(end, bytes, CopyTo::host, locked);
    return locked && end.fast() ? std::max(there, back) : there + back;
  });
}

std::vector<AssumedCopy> copies_of(const AssumedCard& card, std::span<const std::int64_t> sizes) {
  std::vector<AssumedCopy> copies;
  for (const bool locked : {false, true}) {
    const char* way = locked ? "pinned" : "pageable";
    for (const std::int64_t bytes : sizes) {
      const auto count = static_cast<double>(bytes);
      const auto one_way = [&](CopyTo to) {
        return at_ends(card,
                       [&](const AssumedEnd& end) { return copy_seconds(end, count, to, locked); });
      };
      copies.push_back({&card, way, "h2d", bytes, one_way(CopyTo::card)});
      copies.push_back({&card, way, "d2h", bytes, one_way(CopyTo::host)});
      copies.push_back({&card, way, "both", bytes, both_ways(card, count, locked)});
    }
  }
  return copies;
}

/// Of all that the ends leave open: the least cost against the largest saving, and the other way.
AssumedPinning pinning_of(const AssumedCard& card, std::int64_t bytes) {
  const auto count = static_cast<double>(bytes);
  const Assumption cost =
      at_ends(card, [&](const AssumedEnd& end) { return pin_seconds(end, count); });
  const Assumption slow = at_ends(
      card, [&](const AssumedEnd& end) { return copy_seconds(end, count, CopyTo::card, false); });
  const Assumption fast = at_ends(
      card, [&](const AssumedEnd& end) { return copy_seconds(end, count, CopyTo::card, true); });
  return {.card = &card,
          .bytes = bytes,
          .seconds = cost,
          .least = uses_to_pay(cost.low, slow.high - fast.low),
          .most = uses_to_pay(cost.high, slow.low - fast.high)};
}

std::string rates_cell(const AssumedCopy& copy) {
  return join_ends(format_figure(1e-9 * copy.rate().low), format_figure(1e-9 * copy.rate().high));
}

/// A column.
struct ShownRate {
  std::string_view way, direction;
};
constexpr std::array shown_rates{ShownRate{"pageable", "h2d"}, ShownRate{"pinned", "h2d"},
                                 ShownRate{"pageable", "d2h"}, ShownRate{"pinned", "d2h"},
                                 ShownRate{"pinned", "both"}};

/// A size a line.
std::string assumed_rates_table(const AssumedCard& card, std::span<const AssumedCopy> copies,
                                std::span<const std::int64_t> sizes) {
  TextTable table({"GB/s", "to it, pageable", "pinned, registered", "from it, pageable",
                   "pinned, registered", "both at once, pinned"});
  for (const std::int64_t bytes : sizes) {
    TextTable::Cells cells{assumed_name(format_bytes(bytes), card)};
    for (const ShownRate& shown : shown_rates) {
      const auto copy = std::ranges::find_if(copies, [&](const AssumedCopy& one) {
        return one.bytes == bytes && one.way == shown.way && one.direction == shown.direction;
      });
      cells.push_back(rates_cell(*copy));
    }
    table.add(std::move(cells));
  }
  return table.format();
}

std::string copies_sentence(const AssumedCard& card, std::span<const AssumedCopy> copies,
                            const AssumedPinning& pinning) {
  const auto largest = [&](std::string_view way) -> const AssumedCopy& {
    return *std::ranges::find_if(copies, [&](const AssumedCopy& copy) {
      return copy.bytes == pinning.bytes && way == copy.way &&
             std::string_view(copy.direction) == "h2d";
    });
  };
  const auto seconds = [&](std::string_view way) {
    return as_seconds_span(span_json(largest(way).seconds));
  };
  return fmt::format(
      "Assumed, not measured ({}): {} would take {} from page-locked memory and {} from pageable "
      "memory; page-locking them takes {}, which {} to the card.",
      card.id, format_bytes(pinning.bytes), seconds("pinned"), seconds("pageable"),
      as_seconds_span(span_json(pinning.seconds)),
      !pinning.least  ? "no number of copies pays for"
      : !pinning.most ? fmt::format("{} copies pay for at best, and none at worst", *pinning.least)
                      : fmt::format("{} copies pay for", join_ends(std::to_string(*pinning.least),
                                                                   std::to_string(*pinning.most))));
}

std::vector<AssumptionCheck> copy_checks(std::span<const AssumedCopy> copies,
                                         const DeviceCopies& device) {
  std::vector<AssumptionCheck> checks;
  for (const AssumedCopy& copy : copies) {
    const CopyCurve* curve = find_curve(device.curves, copy.way, copy.direction);
    const CopyPoint* point = curve == nullptr ? nullptr : timed_point(*curve, copy.bytes);
    if (point != nullptr) {
      checks.push_back({fmt::format("{} {} {}", copy.way, copy.direction, format_bytes(copy.bytes)),
                        "copy", copy.seconds, *seconds_per_copy(*point)});
    }
  }
  return checks;
}

} // namespace

void append_assumed_copies(LabReport& report, const AssumedCard& card, const TransferResult& result,
                           std::span<const std::int64_t> sizes) {
  const std::vector<AssumedCopy> copies = copies_of(card, sizes);
  if (result.device && is_such(card, result.device->name)) {
    const auto checks = copy_checks(copies, *result.device);
    if (!checks.empty()) {
      append_checks(report, card, checks);
      return;
    }
  }
  std::vector<AssumedPinning> pinning;
  for (const std::int64_t bytes : sizes) {
    pinning.push_back(pinning_of(card, bytes));
  }
  append_table(report, assumed_title(card) + assumed_rates_table(card, copies, sizes));
  append_table(report, assumed_title(card) + format_rows(assumed_pinning_columns, pinning) +
                           "paid for after: so many copies to the card, compared with existing "
                           "pageable memory\n");
  const std::string sentence = copies_sentence(card, copies, pinning.back());
  report.sentence += "\n" + sentence;
  report.data["assumed"] = {{"card", card.id},
                            {"name", card.name},
                            {"rows", list_of(assumed_copy_columns, copies)},
                            {"pinning", list_of(assumed_pinning_columns, pinning)},
                            {"sentence", sentence}};
  add_marked_rows(report, report.data.find("assumed.rows"));
}

} // namespace diffbench::bench
