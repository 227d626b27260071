// SPDX-License-Identifier: Apache-2.0
// The report: the page with results in it, in one file that needs nothing else.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace diffbench::bench {

/// An element of the page that holds `data` and is found there by `name`. No string in it can end
/// the element.
[[nodiscard]] std::string data_element(const std::string& name, const nlohmann::ordered_json& data);

/// What the page gets of a result file: its sentences and its table as HTML, for readers without
/// JavaScript, and its name, `context` and `diffbench`, as the text of an element. `result` is read
/// as read_result_file() gives it.
[[nodiscard]] std::string report_part(const std::string& name,
                                      const nlohmann::ordered_json& result);

/// Throws Error when it cannot be written, Unavailable where the build has no page.
void write_report(const std::filesystem::path& path, std::span<const std::string> parts);

/// The page that the build made of viz/ and put into the program, in two parts; the data goes
/// between them.
struct Page {
  std::string_view head, tail;
};

/// Throws Unavailable (why, and what to install) where the build could not make one.
[[nodiscard]] Page report_page();

} // namespace diffbench::bench
