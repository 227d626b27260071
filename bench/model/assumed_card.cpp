// SPDX-License-Identifier: Apache-2.0
#include "assumed_card.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/small_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

/// bench/model/assumed_cards.json.
constexpr std::string_view built_in_cards =
#include "assumed_cards.inc"
    ;

/// A figure's name in JSON is "stem_unit".
struct Figure {
  std::string_view stem, unit;
  double si; ///< of one unit
  Assumption AssumedCard::*span;

  [[nodiscard]] std::string name() const { return fmt::format("{}_{}", stem, unit); }
};

constexpr std::array figures{
    Figure{"pageable_h2d", "gb_per_s", 1e9, &AssumedCard::pageable_h2d},
    Figure{"pageable_d2h", "gb_per_s", 1e9, &AssumedCard::pageable_d2h},
    Figure{"pinned_h2d", "gb_per_s", 1e9, &AssumedCard::pinned_h2d},
    Figure{"pinned_d2h", "gb_per_s", 1e9, &AssumedCard::pinned_d2h},
    Figure{"copy_call", "us", 1e-6, &AssumedCard::copy_call},
    Figure{"memory_peak", "gb_per_s", 1e9, &AssumedCard::memory_peak},
    Figure{"memory", "gb_per_s", 1e9, &AssumedCard::memory_rate},
    Figure{"l2", "mb", 1e6, &AssumedCard::l2},
    Figure{"l2", "gb_per_s", 1e9, &AssumedCard::l2_rate},
    Figure{"launch", "us", 1e-6, &AssumedCard::launch},
    Figure{"graph_launch", "us", 1e-6, &AssumedCard::graph_launch},
    Figure{"synchronize", "us", 1e-6, &AssumedCard::synchronize},
    Figure{"barrier", "us", 1e-6, &AssumedCard::barrier},
    Figure{"pin", "ns_per_byte", 1e-9, &AssumedCard::pin_byte},
    Figure{"pin_call", "us", 1e-6, &AssumedCard::pin_call},
    Figure{"context", "ms", 1e-3, &AssumedCard::context},
    Figure{"memory", "gib", 1024.0 * 1024 * 1024, &AssumedCard::memory},
    Figure{"float32", "tflops", 1e12, &AssumedCard::float32_rate},
    Figure{"float64", "tflops", 1e12, &AssumedCard::float64_rate},
};

/// Of any figure in SI units. A thousandth of what is fast today, and a thousand times what is
/// large: what is predicted from such figures is finite and has its digits.
constexpr double least_figure = 1e-15;
constexpr double largest_figure = 1e18;

std::string text_at(const ordered_json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string() || found->get_ref<const std::string&>().empty()) {
    throw InvalidInput(fmt::format("lacks the text \"{}\"", name));
  }
  return found->get<std::string>();
}

double number_at(const ordered_json& figure, const std::string& name, const char* end) {
  const auto found = figure.find(end);
  const double number =
      found != figure.end() && found->is_number() ? found->get<double>() : std::nan("");
  if (!(number > 0 && std::isfinite(number))) {
    throw InvalidInput(fmt::format("{}: \"{}\" must be a finite number above 0", name, end));
  }
  return number;
}

Assumption read_span(const ordered_json& figures_json, const Figure& figure) {
  const std::string name = figure.name();
  const auto found = figures_json.find(name);
  if (found == figures_json.end()) {
    throw InvalidInput(fmt::format("lacks the figure {}", name));
  }
  if (!found->is_object()) {
    throw InvalidInput(fmt::format("{}: must be an object of low, high and source", name));
  }
  for (const auto& item : found->items()) { // such as a unit that is not that of the name
    if (const std::string& key = item.key(); key != "low" && key != "high" && key != "source") {
      throw InvalidInput(fmt::format(
          "{}: \"{}\" is not one of low, high and source; the unit is in the name", name, key));
    }
  }
  const Assumption span{number_at(*found, name, "low"), number_at(*found, name, "high")};
  if (span.low > span.high) {
    throw InvalidInput(
        fmt::format("{}: low, {}, is more than high, {}", name, span.low, span.high));
  }
  if (!(span.low * figure.si >= least_figure && span.high * figure.si <= largest_figure)) {
    throw InvalidInput(
        fmt::format("{}: {:g} to {:g} is out of range: in seconds, bytes or operations a second a "
                    "card has {:g} to "
                    "{:g}",
                    name, span.low, span.high, least_figure, largest_figure));
  }
  try {
    (void)text_at(*found, "source");
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", name, error.what()));
  }
  return {span.low * figure.si, span.high * figure.si};
}

/// A name that is no figure's, perhaps for its unit.
[[noreturn]] void refuse_name(const std::string& name) {
  std::string_view stem; // the longest in common
  std::vector<std::string> with_stem;
  for (const Figure& figure : figures) {
    if (!name.starts_with(fmt::format("{}_", figure.stem)) || figure.stem.size() < stem.size()) {
      continue;
    }
    if (figure.stem != stem) {
      stem = figure.stem;
      with_stem.clear();
    }
    with_stem.push_back(figure.name());
  }
  throw InvalidInput(with_stem.empty() ? fmt::format("{}: is not a figure of a card", name)
                                       : fmt::format("{}: another unit than that of {}; convert it",
                                                     name, fmt::join(with_stem, " and ")));
}

AssumedCard read_card(const std::string& id, const ordered_json& json) {
  if (!json.is_object() || !json.contains("figures") || !json.at("figures").is_object()) {
    throw InvalidInput("is not a card: give an object with name, reported_as and figures");
  }
  AssumedCard card;
  card.id = id;
  card.name = text_at(json, "name");
  card.reported_as = text_at(json, "reported_as");
  const ordered_json& own = json.at("figures");
  for (const auto& item : own.items()) {
    const std::string& name = item.key();
    if (std::ranges::none_of(figures, [&](const Figure& f) { return f.name() == name; })) {
      refuse_name(name);
    }
  }
  for (const Figure& figure : figures) {
    card.*figure.span = read_span(own, figure);
  }
  if (card.l2_rate.low < card.memory_rate.low || card.l2_rate.high < card.memory_rate.high) {
    throw InvalidInput("has a slower cache (l2_gb_per_s) than memory (memory_gb_per_s)");
  }
  return card;
}

ordered_json parse(std::string_view text) {
  try {
    return ordered_json::parse(text);
  } catch (const ordered_json::parse_error& error) {
    throw InvalidInput(fmt::format(
        "is not JSON: an error at byte {} (NaN and infinity are not JSON either)", error.byte));
  } catch (const ordered_json::exception&) { // a number that no double holds
    throw InvalidInput("holds a number that is not finite");
  }
}

/// Of what `text` gives; errors name `origin`.
template <typename Text>
AssumedCard read_card_of(const std::string& origin, Text text) {
  try {
    return read_card(origin, parse(text()));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", origin, error.what()));
  }
}

} // namespace

AssumedCard parse_assumed_card(const std::string& origin, const std::string& text) {
  return read_card_of(origin, [&] { return text; });
}

Assumption assumed_figure(const AssumedCard& card, std::string_view name) {
  std::vector<std::string> names;
  for (const Figure& figure : figures) {
    if (names.emplace_back(figure.name()) == name) {
      const Assumption span = card.*figure.span;
      return {span.low / figure.si, span.high / figure.si};
    }
  }
  throw unknown_name("figure of a card", name, names);
}

std::vector<std::string> assumed_card_names() {
  const ordered_json cards = parse(built_in_cards);
  std::vector<std::string> names;
  for (const auto& [name, ignored] : cards.items()) {
    names.push_back(name);
  }
  return names;
}

AssumedCard find_assumed_card(const std::string& name_or_file) {
  const ordered_json cards = parse(built_in_cards);
  if (const auto found = cards.find(name_or_file); found != cards.end()) {
    return read_card(name_or_file, *found);
  }
  if (std::error_code ignored; !std::filesystem::exists(name_or_file, ignored)) {
    const std::vector<std::string> names = assumed_card_names();
    throw InvalidInput(
        fmt::format("{} is neither an assumed card ({}{}) nor a file; for a file of "
                    "your own: diffbench advise --print-card h200",
                    name_or_file, fmt::join(names, ", "), did_you_mean(name_or_file, names)));
  }
  return read_card_of(name_or_file, [&] { return text_of_small_file(name_or_file); });
}

std::string built_in_card_text(const std::string& name) {
  const ordered_json cards = parse(built_in_cards);
  const auto found = cards.find(name);
  if (found == cards.end()) {
    throw unknown_name("card", name, assumed_card_names());
  }
  return found->dump(2) + "\n";
}

} // namespace diffbench::bench
