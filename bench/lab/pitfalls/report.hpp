// The measuring and the report of `diffbench pitfalls`, apart from its options.
#pragma once

#include "lab_report.hpp"
#include "pitfall.hpp"
#include "progress.hpp"

#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

/// Measures one after another; what one leaves of its share of the budget is for those after it.
/// One that cannot run here, or whose result is wrong, is in the report and says why. Throws
/// Unavailable when nothing could be measured for want of a GPU, Interrupted when Ctrl-C came
/// before there was anything to keep.
[[nodiscard]] LabReport measure_pitfalls(std::span<const Pitfall> chosen, Workbench& bench,
                                         double budget_seconds, Progress& progress);

/// Those of `names` in the table's order; all when there are none. Throws InvalidInput, listing the
/// valid names, for an unknown one.
[[nodiscard]] std::vector<Pitfall> choose_pitfalls(const std::vector<std::string>& names);

/// Name, what it needs, the work and the mistake, a line each.
[[nodiscard]] std::string list_pitfalls();

} // namespace diffbench::bench
