// SPDX-License-Identifier: Apache-2.0
// One rank's part of a field: its session, and the exchange of halos with its neighbours.
#pragma once

#include "diffbench/cluster/field_digest.hpp"
#include "diffbench/cluster/ranks.hpp"
#include "diffbench/cluster/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace diffbench::cluster {

/// Rows are those of the whole field, and of this rank's own.
class RankField {
 public:
  RankField() = default;
  RankField(const RankField&) = delete;
  RankField& operator=(const RankField&) = delete;
  virtual ~RankField() = default;

  [[nodiscard]] virtual const RankPart& part() const = 0;
  [[nodiscard]] virtual std::int64_t row_bytes() const = 0;
  [[nodiscard]] virtual std::int64_t depth() const = 0;
  /// From now on so many steps between two exchanges, at most the depth that it was made with.
  virtual void set_depth(std::int64_t depth) = 0;

  virtual void upload(std::int64_t first, std::span<const std::byte> rows) = 0;
  virtual void download(std::int64_t first, std::span<std::byte> rows) = 0;
  virtual void initialise(const InitialField& initial) = 0;
  [[nodiscard]] virtual FieldDigest digest() = 0;
  /// Blocks until the work is done. Throws Error, naming rank and step, where an exchange fails.
  virtual void advance(std::int64_t steps) = 0;

  /// Of advance() since the last time.
  [[nodiscard]] virtual RankTimes take_times() = 0;
  [[nodiscard]] virtual Provenance provenance() const = 0;
};

/// Throws as the backend's maker does.
[[nodiscard]] std::unique_ptr<RankField> make_rank_field(Transport& transport, const RankJob& job);

/// How many rows each rank may hold in memory beside its part.
[[nodiscard]] std::int64_t rows_of_piece(std::int64_t row_bytes);
/// Calls `use` with pieces of `rows` of that size.
void in_pieces(const Rows& rows, std::int64_t row_bytes,
               const std::function<void(const Rows&)>& use);

} // namespace diffbench::cluster
