// SPDX-License-Identifier: Apache-2.0
// The report: the page with results in it, in one file that needs nothing else.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <span>
#include <string>

namespace diffbench::bench {

/// An element of the page that holds `data` and is found there by `name`. No string in it can end
/// the element.
[[nodiscard]] std::string data_element(const std::string& name, const nlohmann::ordered_json& data);

/// What the page gets of a result file: its name, `context` and `diffbench`, as the text of an
/// element. `result` is read as read_result_file() gives it.
[[nodiscard]] std::string report_part(const std::string& name,
                                      const nlohmann::ordered_json& result);

/// Throws Error when it cannot be written, Unavailable where the build has no page.
void write_report(const std::filesystem::path& path, std::span<const std::string> parts);

} // namespace diffbench::bench
