// SPDX-License-Identifier: Apache-2.0
#include "transfer_report.hpp"

#include "assumed_report.hpp"
#include "columns.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
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

constexpr Column<AssumedCopy> copy_columns[] = {
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

/// A size: page-locking, and the copies to the card that pay for it.
struct AssumedSize {
  const AssumedCard* card;
  std::int64_t bytes;
  std::array<AssumedCopy, 6> copies; ///< pageable h2d, d2h and both, then pinned
  Assumption pinning;
  std::optional<std::int64_t> least, most; ///< copies; empty: never

  [[nodiscard]] const Assumption& up(bool locked) const { return copies[locked ? 3 : 0].seconds; }
};

std::string copies_cell(const std::optional<std::int64_t>& copies) {
  return copies ? std::to_string(*copies) : "never";
}
template <std::size_t copy>
std::string rate_cell(const AssumedSize& size) {
  const Assumption rate = size.copies[copy].rate();
  return join_ends(format_figure(1e-9 * rate.low), format_figure(1e-9 * rate.high));
}
Value no_key(const AssumedSize& /*size*/) { return true; }

constexpr Column<AssumedSize> size_columns[] = {
    {"bytes", "GB/s", as_bytes, field<&AssumedSize::bytes>,
     [](const AssumedSize& size) { return assumed_name(format_bytes(size.bytes), *size.card); }},
    {"assumed", nullptr, as_text, field<&AssumedSize::card, &AssumedCard::id>},
    {nullptr, "to it, pageable", as_text, no_key, rate_cell<0>},
    {nullptr, "pinned, registered", as_text, no_key, rate_cell<3>},
    {nullptr, "from it, pageable", as_text, no_key, rate_cell<1>},
    {nullptr, "pinned, registered", as_text, no_key, rate_cell<4>},
    {nullptr, "both at once, pinned", as_text, no_key, rate_cell<5>},
    {"seconds", "page-locking", as_seconds_span, field<&AssumedSize::pinning, span_json>},
    {"copies_to_pay.low", "paid for after", as_text, field<&AssumedSize::least>,
     [](const AssumedSize& size) { return copies_cell(size.least); }},
    {"copies_to_pay.high", "at worst", as_text, field<&AssumedSize::most>,
     [](const AssumedSize& size) { return copies_cell(size.most); }},
};

/// The least cost of page-locking against the largest saving, and the other way.
AssumedSize size_of(const AssumedCard& card, std::int64_t bytes) {
  const auto part = [&](CardCount calls, CardCount of_bytes) {
    CardCounts counts;
    counts.counts[calls] = 1;
    counts.counts[of_bytes] = static_cast<double>(bytes);
    return bill_of(card, counts, {}, 0).seconds;
  };
  const auto copies = [&](const char* way, const Assumption& up, const Assumption& down,
                          const Assumption& both) {
    const auto copy = [&](const char* direction, const Assumption& seconds) {
      return AssumedCopy{&card, way, direction, bytes, seconds};
    };
    return std::array{copy("h2d", up), copy("d2h", down), copy("both", both)};
  };
  const Assumption slow_up = part(CardCount::pageable_in_calls, CardCount::pageable_in_bytes);
  const Assumption slow_down = part(CardCount::pageable_out_calls, CardCount::pageable_out_bytes);
  const Assumption up = part(CardCount::locked_in_calls, CardCount::locked_in_bytes);
  const Assumption down = part(CardCount::locked_out_calls, CardCount::locked_out_bytes);
  // Both at once: at best side by side, at worst in turns. A driver's buffer has no two sides.
  const auto pageable = copies("pageable", slow_up, slow_down,
                               {slow_up.low + slow_down.low, slow_up.high + slow_down.high});
  const auto pinned = copies("pinned", up, down, {std::max(up.low, down.low), up.high + down.high});
  const Assumption pinning = part(CardCount::lock_calls, CardCount::lock_bytes);
  return {.card = &card,
          .bytes = bytes,
          .copies = {pageable[0], pageable[1], pageable[2], pinned[0], pinned[1], pinned[2]},
          .pinning = pinning,
          .least = uses_to_pay(pinning.low, slow_up.high - up.low),
          .most = uses_to_pay(pinning.high, slow_up.low - up.high)};
}

std::string sentence_of(const AssumedSize& largest) {
  return fmt::format(
      "Assumed, not measured ({}): {} would take {} from page-locked memory and {} from pageable "
      "memory; page-locking them takes {}, which {} to the card.",
      largest.card->id, format_bytes(largest.bytes), seconds_text(largest.up(true)),
      seconds_text(largest.up(false)), seconds_text(largest.pinning),
      !largest.least  ? "no number of copies pays for"
      : !largest.most ? fmt::format("{} copies pay for at best, and none at worst", *largest.least)
                      : fmt::format("{} copies pay for", join_ends(std::to_string(*largest.least),
                                                                   std::to_string(*largest.most))));
}

std::vector<AssumptionCheck> checks_of(std::span<const AssumedCopy> copies,
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
                           std::span<const std::int64_t> bytes) {
  std::vector<AssumedSize> sizes;
  std::vector<AssumedCopy> copies;
  for (const std::int64_t each : bytes) {
    sizes.push_back(size_of(card, each));
    copies.insert(copies.end(), sizes.back().copies.begin(), sizes.back().copies.end());
  }
  if (result.device && is_such(card, result.device->name)) {
    const auto checks = checks_of(copies, *result.device);
    if (!checks.empty()) {
      append_checks(report, card, checks);
      return;
    }
  }
  append_table(report, assumed_title(card) + format_rows(size_columns, sizes) +
                           "paid for after: so many copies to the card, compared with existing "
                           "pageable memory\n");
  const std::string sentence = sentence_of(sizes.back());
  report.sentence += "\n" + sentence;
  report.data["assumed"] = {{"card", card.id},
                            {"name", card.name},
                            {"rows", list_of(copy_columns, copies)},
                            {"pinning", list_of(size_columns, sizes)},
                            {"sentence", sentence}};
  add_marked_rows(report, report.data.find("assumed.rows"));
}

} // namespace diffbench::bench
