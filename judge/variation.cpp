// SPDX-License-Identifier: Apache-2.0
#include "variation.hpp"

#include "diffbench/with_dtype.hpp"
#include "tried_process.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr std::string_view neighbour_name(Neighbour neighbour) {
  constexpr std::array<std::string_view, 4> names{"up", "down", "left", "right"};
  return names.at(static_cast<std::size_t>(neighbour));
}

template <typename T>
T sum_of(const std::array<T, 4>& at, const Arithmetic& how) {
  const auto cell = [&](std::size_t i) { return at.at(static_cast<std::size_t>(how.order.at(i))); };
  return how.in_pairs ? (cell(0) + cell(1)) + (cell(2) + cell(3))
                      : ((cell(0) + cell(1)) + cell(2)) + cell(3);
}

/// A step of one cell in T throughout.
template <typename T>
T evaluate(const std::array<T, 4>& at, T u, T factor, const Arithmetic& how, T four) {
  const auto cell = [&](std::size_t i) { return at.at(static_cast<std::size_t>(how.order.at(i))); };
  T laplacian = 0;
  switch (how.centre) {
    case Arithmetic::Centre::last: laplacian = sum_of(at, how) - four * u; break;
    case Arithmetic::Centre::first:
      laplacian = (((-four * u + cell(0)) + cell(1)) + cell(2)) + cell(3);
      break;
    case Arithmetic::Centre::by_axis: {
      const T two = four / 2;
      laplacian = how.in_pairs ? ((cell(0) + cell(1)) - two * u) + ((cell(2) + cell(3)) - two * u)
                               : ((cell(0) - two * u) + cell(1)) + ((cell(2) - two * u) + cell(3));
      break;
    }
    case Arithmetic::Centre::folded: {
      const T weight = 1 - four * factor;
      const T sum = sum_of(at, how);
      return how.fused == 0   ? weight * u + factor * sum
             : how.fused == 1 ? std::fma(factor, sum, weight * u)
                              : std::fma(weight, u, factor * sum);
    }
  }
  return how.fused == 0 ? u + factor * laplacian : std::fma(factor, laplacian, u);
}

/// The same with the precision that is asked for; T is the field's.
template <typename T>
T evaluate_as(const std::array<T, 4>& at, T u, T factor, const Arithmetic& how, double four) {
  if (how.precision == Arithmetic::Precision::own || std::is_same_v<T, double>) {
    return evaluate<T>(at, u, factor, how, static_cast<T>(four));
  }
  const double wide_u = u;
  const double wide_factor = factor;
  if (how.precision == Arithmetic::Precision::wide_part) {
    return static_cast<T>(wide_u +
                          wide_factor * (static_cast<double>(sum_of(at, how)) - four * wide_u));
  }
  const std::array<double, 4> wide{at[0], at[1], at[2], at[3]};
  return static_cast<T>(evaluate<double>(wide, wide_u, wide_factor, how, four));
}

/// One step after the other of one fault.
template <typename T>
class Walk {
 public:
  Walk(const Problem& problem, const Field<T>& initial, const Arithmetic& how, const Fault& fault)
      : nx_(fault.exchanged ? problem.ny : problem.nx),
        ny_(fault.exchanged ? problem.nx : problem.ny),
        initial_(initial.cells()),
        how_(how),
        fault_(fault),
        boundary_(problem.boundary),
        beyond_(problem.dtype == Dtype::float32
                    ? static_cast<T>(static_cast<float>(problem.boundary_value))
                    : static_cast<T>(problem.boundary_value)) {
    // Of the run's dtype, whatever is computed in.
    const double number = with_dtype(
        problem.dtype, [&]<typename Of>(Of) -> double { return problem.update_factor<Of>(); });
    const double factor = fault.factor.value_or(number) * fault.factor_scale;
    factor_ = static_cast<T>(fault.factor_squared ? factor * number : factor);
  }

  std::vector<T> run(std::int64_t steps) {
    std::vector<T> now(initial_.begin(), initial_.end());
    std::vector<T> before = now;
    const std::int64_t all = steps + fault_.more_steps + fault_.multiple - 1;
    const std::int64_t count = std::max<std::int64_t>(0, all - all % fault_.multiple);
    for (std::int64_t done = 0; done < count; ++done) {
      if (fault_.buffers == Fault::Buffers::never) {
        now.assign(initial_.begin(), initial_.end());
      }
      before = now;
      now = step(before, done);
    }
    const bool is_lost = (fault_.buffers == Fault::Buffers::even_lost && count % 2 == 0) ||
                         (fault_.buffers == Fault::Buffers::odd_lost && count % 2 != 0);
    return is_lost ? before : now;
  }

 private:
  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y) const {
    return static_cast<std::size_t>(y * nx_ + x);
  }

  /// The edges of the fault that lie between a cell and a place, or at a cell.
  [[nodiscard]] bool is_beyond(std::int64_t x, std::int64_t y, std::int64_t margin = 0) const {
    return (x < margin && (fault_.sides & left_side) != 0) ||
           (x >= nx_ - margin && (fault_.sides & right_side) != 0) ||
           (y < margin && (fault_.sides & upper_side) != 0) ||
           (y >= ny_ - margin && (fault_.sides & lower_side) != 0);
  }

  [[nodiscard]] bool skips(std::int64_t x, std::int64_t y) const {
    switch (fault_.skipped) {
      case Fault::Skipped::none: return false;
      case Fault::Skipped::edges: return is_beyond(x, y, 1);
      case Fault::Skipped::corners: return (x == 0 || x == nx_ - 1) && (y == 0 || y == ny_ - 1);
      case Fault::Skipped::partial_blocks:
        return x >= nx_ / fault_.bx * fault_.bx || y >= ny_ / fault_.by * fault_.by;
      case Fault::Skipped::all: return true;
    }
    return false;
  }

  [[nodiscard]] T kept(const std::vector<T>& before, std::size_t cell, std::int64_t done) const {
    switch (fault_.keeps) {
      case Fault::Keeps::poison: return poison<T>();
      case Fault::Keeps::old: return before[cell];
      case Fault::Keeps::zero: return 0;
      case Fault::Keeps::alternating: return done % 2 != 0 ? initial_[cell] : T{0};
    }
    return 0;
  }

  /// The neighbour at (x + dx, y + dy); `values` are those of the step before, or newer ones.
  [[nodiscard]] T at(const std::vector<T>& values, std::int64_t x, std::int64_t y, std::int64_t dx,
                     std::int64_t dy) const {
    std::int64_t to_x = x + dx;
    std::int64_t to_y = y + dy;
    const bool outside = to_x < 0 || to_x >= nx_ || to_y < 0 || to_y >= ny_;
    if (fault_.halo != Fault::TileHalo::none &&
        (outside || to_x / fault_.bx != x / fault_.bx || to_y / fault_.by != y / fault_.by)) {
      switch (fault_.halo) {
        case Fault::TileHalo::zero: return 0;
        case Fault::TileHalo::copied: return values[index(x, y)];
        default: return initial_[index((to_x + nx_) % nx_, (to_y + ny_) % ny_)];
      }
    }
    if (outside && boundary_ != Boundary::periodic) {
      return boundary_ == Boundary::neumann ? values[index(x, y)] : beyond_;
    }
    if (outside && is_beyond(to_x, to_y)) {
      const std::int64_t cells = nx_ * ny_;
      const std::int64_t flat = to_y * nx_ + to_x; // columns run on into the next row,
      switch (fault_.outside) {
        case Fault::Outside::wrapped: break;
        case Fault::Outside::zero: return 0;
        case Fault::Outside::copied: return values[index(x, y)];
        case Fault::Outside::mirrored:
          return values[index((x - dx + nx_) % nx_, (y - dy + ny_) % ny_)];
        case Fault::Outside::flat: return values[static_cast<std::size_t>((flat + cells) % cells)];
        case Fault::Outside::beyond: // and rows out of the field
          return flat < 0 || flat >= cells ? std::numeric_limits<T>::quiet_NaN()
                                           : values[static_cast<std::size_t>(flat)];
      }
    }
    to_x = (to_x + nx_) % nx_;
    to_y = (to_y + ny_) % ny_;
    return values[index(to_x, to_y)];
  }

  [[nodiscard]] std::vector<T> step(const std::vector<T>& before, std::int64_t done) const {
    std::vector<T> now = before;
    const std::int64_t across = fault_.by_columns ? ny_ : nx_;
    for (std::int64_t i = 0; i < nx_ * ny_; ++i) {
      const std::int64_t x = fault_.by_columns ? i / across : i % across;
      const std::int64_t y = fault_.by_columns ? i % across : i / across;
      now[index(x, y)] = skips(x, y) ? kept(before, index(x, y), done) : cell(before, now, x, y);
    }
    return now;
  }

  [[nodiscard]] T cell(const std::vector<T>& before, const std::vector<T>& now, std::int64_t x,
                       std::int64_t y) const {
    const auto near = [&](std::int64_t dx, std::int64_t dy) {
      const bool ghost = x + dx < 0 || x + dx >= nx_ || y + dy < 0 || y + dy >= ny_;
      const bool is_new = fault_.stored == Fault::Stored::in_place ||
                          (fault_.stored == Fault::Stored::in_place_with_ghosts && !ghost);
      return at(is_new ? now : before, x, y, dx, dy);
    };
    const T u = before[index(x, y)];
    std::array<T, 4> around{near(0, -1), near(0, 1), near(-1, 0), near(1, 0)};
    if (fault_.missing) {
      around.at(static_cast<std::size_t>(*fault_.missing)) =
          fault_.twice ? around.at(static_cast<std::size_t>(*fault_.twice)) : T{0};
    }
    if (fault_.diagonal == 0) {
      return evaluate_as<T>(around, u, factor_, how_, fault_.centre);
    }
    const std::array<T, 4> diagonal{near(-1, -1), near(1, -1), near(-1, 1), near(1, 1)};
    return u + factor_ * (static_cast<T>(fault_.straight) * sum_of(around, how_) +
                          static_cast<T>(fault_.diagonal) * sum_of(diagonal, how_) -
                          static_cast<T>(fault_.centre) * u);
  }

  std::int64_t nx_, ny_;
  std::span<const T> initial_;
  const Arithmetic& how_;
  const Fault& fault_;
  T factor_ = 0;
  Boundary boundary_;
  T beyond_; ///< cells outside, with Boundary::dirichlet
};

/// Whether no other order gives the same: a + b is b + a.
bool is_distinct(const Arithmetic& how) {
  const bool swapped = how.order[1] < how.order[0];
  const bool swapped_pair = how.order[3] < how.order[2] || how.order[2] < how.order[0];
  const bool sums_first =
      how.centre == Arithmetic::Centre::last || how.centre == Arithmetic::Centre::folded;
  return (how.fused < 2 || how.centre == Arithmetic::Centre::folded) &&
         (how.in_pairs ? !swapped && !swapped_pair && how.centre != Arithmetic::Centre::first
                       : !sums_first || !swapped);
}

std::vector<Arithmetic> make_arithmetics() {
  using enum Neighbour;
  using enum Arithmetic::Centre;
  using enum Arithmetic::Precision;
  std::vector<Arithmetic> all = {{}, {.fused = 1}};
  for (const auto precision : {wide_step, wide_end, wide_part}) {
    all.push_back({.precision = precision});
  }
  Arithmetic how;
  do {
    for (how.fused = 0; how.fused < 3; ++how.fused) {
      for (const auto centre : {last, folded, by_axis, first}) {
        how.centre = centre;
        for (const bool in_pairs : {false, true}) {
          how.in_pairs = in_pairs;
          if (is_distinct(how) && std::ranges::find(all, how) == all.end()) {
            all.push_back(how);
          }
        }
      }
    }
  } while (std::ranges::next_permutation(how.order).found);
  return all;
}

constexpr struct {
  std::string_view name, text;
} contained_mistakes[] = {
#include "mistakes.inc"
};

using Json = nlohmann::json;

/// The text of that name, with what `rule` has in the place of each {word}.
std::string text_in(const Json& rule, const char* name) {
  std::string text = rule.at(name);
  for (std::size_t at = 0; (at = text.find('{')) != std::string::npos;) {
    const std::size_t end = text.find('}', at);
    const Json& word = rule.at(text.substr(at + 1, end - at - 1));
    text.replace(at, end - at + 1, word.is_string() ? word.get<std::string>() : word.dump());
  }
  return text;
}

/// `names` as the enumeration has them.
template <typename Enum>
Enum named(const std::string& name, std::initializer_list<std::string_view> names) {
  return static_cast<Enum>(std::ranges::find(names, name) - names.begin());
}
Neighbour neighbour_of(const std::string& name) {
  return named<Neighbour>(name, {"up", "down", "left", "right"});
}

Fault fault_of(const Json& rule) {
  Fault fault;
  fault.outside =
      named<Fault::Outside>(rule.value("outside", "wrapped"),
                            {"wrapped", "zero", "copied", "mirrored", "flat", "beyond"});
  fault.skipped = named<Fault::Skipped>(rule.value("skipped", "none"),
                                        {"none", "edges", "corners", "partial_blocks", "all"});
  fault.keeps =
      named<Fault::Keeps>(rule.value("keeps", "poison"), {"poison", "old", "zero", "alternating"});
  fault.buffers = named<Fault::Buffers>(rule.value("buffers", "swapped"),
                                        {"swapped", "never", "even_lost", "odd_lost"});
  fault.halo =
      named<Fault::TileHalo>(rule.value("halo", "none"), {"none", "zero", "copied", "stale"});
  fault.stored = named<Fault::Stored>(rule.value("stored", "apart"),
                                      {"apart", "in_place", "in_place_with_ghosts"});
  if (rule.contains("sides")) {
    fault.sides = 0;
    for (const std::string side : rule.at("sides")) {
      fault.sides |= 1U << named<unsigned>(side, {"left", "right", "upper", "lower"});
    }
  }
  if (rule.contains("factor")) {
    fault.factor = rule.at("factor").get<double>();
  }
  if (rule.contains("missing")) {
    fault.missing = neighbour_of(rule.at("missing"));
  }
  if (rule.contains("twice")) {
    fault.twice = neighbour_of(rule.at("twice"));
  }
  const auto read = [&rule](const char* key, auto& field) { field = rule.value(key, field); };
  read("bx", fault.bx);
  read("by", fault.by);
  read("by_columns", fault.by_columns);
  read("exchanged", fault.exchanged);
  read("factor_scale", fault.factor_scale);
  read("factor_squared", fault.factor_squared);
  read("straight", fault.straight);
  read("diagonal", fault.diagonal);
  read("centre", fault.centre);
  read("more_steps", fault.more_steps);
  read("multiple", fault.multiple);
  return fault;
}

/// Every combination of the elements of its sets, each with all words of the rule.
std::vector<Json> cases_of(const Json& rule, const Json& all) {
  std::vector<Json> cases = {all.at("words")};
  for (const std::string set : rule.value("for", Json::array())) {
    std::vector<Json> more;
    for (const Json& each : cases) {
      for (const Json& element : all.at("sets").at(set)) {
        more.push_back(each);
        more.back().update(element);
      }
    }
    cases = std::move(more);
  }
  std::ranges::for_each(cases, [&rule](Json& each) { each.update(rule); });
  return cases;
}

std::vector<Mistake> read_mistakes() {
  const Json all = Json::parse(contained_mistakes[0].text, nullptr, true, /*ignore_comments=*/true);
  std::vector<Mistake> mistakes;
  for (const Json& rule : all.at("mistakes")) {
    for (const Json& each : cases_of(rule, all)) {
      mistakes.push_back(
          {text_in(each, "id"), text_in(each, "text"), text_in(each, "advice"), fault_of(each)});
    }
  }
  return mistakes;
}

} // namespace

const std::vector<Arithmetic>& arithmetics() {
  static const std::vector<Arithmetic> all = make_arithmetics();
  return all;
}

bool is_contracted(const Arithmetic& arithmetic) { return arithmetic == Arithmetic{.fused = 1}; }

std::string to_string(const Arithmetic& arithmetic) {
  switch (arithmetic.precision) {
    case Arithmetic::Precision::own: break;
    case Arithmetic::Precision::wide_step: return "in float64, rounded after each step";
    case Arithmetic::Precision::wide_end: return "in float64, rounded at the end";
    case Arithmetic::Precision::wide_part:
      return "partly in float64: a literal such as 4.0 is a double";
  }
  const auto name = [&](std::size_t i) { return neighbour_name(arithmetic.order.at(i)); };
  const std::string a(name(0)), b(name(1)), c(name(2)), d(name(3));
  const std::string sum = arithmetic.in_pairs ? fmt::format("({} + {}) + ({} + {})", a, b, c, d)
                                              : fmt::format("{} + {} + {} + {}", a, b, c, d);
  std::string text;
  switch (arithmetic.centre) {
    case Arithmetic::Centre::last: text = fmt::format("u + f * ({} - 4u)", sum); break;
    case Arithmetic::Centre::first:
      text = fmt::format("u + f * (-4u + {} + {} + {} + {})", a, b, c, d);
      break;
    case Arithmetic::Centre::by_axis:
      text = arithmetic.in_pairs
                 ? fmt::format("u + f * (({} + {} - 2u) + ({} + {} - 2u))", a, b, c, d)
                 : fmt::format("u + f * (({} - 2u + {}) + ({} - 2u + {}))", a, b, c, d);
      break;
    case Arithmetic::Centre::folded: text = fmt::format("(1 - 4f) * u + f * ({})", sum); break;
  }
  return arithmetic.fused == 0 ? text : text + ", with a fused product";
}

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all = read_mistakes();
  return all;
}

template <typename T>
Field<T> advance_varied(const Problem& problem, const Field<T>& field, std::int64_t steps,
                        const Arithmetic& arithmetic, const Fault& fault) {
  Field<T> result(field.nx(), field.ny());
  if (arithmetic.precision == Arithmetic::Precision::wide_end) {
    Field<double> wide(field.nx(), field.ny());
    std::ranges::copy(field.cells(), wide.cells().begin());
    const std::vector<double> end = Walk<double>(problem, wide, arithmetic, fault).run(steps);
    std::ranges::transform(end, result.cells().begin(), [](double cell) {
      return is_poison(cell) ? poison<T>() : static_cast<T>(cell);
    });
  } else {
    std::ranges::copy(Walk<T>(problem, field, arithmetic, fault).run(steps),
                      result.cells().begin());
  }
  return result;
}
template Field<float> advance_varied(const Problem&, const Field<float>&, std::int64_t,
                                     const Arithmetic&, const Fault&);
template Field<double> advance_varied(const Problem&, const Field<double>&, std::int64_t,
                                      const Arithmetic&, const Fault&);

template <typename T>
bool same_bits(const Field<T>& a, const Field<T>& b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::ranges::equal(a.cells(), b.cells(), [](T x, T y) {
    return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y) ||
           (std::isnan(x) && std::isnan(y) && is_poison(x) == is_poison(y));
  });
}
template bool same_bits(const Field<float>&, const Field<float>&);
template bool same_bits(const Field<double>&, const Field<double>&);

} // namespace diffbench::bench
