// SPDX-License-Identifier: Apache-2.0
// What every rank does with a command, rank 0 among them.
#pragma once

#include "checkpoint_head.hpp"
#include "checkpoint_seal.hpp"
#include "command.hpp"
#include "introduction.hpp"
#include "rank_field.hpp"

#include "diffbench/cluster/checkpoint.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <span>

namespace diffbench::cluster {

class Member {
 public:
  /// Collective. Throws InvalidInput where ranks differ.
  Member(Transport& transport, Duty duty);

  /// Does the command; what fails is in the status. `from` and `to` are rank 0's own memory of
  /// command.rows, for upload and download. Throws Ended, and ends all where a rank fails while
  /// others wait for its messages.
  [[nodiscard]] Status execute(const Command& command, std::span<const std::byte> from,
                               std::span<std::byte> to);

  [[nodiscard]] const Company& company() const { return company_; }
  [[nodiscard]] RankField& field(std::int32_t index) { return *fields_.at(index).field; }
  /// What CommandKind::open_checkpoint has read.
  [[nodiscard]] const CheckpointFacts& facts() const { return content_.facts; }

 private:
  struct Kept {
    RankJob job;
    std::unique_ptr<RankField> field;
  };

  void run(const Command& command, Status& status, std::span<const std::byte> from,
           std::span<std::byte> to);
  void make(const Command& command);
  void try_depths(Kept& kept);
  [[nodiscard]] double exchange_seconds(std::int64_t bytes, std::int64_t times);
  void upload(const Command& command, std::span<const std::byte> from);
  void download(const Command& command, std::span<std::byte> to);
  void write_npy(const Command& command);
  void save(const Command& command);
  void open_checkpoint(const Command& command);
  void load(const Command& command);

  Transport& transport_;
  Duty duty_;
  Company company_;
  std::map<std::int32_t, Kept> fields_;
  ReadFile checkpoint_; ///< that is read, whatever its name is meanwhile
  CheckpointContent content_;
};

} // namespace diffbench::cluster
