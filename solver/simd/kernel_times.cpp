#include "simd/kernel_times.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/line_cache.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "simd/strided_row.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

namespace diffbench::simd {

namespace {

// Nanoseconds of one call: the lowest of several batches of some 20 us.
template <typename Call>
double lowest_ns(Call&& call) {
  constexpr int batches = 12;
  constexpr double batch_seconds = 2e-5;
  double lowest = std::numeric_limits<double>::infinity();
  std::int64_t calls = 1;
  for (int batch = 0; batch < batches;) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < calls; ++i) {
      call();
    }
    const double seconds = watch.seconds();
    if (seconds < batch_seconds / 2) {
      calls *= 2;
    } else {
      lowest = std::min(lowest, seconds / static_cast<double>(calls));
      ++batch;
    }
  }
  return 1e9 * lowest;
}

// Rows of so many vectors, `count` of them, with wrapping ends.
template <typename T>
struct Rows {
  Rows(const RowKernels<T>& kernels, std::int64_t vectors, std::int64_t count)
      : problem{.nx = vectors * kernels.lanes, .ny = count, .dtype = dtype_of<T>},
        columns{.begin = 0, .end = problem.nx},
        shape(shape_of<T>(problem, columns, kernels.lanes)),
        stride(row_stride<T>(vectors, kernels.lanes)),
        lanes(kernels.lanes),
        memory(stride * count) {
    memory.fill(T{0.5});
  }
  T* row(std::int64_t index) { return memory.data() + index * stride + lanes; }

  Problem problem;
  Columns columns;
  RowShape<T> shape;
  std::int64_t stride;
  std::int64_t lanes;
  AlignedArray<T> memory;
};

// One call of `advance` in a cache that holds `levels` levels, in the order of a sweep.
template <typename T>
double advance_ns(const RowKernels<T>& kernels, std::int64_t vectors, std::int64_t levels) {
  constexpr std::int64_t scratch = 2 * (block_rows - 2);
  Rows<T> rows(kernels, vectors, scratch + 2 * (levels + 1));
  std::int64_t level = 0;
  return lowest_ns([&] {
    const std::int64_t above = scratch + 2 * ((level + 1) % (levels + 1));
    const std::int64_t below = scratch + 2 * level;
    const std::int64_t here = level % 2 * (block_rows - 2);
    const std::int64_t there = (level + 1) % 2 * (block_rows - 2);
    const T* in[block_rows + 2] = {rows.row(above),    rows.row(above + 1), rows.row(here),
                                   rows.row(here + 1), rows.row(below),     rows.row(below + 1)};
    T* out[block_rows] = {rows.row(there), rows.row(there + 1), rows.row(above),
                          rows.row(above + 1)};
    kernels.advance(in, out, rows.shape, T{0.125});
    level = (level + 1) % (levels + 1);
  });
}

// One call on rows of its own, of a field that fills half of a small L2.
template <typename T>
double far_ns(const RowKernels<T>& kernels, std::int64_t vectors) {
  constexpr std::int64_t bytes = 256 << 10;
  const std::int64_t stride = row_stride<T>(vectors, kernels.lanes);
  const std::int64_t blocks =
      bytes / (2 * block_rows * stride * static_cast<std::int64_t>(sizeof(T)));
  Rows<T> rows(kernels, vectors, 2 * block_rows * blocks + 2);
  std::int64_t block = 0;
  return lowest_ns([&] {
    const T* in[block_rows + 2];
    T* out[block_rows];
    for (std::int64_t i = 0; i < block_rows + 2; ++i) {
      in[i] = rows.row(block * block_rows + i);
    }
    for (std::int64_t i = 0; i < block_rows; ++i) {
      out[i] = rows.row((blocks + block) * block_rows + 2 + i);
    }
    kernels.advance(in, out, rows.shape, T{0.125});
    block = (block + 1) % blocks;
  });
}

template <typename T>
double copy_ns(const RowKernels<T>& kernels, std::int64_t vectors) {
  Rows<T> rows(kernels, vectors, 1);
  RowCopier<T> copier(kernels, rows.shape, rows.columns);
  AlignedArray<T> natural(rows.problem.nx);
  return lowest_ns([&] {
    copier.load(natural.data(), natural.data(), natural.data(), rows.row(0));
    copier.store(rows.row(0), natural.data());
  });
}

// Of the program that runs: another build has another one.
std::string build_stamp() {
  struct stat file {};
  std::ostringstream stamp;
  if (stat("/proc/self/exe", &file) == 0) {
    stamp << file.st_size << '-' << file.st_mtim.tv_sec << '-' << file.st_mtim.tv_nsec;
  }
  return stamp.str();
}

std::string text_of(const KernelTimes& times) {
  std::ostringstream text;
  text << "build " << build_stamp() << ' ' << times.vector_l1 << ' ' << times.vector_l2 << ' '
       << times.vector_far << ' ' << times.call << ' ' << times.copy << ' ' << times.row;
  return text.str();
}

// Nothing when it is no text of text_of and this build, or has times that no kernel takes.
std::optional<KernelTimes> times_of(const std::string& text) {
  KernelTimes times;
  std::string build;
  std::string stamp;
  std::istringstream words(text);
  words >> build >> stamp >> times.vector_l1 >> times.vector_l2 >> times.vector_far >> times.call >>
      times.copy >> times.row;
  if (words.fail() || !(words >> std::ws).eof() || build != "build" || stamp != build_stamp()) {
    return std::nullopt;
  }
  const double vectors[] = {times.vector_l1, times.vector_l2, times.vector_far, times.copy};
  const double calls[] = {times.call, times.row};
  const bool sound = std::ranges::all_of(vectors, [](double ns) { return ns > 0 && ns < 1e3; }) &&
                     std::ranges::all_of(calls, [](double ns) { return ns >= 0 && ns < 1e4; });
  return sound ? std::optional(times) : std::nullopt;
}

} // namespace

template <typename T>
KernelTimes measure_kernel_times(const RowKernels<T>& kernels) {
  constexpr std::int64_t few = 4;
  constexpr std::int64_t many = 24;
  const auto per_vector = [](double all, double some) {
    return std::max(0.0, all - some) / static_cast<double>(many - few);
  };
  const double short_call = advance_ns(kernels, few, 3);
  const double long_call = advance_ns(kernels, many, 3);
  const double deep_call = advance_ns(kernels, many, 32);
  const double far_call = far_ns(kernels, many);
  const double short_copy = copy_ns(kernels, few);
  const double long_copy = copy_ns(kernels, many);
  KernelTimes times;
  times.vector_l1 = per_vector(long_call, short_call) / block_rows;
  times.call = std::max(0.0, short_call - few * block_rows * times.vector_l1);
  const auto vector = [&](double call) {
    return std::max(times.vector_l1, (call - times.call) / (many * block_rows));
  };
  times.vector_l2 = vector(deep_call);
  times.vector_far = std::max(times.vector_l2, vector(far_call));
  times.copy = per_vector(long_copy, short_copy);
  times.row = std::max(0.0, short_copy - few * times.copy);
  return times;
}

template <typename T>
KnownTimes find_kernel_times(const RowKernels<T>& kernels, std::string_view name,
                             const LineCache& cache) {
  const std::string key =
      cpu_model() + "; " + std::string(name) + "; " + std::string(to_string(dtype_of<T>));
  if (const auto kept = times_of(cache.find(key).value_or(""))) {
    return {*kept, "cached"};
  }
  KnownTimes found{measure_kernel_times(kernels), "measured"};
  try {
    cache.store(key, text_of(found.times));
  } catch (const Error& error) {
    found.source += std::string(", not kept: ") + error.what();
  }
  return found;
}

template <typename T>
const KnownTimes& known_times(const RowKernels<T>& kernels, std::string_view name) {
  static std::mutex mutex;                                     // sessions may be made side by side
  static std::map<std::string, KnownTimes, std::less<>> known; // by instruction set
  const std::lock_guard lock(mutex);
  auto found = known.find(name);
  if (found == known.end()) {
    const LineCache cache = LineCache::standard("simd-kernels");
    found = known.emplace(name, find_kernel_times(kernels, name, cache)).first;
  }
  return found->second;
}

template KernelTimes measure_kernel_times<float>(const RowKernels<float>&);
template KernelTimes measure_kernel_times<double>(const RowKernels<double>&);
template KnownTimes find_kernel_times<float>(const RowKernels<float>&, std::string_view,
                                             const LineCache&);
template KnownTimes find_kernel_times<double>(const RowKernels<double>&, std::string_view,
                                              const LineCache&);
template const KnownTimes& known_times<float>(const RowKernels<float>&, std::string_view);
template const KnownTimes& known_times<double>(const RowKernels<double>&, std::string_view);

} // namespace diffbench::simd
