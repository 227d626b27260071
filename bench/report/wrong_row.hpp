// SPDX-License-Identifier: Apache-2.0
// How a row is wrong, as text and as data: where, by how much, and whether rounding explains it.
#pragma once

#include "result.hpp"
#include "value.hpp"

#include <string>

namespace diffbench::bench {

/// "differs from the reference after 20 steps by up to 1e-07 (1 ulp) in ..., so it was not timed",
/// of a row that is wrong.
[[nodiscard]] std::string describe_wrong(const Verification& verification, const Problem& problem);

/// Which fields rows were proved on beside the run's: a line for those with the same ones.
[[nodiscard]] std::string format_proofs(const ComparisonResult& result);

[[nodiscard]] Value verification_json(const Verification& verification);

} // namespace diffbench::bench
