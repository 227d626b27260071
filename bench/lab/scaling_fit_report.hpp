// What a fitted law of scaling says, in words and for programs; and when a GPU is worth it.
#pragma once

#include "scaling_law.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace diffbench::bench {

/// What a GPU should be faster by to be worth its price, its power and the work of porting; the
/// rule of thumb of courses on practical HPC.
inline constexpr double gpu_worth_it = 10;

/// A line.
[[nodiscard]] std::string format_fit(Scaling scaling, const SerialFraction& fit);
/// null without a fit.
[[nodiscard]] nlohmann::ordered_json fit_json(Scaling scaling,
                                              const std::optional<SerialFraction>& fit);

} // namespace diffbench::bench
