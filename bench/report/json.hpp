// SPDX-License-Identifier: Apache-2.0
// Results as JSON, for what reads them as that.
#pragma once

#include "value.hpp"

#include <nlohmann/json_fwd.hpp>

namespace diffbench::bench {

[[nodiscard]] nlohmann::ordered_json json_of(const Value& value);
[[nodiscard]] Value value_of(const nlohmann::ordered_json& json);

} // namespace diffbench::bench
