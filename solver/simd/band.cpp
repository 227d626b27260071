#include "simd/band.hpp"

#include <algorithm>

namespace diffbench::simd {

namespace {

constexpr std::int64_t scratch_rows = block_rows - 2; // of a block, see level_row

} // namespace

template <typename T>
Band<T>::Band(const Problem& problem, const Plan& plan, const RowKernels<T>& kernels,
              std::int64_t first, std::int64_t last)
    : problem_(problem),
      plan_(plan),
      kernels_(&kernels),
      first_(first),
      last_(last),
      factor_(problem.update_factor<T>()),
      halo_rows_(2 * plan.depth * problem.nx) {
  if (plan.strips > 1) {
    left_columns_ = AlignedArray<T>((last - first) * plan.halo);
    wrap_columns_ = AlignedArray<T>((last - first) * plan.halo);
  }
  std::int64_t widest = 0;
  for (std::int64_t index = 0; index < plan.strips; ++index) {
    const Columns columns = columns_of_strip(index);
    const RowShape<T> shape = shape_of<T>(problem, columns, kernels.lanes);
    strips_.push_back({columns, shape, RowCopier<T>(kernels, shape, columns)});
    widest = std::max(widest, shape.vectors);
  }
  row_stride_ = row_stride<T>(widest, kernels.lanes);
  const std::int64_t row_count = 2 * scratch_rows + 2 * (plan.depth + 1) + 1;
  levels_ = AlignedArray<T>(row_count * row_stride_);
  constant_row_ = levels_.data() + (row_count - 1) * row_stride_;
  std::fill_n(constant_row_, row_stride_, static_cast<T>(problem.boundary_value));
  constant_row_ += kernels.lanes;
}

// The last two rows of a level's block are needed again by the next block of the level above, and
// by nobody after it: that level puts its own last two there. So each level has one place for two
// rows, and from block to block all move on by one. The first two are scratch that two levels in
// turn share.
template <typename T>
T* Band<T>::level_row(std::int64_t level, std::int64_t row, const Places& places) {
  std::int64_t index = level % 2 * scratch_rows + row;
  if (row >= scratch_rows) {
    const std::int64_t place = places.first + level;
    index = 2 * (place < places.count ? place : place - places.count) + scratch_rows + row;
  }
  return levels_.data() + index * row_stride_ + kernels_->lanes;
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
typename Band<T>::Rows Band<T>::rows_of_level(std::int64_t level, std::int64_t depth) const {
  const std::int64_t margin = depth - level;
  if (problem_.boundary == Boundary::periodic) {
    return {first_ - margin, last_ + margin};
  }
  return {std::max<std::int64_t>(0, first_ - margin), std::min(problem_.ny, last_ + margin)};
}

template <typename T>
void Band<T>::save_halo(const Field<T>& field, std::int64_t depth) {
  halo_depth_ = depth;
  const std::int64_t ny = problem_.ny;
  const Rows rows = rows_of_level(0, depth);
  const auto save = [&](std::int64_t y, std::int64_t place) {
    const std::int64_t source = ((y % ny) + ny) % ny;
    std::copy_n(field.row(source), problem_.nx, halo_rows_.data() + place * problem_.nx);
  };
  for (std::int64_t y = rows.begin; y < first_; ++y) {
    save(y, y - (first_ - depth));
  }
  for (std::int64_t y = last_; y < rows.end; ++y) {
    save(y, depth + y - last_);
  }
}

template <typename T>
const T* Band<T>::old_row(const Field<T>& field, std::int64_t y) const {
  if (y < first_) {
    return halo_rows_.data() + (y - (first_ - halo_depth_)) * problem_.nx;
  }
  if (y >= last_) {
    return halo_rows_.data() + (halo_depth_ + y - last_) * problem_.nx;
  }
  return field.row(y);
}

template <typename T>
void Band<T>::sweep(Field<T>& field, std::int64_t depth) {
  for (Strip& strip : strips_) {
    sweep_strip(field, strip, depth);
  }
}

template <typename T>
void Band<T>::sweep_strip(Field<T>& field, Strip& strip, std::int64_t depth) {
  const Rows input = rows_of_level(0, depth);
  const std::int64_t blocks = (last_ - input.begin + depth + block_rows - 1) / block_rows;
  Places places{.first = 0, .count = depth + 1};
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t first_row = input.begin + block * block_rows;
    for (std::int64_t row = 0; row < block_rows; ++row) {
      const std::int64_t y = first_row + row;
      if (y < input.end) {
        load_row(field, strip, y, level_row(0, row, places));
      }
    }
    for (std::int64_t level = 1; level <= depth; ++level) {
      const Rows rows = rows_of_level(level, depth);
      const std::int64_t y = first_row - level;
      if (y + block_rows > rows.begin && y < rows.end) {
        advance_block(strip, level, places, y);
      }
    }
    for (std::int64_t row = 0; row < block_rows; ++row) {
      const std::int64_t y = first_row - depth + row;
      if (y >= first_ && y < last_) {
        strip.copier.store(level_row(depth, row, places), field.row(y) + strip.columns.begin);
      }
    }
    places.first = (places.first > 0 ? places.first : places.count) - 1;
  }
}

// Rows first_row ... of `level` from the level below. Rows of a block that lie outside the level
// are computed from whatever is there and never used.
template <typename T>
void Band<T>::advance_block(const Strip& strip, std::int64_t level, const Places& places,
                            std::int64_t first_row) {
  const T* in[block_rows + 2];
  T* out[block_rows];
  in[0] = level_row(level, block_rows - 2, places); // held the level below, a block ago
  in[1] = level_row(level, block_rows - 1, places);
  for (std::int64_t row = 0; row < block_rows; ++row) {
    in[row + 2] = level_row(level - 1, row, places);
    out[row] = level_row(level, row, places);
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
  kernels_->advance(in, out, strip.shape, factor_);
}

// Row y of the field in its old state, with halos; keeps for the strips to come what this one will
// overwrite.
template <typename T>
void Band<T>::load_row(const Field<T>& field, Strip& strip, std::int64_t y, T* row) {
  const T* old = old_row(field, y);
  const std::int64_t halo = plan_.halo;
  const Columns& columns = strip.columns;
  const bool in_band = y >= first_ && y < last_;
  const bool first = columns.begin == 0;
  const bool last = columns.end == problem_.nx;
  const T* left = old + (first ? problem_.nx : columns.begin) - halo;
  if (in_band && !first) {
    left = left_columns_.data() + (y - first_) * halo;
  }
  const T* right = old + (last ? 0 : columns.end);
  if (in_band && last && !first) {
    right = wrap_columns_.data() + (y - first_) * halo;
  }
  strip.copier.load(left, old + columns.begin, right, row);
  if (in_band && plan_.strips > 1) {
    if (first) {
      std::copy_n(old, halo, wrap_columns_.data() + (y - first_) * halo);
    }
    std::copy_n(old + columns.end - halo, halo, left_columns_.data() + (y - first_) * halo);
  }
}

template class Band<float>;
template class Band<double>;

} // namespace diffbench::simd
