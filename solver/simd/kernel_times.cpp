// SPDX-License-Identifier: Apache-2.0
#include "simd/kernel_times.hpp"

#include "diffbench/build_stamp.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/line_cache.hpp"
#include "diffbench/machine.hpp"
#include "diffbench/stopwatch.hpp"
#include "simd/band.hpp"
#include "simd/resident.hpp"
#include "simd/underflow.hpp"

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

// A field of so many vectors and rows, with ends that meet nobody.
template <typename T>
Problem problem_of(const RowKernels<T>& kernels, std::int64_t vectors, std::int64_t rows) {
  return {.nx = vectors * kernels.lanes,
          .ny = rows,
          .boundary = Boundary::neumann,
          .dtype = dtype_of<T>};
}

template <typename T>
double sweep_ns(const RowKernels<T>& kernels, std::int64_t vectors, std::int64_t rows,
                std::int64_t depth) {
  const Problem problem = problem_of(kernels, vectors, rows);
  Field<T> field(problem.nx, problem.ny);
  Band<T> band(problem, {.depth = depth, .strip_width = problem.nx}, kernels, 0, rows);
  return lowest_ns([&] { band.sweep(field, depth); });
}

// What the rows hold: in `front`, one lane of each vector is denormal, as where a field spreads
// into zeros.
enum class Rows { ordinary, front };

// A call of a kernel, its rows in L1.
template <typename T>
double kernel_ns(const RowKernels<T>& kernels, typename RowKernels<T>::Advance advance,
                 std::int64_t vectors, Rows content, Form form = Form::natural) {
  const RowShape<T> shape = shape_of<T>(
      problem_of(kernels, vectors, 3), {.begin = 0, .end = vectors * kernels.lanes}, kernels.lanes);
  const std::int64_t stride = row_stride<T>(vectors, kernels.lanes);
  AlignedArray<T> rows((2 * block_rows + 2) * stride);
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const bool denormal = content == Rows::front && i % kernels.lanes == 0;
    const T unit = denormal ? 1000 * std::numeric_limits<T>::denorm_min() : T{1};
    rows[i] = unit * static_cast<T>(1 + i % 7);
  }
  if (form == Form::scaled) {
    (void)to_scaled<T>({rows.data(), static_cast<std::size_t>(rows.size())}, rows.data());
  }
  const T* in[block_rows + 2];
  T* out[block_rows];
  for (std::int64_t i = 0; i < block_rows + 2; ++i) {
    in[i] = rows.data() + i * stride + kernels.lanes;
  }
  for (std::int64_t i = 0; i < block_rows; ++i) {
    out[i] = rows.data() + (block_rows + 2 + i) * stride + kernels.lanes;
  }
  const FlushToZero flush(form);
  return lowest_ns([&] { advance(in, out, shape, T{0.125}); });
}

// A chain of additions, each of which waits for the one before and takes a cycle. Of a number in a
// register: Golden Cove and later add constants while they rename, several in a cycle.
double clock_ghz() {
  constexpr int links = 1000;
  return links / lowest_ns([] {
           std::uint64_t sum = 0;
           std::uint64_t three = 3;
           asm volatile("" : "+r"(three));
           for (int i = 0; i < links; i += 4) {
             for (int k = 0; k < 4; ++k) {
               asm volatile("" : "+r"(sum));
               sum += three;
             }
           }
           asm volatile("" : "+r"(sum));
         });
}

template <typename T>
double resident_ns(const RowKernels<T>& kernels, std::int64_t vectors, std::int64_t rows) {
  Resident<T> field(problem_of(kernels, vectors, rows), kernels);
  return lowest_ns([&] { field.advance(2); }) / 2;
}

template <typename T>
double copy_ns(const RowKernels<T>& kernels, std::int64_t vectors) {
  const Problem problem = problem_of(kernels, vectors, 3);
  const Columns columns{.begin = 0, .end = problem.nx};
  const RowShape<T> shape = shape_of<T>(problem, columns, kernels.lanes);
  RowCopier<T> copier(kernels, shape, columns);
  AlignedArray<T> natural(problem.nx);
  AlignedArray<T> row(row_stride<T>(vectors, kernels.lanes));
  return lowest_ns([&] {
    copier.load(natural.data(), natural.data(), natural.data(), row.data() + kernels.lanes);
    copier.store(row.data() + kernels.lanes, natural.data());
  });
}

std::string text_of(const KernelTimes& times) {
  std::ostringstream text;
  text << "build " << build_stamp() << ' ' << times.call << ' ' << times.vector_l1 << ' '
       << times.vector_l2 << ' ' << times.row << ' ' << times.copy << ' ' << times.resident_call
       << ' ' << times.resident_vector << ' ' << times.clock_ghz << ' ' << times.front << ' '
       << times.hasty << ' ' << times.careful;
  return text.str();
}

// Nothing when it is no text of text_of and this build, or has times that no kernel takes.
std::optional<KernelTimes> times_of(const std::string& text) {
  KernelTimes times;
  std::string build;
  std::string stamp;
  std::istringstream words(text);
  words >> build >> stamp >> times.call >> times.vector_l1 >> times.vector_l2 >> times.row >>
      times.copy >> times.resident_call >> times.resident_vector >> times.clock_ghz >>
      times.front >> times.hasty >> times.careful;
  if (words.fail() || !(words >> std::ws).eof() || build != "build" || stamp != build_stamp()) {
    return std::nullopt;
  }
  const double vectors[] = {times.vector_l1, times.vector_l2, times.copy,  times.resident_vector,
                            times.clock_ghz, times.front,     times.hasty, times.careful};
  const double calls[] = {times.call, times.row, times.resident_call};
  const bool sound = std::ranges::all_of(vectors, [](double ns) { return ns > 0 && ns < 1e3; }) &&
                     std::ranges::all_of(calls, [](double ns) { return ns >= 0 && ns < 1e4; });
  return sound ? std::optional(times) : std::nullopt;
}

} // namespace

// A sweep of r rows of m vectors and depth d takes d (r + block_rows) / block_rows calls, each of
// call + block_rows m vector, and r row + r m copy: as step_ns has it.
template <typename T>
KernelTimes measure_kernel_times(const RowKernels<T>& kernels) {
  constexpr std::int64_t few = 4;
  constexpr std::int64_t many = 24;
  constexpr std::int64_t rows = 64;
  constexpr std::int64_t shallow = 4;
  constexpr std::int64_t deep = 16;
  constexpr double calls = static_cast<double>(rows) / block_rows + 1; // a step
  // Noise must not make a difference of two times a time that no kernel takes.
  const auto positive = [](double ns) { return std::max(0.01, ns); };

  KernelTimes times;
  const double short_copy = copy_ns(kernels, few);
  times.copy = positive(copy_ns(kernels, many) - short_copy) / (many - few);
  times.row = positive(short_copy - few * times.copy);

  const double short_rows = sweep_ns(kernels, few, rows, shallow);
  const double long_rows = sweep_ns(kernels, many, rows, shallow);
  const auto vector_of = [&](auto advance, Rows content, Form form = Form::natural) {
    return positive(kernel_ns<T>(kernels, advance, many, content, form) -
                    kernel_ns<T>(kernels, advance, few, content, form)) /
           (block_rows * (many - few));
  };
  times.vector_l1 = vector_of(kernels.advance, Rows::ordinary);
  if (has_underflow_flag) {
    times.front = vector_of(kernels.advance, Rows::front);
    times.hasty = vector_of(kernels.advance_hasty, Rows::ordinary, Form::scaled);
    times.careful = vector_of(kernels.advance_careful, Rows::front, Form::scaled);
  }
  times.clock_ghz = clock_ghz();
  const auto call_of = [&](std::int64_t vectors, double shallow_ns) {
    return (sweep_ns(kernels, vectors, rows, deep) - shallow_ns) / (calls * (deep - shallow));
  };
  times.call = positive(call_of(few, short_rows) - block_rows * few * times.vector_l1);
  times.vector_l2 =
      std::max(times.vector_l1, (call_of(many, long_rows) - times.call) / (block_rows * many));

  constexpr double blocks = static_cast<double>(rows) / block_rows;
  times.resident_call = positive(resident_ns(kernels, few, rows / 4) / (blocks / 4) -
                                 block_rows * few * times.vector_l1);
  times.resident_vector =
      std::max(times.vector_l1, (resident_ns(kernels, many, rows) / blocks - times.resident_call) /
                                    (block_rows * many));
  return times;
}

template <typename T>
KnownTimes find_kernel_times(const RowKernels<T>& kernels, std::string_view name,
                             const LineCache& cache) {
  // Each program that has the solver keeps its own: two in turn would measure anew each time, and
  // choose differently by what else the machine did.
  const std::string key = cpu_model() + "; " + std::string(name) + "; " +
                          std::string(to_string(dtype_of<T>)) + "; " + build_stamp();
  if (const auto kept = times_of(cache.find(key).value_or(""))) {
    return {*kept, "cached"};
  }
  KnownTimes found{measure_kernel_times(kernels), "measured"};
  const std::string text = text_of(found.times);
  found.times = times_of(text).value_or(found.times); // to the digits that later runs read
  try {
    cache.store(key, text);
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
