// SPDX-License-Identifier: Apache-2.0
// Which machine and which build a measurement belongs to.
#pragma once

#include "context.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace diffbench::bench {

/// The facts of run_context() that stay the same from run to run.
[[nodiscard]] Facts machine_identity();

/// The first fact of this machine and build that the `context` of a result file tells otherwise,
/// in words; empty when it is of this machine and build.
[[nodiscard]] std::string identity_difference(const nlohmann::ordered_json& context);

} // namespace diffbench::bench
