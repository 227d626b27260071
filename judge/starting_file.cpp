// SPDX-License-Identifier: Apache-2.0
#include "starting_file.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/text.hpp"
#include "submission.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diffbench::bench {

namespace {

struct StartingFile {
  std::string_view name;
  Language language;
  std::string_view head;
  std::string_view middle = {}, tail = {};
};

constexpr std::string_view cuda_step =
    R"(__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) {
    return;
  }
  const int left = (x + nx - 1) % nx, right = (x + 1) % nx;
  const int up = (y + ny - 1) % ny, down = (y + 1) % ny;
  const float lap = u[up * nx + x] + u[down * nx + x] + u[y * nx + left] + u[y * nx + right] -
                    4 * u[y * nx + x];
  out[y * nx + x] = u[y * nx + x] + factor * lap;
}
)";

constexpr StartingFile starting_files[] = {
    {"cuda", Language::cuda,
     R"(// A first port to CUDA: all steps on the GPU, from an array of the host to another one.
//   diffbench try FILE
#include <cuda_runtime.h>

)",
     cuda_step, R"(
void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  const size_t bytes = sizeof(float) * nx * ny;
  float *now, *next;
  cudaMalloc(&now, bytes);
  cudaMalloc(&next, bytes);
  cudaMemcpy(now, in, bytes, cudaMemcpyHostToDevice);
  const dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
  for (int k = 0; k < steps; ++k) {
    step<<<grid, block>>>(now, next, nx, ny, factor);
    float* const old = now;
    now = next;
    next = old;
  }
  cudaMemcpy(out, now, bytes, cudaMemcpyDeviceToHost);
  cudaFree(now);
  cudaFree(next);
}
)"},
    {"cuda-kernel", Language::cuda,
     R"(// One step as a kernel; diffbench allocates, launches, copies and swaps.
//   diffbench try FILE
)",
     cuda_step},
    {"cpp", Language::cpp, R"(// One step; diffbench calls it once a step and swaps the arrays.
//   diffbench try FILE
// Cell (x, y) is u[y * nx + x]; beyond an edge comes the opposite one.
template <typename T>
static void step_of(const T* u, T* out, int nx, int ny, T factor) {
#pragma omp parallel for
  for (int y = 0; y < ny; ++y) {
    const T* up = u + (y + ny - 1) % ny * nx;
    const T* row = u + y * nx;
    const T* down = u + (y + 1) % ny * nx;
    const auto cell = [=](int left, int x, int right) {
      const T lap = up[x] + down[x] + row[left] + row[right] - 4 * row[x];
      out[y * nx + x] = row[x] + factor * lap;
    };
    cell(nx - 1, 0, 1);
    for (int x = 1; x < nx - 1; ++x) {
      cell(x - 1, x, x + 1);
    }
    cell(nx - 2, nx - 1, 0);
  }
}

void step(const float* u, float* out, int nx, int ny, float factor) {
  step_of(u, out, nx, ny, factor);
}
void step(const double* u, double* out, int nx, int ny, double factor) {
  step_of(u, out, nx, ny, factor);
}
)"},
    {"python", Language::python, R"("""One step with NumPy: diffbench try FILE

u[y, x] is a cell, factor is dt D / h^2 in u's type, and np.roll makes the edges periodic.
"""
import numpy as np


def step(u, factor):
    lap = (np.roll(u, +1, 0) + np.roll(u, -1, 0)
           + np.roll(u, +1, 1) + np.roll(u, -1, 1) - 4 * u)
    return u + factor * lap
)"},
    {"numba", Language::python, R"("""All steps with Numba: diffbench try FILE

u[y, x] is a cell, factor is dt D / h^2 in u's type; beyond an edge comes the opposite one.
"""
import numba
import numpy as np


@numba.njit
def step(u, out, factor):
    ny, nx = u.shape
    four = u.dtype.type(4)
    for y in range(ny):
        for x in range(nx):
            lap = (u[y - 1, x] + u[(y + 1) % ny, x]
                   + u[y, x - 1] + u[y, (x + 1) % nx] - four * u[y, x])
            out[y, x] = u[y, x] + factor * lap


def solve(u, steps, factor):
    now, following = u.copy(), np.empty_like(u)
    for _ in range(steps):
        step(now, following, factor)
        now, following = following, now
    return now
)"},
};

} // namespace

std::vector<std::string> starting_kinds() { return names_in(starting_files); }

void write_starting_file(std::string_view kind, const std::filesystem::path& path) {
  const auto* file = std::ranges::find(starting_files, kind, &StartingFile::name);
  if (file == std::end(starting_files)) {
    throw unknown_name("kind of file", kind, starting_kinds());
  }
  if (known_language(path) != file->language) {
    throw InvalidInput(fmt::format(
        "--new {} writes {}: {} would be taken for another language; the "
        "name is to end with {}",
        kind, to_string(file->language), path.filename().string(), usual_ending(file->language)));
  }
  write_new_file(path, fmt::format("{}{}{}", file->head, file->middle, file->tail));
}

void write_new_file(const std::filesystem::path& path, std::string text) {
  if (std::filesystem::exists(path)) {
    throw InvalidInput(fmt::format("{} is there already; choose another name", path.string()));
  }
  const std::string_view place = "diffbench try FILE";
  text.replace(text.find(place), place.size(),
               fmt::format("diffbench try {}", one_line(path.filename().string())));
  write_atomically(path, [&](std::ostream& out) { out << text; });
}

} // namespace diffbench::bench
