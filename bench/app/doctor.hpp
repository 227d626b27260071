// `diffbench doctor`: what this machine and this build can do, and how to get what is missing.
#pragma once

#include "lab_report.hpp"

#include <filesystem>

namespace diffbench::bench {

/// Facts of the machine are read under `root`. A row is a fact {section, name, value}; what is to
/// be mended is in the section "mend" and has no name. The exit code is 1 when something that the
/// default run needs is missing, else 0.
[[nodiscard]] LabReport doctor_report(const std::filesystem::path& root = "/");

} // namespace diffbench::bench
