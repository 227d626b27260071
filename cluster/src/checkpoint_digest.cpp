// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_digest.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string>

namespace diffbench::cluster {

namespace {

/// Its bits, in hexadecimal digits.
std::string bits_text(double value) {
  std::array<char, 16> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          std::bit_cast<std::uint64_t>(value), 16);
  return {digits.data(), end};
}

} // namespace

FieldDigest checkpoint_digest(const CheckpointFacts& facts, const FieldDigest& cells) {
  const Problem& problem = facts.problem;
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += std::string(name) + " " + value + "\n";
  };
  line("step", std::to_string(facts.step));
  line("nx", std::to_string(problem.nx));
  line("ny", std::to_string(problem.ny));
  line("spacing", bits_text(problem.spacing));
  line("diffusivity", bits_text(problem.diffusivity));
  line("dt", bits_text(problem.dt));
  line("boundary", std::string(to_string(problem.boundary)));
  line("boundary_value", bits_text(problem.boundary_value));
  line("dtype", std::string(to_string(problem.dtype)));
  line("initial", facts.initial);
  line("version", facts.version);
  FieldDigest digest = cells;
  digest += digest_of_bytes(8 * problem.cells(), text);
  return digest;
}

} // namespace diffbench::cluster
