// SPDX-License-Identifier: Apache-2.0
// sample_checkpoint write FILE DTYPE   writes the checkpoint of checkpoint_case.hpp, 5 by 3 cells
// sample_checkpoint read FILE          prints facts that h5py has edited
#include "diffbench/cluster/module.hpp"

#include "checkpoint_case.hpp"
#include "checkpoint_seal.hpp"

#include <iostream>
#include <string_view>

int main(int count, char** arguments) {
  using namespace diffbench;
  using namespace diffbench::cluster;
  try {
    const auto files = load_module("hdf5").checkpoint_files();
    if (count == 4 && arguments[1] == std::string_view("write")) {
      const CheckpointFacts facts = sample_facts(dtype_names.parse(arguments[3]), 5, 3);
      write_sample(*files, arguments[2], facts);
      return 0;
    }
    if (count == 3 && arguments[1] == std::string_view("read")) {
      const CheckpointFacts facts = files->read(ReadFile(arguments[2]).descriptor()).facts;
      std::cout << facts.step << ' ' << facts.problem.dt << ' ' << to_string(facts.problem.boundary)
                << '\n';
      return 0;
    }
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
  }
  return 1;
}
