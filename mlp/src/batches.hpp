// SPDX-License-Identifier: Apache-2.0
// The rows of a data set in the order of training: all of them once an epoch, in an order drawn
// anew each time, batch by batch.
#pragma once

#include "diffbench/mlp/data.hpp"
#include "prefetcher.hpp"
#include "random.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace diffbench::mlp {

class RowOrder {
 public:
  RowOrder(std::int64_t rows, std::uint64_t seed);

  /// Draws the order of the next epoch; valid until the next call.
  std::span<const std::int32_t> next_epoch();

 private:
  Random random_;
  std::vector<std::int32_t> order_;
};

/// Rows that were gathered.
struct Batch {
  std::vector<float> features;
  std::vector<std::int32_t> labels;

  void gather(const DataSet& data, std::span<const std::int32_t> rows);
};

/// Gathers the batches of one epoch after the other, without end; the last of an epoch may be
/// smaller. Ahead: a thread of its own gathers the next one, and draws the next epoch's order,
/// while the caller does something else. The batches are the same.
class BatchLoader {
 public:
  /// `data` must outlive it.
  BatchLoader(const DataSet& data, std::int64_t batch, std::uint64_t seed, bool ahead);

  /// Valid until the next call. Throws what gathering threw.
  const Batch& next();

 private:
  void gather_next(Batch& batch);

  const DataSet& data_;
  std::size_t size_;
  RowOrder order_;
  std::span<const std::int32_t> left_; ///< of the epoch
  Batch batch_;                        ///< of a loader that does not gather ahead
  std::optional<Prefetcher<Batch>> prefetcher_;
};

} // namespace diffbench::mlp
