// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_head.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/text.hpp"

#include <iomanip>
#include <limits>
#include <sstream>
#include <string_view>

namespace diffbench::cluster {

namespace {

// Another number: another layout of the file. The kind of output of --checkpoint knows the words.
constexpr std::string_view facts_mark = " # diffbench checkpoint 4:";

constexpr std::int64_t longest_head = std::int64_t{64} << 10;

} // namespace

std::string checkpoint_head(const CheckpointFacts& facts) {
  const Problem& problem = facts.problem;
  std::ostringstream text;
  text << std::setprecision(std::numeric_limits<double>::max_digits10) << facts_mark << " step "
       << facts.step << " nx " << problem.nx << " ny " << problem.ny << " spacing "
       << problem.spacing << " diffusivity " << problem.diffusivity << " dt " << problem.dt
       << " boundary " << to_string(problem.boundary) << " boundary_value "
       << problem.boundary_value << " dtype " << to_string(problem.dtype) << " version "
       << std::quoted(one_line(facts.version)) << " initial "
       << std::quoted(one_line(facts.initial));
  return npy_header({.nx = problem.nx, .ny = problem.ny, .dtype = problem.dtype}, text.str());
}

CheckpointContent read_checkpoint(const ReadFile& file) {
  const std::string head = file.read(0, longest_head);
  const std::size_t begin = head.find(facts_mark);
  const std::size_t end = head.find('\n', begin);
  if (begin == head.npos || end == head.npos) {
    throw InvalidInput(
        "another version of this program wrote it: go on from it with that version, "
        "or start again");
  }
  std::istringstream text(head.substr(begin + facts_mark.size(), end - begin - facts_mark.size()));
  CheckpointContent content{.facts = {}, .cells_at = static_cast<std::int64_t>(end) + 1};
  Problem& problem = content.facts.problem;
  std::string name;
  std::string boundary;
  std::string dtype;
  text >> name >> content.facts.step >> name >> problem.nx >> name >> problem.ny >> name >>
      problem.spacing >> name >> problem.diffusivity >> name >> problem.dt >> name >> boundary >>
      name >> problem.boundary_value >> name >> dtype >> name >>
      std::quoted(content.facts.version) >> name >> std::quoted(content.facts.initial);
  problem.boundary = boundary_names.parse(printable(boundary));
  problem.dtype = dtype_names.parse(printable(dtype));
  validate(problem, Stability::waived);
  if (!text || content.facts.step < 0 ||
      checkpoint_head(content.facts) != head.substr(0, end + 1) ||
      content.cells_at + problem.field_bytes() + seal_bytes != file.bytes()) {
    throw InvalidInput("what it says of its field is not what this program writes");
  }
  return content;
}

} // namespace diffbench::cluster
