// SPDX-License-Identifier: Apache-2.0
// The table of the verbs.
#pragma once

#include "lab_report.hpp"

#include <filesystem>

namespace diffbench::bench {

/// The comparison, with all other verbs behind it.
[[nodiscard]] const Verb& program();

// Those of this layer.
[[nodiscard]] Action declare_default(OptionList& options);
[[nodiscard]] Action declare_run(OptionList& options);
[[nodiscard]] Action declare_report(OptionList& options);
[[nodiscard]] Action declare_live(OptionList& options);

// What two of them show.

/// A row each: the backends from the naive to the fast, those left out of this build with the
/// option that brings them, then the peers.
[[nodiscard]] LabReport list_report();

/// What this machine and this build can do, and how to get what is missing. Facts of the machine
/// are read under `root`. A row is a fact {section, name, value}; what is to be mended is in the
/// section "mend" and has no name. The exit code is 1 when something that the default run needs is
/// missing, else 0. Takes a third of a second to look at the load of `cpus`.
[[nodiscard]] LabReport doctor_report(
    const std::filesystem::path& root = "/",
    const LoadWatch::Source& cpus = [] { return read_cpu_account(); });

} // namespace diffbench::bench
