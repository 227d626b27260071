// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/ranks.hpp"

#include "command.hpp"
#include "member.hpp"

#include "diffbench/atomic_file.hpp"
#include "diffbench/cluster/checkpoint.hpp"
#include "diffbench/cluster/exchange_model.hpp"
#include "diffbench/cluster/thread_transport.hpp"
#include "diffbench/npy.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace diffbench::cluster {

namespace {

template <typename Value>
std::span<std::byte> bytes_of(Value& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// Ranks need not have one working directory.
FixedText<4096> path_text(const std::filesystem::path& path) {
  return path.empty() ? FixedText<4096>()
                      : FixedText<4096>(std::filesystem::absolute(path).string());
}

[[noreturn]] void throw_failure(const Status& status, std::size_t rank) {
  const std::string message =
      (rank == 0 ? "" : "rank " + std::to_string(rank) + ": ") + status.message.c_str();
  switch (status.failure) {
    case Failure::unavailable: throw Unavailable(message);
    case Failure::invalid_input: throw InvalidInput(message);
    default: throw Error(message);
  }
}

} // namespace

/// A field of all ranks, as rank 0 sees it.
template <typename T>
class Ranks::LedSession final : public RanksSession<T> {
 public:
  LedSession(Ranks& ranks, const RankJob& job) : ranks_(ranks), job_(job) {
    require_halo(job.problem, ranks.size(), job.depth);
    const std::int64_t deepest = deepest_halo(job.problem, ranks.size());
    const bool choose = job.depth == 0 && ranks.size() > 1;
    if (ranks.size() == 1) {
      job_.depth = 1; // it has no halo
    } else {
      job_.depth = choose ? std::min(deepest, depth_notches.back()) : job.depth;
    }
    Command command = to(CommandKind::make);
    command.field = field_ = ranks.next_field_++;
    command.backend = std::string_view(job_.backend);
    command.options = job_.options;
    command.depth = job_.depth;
    command.gpu_aware = job_.gpu_aware;
    made_ = true; // on some ranks, if it throws
    try {
      ranks_.call(command);
      if (choose) {
        initialise(
            {.kind = InitialField::Kind::sine, .seed = 0, .path = {}}); // no denormal numbers
        job_.depth = ranks_.call(to(CommandKind::try_depths)).front().depth;
      }
    } catch (...) {
      drop();
      throw;
    }
  }
  ~LedSession() override { drop(); }

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    Command command = to(CommandKind::upload);
    command.rows = rows_of(first, cells.size());
    ranks_.call(command, std::as_bytes(cells));
  }
  void download_rows(std::int64_t first, std::span<T> cells) override {
    Command command = to(CommandKind::download);
    command.rows = rows_of(first, cells.size());
    ranks_.call(command, {}, std::as_writable_bytes(cells));
  }
  void advance(std::int64_t steps) override {
    Command command = to(CommandKind::advance);
    command.steps = steps;
    const std::vector<Status> all = ranks_.call(command);
    if (ranks_.on_advance_) {
      std::vector<RankTimes> times(all.size());
      std::ranges::transform(all, times.begin(), &Status::times);
      ranks_.on_advance_(job_, steps, times);
    }
  }
  void wait() override {}

  void initialise(const InitialField& initial) override {
    Command command = to(CommandKind::initialise);
    command.initial = initial.kind;
    command.seed = initial.seed;
    command.path = path_text(initial.path);
    ranks_.call(command);
  }
  [[nodiscard]] FieldDigest digest() override { return sum(ranks_.call(to(CommandKind::digest))); }

  void write_npy(const std::filesystem::path& path) override {
    const std::string header =
        npy_header({.nx = job_.problem.nx, .ny = job_.problem.ny, .dtype = job_.problem.dtype});
    replace_atomically(path, [&](const std::filesystem::path& file) {
      std::ofstream head(file, std::ios::binary);
      head << header;
      head.close();
      if (!head) {
        throw Error("cannot write '" + path.string() + "': its directory has no space");
      }
      Command command = to(CommandKind::write_npy);
      command.path = path_text(file);
      command.offset = static_cast<std::int64_t>(header.size());
      ranks_.call(command);
    });
  }

  void save_checkpoint(const std::filesystem::path& path, CheckpointFacts facts) override {
    Command command = to(CommandKind::save);
    command.path = path_text(path);
    command.facts.problem = facts.problem;
    command.facts.step = facts.step;
    command.facts.initial = std::string_view(facts.initial);
    command.facts.version = std::string_view(facts.version);
    ranks_.call(command);
  }

  void load_checkpoint(const std::filesystem::path& path) override {
    const CheckpointFacts& facts = ranks_.member_->facts();
    if (facts.problem != job_.problem) {
      throw InvalidInput("the checkpoint '" + path.string() + "' is of another problem");
    }
    Command command = to(CommandKind::load);
    command.path = path_text(path);
    ranks_.call(command);
  }

  [[nodiscard]] std::int64_t depth() const override { return job_.depth; }

  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = ranks_.member_->field(field_).provenance();
    provenance.details.emplace_back("ranks", std::to_string(ranks_.size()));
    provenance.details.emplace_back("transport", ranks_.transport_.description());
    if (ranks_.size() > 1) {
      provenance.halo_depth = job_.depth;
      provenance.oversubscribed = ranks_.oversubscribed(provenance.threads);
    }
    return provenance;
  }

 private:
  [[nodiscard]] Command to(CommandKind kind) const {
    Command command;
    command.kind = kind;
    command.field = field_;
    command.problem = job_.problem;
    return command;
  }
  [[nodiscard]] Rows rows_of(std::int64_t first, std::size_t cells) const {
    return {first, first + static_cast<std::int64_t>(cells) / job_.problem.nx};
  }
  [[nodiscard]] static FieldDigest sum(const std::vector<Status>& all) {
    FieldDigest digest;
    for (const Status& status : all) {
      digest += status.digest;
    }
    return digest;
  }
  void drop() noexcept {
    if (std::exchange(made_, false) && !ranks_.ended_) {
      try {
        ranks_.call(to(CommandKind::drop));
      } catch (const std::exception&) { // the ranks are gone, and with them the field
      }
    }
  }

  Ranks& ranks_;
  RankJob job_;
  std::int32_t field_ = 0;
  bool made_ = false;
};

Ranks::Ranks(Transport& transport, Duty duty)
    : transport_(transport),
      heed_stop_(duty.heed_stop),
      member_(std::make_unique<Member>(transport, std::move(duty))) {}

Ranks::~Ranks() {
  if (!ended_) {
    try {
      Command quit;
      transport_.broadcast(bytes_of(quit));
    } catch (const std::exception&) { // whoever is gone needs not be told
    }
  }
}

int Ranks::size() const { return transport_.size(); }
Transport& Ranks::transport() { return transport_; }
int Ranks::threads_per_rank() const { return member_->company().threads_per_rank; }
int Ranks::ranks_on_machine() const { return member_->company().ranks_on_machine; }
bool Ranks::oversubscribed(int threads) const { return threads > member_->company().cpus_per_rank; }
bool Ranks::stopped() const { return stopped_; }

std::vector<Status> Ranks::call(const Command& command, std::span<const std::byte> from,
                                std::span<std::byte> to) {
  if (ended_) {
    throw Ended("the ranks have ended");
  }
  std::vector<Status> all(static_cast<std::size_t>(size()));
  try {
    Command sent = command;
    transport_.broadcast(bytes_of(sent));
    Status mine = member_->execute(command, from, to);
    transport_.all_gather(bytes_of(mine), std::as_writable_bytes(std::span(all)));
  } catch (const Ended&) {
    ended_ = true;
    throw;
  } catch (const std::exception& error) {
    ended_ = true;
    transport_.end_all(error.what());
    throw;
  }
  for (const Status& status : all) {
    stopped_ = stopped_ || status.stopped;
    if (status.stopped && heed_stop_ != nullptr) {
      heed_stop_();
    }
  }
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].failure != Failure::none) {
      throw_failure(all[rank], rank);
    }
  }
  return all;
}

template <typename T>
std::unique_ptr<RanksSession<T>> Ranks::make_session(const RankJob& job) {
  return std::make_unique<LedSession<T>>(*this, job);
}
template std::unique_ptr<RanksSession<float>> Ranks::make_session(const RankJob&);
template std::unique_ptr<RanksSession<double>> Ranks::make_session(const RankJob&);

double Ranks::exchange_seconds(std::int64_t bytes, std::int64_t times) {
  Command command;
  command.kind = CommandKind::exchange;
  command.bytes = bytes;
  command.times = times;
  double slowest = 0;
  for (const Status& status : call(command)) {
    slowest = std::max(slowest, status.times.wait);
  }
  return slowest;
}

CheckpointFacts Ranks::open_checkpoint(const std::filesystem::path& path) {
  Command command;
  command.kind = CommandKind::open_checkpoint;
  command.path = path_text(path);
  call(command);
  return member_->facts();
}

void serve(Transport& transport, Duty duty) {
  Member member(transport, std::move(duty));
  std::vector<Status> all(static_cast<std::size_t>(transport.size()));
  for (Command command;;) {
    transport.broadcast(bytes_of(command));
    if (command.kind == CommandKind::quit) {
      return;
    }
    Status mine = member.execute(command, {}, {});
    transport.all_gather(bytes_of(mine), std::as_writable_bytes(std::span(all)));
  }
}

ServingThreads::ServingThreads(ThreadRanks& ranks, const Duty& duty) : ranks_(ranks) {
  try {
    for (int rank = 1; rank < ranks.transport(0).size(); ++rank) {
      threads_.emplace_back([&transport = ranks.transport(rank), duty] {
        try {
          serve(transport, duty);
        } catch (const InvalidInput&) { // the ranks differ, and all know it
        } catch (const std::exception& error) {
          transport.end_all(error.what()); // where that has not been done
        }
      });
    }
  } catch (...) { // the system gives no more threads
    stop();
    throw;
  }
}

ServingThreads::~ServingThreads() { stop(); }

void ServingThreads::stop() {
  ranks_.transport(0).end_all("rank 0 has left");
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

} // namespace diffbench::cluster
