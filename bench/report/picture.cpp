// SPDX-License-Identifier: Apache-2.0
#include "picture.hpp"

#include <array>
#include <cstddef>
#include <sstream>

namespace diffbench::bench {

std::string_view to_string(Figure figure) {
  constexpr std::array<std::string_view, 6> names{"bars",     "lines", "stack",
                                                  "timeline", "map",   "table"};
  return names.at(static_cast<std::size_t>(figure));
}

namespace {

Value words_of(const std::string& text) {
  Value words = Value::list();
  std::istringstream rest(text);
  for (std::string word; rest >> word;) {
    words.push_back(word);
  }
  return words;
}

} // namespace

Value pictures_json(std::span<const Picture> pictures) {
  return Value::each(pictures, [](const Picture& picture) -> Value {
    Value json{{"title", picture.title}, {"kind", picture.figure},   {"rows", picture.rows},
               {"x", picture.x},         {"y", words_of(picture.y)}, {"by", words_of(picture.by)}};
    const auto add = [&](const char* key, const auto& value) {
      if (!value.empty()) {
        json[key] = value;
      }
    };
    add("interval", picture.interval);
    add("log", picture.log);
    add("only", picture.only);
    if (!picture.marks.empty()) {
      json["marks"] = Value::each(picture.marks, [](const PictureMark& mark) -> Value {
        return {{"at", mark.at}, {"low", mark.low}, {"high", mark.high}, {"text", mark.text}};
      });
    }
    return json;
  });
}

} // namespace diffbench::bench
