// SPDX-License-Identifier: Apache-2.0
// What one choice of cuda_persistent and cuda_streamed costs against another, for
// scripts/gpu-check: halos by flags and numbered, every 4, 8 and 12 steps, in 640x640; sectors
// stored whole and in halves, in 16384x16384. The shapes are fixed, for cards of 128
// multiprocessors and more; what does not run on a smaller one says why. Seconds of a step in
// float32, medians of interleaved rounds, as a JSON file. What an exchange costs is what a step at
// depth 4 takes more than one at depth 8, times 8; in a few tiles of four warps that is hardly more
// than the way of a flag, or of a packet.
#include "tile_session.hpp"

#include "diffbench/backend.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/gpu/device.hpp"
#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

using diffbench::Problem;
using diffbench::Session;
using diffbench::kernels::TileKernel;
using diffbench::kernels::TilePlan;

constexpr int rounds = 7; // and one before that does not count

struct Shape {
  TilePlan plan;
  std::unique_ptr<Session<float>> session;
  std::vector<double> seconds; ///< of a step
  std::string why_not;
};

Problem square(std::int64_t side) {
  Problem problem;
  problem.nx = side;
  problem.ny = side;
  return problem;
}

void race(const Problem& problem, std::int64_t steps, std::vector<Shape>& shapes) {
  const std::vector<float> field(static_cast<std::size_t>(problem.cells()), 1.0F);
  for (Shape& shape : shapes) {
    try {
      shape.session = diffbench::kernels::make_tile_session<float>(problem, {shape.plan, "", 1e-6});
      shape.session->upload(field);
    } catch (const diffbench::Error& error) {
      shape.why_not = error.what();
    }
  }
  for (int round = 0; round <= rounds; ++round) {
    for (Shape& shape : shapes) {
      if (!shape.why_not.empty()) {
        continue;
      }
      try {
        const diffbench::Stopwatch<> watch;
        shape.session->advance(steps);
        shape.session->wait();
        if (round > 0) {
          shape.seconds.push_back(watch.seconds() / static_cast<double>(steps));
        }
      } catch (const diffbench::Error& error) {
        shape.why_not = error.what();
      }
    }
  }
}

void print(std::FILE* file, const Problem& problem, std::vector<Shape>& shapes) {
  for (Shape& shape : shapes) {
    std::fprintf(file, ",\n \"%s, %s\": ", std::to_string(problem.nx).c_str(),
                 shape.plan.describe(problem.dtype).c_str());
    if (shape.why_not.empty()) {
      std::ranges::nth_element(shape.seconds, shape.seconds.begin() + rounds / 2);
      std::fprintf(file, "%.6g", shape.seconds.at(rounds / 2));
    } else {
      std::ranges::replace(shape.why_not, '"', '\'');
      std::ranges::replace(shape.why_not, '\n', ' ');
      std::fprintf(file, "\"%s\"", shape.why_not.c_str());
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  std::FILE* const file = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
  if (file == nullptr) {
    std::fprintf(stderr, "tile_shapes: give a file that can be written\n");
    return 2;
  }
  if (const diffbench::Probe probe = diffbench::gpu::probe_device(0); !probe.available) {
    std::fprintf(stderr, "tile_shapes: %s\n", probe.reason.c_str());
    return 1;
  }
  std::vector<Shape> near;
  for (const TileKernel kernel : {TileKernel::persistent, TileKernel::numbered}) {
    near.push_back({{kernel, 16, 24, 4, 0}, {}, {}, {}});
    near.push_back({{kernel, 16, 14, 4, 0}, {}, {}, {}}); // two blocks a multiprocessor
    near.push_back({{kernel, 16, 24, 8, 0}, {}, {}, {}});
    near.push_back({{kernel, 16, 26, 12, 0}, {}, {}, {}});
  }
  Problem strip;
  strip.nx = 112; // two tiles of 56x24, or six of 48x16
  strip.ny = 24;
  std::vector<Shape> few;
  for (const TileKernel kernel : {TileKernel::persistent, TileKernel::numbered}) {
    few.push_back({{kernel, 16, 8, 4, 0}, {}, {}, {}});
    few.push_back({{kernel, 16, 8, 8, 0}, {}, {}, {}});
  }
  std::vector<Shape> far;
  for (const TileKernel kernel : {TileKernel::streamed, TileKernel::swapped}) {
    far.push_back({{kernel, 32, 8, diffbench::kernels::streamed_depth, 1093}, {}, {}, {}});
  }
  std::fprintf(file, "{\"unit\": \"seconds of a step\"");
  race(square(640), 9600, near);
  print(file, square(640), near);
  race(strip, 9600, few);
  print(file, strip, few);
  race(square(16384), 96, far);
  print(file, square(16384), far);
  std::fprintf(file, "}\n");
  return std::fclose(file) == 0 ? 0 : 1;
}
