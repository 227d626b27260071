// SPDX-License-Identifier: Apache-2.0
// write_inputs reference|npy DIR: writes what numpy_golden.py reads, by our own write_npy.
// `reference`: the initial field of each case, and cases.csv, from which NumPy takes the
// parameters.
#include "cases.hpp"
#include "hashed_field.hpp"

#include "diffbench/npy.hpp"

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <string_view>

namespace {

using namespace diffbench;

template <typename T>
void write_cases(const std::filesystem::path& directory, std::ostream& table) {
  for (const Boundary boundary : golden::boundaries) {
    const Problem problem = golden::problem_of(dtype_of<T>, boundary);
    for (const InitialField::Kind kind : golden::initial_kinds) {
      const std::string name = golden::case_name(kind, problem);
      Field<T> field(problem.nx, problem.ny);
      fill_initial(problem, golden::initial_of(kind), field);
      write_npy(directory / (name + ".npy"), field);
      table << name << ',' << to_string(problem.dtype) << ',' << to_string(boundary) << ','
            << problem.boundary_value << ',' << problem.dt << ',' << problem.diffusivity << ','
            << problem.spacing << ',';
      for (const int steps : golden::steps_of(boundary)) {
        table << steps << ' ';
      }
      table << '\n';
    }
  }
}

void write_reference_inputs(const std::filesystem::path& directory) {
  std::ofstream table(directory / "cases.csv");
  table.exceptions(std::ios::failbit | std::ios::badbit);
  table.precision(std::numeric_limits<double>::max_digits10);
  table << "name,dtype,boundary,boundary_value,dt,diffusivity,spacing,steps\n";
  write_cases<float>(directory, table);
  write_cases<double>(directory, table);
  table.close();
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: write_inputs reference|npy DIR\n";
    return 2;
  }
  try {
    const std::filesystem::path directory = argv[2];
    std::filesystem::create_directories(directory);
    if (std::string_view(argv[1]) == "reference") {
      write_reference_inputs(directory);
    } else {
      write_npy(directory / "ours_float32.npy", golden::hashed_field<float>(7, 5));
      write_npy(directory / "ours_float64.npy", golden::hashed_field<double>(7, 5));
    }
  } catch (const std::exception& error) {
    std::cerr << "write_inputs: " << error.what() << '\n';
    return 1;
  }
}
