// SPDX-License-Identifier: Apache-2.0
#include "variation.hpp"

#include "diffbench/with_dtype.hpp"
#include "tried_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
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

std::vector<Arithmetic> make_arithmetics() {
  using enum Neighbour;
  std::vector<Arithmetic> all = {{}, {.fused = 1}};
  const auto add = [&all](const Arithmetic& arithmetic) {
    if (std::ranges::find(all, arithmetic) == all.end()) {
      all.push_back(arithmetic);
    }
  };
  for (const auto precision : {Arithmetic::Precision::wide_step, Arithmetic::Precision::wide_end,
                               Arithmetic::Precision::wide_part}) {
    add({.precision = precision});
  }
  std::array<Neighbour, 4> order{up, down, left, right};
  do {
    const bool swapped = order[1] < order[0]; // a + b is b + a
    const bool swapped_pair = order[3] < order[2] || order[2] < order[0];
    for (const int fused : {0, 1}) {
      if (!swapped) {
        add({.order = order, .fused = fused});
        if (!swapped_pair) {
          add({.order = order, .in_pairs = true, .fused = fused});
          for (const int which : {0, 1, 2}) {
            add({.order = order,
                 .in_pairs = true,
                 .centre = Arithmetic::Centre::folded,
                 .fused = which});
          }
          add({.order = order,
               .in_pairs = true,
               .centre = Arithmetic::Centre::by_axis,
               .fused = fused});
        }
        for (const int which : {0, 1, 2}) {
          add({.order = order, .centre = Arithmetic::Centre::folded, .fused = which});
        }
      }
      add({.order = order, .centre = Arithmetic::Centre::first, .fused = fused});
      add({.order = order, .centre = Arithmetic::Centre::by_axis, .fused = fused});
    }
  } while (std::ranges::next_permutation(order).found);
  return all;
}

/// Sets of edges, and the rows and columns at them.
struct Edges {
  unsigned sides;
  std::string_view text;
  std::string_view skipped_id, skipped;
};
constexpr Edges edge_sets[] = {
    {all_sides, "the edges are", "edges_skipped",
     "the edges are not computed: loops run over the inner cells, and edge cells"},
    {left_side | right_side, "the left and right edges are", "columns_skipped",
     "the first and the last column are left out: their cells"},
    {upper_side | lower_side, "the upper and lower edges are", "rows_skipped",
     "the first and the last row are left out: their cells"},
    {left_side, "the left edge is", "first_column_skipped",
     "the first column is left out: its cells"},
    {right_side, "the right edge is", "last_column_skipped",
     "the last column is left out: its cells"},
    {upper_side, "the upper edge is", "first_row_skipped", "the first row is left out: its cells"},
    {lower_side, "the lower edge is", "last_row_skipped", "the last row is left out: its cells"},
    {right_side | lower_side, "the right and lower edges are", "last_ones_skipped",
     "the last row and the last column are left out: their cells"},
    {left_side | upper_side, "the left and upper edges are", "first_ones_skipped",
     "the first row and the first column are left out: their cells"}};

void add_edge_mistakes(std::vector<Mistake>& all) {
  using enum Fault::Outside;
  const std::string wrap =
      "a neighbour beyond an edge is the cell at the opposite edge: "
      "(x + 1) % nx, (x + nx - 1) % nx, and so for y";
  for (const Edges& edges : edge_sets) {
    for (const auto& [outside, id, what] :
         {std::tuple{zero, "edges_zero", "not wrapped: cells beyond them count as 0"},
          std::tuple{copied, "edges_copied",
                     "copied, not wrapped: a neighbour beyond an edge is the edge cell"},
          std::tuple{
              mirrored, "edges_mirrored",
              "mirrored, not wrapped: a neighbour beyond an edge is the first inner cell"}}) {
      all.push_back({id,
                     fmt::format("{} {}", edges.text, what),
                     wrap,
                     {.outside = outside, .sides = edges.sides}});
    }
    for (const auto& [keeps, what] :
         {std::pair{Fault::Keeps::old, "keep their old values"},
          std::pair{Fault::Keeps::poison, "are never written"},
          std::pair{Fault::Keeps::zero, "are set to 0"},
          std::pair{Fault::Keeps::alternating, "keep their first values in one of two buffers"}}) {
      all.push_back({edges.skipped_id,
                     fmt::format("{} {}", edges.skipped, what),
                     edges.sides == all_sides ? wrap : "x from 0 to nx - 1, y from 0 to ny - 1",
                     {.skipped = Fault::Skipped::edges, .keeps = keeps, .sides = edges.sides}});
      if (edges.sides == all_sides) {
        all.push_back({"corners_skipped",
                       fmt::format("only the corners are not computed: they {}", what),
                       "the four corners have neighbours at two other edges",
                       {.skipped = Fault::Skipped::corners, .keeps = keeps}});
      }
    }
  }
  for (const auto& [sides, text] :
       {std::pair<unsigned, std::string_view>{
            left_side | right_side,
            "columns do not wrap: left of the first column it reads the end of the row above"},
        {left_side, "at the left edge columns do not wrap: it reads the end of the row above"},
        {right_side, "at the right edge columns do not wrap: it reads the start of the row below"},
        {all_sides, "neither columns nor rows wrap: it reads on in the array, and out of it"}}) {
    for (const auto outside : {flat, beyond}) {
      all.push_back({"edges_flat", std::string(text), wrap, {.outside = outside, .sides = sides}});
    }
  }
}

void add_time_mistakes(std::vector<Mistake>& all) {
  all.push_back({"nothing_done",
                 "the field is returned as it came",
                 "the result is not written back",
                 {.skipped = Fault::Skipped::all, .keeps = Fault::Keeps::old}});
  all.push_back({"nothing_written",
                 "no cell of the result is written",
                 "is the result copied back?",
                 {.skipped = Fault::Skipped::all}});
  for (const auto stored : {Fault::Stored::in_place, Fault::Stored::in_place_with_ghosts}) {
    for (const bool by_columns : {false, true}) {
      all.push_back({"in_place",
                     "new values are read in place of old ones: it updates in place",
                     "a step reads one array and writes another one",
                     {.stored = stored, .by_columns = by_columns}});
    }
  }
  all.push_back({"not_swapped",
                 "the buffers are not swapped: every step starts from the first field",
                 "swap both pointers after each step",
                 {.buffers = Fault::Buffers::never}});
  all.push_back({"even_buffer",
                 "after an even number of steps the wrong buffer is returned",
                 "the result is where the last step wrote",
                 {.buffers = Fault::Buffers::even_lost}});
  all.push_back(
      {"odd_buffer",
       "after an odd number of steps the wrong buffer is returned, or the last step left out",
       "the result is where the last step wrote",
       {.buffers = Fault::Buffers::odd_lost}});
  all.push_back({"step_too_few",
                 "one step too few is made",
                 "steps steps, not steps - 1",
                 {.more_steps = -1}});
  all.push_back({"step_too_many",
                 "one step too many is made",
                 "k < steps, not k <= steps",
                 {.more_steps = 1}});
  for (const int multiple : {2, 4}) {
    for (const bool up : {true, false}) {
      all.push_back({"steps_rounded",
                     fmt::format("the number of steps is rounded {} to a multiple of {}",
                                 up ? "up" : "down", multiple),
                     "steps that are done together leave a rest, which is to be done, too",
                     {.more_steps = up ? 0 : 1 - multiple, .multiple = multiple}});
    }
  }
}

void add_formula_mistakes(std::vector<Mistake>& all) {
  all.push_back({"exchanged",
                 "x and y are exchanged: a row is taken to have ny cells",
                 "cell (x, y) is u[y * nx + x]",
                 {.exchanged = true}});
  all.push_back({"factor_twice",
                 "the factor is applied twice",
                 "out = u + factor * lap",
                 {.factor_squared = true}});
  all.push_back(
      {"factor_missing", "the factor is left out", "out = u + factor * lap", {.factor = 1.0}});
  all.push_back({"sign",
                 "the Laplacian is subtracted, not added",
                 "out = u + factor * lap",
                 {.factor_scale = -1}});
  all.push_back({"centre_missing",
                 "4u is left out of the Laplacian",
                 "lap = up + down + left + right - 4 * u",
                 {.centre = 0}});
  for (const double centre : {1.0, 2.0, 3.0, 5.0}) {
    all.push_back({"centre_wrong",
                   fmt::format("the Laplacian has {:g}u in place of 4u", centre),
                   "lap = up + down + left + right - 4 * u",
                   {.centre = centre}});
  }
  for (const auto& [id, text, straight, diagonal, centre] :
       {std::tuple{"diagonals", "the four diagonal neighbours are read in place of the others", 0.0,
                   1.0, 4.0},
        std::tuple{"nine_points", "all eight neighbours are summed, less 8u", 1.0, 1.0, 8.0},
        std::tuple{"nine_points", "it has nine points: (4 straight + diagonal - 20u) / 6", 4.0 / 6,
                   1.0 / 6, 20.0 / 6},
        std::tuple{"nine_points", "it has nine points: 0.2 straight + 0.05 diagonal - u", 0.2, 0.05,
                   1.0},
        std::tuple{"nine_points", "it has nine points: 0.5 straight + 0.25 diagonal - 3u", 0.5,
                   0.25, 3.0}}) {
    all.push_back({id,
                   text,
                   "lap = up + down + left + right - 4 * u",
                   {.straight = straight, .diagonal = diagonal, .centre = centre}});
  }
  using enum Neighbour;
  for (const Neighbour missing : {up, down, left, right}) {
    all.push_back({"neighbour_missing",
                   fmt::format("the neighbour {} is left out", neighbour_name(missing)),
                   "lap = up + down + left + right - 4 * u",
                   {.missing = missing}});
    for (const Neighbour twice : {up, down, left, right}) {
      if (twice != missing) {
        all.push_back({"neighbour_twice",
                       fmt::format("the neighbour {} is read in place of that {}",
                                   neighbour_name(twice), neighbour_name(missing)),
                       "lap = up + down + left + right - 4 * u",
                       {.twice = twice, .missing = missing}});
      }
    }
  }
}

void add_tile_mistakes(std::vector<Mistake>& all) {
  constexpr std::pair<int, int> shapes[] = {{16, 16}, {32, 8},  {32, 32}, {8, 8},  {32, 4},
                                            {32, 16}, {16, 8},  {64, 4},  {64, 8}, {4, 4},
                                            {128, 1}, {256, 1}, {64, 1},  {32, 1}};
  for (const auto& [bx, by] : shapes) {
    for (const auto& [keeps, what] : {std::pair{Fault::Keeps::poison, "are never written"},
                                      std::pair{Fault::Keeps::old, "keep their old values"},
                                      std::pair{Fault::Keeps::zero, "are set to 0"}}) {
      all.push_back(
          {"partial_block",
           fmt::format("the last partial block of {} x {} is left out: its cells {}", bx, by, what),
           "(nx + block - 1) / block blocks cover nx cells, nx / block do not",
           {.skipped = Fault::Skipped::partial_blocks, .keeps = keeps, .bx = bx, .by = by}});
    }
    for (const auto& [halo, what] :
         {std::pair{Fault::TileHalo::stale, "hold the first field"},
          std::pair{Fault::TileHalo::zero, "count as 0"},
          std::pair{Fault::TileHalo::copied, "are taken from the tile's edge"}}) {
      all.push_back({"tile_halo",
                     fmt::format("the halos of tiles of {} x {} are not refreshed: cells beyond a "
                                 "tile {}",
                                 bx, by, what),
                     "each step needs the neighbours' new edge cells",
                     {.halo = halo, .bx = bx, .by = by}});
    }
  }
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
  static const std::vector<Mistake> all = [] {
    std::vector<Mistake> made;
    add_time_mistakes(made);
    add_edge_mistakes(made);
    add_formula_mistakes(made);
    add_tile_mistakes(made);
    return made;
  }();
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
