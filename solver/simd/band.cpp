// SPDX-License-Identifier: Apache-2.0
#include "simd/band.hpp"

#include <algorithm>

namespace diffbench::simd {

namespace {

static_assert(block_rows == 4); // two rows of scratch, and two that a level keeps: see level_row
constexpr std::int64_t scratch_rows = 2;
constexpr std::int64_t kept_rows = 2; // of a level, beside a gap

} // namespace

template <typename T>
Band<T>::Band(const Problem& problem, const Plan& plan, const RowKernels<T>& kernels,
              std::int64_t first, std::int64_t last, Form form)
    : problem_(problem),
      plan_(plan),
      kernels_(&kernels),
      first_(first),
      last_(last),
      form_(form),
      moved_(form == Form::natural ? 1 : 2),
      meets_upper_(problem.boundary == Boundary::periodic || first > 0),
      meets_lower_(problem.boundary == Boundary::periodic || last < problem.ny),
      factor_(problem.update_factor<T>()) {
  if (plan.strips > 1) {
    left_columns_ = AlignedArray<T>((last - first) * plan.halo, stagger_of(3));
    wrap_columns_ = AlignedArray<T>((last - first) * plan.halo, stagger_of(4));
  }
  std::int64_t widest = 0;
  for (std::int64_t index = 0; index < plan.strips; ++index) {
    const Columns columns = columns_of_strip(index);
    const RowShape<T> shape = shape_of<T>(problem, columns, kernels.lanes, form);
    strips_.push_back({columns, shape, RowCopier<T>(kernels, shape, columns)});
    widest = std::max(widest, shape.vectors);
  }
  row_stride_ = row_stride<T>(widest, kernels.lanes);
  const std::int64_t row_count = 2 * scratch_rows + kept_rows * (plan.depth + moved_) + 1;
  // Of the arrays that a sweep goes through at once no two begin alike modulo 4 KiB.
  levels_ = AlignedArray<T>(row_count * row_stride_, stagger_of(1));
  if (meets_upper_ || meets_lower_) {
    kept_ = AlignedArray<T>(2 * plan.strips * plan.depth * kept_rows * row_stride_, stagger_of(2));
  }
  constant_row_ = levels_.data() + (row_count - 1) * row_stride_;
  std::fill_n(constant_row_, row_stride_, boundary_cell<T>(problem, form));
  constant_row_ += kernels.lanes;
}

// The last two rows of a level's block are needed again by the next block of the level above, and
// by nobody after it: that level puts its own last two there. So each level has one place for two
// rows, and from block to block all move on by one. Scaled rows may be computed twice, so there the
// level after that one takes the place, and all move on by two. The first two are scratch that two
// levels in turn share.
template <typename T>
T* Band<T>::level_row(std::int64_t level, std::int64_t row, const Places& places) {
  std::int64_t index = level % 2 * scratch_rows + row;
  if (row >= scratch_rows) {
    const std::int64_t place = places.first + level;
    index = 2 * (place < places.count ? place : place - places.count) + scratch_rows + row;
  }
  return levels_.data() + index * row_stride_ + kernels_->lanes;
}

// `row` counts from the gap.
template <typename T>
std::int64_t Band<T>::kept_place(Side side, std::size_t strip, std::int64_t level,
                                 std::int64_t row) const {
  const std::int64_t of_strip = static_cast<std::int64_t>(strip) * plan_.depth + level;
  const std::int64_t of_side = side == upper ? 0 : plan_.strips * plan_.depth;
  return ((of_side + of_strip) * kept_rows + row) * row_stride_ + kernels_->lanes;
}

// Where a pass puts row y of a level: a sweep keeps those beside a gap.
template <typename T>
T* Band<T>::output(const Pass& pass, std::size_t strip, std::int64_t level, std::int64_t y,
                   T* in_flight) {
  if (pass.before == nullptr && level < pass.depth) {
    const std::int64_t from_first = y - pass.first(level);
    const std::int64_t to_last = pass.last(level) - 1 - y;
    if (meets_upper_ && from_first >= 0 && from_first < kept_rows && to_last >= 0) {
      return kept_.data() + kept_place(upper, strip, level, from_first);
    }
    if (meets_lower_ && to_last >= 0 && to_last < kept_rows && from_first >= 0) {
      return kept_.data() + kept_place(lower, strip, level, to_last);
    }
  }
  return in_flight;
}

// Where a pass finds row y of a level: one that fills a gap, beside the gap among what the sweeps
// have kept.
template <typename T>
const T* Band<T>::input(const Pass& pass, std::size_t strip, std::int64_t level, std::int64_t y,
                        const T* in_flight) {
  if (pass.before == nullptr) {
    T* kept = output(pass, strip, level, y, nullptr);
    return kept != nullptr ? kept : in_flight;
  }
  const std::int64_t above = pass.first(level) - 1 - y;
  const std::int64_t below = y - pass.last(level);
  if (above >= 0 && above < kept_rows) {
    return pass.before->kept_.data() + pass.before->kept_place(lower, strip, level, above);
  }
  if (below >= 0 && below < kept_rows) {
    return kept_.data() + kept_place(upper, strip, level, below);
  }
  return in_flight;
}

// In a level of two or three rows, a row is beside both gaps; it was put beside the upper one.
template <typename T>
void Band<T>::keep_twice(const Pass& pass, std::size_t strip, std::int64_t level, std::int64_t y) {
  const std::int64_t from_first = y - pass.first(level);
  const std::int64_t to_last = pass.last(level) - 1 - y;
  if (pass.before == nullptr && level < pass.depth && meets_upper_ && meets_lower_ &&
      from_first >= 0 && from_first < kept_rows && to_last >= 0 && to_last < kept_rows) {
    const std::int64_t lanes = kernels_->lanes;
    std::copy_n(kept_.data() + kept_place(upper, strip, level, from_first) - lanes,
                (strips_[strip].shape.vectors + 2) * lanes,
                kept_.data() + kept_place(lower, strip, level, to_last) - lanes);
  }
}

template <typename T>
Columns Band<T>::columns_of_strip(std::int64_t index) const {
  const std::int64_t begin = index * plan_.strip_width;
  const bool wraps = problem_.boundary == Boundary::periodic && plan_.strips > 1;
  return {.begin = begin,
          .end = std::min(problem_.nx, begin + plan_.strip_width),
          .left_halo = index > 0 || wraps ? plan_.halo : 0,
          .right_halo = index + 1 < plan_.strips || wraps ? plan_.halo : 0};
}

template <typename T>
void Band<T>::sweep(Field<T>& field, std::int64_t depth) {
  const Pass pass{first_, last_, meets_upper_ ? 1 : 0, meets_lower_ ? -1 : 0, depth, nullptr};
  for (std::size_t strip = 0; strip < strips_.size(); ++strip) {
    run(pass, field, strip);
  }
}

template <typename T>
void Band<T>::fill_gap(Field<T>& field, const Band& before, std::int64_t depth) {
  if (!meets_upper_) {
    return;
  }
  const Pass pass{first_, first_, -1, 1, depth, &before};
  for (std::size_t strip = 0; strip < strips_.size(); ++strip) {
    run(pass, field, strip);
  }
}

template <typename T>
void Band<T>::run(const Pass& pass, Field<T>& field, std::size_t strip) {
  const FlushToZero flush(form_);
  const std::int64_t depth = pass.depth;
  const std::int64_t span = std::max(pass.end, pass.last(depth) + depth) - pass.begin;
  const std::int64_t blocks = (span + block_rows - 1) / block_rows;
  RowCopier<T>& copier = strips_[strip].copier;
  Places places{.first = 0, .count = depth + moved_};
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t first_row = pass.begin + block * block_rows;
    for (std::int64_t row = 0; row < block_rows; ++row) {
      const std::int64_t y = first_row + row;
      if (y < pass.end) {
        load_row(field, strips_[strip], y, output(pass, strip, 0, y, level_row(0, row, places)));
        keep_twice(pass, strip, 0, y);
      }
    }
    for (std::int64_t level = 1; level <= depth; ++level) {
      const std::int64_t y = first_row - level;
      if (y + block_rows > pass.first(level) && y < pass.last(level)) {
        advance_block(pass, strip, level, places, y);
      }
    }
    for (std::int64_t row = 0; row < block_rows; ++row) {
      const std::int64_t y = first_row - depth + row;
      if (y >= pass.first(depth) && y < pass.last(depth)) {
        copier.store(level_row(depth, row, places),
                     field.row(y >= 0 ? y : y + problem_.ny) + strips_[strip].columns.begin);
      }
    }
    places.first = (places.first >= moved_ ? places.first : places.first + places.count) - moved_;
  }
}

// Rows first_row ... of `level` from the level below. Rows of a block that lie outside the level
// are computed from whatever is there and never used.
template <typename T>
void Band<T>::advance_block(const Pass& pass, std::size_t strip, std::int64_t level,
                            const Places& places, std::int64_t first_row) {
  const T* in[block_rows + 2];
  T* out[block_rows];
  T* below = level_row(level - 1, 0, places);
  T* here = level_row(level, 0, places);
  T* below_last = level_row(level - 1, scratch_rows, places);
  T* here_last = level_row(level, scratch_rows, places);
  T* earlier = level_row(level - 1 + moved_, scratch_rows, places); // level - 1, a block ago
  for (std::int64_t row = 0; row < 2; ++row) {
    in[row] = earlier + row * row_stride_;
    in[row + 2] = below + row * row_stride_;
    in[row + 4] = below_last + row * row_stride_;
    out[row] = here + row * row_stride_;
    out[row + 2] = here_last + row * row_stride_;
  }
  // Rows of the level below that are kept, or were: beside the gaps.
  const std::int64_t margin = pass.before == nullptr ? kept_rows : 0;
  const bool beside_a_gap = first_row - 1 < pass.first(level - 1) + margin ||
                            first_row + block_rows >= pass.last(level - 1) - margin;
  if (beside_a_gap) {
    for (std::int64_t row = 0; row < block_rows + 2; ++row) {
      in[row] = input(pass, strip, level - 1, first_row - 1 + row, in[row]);
    }
    for (std::int64_t row = 0; row < block_rows; ++row) {
      out[row] = output(pass, strip, level, first_row + row, out[row]);
    }
  }
  if (problem_.boundary != Boundary::periodic) {
    const bool constant = problem_.boundary == Boundary::dirichlet;
    const std::int64_t before = -1 - (first_row - 1);          // the place of row -1
    const std::int64_t behind = problem_.ny - (first_row - 1); // the place of row ny
    if (before >= 0 && before <= block_rows) {
      in[before] = constant ? constant_row_ : in[before + 1];
    }
    if (behind >= 1 && behind <= block_rows + 1) {
      in[behind] = constant ? constant_row_ : in[behind - 1];
    }
  }
  const RowShape<T>& shape = strips_[strip].shape;
  if (form_ == Form::natural) {
    kernels_->advance(in, out, shape, factor_);
  } else {
    front_.run(*kernels_, [&](auto advance) { advance(in, out, shape, factor_); });
  }
  for (std::int64_t row = 0; beside_a_gap && row < block_rows; ++row) {
    keep_twice(pass, strip, level, first_row + row);
  }
}

// Row y of the field in its old state, with halos; keeps for the strips to come what this one will
// overwrite.
template <typename T>
void Band<T>::load_row(const Field<T>& field, Strip& strip, std::int64_t y, T* row) {
  const T* old = field.row(y);
  const std::int64_t halo = plan_.halo;
  const Columns& columns = strip.columns;
  const bool first = columns.begin == 0;
  const bool last = columns.end == problem_.nx;
  T* left_columns = left_columns_.data() + (y - first_) * halo;
  T* wrap_columns = wrap_columns_.data() + (y - first_) * halo;
  const T* left = first ? old + problem_.nx - halo : left_columns;
  const T* right = last && !first ? wrap_columns : old + (last ? 0 : columns.end);
  strip.copier.load(left, old + columns.begin, right, row);
  if (plan_.strips > 1) {
    if (first) {
      std::copy_n(old, halo, wrap_columns);
    }
    std::copy_n(old + columns.end - halo, halo, left_columns);
  }
}

template class Band<float>;
template class Band<double>;

} // namespace diffbench::simd
