// SPDX-License-Identifier: Apache-2.0
// `diffbench doctor`: what this machine and this build can do, and how to get what is missing.
#pragma once

#include "lab_report.hpp"

#include <filesystem>

namespace diffbench::bench {

/// Facts of the machine are read under `root`. A row is a fact {section, name, value}; what is to
/// be mended is in the section "mend" and has no name. The exit code is 1 when something that the
/// default run needs is missing, else 0. Takes a third of a second to look at the load of `cpus`.
[[nodiscard]] LabReport doctor_report(
    const std::filesystem::path& root = "/",
    const LoadWatch::Source& cpus = [] { return read_cpu_account(); });

} // namespace diffbench::bench
