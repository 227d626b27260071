// SPDX-License-Identifier: Apache-2.0
// The values that an option of a sweep is to take: "640", "1,10,100", "64:8192:x2" (each the double
// of the one before), "64:256:+64" (each 64 more), or several of these with commas between.
#pragma once

#include "option_list.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// Of numbers there are ranges.
enum class Values { numbers, words };

class ValueList {
 public:
  /// `option` stands in messages. Throws InvalidInput for what is no list, and for ranges that are
  /// backwards or never end.
  ValueList(std::string_view option, std::string_view text, Values kind);

  /// How many values there are, without making them: a range may stand for billions.
  [[nodiscard]] double count() const;
  /// The values as they would be typed one by one, in the order given, repeats left out.
  [[nodiscard]] std::vector<std::string> values() const;

 private:
  struct Range {
    double low = 0;
    double high = 0;
    double step = 0; ///< a factor or a summand
    bool grows_by_factor = false;

    [[nodiscard]] double count() const;
    [[nodiscard]] double value(double index) const;
    [[nodiscard]] bool whole() const;
  };
  struct Part {
    std::string text; ///< a single value; empty: a range
    Range range;
  };

  static Range parse_range(std::string_view option, std::string_view text);

  std::vector<Part> parts_;
};

/// Of such a list, at most 1000 whole numbers, ascending. Throws InvalidInput.
[[nodiscard]] std::vector<std::int64_t> parse_integers(std::string_view option,
                                                       std::string_view text, Limits limits);

} // namespace diffbench::bench
