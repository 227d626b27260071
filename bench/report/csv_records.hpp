// SPDX-License-Identifier: Apache-2.0
// Reads CSV (RFC 4180), as csv_of() writes it and spreadsheets save it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Its lines as fields; a quoted field may hold separators, line ends and doubled quotes. Lines end
/// with LF or CR LF; empty ones are left out. Throws InvalidInput for a quote that is never closed
/// or that ends within a field.
[[nodiscard]] std::vector<std::vector<std::string>> csv_records(std::string_view text,
                                                                char separator = ',');

} // namespace diffbench::bench
