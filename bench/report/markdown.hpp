// SPDX-License-Identifier: Apache-2.0
// A report as Markdown: its tables as GitHub's, every other line as a paragraph.
//
// A report is composed as text, of which its tables are a part. So a table that is formatted is
// remembered where Markdown was asked for, and found again in the text.
#pragma once

#include <string>
#include <vector>

namespace diffbench::bench {

/// From here on remember_table() does what it says.
void keep_tables();
/// `text` is how a table of `rows`, of which the first is the header, was formatted. Of words it is
/// flush left, else only its first column is.
void remember_table(const std::string& text, const std::vector<std::vector<std::string>>& rows,
                    bool of_words);

/// `report` with the tables that were remembered. Lines that begin with blanks stay as they are, in
/// a block of their own.
[[nodiscard]] std::string as_markdown(const std::string& report);

} // namespace diffbench::bench
