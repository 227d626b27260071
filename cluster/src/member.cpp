// SPDX-License-Identifier: Apache-2.0
#include "member.hpp"

#include "file_part.hpp"

#include "diffbench/cluster/agreement.hpp"
#include "diffbench/cluster/checkpoint_rotation.hpp"
#include "diffbench/cluster/module.hpp"
#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::cluster {

namespace {

/// Others may be waiting for the messages of a rank that fails in one of these.
bool sends_messages(CommandKind kind) {
  return kind == CommandKind::advance || kind == CommandKind::try_depths ||
         kind == CommandKind::upload || kind == CommandKind::download ||
         kind == CommandKind::exchange;
}

/// The notches (exchange_model.hpp), what is likely first, since time may run out.
constexpr std::array<std::int64_t, 7> depths_to_try = {16, 8, 32, 4, 64, 2, 1};
/// Where trying takes too long, a step does, too, and exchanges hardly show: then it is the
/// backend's own blocking in time that a depth should leave room for (some 40 steps on a CPU),
/// and rows that are computed twice should stay few.
constexpr std::int64_t usual_depth = 32;
constexpr std::int64_t rows_for_each_of_halo = 16;
constexpr double trial_seconds = 0.5;

/// Those of some rows among the bytes of `whole`.
template <typename Byte>
std::span<Byte> part_of(std::span<Byte> bytes, const Rows& whole, const Rows& rows,
                        std::int64_t row_bytes) {
  return bytes.subspan(static_cast<std::size_t>((rows.first - whole.first) * row_bytes),
                       static_cast<std::size_t>(rows.count() * row_bytes));
}

} // namespace

Member::Member(Transport& transport, Duty duty)
    : transport_(transport),
      duty_(std::move(duty)),
      company_(introduce(transport, duty_.command)) {}

Status Member::execute(const Command& command, std::span<const std::byte> from,
                       std::span<std::byte> to) {
  Status status;
  const auto fail = [&](Failure failure, const char* message) {
    if (sends_messages(command.kind) && transport_.size() > 1) {
      transport_.end_all(message);
      throw Ended("rank " + std::to_string(transport_.rank()) + ": " + message);
    }
    status.failure = failure;
    status.message = decltype(status.message)::beginning_of(message);
  };
  try {
    run(command, status, from, to);
  } catch (const Ended&) {
    throw;
  } catch (const TimedOut& error) { // the others can no longer be asked
    transport_.end_all(error.what());
    throw Ended("rank " + std::to_string(transport_.rank()) + ": " + error.what());
  } catch (const Unavailable& error) {
    fail(Failure::unavailable, error.what());
  } catch (const InvalidInput& error) {
    fail(Failure::invalid_input, error.what());
  } catch (const std::exception& error) {
    fail(Failure::error, error.what());
  }
  status.stopped = duty_.stop != nullptr && duty_.stop();
  return status;
}

void Member::run(const Command& command, Status& status, std::span<const std::byte> from,
                 std::span<std::byte> to) {
  switch (command.kind) {
    case CommandKind::quit: break;
    case CommandKind::make: make(command); break;
    case CommandKind::try_depths:
      try_depths(fields_.at(command.field));
      status.depth = field(command.field).depth();
      break;
    case CommandKind::drop: fields_.erase(command.field); break;
    case CommandKind::upload: upload(command, from); break;
    case CommandKind::download: download(command, to); break;
    case CommandKind::advance:
      field(command.field).advance(command.steps);
      status.times = field(command.field).take_times();
      break;
    case CommandKind::initialise:
      field(command.field)
          .initialise(
              {.kind = command.initial, .seed = command.seed, .path = command.path.c_str()});
      break;
    case CommandKind::digest: status.digest = field(command.field).digest(); break;
    case CommandKind::write_npy: write_npy(command); break;
    case CommandKind::save: save(command); break;
    case CommandKind::load: load(command); break;
    case CommandKind::exchange:
      status.times.wait = exchange_seconds(command.bytes, command.times);
      break;
    case CommandKind::open_checkpoint: open_checkpoint(command); break;
  }
}

void Member::make(const Command& command) {
  Kept kept{.job = {.backend = command.backend.c_str(),
                    .problem = command.problem,
                    .options = command.options,
                    .depth = command.depth,
                    .gpu_aware = command.gpu_aware},
            .field = nullptr};
  if (kept.job.options.threads == 0) {
    kept.job.options.threads = company_.threads_per_rank;
  }
  kept.field = make_rank_field(transport_, kept.job);
  fields_[command.field] = std::move(kept);
}

// All ranks see the slowest one's times, and so choose the same depth.
void Member::try_depths(Kept& kept) {
  const auto advance = [&](std::int64_t steps) {
    const Stopwatch<> watch;
    kept.field->advance(steps);
    const double mine = watch.seconds();
    std::vector<double> all(static_cast<std::size_t>(transport_.size()));
    transport_.all_gather(std::as_bytes(std::span(&mine, 1)),
                          std::as_writable_bytes(std::span(all)));
    return std::ranges::max(all);
  };
  const std::int64_t few_twice = kept.job.problem.ny / transport_.size() / rows_for_each_of_halo;
  std::int64_t best = std::min({usual_depth, kept.job.depth, std::max<std::int64_t>(1, few_twice)});
  kept.field->set_depth(best);
  advance(1); // memory is touched for the first time
  const double one_step = advance(1);
  const bool too_long = 2 * one_step * static_cast<double>(best) > trial_seconds;
  double spent = 0;
  double best_step = 0;
  for (const std::int64_t depth : depths_to_try) {
    if (depth > kept.job.depth || too_long) {
      continue;
    }
    kept.field->set_depth(depth);
    spent += advance(depth); // warm
    double step = 0;
    for (int trial = 0; trial < 3 && (trial == 0 || spent < trial_seconds); ++trial) {
      const double seconds = advance(depth);
      spent += seconds;
      step = trial == 0 ? seconds : std::min(step, seconds);
    }
    step /= static_cast<double>(depth);
    if (best_step == 0 || step < best_step) {
      best = depth;
      best_step = step;
    }
    if (spent > trial_seconds) {
      break;
    }
  }
  kept.field.reset();
  kept.job.depth = best;
  kept.field = make_rank_field(transport_, kept.job);
}

// With both neighbours, as in a periodic field.
double Member::exchange_seconds(std::int64_t bytes, std::int64_t times) {
  const int ranks = transport_.size();
  std::array<std::vector<std::byte>, 4> memory;
  memory.fill(std::vector<std::byte>(static_cast<std::size_t>(bytes)));
  const auto exchange =
      transport_.make_halo_exchange({.upper = (transport_.rank() + ranks - 1) % ranks,
                                     .lower = (transport_.rank() + 1) % ranks,
                                     .to_upper = memory[0],
                                     .from_upper = memory[1],
                                     .to_lower = memory[2],
                                     .from_lower = memory[3]});
  exchange->run();
  const Stopwatch<> watch;
  for (std::int64_t i = 0; i < times; ++i) {
    exchange->run();
  }
  return watch.seconds() / static_cast<double>(times);
}

// Rank 0 has the rows, and each rank takes its own of them.
void Member::upload(const Command& command, std::span<const std::byte> from) {
  RankField& field = this->field(command.field);
  const std::int64_t row_bytes = field.row_bytes();
  const auto bytes_of = [&](const Rows& rows) {
    return part_of(from, command.rows, rows, row_bytes);
  };
  const Rows own = common(command.rows, field.part().rows);
  if (transport_.rank() > 0) {
    std::vector<std::byte> piece;
    in_pieces(own, row_bytes, [&](const Rows& rows) {
      piece.resize(static_cast<std::size_t>(rows.count() * row_bytes));
      transport_.receive(0, piece);
      field.upload(rows.first, piece);
    });
    return;
  }
  for (int rank = 1; rank < transport_.size(); ++rank) {
    in_pieces(common(command.rows, rows_of_rank(command.problem.ny, transport_.size(), rank)),
              row_bytes, [&](const Rows& rows) { transport_.send(rank, bytes_of(rows)); });
  }
  if (own.count() > 0) {
    field.upload(own.first, bytes_of(own));
  }
}

void Member::download(const Command& command, std::span<std::byte> to) {
  RankField& field = this->field(command.field);
  const std::int64_t row_bytes = field.row_bytes();
  const auto bytes_of = [&](const Rows& rows) {
    return part_of(to, command.rows, rows, row_bytes);
  };
  const Rows own = common(command.rows, field.part().rows);
  if (transport_.rank() > 0) {
    std::vector<std::byte> piece;
    in_pieces(own, row_bytes, [&](const Rows& rows) {
      piece.resize(static_cast<std::size_t>(rows.count() * row_bytes));
      field.download(rows.first, piece);
      transport_.send(0, piece);
    });
    return;
  }
  if (own.count() > 0) {
    field.download(own.first, bytes_of(own));
  }
  for (int rank = 1; rank < transport_.size(); ++rank) {
    in_pieces(common(command.rows, rows_of_rank(command.problem.ny, transport_.size(), rank)),
              row_bytes, [&](const Rows& rows) { transport_.receive(rank, bytes_of(rows)); });
  }
}

void Member::write_npy(const Command& command) {
  RankField& field = this->field(command.field);
  const Rows own = field.part().rows;
  const std::filesystem::path file = command.path.c_str();
  std::vector<std::byte> piece;
  collectively_in_pieces(
      &transport_, own.count(), rows_of_piece(field.row_bytes()),
      [&](std::int64_t first, std::int64_t count) {
        piece.resize(static_cast<std::size_t>(count * field.row_bytes()));
        field.download(own.first + first, piece);
        try {
          // No waiting for the disk: as for all files but checkpoints (atomic_file.hpp) the promise
          // covers errors, not power cuts.
          write_part(file, command.offset + (own.first + first) * field.row_bytes(), piece,
                     Flush::no);
        } catch (const Error& error) {
          throw Error("cannot write '" + file.string() + "': " + error.what() +
                      "; all ranks need to reach the file, and its disk needs free space");
        }
      });
}

void Member::save(const Command& command) {
  RankField& field = this->field(command.field);
  const Rows own = field.part().rows;
  std::vector<std::byte> cells;
  collectively(&transport_, [&] {
    cells.resize(static_cast<std::size_t>(own.count() * field.row_bytes()));
    field.download(own.first, cells);
  });
  const SentFacts& facts = command.facts;
  save_checkpoint(&transport_, command.path.c_str(),
                  {.problem = facts.problem,
                   .step = facts.step,
                   .initial = facts.initial.c_str(),
                   .version = facts.version.c_str()},
                  own.first, cells);
}

void Member::open_checkpoint(const Command& command) {
  const std::string path = command.path.c_str();
  require_checkpoint(&transport_, path);
  checkpoint_ = open_sealed(&transport_, path);
  collectively(&transport_, [&] {
    try {
      content_ = read_checkpoint(checkpoint_);
    } catch (const InvalidInput& error) {
      throw InvalidInput("cannot read checkpoint '" + path + "': " + error.what());
    }
  });
}

void Member::load(const Command& command) {
  RankField& field = this->field(command.field);
  const Rows own = field.part().rows;
  const std::int64_t begin = content_.cells_at + own.first * field.row_bytes();
  std::vector<std::byte> cells;
  collectively(&transport_,
               [&] { cells.resize(static_cast<std::size_t>(own.count() * field.row_bytes())); });
  collectively_in_pieces(
      &transport_, std::ssize(cells), file_piece, [&](std::int64_t first, std::int64_t count) {
        try {
          checkpoint_.read(begin + first,
                           std::span(cells).subspan(static_cast<std::size_t>(first),
                                                    static_cast<std::size_t>(count)));
        } catch (const Error& error) {
          throw Error("cannot read checkpoint '" + std::string(command.path.c_str()) +
                      "': " + error.what());
        }
      });
  field.upload(own.first, cells);
}

} // namespace diffbench::cluster
