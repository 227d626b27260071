// SPDX-License-Identifier: Apache-2.0
// What a sweep's journal holds, as the result file that an interrupted sweep writes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace diffbench::bench {

/// As read_result_file() gives it in Detail::overview, and throwing as that does; the file may
/// still be written to. Of the machine it has what decides whether a sweep may go on there: no
/// name, no date. Rows that --cross named are not in a journal, so its crossings are those of the
/// best rows.
[[nodiscard]] nlohmann::ordered_json journal_result(const std::filesystem::path& path);

} // namespace diffbench::bench
