// SPDX-License-Identifier: Apache-2.0
// diffbench_manual DIR: writes the man pages and the completions of bash and zsh below DIR, from
// what the program declares. A part of the build, not of what is installed.
#include "completion.hpp"
#include "man_page.hpp"
#include "output.hpp"
#include "verbs.hpp"

#include <filesystem>
#include <iostream>

namespace {

using namespace diffbench::bench;

void write_manual(const std::filesystem::path& directory) {
  const std::vector<VerbManual> manual = manual_of(program());
  for (const char* folder : {"man1", "bash", "zsh"}) {
    std::filesystem::create_directories(directory / folder);
  }
  for (const VerbManual& verb : manual) {
    write_to(std::cout, directory / "man1" / (verb.name('-') + ".1"), man_page(verb, manual));
  }
  write_to(std::cout, directory / "bash" / "diffbench", bash_completion(manual));
  write_to(std::cout, directory / "zsh" / "_diffbench", zsh_completion(manual));
}

} // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      std::cerr << "usage: diffbench_manual DIR\n";
      return exit_usage;
    }
    write_manual(argv[1]);
    return exit_ok;
  } catch (const std::exception& error) {
    std::cerr << "diffbench_manual: " << error.what() << '\n';
    return exit_error;
  }
}
