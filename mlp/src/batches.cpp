// SPDX-License-Identifier: Apache-2.0
#include "batches.hpp"

#include <algorithm>
#include <numeric>

namespace diffbench::mlp {

RowOrder::RowOrder(std::int64_t rows, std::uint64_t seed)
    : random_(seed), order_(static_cast<std::size_t>(rows)) {
  std::iota(order_.begin(), order_.end(), 0);
}

std::span<const std::int32_t> RowOrder::next_epoch() {
  random_.shuffle(std::span(order_));
  return order_;
}

void Batch::gather(const DataSet& data, std::span<const std::int32_t> rows) {
  const auto width = static_cast<std::size_t>(data.features);
  features.resize(rows.size() * width);
  labels.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    std::copy_n(data.values.data() + row * width, width, features.data() + i * width);
    labels[i] = data.labels[row];
  }
}

BatchLoader::BatchLoader(const DataSet& data, std::int64_t batch, std::uint64_t seed, bool ahead)
    : data_(data), size_(static_cast<std::size_t>(batch)), order_(data.rows(), seed) {
  if (ahead) {
    prefetcher_.emplace([this](Batch& next) { gather_next(next); });
  }
}

const Batch& BatchLoader::next() {
  if (prefetcher_) {
    return prefetcher_->next();
  }
  gather_next(batch_);
  return batch_;
}

void BatchLoader::gather_next(Batch& batch) {
  if (left_.empty()) {
    left_ = order_.next_epoch();
  }
  const std::size_t rows = std::min(size_, left_.size());
  batch.gather(data_, left_.first(rows));
  left_ = left_.subspan(rows);
}

} // namespace diffbench::mlp
