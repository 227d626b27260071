#include "simd/band.hpp"

#include <algorithm>

namespace diffbench::simd {

namespace {

constexpr std::int64_t line = array_alignment;
constexpr std::int64_t scratch_rows = block_rows - 2; // of a block, see fresh_row

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Ends ends_of(Boundary boundary) {
  switch (boundary) {
    case Boundary::periodic: return Ends::wrap;
    case Boundary::dirichlet: return Ends::constant;
    case Boundary::neumann: return Ends::edge;
  }
  return Ends::wrap;
}

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
  // A row has a cache line of padding in front and two behind; an odd number of lines keeps rows
  // from falling into the same cache sets.
  const std::int64_t per_line = line / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t widest = std::min(problem.nx, plan.strip_width) + 2 * plan.halo;
  row_stride_ = ((round_up(widest, per_line) / per_line + 3) | 1) * per_line;
  const std::int64_t row_count = 2 * scratch_rows + 4 * (plan.depth + 1) + 1;
  levels_ = AlignedArray<T>(row_count * row_stride_);
  constant_row_ = levels_.data() + (row_count - 1) * row_stride_ + per_line;
  std::fill_n(constant_row_, row_stride_ - per_line, static_cast<T>(problem.boundary_value));
}

// The last two rows of a level's block are needed again by the next block of the level above, so
// they have places of their own, two blocks in turn; the others are scratch that two levels in turn
// share, small enough to stay in the L1 cache.
template <typename T>
T* Band<T>::fresh_row(std::int64_t level, std::int64_t block, std::int64_t row) {
  const std::int64_t index =
      row < scratch_rows ? (level % 2) * scratch_rows + row
                         : 2 * scratch_rows + 4 * level + 2 * (block % 2) + row - scratch_rows;
  return levels_.data() + index * row_stride_ + line / static_cast<std::int64_t>(sizeof(T));
}

template <typename T>
typename Band<T>::Strip Band<T>::strip(std::int64_t index) const {
  Strip strip{};
  strip.begin = index * plan_.strip_width;
  strip.end = std::min(problem_.nx, strip.begin + plan_.strip_width);
  const bool wraps = problem_.boundary == Boundary::periodic && plan_.strips > 1;
  strip.left_halo = index > 0 || wraps ? plan_.halo : 0;
  strip.right_halo = index + 1 < plan_.strips || wraps ? plan_.halo : 0;
  return strip;
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
  for (std::int64_t index = 0; index < plan_.strips; ++index) {
    sweep_strip(field, strip(index), depth);
  }
}

template <typename T>
void Band<T>::sweep_strip(Field<T>& field, const Strip& strip, std::int64_t depth) {
  const Rows input = rows_of_level(0, depth);
  const std::int64_t blocks = (last_ - input.begin + depth + block_rows - 1) / block_rows;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t first_row = input.begin + block * block_rows;
    for (std::int64_t row = 0; row < block_rows; ++row) {
      const std::int64_t y = first_row + row;
      if (y < input.end) {
        load_row(field, strip, y, fresh_row(0, block, row));
      }
    }
    for (std::int64_t level = 1; level <= depth; ++level) {
      const Rows rows = rows_of_level(level, depth);
      const std::int64_t y = first_row - level;
      if (y + block_rows > rows.begin && y < rows.end) {
        advance_block(strip, level, block, y);
      }
    }
    for (std::int64_t row = 0; row < block_rows; ++row) {
      const std::int64_t y = first_row - depth + row;
      if (y >= first_ && y < last_) {
        std::copy_n(fresh_row(depth, block, row) + strip.left_halo, strip.end - strip.begin,
                    field.row(y) + strip.begin);
      }
    }
  }
}

// Rows first_row ... of `level` from the level below. Rows of a block that lie outside the level
// are computed from whatever is there and never used.
template <typename T>
void Band<T>::advance_block(const Strip& strip, std::int64_t level, std::int64_t block,
                            std::int64_t first_row) {
  const T* in[block_rows + 2];
  T* out[block_rows];
  in[0] = fresh_row(level - 1, block + 1, block_rows - 2);
  in[1] = fresh_row(level - 1, block + 1, block_rows - 1);
  for (std::int64_t row = 0; row < block_rows; ++row) {
    in[row + 2] = fresh_row(level - 1, block, row);
    out[row] = fresh_row(level, block, row);
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
  const std::int64_t vectors = (strip.cells() + kernels_->lanes - 1) / kernels_->lanes;
  kernels_->advance(in, out, vectors, factor_);
  for (T* row : out) {
    fill_ghosts(strip, row);
  }
}

template <typename T>
void Band<T>::fill_ghosts(const Strip& strip, T* row) const {
  const bool left = strip.left_halo == 0;
  const bool right = strip.right_halo == 0;
  if (left || right) {
    kernels_->fill_ghosts(row, strip.cells(), ends_of(problem_.boundary),
                          static_cast<T>(problem_.boundary_value), left, right);
  }
}

// Row y of the field in its old state, with halos; keeps for the strips to come what this one will
// overwrite.
template <typename T>
void Band<T>::load_row(const Field<T>& field, const Strip& strip, std::int64_t y, T* row) {
  const T* old = old_row(field, y);
  const std::int64_t halo = plan_.halo;
  const bool in_band = y >= first_ && y < last_;
  if (strip.left_halo > 0) {
    const T* source = old + (strip.begin > 0 ? strip.begin : problem_.nx) - halo;
    if (in_band && strip.begin > 0) {
      source = left_columns_.data() + (y - first_) * halo;
    }
    std::copy_n(source, halo, row);
  }
  std::copy_n(old + strip.begin, strip.end - strip.begin, row + strip.left_halo);
  if (strip.right_halo > 0) {
    const bool wraps = strip.end == problem_.nx;
    const T* source = old + (wraps ? 0 : strip.end);
    if (in_band && wraps) {
      source = wrap_columns_.data() + (y - first_) * halo;
    }
    std::copy_n(source, halo, row + strip.left_halo + (strip.end - strip.begin));
  }
  if (in_band && plan_.strips > 1) {
    if (strip.begin == 0) {
      std::copy_n(old, halo, wrap_columns_.data() + (y - first_) * halo);
    }
    std::copy_n(old + strip.end - halo, halo, left_columns_.data() + (y - first_) * halo);
  }
  fill_ghosts(strip, row);
}

template class Band<float>;
template class Band<double>;

} // namespace diffbench::simd
