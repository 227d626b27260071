// SPDX-License-Identifier: Apache-2.0
// All steps of a run in one launch of one cluster: weights, moments and values stay in the shared
// memory of up to 16 multiprocessors. Networks that do not fit there are refused.
//
// Forward, backward and update are one kernel, so the account of times has all of it as `backward`.
#include "cuda/batch_feed.hpp"
#include "cuda/batched_forward.hpp"
#include "cuda/device_memory.hpp"
#include "cuda/device_rows.hpp"
#include "cuda/kernels.hpp"
#include "cuda/optimizer_constants.hpp"
#include "cuda/persistent_net.hpp"
#include "cuda/step_clock.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/gpu/device.hpp"
#include "diffbench/gpu/launch.hpp"
#include "diffbench/mlp/engine.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace diffbench::mlp {

namespace {

using cuda::PersistentNet;
using cuda::PersistentWork;

template <typename T>
constexpr std::int64_t bytes_of = sizeof(T);

template <typename T>
std::int64_t shared_bytes(const PersistentNet& net) {
  return net.shared_size * bytes_of<T>;
}

std::string kilobytes(std::int64_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KB"; }

template <typename T>
gpu::LaunchShape shape_of(const PersistentNet& net) {
  return {.grid = dim3(static_cast<unsigned>(net.blocks())),
          .block = dim3(cuda::persistent_threads),
          .shared_bytes = static_cast<std::size_t>(shared_bytes<T>(net)),
          .cluster = static_cast<unsigned>(net.blocks())};
}

/// How many blocks a cluster may have on the current device, which has its kernels made ready for
/// it.
template <typename T>
int allow_clusters(const gpu::Device& device) {
  const auto& kernels = cuda::net_kernels<T>();
  gpu::allow_shared_memory(kernels.persistent_steps, device);
  gpu::allow_shared_memory(kernels.persistent_forward, device);
  if (!device.cluster_launch || gpu::code_architecture(kernels.persistent_steps) < 90) {
    return 1;
  }
  gpu::allow_large_clusters(kernels.persistent_steps);
  gpu::allow_large_clusters(kernels.persistent_forward);
  return std::min(cuda::most_blocks, device.multiprocessors);
}

template <typename T>
bool runs(const PersistentNet& net) {
  const auto& kernel = cuda::net_kernels<T>().persistent_steps;
  return net.blocks() == 1 ? gpu::resident_blocks(kernel, shape_of<T>(net)) > 0
                           : gpu::resident_clusters(kernel, shape_of<T>(net)) > 0;
}

/// The layout by which a step takes least, of those that fit. Throws Unavailable, with the figures
/// of the smallest, for a network that does not fit.
template <typename T>
PersistentNet fit(const Training& training, const gpu::Device& device) {
  const std::string name = to_string(training.network);
  if (training.network.layers() > cuda::most_layers) {
    throw Unavailable("engine 'cuda_persistent' takes " + std::to_string(cuda::most_layers) +
                      " layers at most, and " + name + " has " +
                      std::to_string(training.network.layers()) + "; take engine 'cuda'");
  }
  const int most = allow_clusters<T>(device);
  std::vector<PersistentNet> nets;
  for (int rows = 1; rows <= most; rows *= 2) {
    for (int features = 1; rows * features <= most; features *= 2) {
      nets.push_back(cuda::persistent_net(training, bytes_of<T>, {rows, features},
                                          device.shared_bytes_per_block));
    }
  }
  const auto smallest = std::ranges::min_element(nets, {}, shared_bytes<T>);
  if (shared_bytes<T>(*smallest) > device.shared_bytes_per_block) {
    throw Unavailable(
        "engine 'cuda_persistent' would keep " + kilobytes(shared_bytes<T>(*smallest)) + " of " +
        name + " in each of " + std::to_string(smallest->blocks()) + " multiprocessors, and " +
        device.name + " has " + kilobytes(device.shared_bytes_per_block) +
        " of shared memory there" + (most == 1 ? ", and no clusters of multiprocessors" : "") +
        "; take engine 'cuda'");
  }
  std::ranges::sort(
      nets, {}, [](const PersistentNet& net) { return cuda::predicted_seconds(net, bytes_of<T>); });
  for (const PersistentNet& net : nets) {
    if (shared_bytes<T>(net) <= device.shared_bytes_per_block && runs<T>(net)) {
      return net;
    }
  }
  throw Unavailable("engine 'cuda_persistent': " + device.name +
                    " has no room for its kernel with " + name + "; take engine 'cuda'");
}

template <typename T>
class CudaPersistentEngine final : public Engine<T>, public ResidentData<T> {
 public:
  CudaPersistentEngine(const Training& training, const SessionOptions& options)
      : training_(training),
        options_(options),
        device_(gpu::use_device(options.device)),
        net_(fit<T>(training, device_)),
        optimizer_(cuda::constants_of<T>(training.optimizer)),
        clock_(training.times),
        feed_(compute_, training, options),
        parameters_(cuda::zeros<T>(compute_, training.network.parameters())),
        first_(cuda::zeros<T>(compute_, net_.momentum ? parameters_.size() : 0)),
        second_(cuda::zeros<T>(compute_, net_.adam ? parameters_.size() : 0)),
        device_outputs_(cuda::zeros<T>(compute_, training.batch * training.network.classes())),
        block_moments_(cuda::zeros<T>(compute_, net_.momentum && !net_.moments_on_chip
                                                    ? 2 * net_.blocks() * net_.moments
                                                    : 0)),
        state_(cuda::zeros<cuda::StepState<T>>(compute_, 1)),
        outputs_(training.batch * training.network.classes()),
        losses_(1) {
    compute_.synchronize();
  }

  ~CudaPersistentEngine() override {
    DIFFBENCH_CUDA_LOG(cudaSetDevice(device_.index));
    DIFFBENCH_CUDA_LOG(cudaStreamSynchronize(compute_.get()));
  }

  void set_parameters(std::span<const T> parameters) override {
    make_current();
    gpu::copy_to_device(compute_, parameters_.data(), parameters.data(), parameters.size_bytes());
    for (const auto* moment : {&first_, &second_}) {
      if (moment->size() != 0) {
        gpu::fill_bytes(compute_, moment->data(), 0, parameters.size_bytes());
      }
    }
    cuda::StepState<T> state{};
    state.power1 = state.power2 = 1;
    gpu::copy_to_device(compute_, state_.data(), &state, sizeof state);
    compute_.synchronize();
  }
  void get_parameters(std::span<T> parameters) override {
    make_current();
    gpu::copy_to_host(compute_, parameters.data(), parameters_.data(), parameters.size_bytes());
    compute_.synchronize();
  }

  void step(std::span<const T> features, std::span<const std::int32_t> labels) override {
    make_current();
    const std::size_t place = feed_.send(features, labels, clock_);
    launch_steps(work_on(place, static_cast<std::int64_t>(labels.size())));
    feed_.release(place);
  }

  Losses wait() override {
    make_current();
    settle();
    cuda::LossSum* const on_device = &state_.data()->losses;
    gpu::copy_to_host(compute_, losses_.data(), on_device, sizeof(cuda::LossSum));
    gpu::fill_bytes(compute_, on_device, 0, sizeof(cuda::LossSum));
    compute_.synchronize();
    return {.sum = losses_.data()->sum, .broken = losses_.data()->broken};
  }

  void forward(std::span<const T> features, std::span<T> outputs) override {
    cuda::batched_forward(*this, training_, features, outputs);
  }

  void start_forward(std::span<const T> features, std::span<T> outputs) override {
    make_current();
    const std::size_t place = feed_.send(features, {}, clock_);
    const auto rows = static_cast<std::int64_t>(features.size()) / training_.network.inputs();
    clock_.on_host(&StepTimes::launch, [&] {
      clock_.on_device(compute_, &StepTimes::forward, [&] {
        gpu::launch(compute_, shape_of<T>(net_), cuda::net_kernels<T>().persistent_forward, net_,
                    work_on(place, rows));
      });
    });
    feed_.release(place);
    gpu::copy_to_host(compute_, outputs_.data(), device_outputs_.data(), outputs.size_bytes());
    pending_outputs_ = outputs;
  }
  void finish_forward() override {
    make_current();
    settle();
    std::copy_n(outputs_.data(), pending_outputs_.size(), pending_outputs_.begin());
  }

  [[nodiscard]] ResidentData<T>* resident_data() override { return this; }

  void set_data(std::span<const T> features, std::span<const std::int32_t> labels) override {
    make_current();
    compute_.synchronize();
    rows_.set(compute_, features, labels);
  }

  void run(std::span<const std::int32_t> order) override {
    make_current();
    rows_.send_order(compute_, order, clock_);
    launch_steps(work_on(rows_.on_device(), static_cast<std::int64_t>(order.size())));
  }

  [[nodiscard]] std::optional<EngineTimes> take_times() override {
    if (!clock_.on()) {
      return std::nullopt;
    }
    make_current();
    settle();
    return clock_.take();
  }

  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = gpu::device_provenance(device_, options_);
    provenance.details.emplace_back("multiprocessors", std::to_string(net_.blocks()));
    provenance.details.emplace_back("division", std::to_string(net_.row_groups) + " of rows x " +
                                                    std::to_string(net_.feature_groups) +
                                                    " of features");
    provenance.details.emplace_back("shared_memory", kilobytes(shared_bytes<T>(net_)));
    provenance.details.emplace_back("barriers_a_step",
                                    std::to_string(cuda::barriers_of_step(net_)));
    return provenance;
  }

 private:
  // The current device belongs to the calling thread, and another engine may have changed it.
  void make_current() const { DIFFBENCH_CUDA_CHECK(cudaSetDevice(device_.index)); }

  void settle() { clock_.settle(compute_); }

  [[nodiscard]] PersistentWork<T> work_on(const cuda::ResidentRows<T>& rows,
                                          std::int64_t count) const {
    return {.rows = rows,
            .count = count,
            .outputs = device_outputs_.data(),
            .parameters = parameters_.data(),
            .moments = {first_.data(), second_.data()},
            .block_moments = block_moments_.data(),
            .state = state_.data()};
  }
  [[nodiscard]] PersistentWork<T> work_on(std::size_t place, std::int64_t count) const {
    const cuda::Batch<T> batch = feed_.batch(place);
    return work_on({batch.features, batch.labels, nullptr}, count);
  }

  void launch_steps(const PersistentWork<T>& work) {
    clock_.on_host(&StepTimes::launch, [&] {
      clock_.on_device(compute_, &StepTimes::backward, [&] {
        gpu::launch(compute_, shape_of<T>(net_), cuda::net_kernels<T>().persistent_steps, net_,
                    work, optimizer_);
      });
    });
  }

  Training training_;
  SessionOptions options_;
  gpu::Device device_;
  PersistentNet net_;
  cuda::OptimizerConstants<T> optimizer_;
  gpu::Stream compute_;
  cuda::StepClock clock_;
  cuda::BatchFeed<T> feed_;
  cuda::DeviceRows<T> rows_;
  gpu::DeviceArray<T> parameters_, first_, second_, device_outputs_, block_moments_;
  gpu::DeviceArray<cuda::StepState<T>> state_;
  gpu::PinnedArray<T> outputs_; ///< on their way to the host
  std::span<T> pending_outputs_;
  gpu::PinnedArray<cuda::LossSum> losses_;
};

} // namespace

namespace engines {

EngineInfo cuda_persistent() {
  return {.name = "cuda_persistent",
          .description = "one launch of one cluster for many steps, all on the chip",
          .device = gpu::emulated ? DeviceKind::emulated : DeviceKind::cuda,
          .ladder = 110,
          .probe = gpu::probe_device,
          .make_float32 = EngineInfo::construct<CudaPersistentEngine<float>>,
          .make_float64 = EngineInfo::construct<CudaPersistentEngine<double>>};
}

} // namespace engines

} // namespace diffbench::mlp
