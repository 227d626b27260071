// SPDX-License-Identifier: Apache-2.0
#include "row_order.hpp"

#include <cstddef>
#include <utility>

namespace diffbench::bench {

namespace {

std::vector<double> quotients_of_pair(const Neighbours& pair) {
  return paired_quotients(pair.slower->samples, pair.faster->samples);
}

double seconds_of_sample(const TimedRow& row) {
  std::vector<double> seconds;
  std::ranges::transform(row.samples, std::back_inserter(seconds), &Sample::seconds);
  return median_of(std::move(seconds));
}

} // namespace

double Neighbours::seconds_of(std::int64_t more_rounds) const {
  return static_cast<double>(more_rounds) *
         (seconds_of_sample(*faster) + seconds_of_sample(*slower));
}

std::vector<Neighbours> neighbours(std::span<const TimedRow* const> rows, const VerdictRule& rule) {
  std::vector<std::pair<double, const TimedRow*>> order;
  for (const TimedRow* row : rows) {
    order.emplace_back(row->step_seconds(), row);
  }
  std::ranges::sort(order);
  std::vector<Neighbours> all;
  std::vector<std::vector<double>> quotients;
  std::vector<std::size_t> with_quotients;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    Neighbours pair{.faster = order[i].second, .slower = order[i + 1].second};
    std::vector<double> own = quotients_of_pair(pair);
    pair.rounds = std::ssize(own);
    if (!own.empty()) {
      quotients.push_back(std::move(own));
      with_quotients.push_back(i);
    }
    all.push_back(pair);
  }
  const std::size_t pairs =
      order.size() * (order.size() - std::min<std::size_t>(1, order.size())) / 2;
  const std::vector<Standing> found = standings(quotients, rule, pairs);
  for (std::size_t i = 0; i < found.size(); ++i) {
    Neighbours& pair = all[with_quotients[i]];
    pair.standing = found[i];
    if (disturbed(pair.slower->samples)) { // not less sure, but of a wider interval
      const auto allowed =
          paired_ratio(pair.slower->samples, pair.faster->samples, Stopping::sequential);
      pair.standing.ratio.interval = allowed->interval;
      pair.standing.verdict = judge(pair.standing.ratio, rule.margin);
    }
  }
  return all;
}

std::vector<Neighbours> with_remedies(std::vector<Neighbours> all, const VerdictRule& rule) {
  for (Neighbours& pair : all) {
    if (pair.rounds > 0) {
      pair.rounds_to_decide = values_to_decide(pair.standing, quotients_of_pair(pair), rule.margin);
    }
  }
  return all;
}

} // namespace diffbench::bench
