// SPDX-License-Identifier: Apache-2.0
#include "simd/resident.hpp"

#include <algorithm>

namespace diffbench::simd {

namespace {

// So many that looking for the flag takes no part of the time that counts.
std::size_t calls_of_a_front(std::int64_t vectors) {
  constexpr std::int64_t enough_vectors = 32; // of each row of a call, about 100 ns in all
  return static_cast<std::size_t>(std::max<std::int64_t>(1, enough_vectors / vectors));
}

} // namespace

// Behind the rows of both copies: the row beyond a Dirichlet edge, and one for rows that a block
// has and the field has not.
template <typename T>
Resident<T>::Resident(const Problem& problem, const RowKernels<T>& kernels, Form form)
    : problem_(problem),
      kernels_(&kernels),
      shape_(shape_of<T>(problem, {.begin = 0, .end = problem.nx}, kernels.lanes, form)),
      copier_(kernels, shape_, {.begin = 0, .end = problem.nx}),
      stride_(row_stride<T>(shape_.vectors, kernels.lanes)),
      rows_((2 * problem.ny + 2) * stride_),
      form_(form),
      front_calls_(calls_of_a_front(shape_.vectors)) {
  std::fill_n(rows_.data() + 2 * problem.ny * stride_, stride_, boundary_cell<T>(problem, form));
  for (int copy = 0; copy < 2; ++copy) {
    for (std::int64_t begin = 0; begin < problem.ny; begin += block_rows) {
      // The last block overlaps the one before, whose rows it computes again.
      const std::int64_t first =
          std::max<std::int64_t>(0, std::min(begin, problem.ny - block_rows));
      Call call{};
      for (std::int64_t i = 0; i < block_rows + 2; ++i) {
        call.in[static_cast<std::size_t>(i)] = input(copy, first - 1 + i);
      }
      for (std::int64_t i = 0; i < block_rows; ++i) {
        const std::int64_t y = first + i;
        call.out[static_cast<std::size_t>(i)] =
            y < problem.ny ? row(1 - copy, y) : row(1, problem.ny + 1);
      }
      calls_[static_cast<std::size_t>(copy)].push_back(call);
    }
  }
  fronts_.resize((calls_[0].size() + front_calls_ - 1) / front_calls_);
}

template <typename T>
T* Resident<T>::row(int copy, std::int64_t y) {
  return rows_.data() + (copy * problem_.ny + y) * stride_ + kernels_->lanes;
}

template <typename T>
const T* Resident<T>::input(int copy, std::int64_t y) {
  const std::int64_t ny = problem_.ny;
  if (y >= 0 && y < ny) {
    return row(copy, y);
  }
  if (y > ny) {
    return row(1, ny + 1);
  }
  switch (problem_.boundary) {
    case Boundary::dirichlet: return row(1, ny);
    case Boundary::neumann: return row(copy, y < 0 ? 0 : ny - 1);
    case Boundary::periodic: break;
  }
  return row(copy, y < 0 ? ny - 1 : 0);
}

template <typename T>
void Resident<T>::upload_rows(std::int64_t first, std::span<const T> cells) {
  const std::int64_t rows = std::ssize(cells) / problem_.nx;
  for (std::int64_t y = 0; y < rows; ++y) {
    copier_.load(nullptr, cells.data() + y * problem_.nx, nullptr, row(now_, first + y));
  }
}

template <typename T>
void Resident<T>::advance(std::int64_t steps) {
  const T factor = problem_.update_factor<T>();
  const FlushToZero flush(form_);
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::span<const Call> calls = calls_[static_cast<std::size_t>(now_)];
    const auto run = [&](std::span<const Call> some, typename RowKernels<T>::Advance advance) {
      for (const Call& call : some) {
        advance(call.in.data(), call.out.data(), shape_, factor);
      }
    };
    if (form_ == Form::natural) {
      run(calls, kernels_->advance);
    } else {
      for (std::size_t i = 0; i < fronts_.size(); ++i) {
        const std::size_t first = i * front_calls_;
        const auto some = calls.subspan(first, std::min(front_calls_, calls.size() - first));
        fronts_[i].run(*kernels_, [&](auto advance) { run(some, advance); });
      }
    }
    now_ = 1 - now_;
  }
}

template <typename T>
void Resident<T>::download_rows(std::int64_t first, std::span<T> cells) {
  const std::int64_t rows = std::ssize(cells) / problem_.nx;
  for (std::int64_t y = 0; y < rows; ++y) {
    copier_.store(row(now_, first + y), cells.data() + y * problem_.nx);
  }
}

template class Resident<float>;
template class Resident<double>;

} // namespace diffbench::simd
