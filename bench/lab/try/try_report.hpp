// What `diffbench try` says.
#pragma once

#include "asked_of_card.hpp"
#include "judgement.hpp"
#include "lab_report.hpp"
#include "result.hpp"
#include "submission.hpp"

#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

struct Trial {
  std::string file;
  Submission submission;
  std::vector<Judgement> judgements; ///< by dtype, one at least
  std::optional<ComparisonResult> timing;
  std::optional<AskedOfCard> asked; ///< of --assume
};

[[nodiscard]] LabReport try_report(const Trial& trial);
[[nodiscard]] Value judgement_json(const Judgement& judgement);
/// In one line: "wrong: the edges are not wrapped: ...".
[[nodiscard]] std::string verdict_line(const Judgement& judgement);

} // namespace diffbench::bench
