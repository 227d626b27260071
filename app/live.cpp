// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include "exit_code.hpp"
#include "option_list.hpp"
#include "output.hpp"
#include "page.hpp"
#include "report_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <string>

namespace diffbench::bench {

namespace {

int run_live(const std::string& path, const Invocation& invocation) {
  (void)report_page(); // a build without one says so now
  // What the page looks for to show the card alone (viz/src/main.ts).
  const std::array parts = {data_element("live", nlohmann::ordered_json::object())};
  write_report(path, parts);
  std::error_code no_file; // of a pipe or a device, whose reader has the page
  const auto bytes = static_cast<double>(std::filesystem::file_size(path, no_file));
  write_text(no_file ? invocation.err : invocation.out,
             fmt::format("{}{}; open it in a browser and press Measure\n", path,
                         no_file ? "" : fmt::format(": {:.1f} MB", bytes / 1e6)));
  return exit_ok;
}

} // namespace

Action declare_live(OptionList& options) {
  const auto path = std::make_shared<std::string>("live.html");
  options.group("Output");
  options.output("-o,--out FILE.html", *path, kind_of_output::page, "where the page goes");
  return [path](const Invocation& invocation) { return run_live(*path, invocation); };
}

} // namespace diffbench::bench
