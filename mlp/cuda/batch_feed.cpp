// SPDX-License-Identifier: Apache-2.0
#include "batch_feed.hpp"

#include "device_memory.hpp"
#include "diffbench/errors.hpp"

#include <algorithm>
#include <string>

namespace diffbench::mlp::cuda {

namespace {

constexpr std::int64_t labels_at = 256; // after the number of rows
constexpr std::int64_t alignment = 256;

} // namespace

template <typename T>
std::int64_t BatchFeed<T>::features_at() const {
  const std::int64_t end = labels_at + capacity_ * static_cast<std::int64_t>(sizeof(std::int32_t));
  return (end + alignment - 1) / alignment * alignment;
}

template <typename T>
BatchFeed<T>::BatchFeed(const gpu::Stream& compute, const Training& training,
                        const SessionOptions& options)
    : compute_(&compute),
      inputs_(training.network.inputs()),
      capacity_(training.batch),
      pinned_(options.transfer == Transfer::pinned),
      async_(options.async) {
  if (!pinned_ && options.transfer != Transfer::pageable) {
    throw Unavailable("--transfer " + std::string(to_string(options.transfer)) +
                      ": batches are sent from pageable or pinned memory");
  }
  const std::int64_t bytes =
      features_at() + capacity_ * inputs_ * static_cast<std::int64_t>(sizeof(T));
  for (Place& place : places_) {
    place.device = zeros<std::uint8_t>(compute, bytes);
    if (pinned_) {
      place.staging = gpu::PinnedArray<std::uint8_t>(bytes);
    }
  }
  compute.synchronize();
}

template <typename T>
Batch<T> BatchFeed<T>::batch(std::size_t place) const {
  std::uint8_t* const begin = places_[place].device.data();
  return {.features = reinterpret_cast<T*>(begin + features_at()),
          .labels = reinterpret_cast<std::int32_t*>(begin + labels_at),
          .rows = reinterpret_cast<std::int32_t*>(begin),
          .inputs = inputs_,
          .capacity = capacity_};
}

template <typename T>
std::size_t BatchFeed<T>::send(std::span<const T> features, std::span<const std::int32_t> labels,
                               StepClock& clock) {
  const std::size_t number = next_;
  next_ = (next_ + 1) % places;
  Place& place = places_[number];
  clock.on_host(&StepTimes::h2d, [&] {
    if (pinned_) {
      stage(place, features, labels);
    }
    stream().wait_for(place.released);
    clock.on_device(stream(), &StepTimes::h2d, [&] {
      if (pinned_) {
        gpu::copy_to_device(stream(), place.device.data(), place.staging.data(),
                            static_cast<std::size_t>(features_at()) + features.size_bytes());
      } else {
        copy_pageable(place, features, labels);
      }
    });
    stream().record(place.arrived);
    if (!pinned_) {
      place.arrived.wait();
    }
    compute_->wait_for(place.arrived);
  });
  return number;
}

template <typename T>
void BatchFeed<T>::release(std::size_t place) {
  compute_->record(places_[place].released);
}

template <typename T>
void BatchFeed<T>::stage(Place& place, std::span<const T> features,
                         std::span<const std::int32_t> labels) {
  place.arrived.wait(); // the copy before is done with the staging memory
  std::uint8_t* const begin = place.staging.data();
  *reinterpret_cast<std::int32_t*>(begin) = static_cast<std::int32_t>(labels.size());
  std::ranges::copy(labels, reinterpret_cast<std::int32_t*>(begin + labels_at));
  std::ranges::copy(features, reinterpret_cast<T*>(begin + features_at()));
}

// As it comes: three copies, each of which the driver takes through a buffer of its own.
template <typename T>
void BatchFeed<T>::copy_pageable(Place& place, std::span<const T> features,
                                 std::span<const std::int32_t> labels) {
  rows_ = static_cast<std::int32_t>(labels.size());
  std::uint8_t* const begin = place.device.data();
  gpu::copy_to_device(stream(), begin, &rows_, sizeof rows_);
  gpu::copy_to_device(stream(), begin + labels_at, labels.data(), labels.size_bytes());
  gpu::copy_to_device(stream(), begin + features_at(), features.data(), features.size_bytes());
}

template class BatchFeed<float>;
template class BatchFeed<double>;

} // namespace diffbench::mlp::cuda
