// SPDX-License-Identifier: Apache-2.0
// What rank 0 tells the others to do, and what they answer. Both are sent as they lie in memory:
// ranks of another build have been refused (introduction.hpp).
#pragma once

#include "diffbench/cluster/field_digest.hpp"
#include "diffbench/cluster/rank_rows.hpp"
#include "diffbench/cluster/ranks.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/execution.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/problem.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace diffbench::cluster {

/// Text of a size that can be sent.
template <std::size_t Size>
struct FixedText {
  std::array<char, Size> characters{};

  FixedText() = default;
  /// Throws InvalidInput for longer text: cut, a path would name another file.
  FixedText(std::string_view text) { // NOLINT(google-explicit-constructor): it is text
    if (text.size() >= Size) {
      throw InvalidInput("'" + std::string(text.substr(0, 60)) + "...' is too long: at most " +
                         std::to_string(Size - 1) + " characters");
    }
    std::ranges::copy(text, characters.data());
  }
  [[nodiscard]] const char* c_str() const { return characters.data(); }

  /// What fits of it.
  [[nodiscard]] static FixedText beginning_of(std::string_view text) {
    return FixedText(text.substr(0, Size - 1));
  }
};

enum class CommandKind : std::int32_t {
  quit,
  make,       ///< a field: backend, problem, options, depth, gpu_aware
  try_depths, ///< of that field: finds the best depth and makes the field anew
  drop,       ///< it again
  upload,     ///< rows, from rank 0
  download,   ///< rows, to rank 0
  advance,    ///< steps
  initialise, ///< initial, seed, path
  digest,
  write_npy,       ///< path, offset of the cells in it
  save,            ///< path, and the facts
  load,            ///< from the open checkpoint; path, for messages
  open_checkpoint, ///< path
  exchange,        ///< of so many bytes so many times, and nothing else: what that takes
};

/// The facts of a checkpoint.
struct SentFacts {
  Problem problem;
  std::int64_t step = 0;
  FixedText<4096> initial;
  FixedText<80> version;
};

struct Command {
  CommandKind kind = CommandKind::quit;
  std::int32_t field = 0; ///< which one
  FixedText<64> backend;
  Problem problem;
  SessionOptions options;
  std::int64_t depth = 0;
  bool gpu_aware = false;
  std::int64_t steps = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t times = 0;
  Rows rows; ///< of the whole field
  InitialField::Kind initial = InitialField::Kind::block;
  std::uint64_t seed = 0;
  FixedText<4096> path;
  SentFacts facts;
};

enum class Failure : std::int32_t { none, error, invalid_input, unavailable };

struct Status {
  Failure failure = Failure::none;
  bool stopped = false;
  std::int64_t depth = 0;
  RankTimes times;
  FieldDigest digest;
  FixedText<4608> message;
};

static_assert(std::is_trivially_copyable_v<Command> && std::is_trivially_copyable_v<Status>);

} // namespace diffbench::cluster
