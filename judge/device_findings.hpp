// SPDX-License-Identifier: Apache-2.0
// What an emulated device says of the code that it has run (emulation/user_reports.h).
#pragma once

#include "report_json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

/// One thing that the code does wrong.
struct DeviceFinding {
  std::string kind = {};               ///< such as race, leak
  std::string message = {};            ///< a sentence
  std::string where = {};              ///< "my.cu:12"; empty: not known
  std::string other = {};              ///< the second line of a race; empty: there is none
  std::string kernel = {};             ///< empty: the host's code
  std::string block = {}, thread = {}; ///< "1,2,0", of the kernel
  bool affects_result = true;          ///< else the result is the same in every schedule
  bool unwritten = false; ///< a read of what nobody has written: it counts where it is used
};

/// What a card does otherwise, or fails at; else it is only not as it should be (a leak).
[[nodiscard]] inline bool is_fault(const DeviceFinding& finding) {
  return finding.affects_result || finding.kind == "unchecked_error";
}

/// Of its JSON text. A text that is none, as a submission may have written itself, has none.
[[nodiscard]] std::vector<DeviceFinding> device_findings(const std::string& text);
/// Unless there is one of the same kind and place: whether it was added.
bool add_finding(std::vector<DeviceFinding>& findings, const DeviceFinding& finding);
/// What it has counted; null where that is no JSON.
[[nodiscard]] Value device_counts(const std::string& text);

/// A table, and the same for the result file.
[[nodiscard]] std::string format_findings(const std::vector<DeviceFinding>& findings);
[[nodiscard]] Value findings_json(const std::vector<DeviceFinding>& findings);

} // namespace diffbench::bench
