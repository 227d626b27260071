#include "context.hpp"
#include "ratio.hpp"
#include "text_table.hpp"
#include "transfer_figures.hpp"
#include "transfer_report.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <functional>
#include <set>

namespace diffbench::bench {

namespace {

struct CopyColumn {
  std::string header;
  std::function<std::string(std::int64_t bytes)> cell;
};

CopyColumn rate_column(const CopyCurve& curve) {
  return {curve.threads > 1 ? fmt::format("{} x{}", curve.way, curve.threads) : curve.way,
          [&curve](std::int64_t bytes) {
            const CopyPoint* point = timed_point(curve, bytes);
            return point == nullptr ? "-" : format_figure(1e-9 * rate_of(*point));
          }};
}

CopyColumn ratio_column(const CopyCurve& curve, const CopyCurve& loop) {
  return {"vs loop", [&curve, &loop](std::int64_t bytes) {
            const CopyPoint* point = timed_point(curve, bytes);
            const CopyPoint* base = timed_point(loop, bytes);
            const auto ratio = point == nullptr || base == nullptr
                                   ? std::nullopt
                                   : paired_ratio(base->samples, point->samples);
            return ratio ? fmt::format("{:.2f}x", ratio->value) : "-";
          }};
}

std::vector<CopyColumn> columns_of(const HostCopies& host) {
  std::vector<CopyColumn> columns{{"size", format_bytes},
                                  {"arrays in", [&](std::int64_t bytes) {
                                     return std::string(held_in(bytes, 1, host.caches));
                                   }}};
  const CopyCurve* loop = find_curve(host.curves, "loop", "host");
  for (const CopyCurve& curve : host.curves) {
    columns.push_back(rate_column(curve));
    if (curve.way == "memcpy" && curve.threads == 1 && loop != nullptr) {
      columns.push_back(ratio_column(curve, *loop));
    }
  }
  return columns;
}

TextTable::Cells cells_of(const std::vector<CopyColumn>& columns, std::int64_t bytes) {
  TextTable::Cells cells;
  for (const CopyColumn& column : columns) {
    cells.push_back(column.cell(bytes));
  }
  return cells;
}

std::string format_agreement(const HostCopies& host) {
  const auto agreement = memcpy_against_loop(host);
  if (!agreement) {
    return "";
  }
  return fmt::format(
      "memcpy against the loop: within {:.0f} % at {} of {} sizes, furthest at {} ({:.2f}x)\n",
      100 * agreement_bar, agreement->within, agreement->sizes,
      format_bytes(agreement->furthest_bytes), agreement->furthest_ratio);
}

} // namespace

std::string format_host_copies(const HostCopies& host) {
  const std::vector<CopyColumn> columns = columns_of(host);
  TextTable::Cells header;
  for (const CopyColumn& column : columns) {
    header.push_back(column.header);
  }
  TextTable table(header);
  std::set<std::int64_t> sizes;
  for (const CopyCurve& curve : host.curves) {
    for (const CopyPoint& point : curve.points) {
      sizes.insert(point.bytes);
    }
  }
  for (const std::int64_t bytes : sizes) {
    table.add(cells_of(columns, bytes));
  }
  return fmt::format(
      "copies within the host's memory, GB/s (bytes that arrive, counted once)\n{}"
      "caches: L1d {} and L2 {} a core, L3 {}; xN: on N threads\n{}",
      table.format(), format_bytes(host.caches.l1d), format_bytes(host.caches.l2),
      format_bytes(host.caches.l3), format_agreement(host));
}

} // namespace diffbench::bench
