// SPDX-License-Identifier: Apache-2.0
// How the report page draws a result. Who makes a result says it once, beside sentence and columns:
// the page knows kinds of figures, and no verb.
#pragma once

#include "value.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

enum class Figure {
  bars,     ///< one for each row, the shortest first where there is one y
  lines,    ///< over x, one for each combination of `by`; a y that is a list has its places as x
  stack,    ///< bars of parts of a time: the ys of a row, or the members of a y that is an object
  timeline, ///< a y is a list of {lane, phase, begin, end}
  map,      ///< the first y that is text: a line a row of cells, # for those that are meant
  table
};
[[nodiscard]] std::string_view to_string(Figure figure);

/// A place on the x axis, such as a crossing; with an interval where low < high.
struct PictureMark {
  double at = 0;
  double low = 0, high = 0;
  std::string text;
};

/// Keys are those of the JSON: "a.b" is b of the object a, in the row or in what the row is part
/// of.
struct Picture {
  std::string title;
  Figure figure = Figure::bars;
  std::string x;
  std::string y = {}; ///< several with spaces between, and of `by`
  std::string by = {};
  std::string log = {};         ///< "x", "y" or "xy"
  std::string rows = "results"; ///< where the list is; one within another is joined to one list
  std::string interval = {};    ///< of the first y: an object with low and high
  std::vector<std::string> only = {}; ///< xs to draw where there is no room for all
  std::vector<PictureMark> marks = {};
};

/// A list; the page takes what is absent for nothing.
[[nodiscard]] Value pictures_json(std::span<const Picture> pictures);

} // namespace diffbench::bench
