// All steps of a run in one cooperative launch: the weights, and the optimizer's moments, stay on
// the chip. For networks that fit in the shared memory of the multiprocessors; others are refused.
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

namespace diffbench::mlp {

namespace {

using cuda::PersistentNet;
using cuda::PersistentWork;

template <typename T>
std::int64_t shared_bytes(const PersistentNet& net) {
  return (std::int64_t{net.shared_size} + 1) / 2 * 2 * static_cast<std::int64_t>(sizeof(T)) +
         cuda::persistent_threads * static_cast<std::int64_t>(sizeof(double));
}

std::string kilobytes(std::int64_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KB"; }

/// The layout on as many blocks as pay, or as are needed. Throws Unavailable, with the figures, for
/// a network that does not fit.
template <typename T>
PersistentNet fit(const Training& training, const gpu::Device& device) {
  const std::string name = to_string(training.network);
  if (training.network.layers() > cuda::most_layers) {
    throw Unavailable("engine 'cuda_persistent' takes " + std::to_string(cuda::most_layers) +
                      " layers at most, and " + name + " has " +
                      std::to_string(training.network.layers()) + "; take engine 'cuda'");
  }
  const int most = device.cooperative_launch ? device.multiprocessors : 1;
  int blocks = std::min(most, cuda::blocks_that_pay(training, most));
  PersistentNet net = cuda::persistent_net(training, blocks);
  while (shared_bytes<T>(net) > device.shared_bytes_per_block && blocks < most) {
    blocks = std::min(most, 2 * blocks);
    net = cuda::persistent_net(training, blocks);
  }
  if (shared_bytes<T>(net) > device.shared_bytes_per_block) {
    throw Unavailable(
        "engine 'cuda_persistent' would keep " + kilobytes(shared_bytes<T>(net)) + " of " + name +
        " in each of " + std::to_string(blocks) + " multiprocessors, and " + device.name + " has " +
        kilobytes(device.shared_bytes_per_block) + " of shared memory there; take engine 'cuda'");
  }
  return net;
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
        values_(cuda::zeros<T>(compute_, 2 * net_.values_size)),
        deltas_(cuda::zeros<T>(compute_, 2 * net_.values_size)),
        state_(cuda::zeros<cuda::StepState<T>>(compute_, 1)),
        outputs_(training.batch * training.network.classes()),
        losses_(1) {
    gpu::allow_shared_memory(cuda::net_kernels<T>().persistent_steps, device_);
    gpu::allow_shared_memory(cuda::net_kernels<T>().persistent_forward, device_);
    if (gpu::resident_blocks(cuda::net_kernels<T>().persistent_steps, shape()) < 1) {
      throw Unavailable("engine 'cuda_persistent': " + device_.name +
                        " has no room for a block of its kernel; take engine 'cuda'");
    }
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
        gpu::launch(compute_, shape(), cuda::net_kernels<T>().persistent_forward, net_,
                    work_on(place, rows));
      });
    });
    feed_.release(place);
    gpu::copy_to_host(compute_, outputs_.data(), values_.data() + net_.values_at[net_.layers],
                      static_cast<std::size_t>(outputs_.size()) * sizeof(T));
    pending_outputs_ = outputs;
  }
  void finish_forward() override {
    make_current();
    settle();
    const auto classes = static_cast<std::size_t>(training_.network.classes());
    for (std::size_t i = 0; i < pending_outputs_.size(); ++i) {
      const std::size_t row = i / classes;
      pending_outputs_[i] =
          outputs_.data()[i % classes * static_cast<std::size_t>(training_.batch) + row];
    }
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
    provenance.details.emplace_back("multiprocessors", std::to_string(net_.blocks));
    provenance.details.emplace_back("shared_memory", kilobytes(shared_bytes<T>(net_)));
    return provenance;
  }

 private:
  // The current device belongs to the calling thread, and another engine may have changed it.
  void make_current() const { DIFFBENCH_CUDA_CHECK(cudaSetDevice(device_.index)); }

  void settle() { clock_.settle(compute_); }

  [[nodiscard]] gpu::LaunchShape shape() const {
    return {.grid = dim3(static_cast<unsigned>(net_.blocks)),
            .block = dim3(cuda::persistent_threads),
            .shared_bytes = static_cast<std::size_t>(shared_bytes<T>(net_)),
            .cooperative = net_.blocks > 1};
  }

  [[nodiscard]] PersistentWork<T> work_on(const cuda::ResidentRows<T>& rows,
                                          std::int64_t count) const {
    return {.rows = rows,
            .count = count,
            .values = values_.data(),
            .deltas = deltas_.data(),
            .parameters = parameters_.data(),
            .moments = {first_.data(), second_.data()},
            .state = state_.data()};
  }
  [[nodiscard]] PersistentWork<T> work_on(std::size_t place, std::int64_t count) const {
    const cuda::Batch<T> batch = feed_.batch(place);
    return work_on({batch.features, batch.labels, nullptr}, count);
  }

  void launch_steps(const PersistentWork<T>& work) {
    clock_.on_host(&StepTimes::launch, [&] {
      clock_.on_device(compute_, &StepTimes::backward, [&] {
        gpu::launch(compute_, shape(), cuda::net_kernels<T>().persistent_steps, net_, work,
                    optimizer_);
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
  gpu::DeviceArray<T> parameters_, first_, second_, values_, deltas_;
  gpu::DeviceArray<cuda::StepState<T>> state_;
  gpu::PinnedArray<T> outputs_; ///< [class][row], on their way to the host
  std::span<T> pending_outputs_;
  gpu::PinnedArray<cuda::LossSum> losses_;
};

template <typename T>
std::unique_ptr<Engine<T>> make(const Training& training, const SessionOptions& options) {
  return std::make_unique<CudaPersistentEngine<T>>(training, options);
}

} // namespace

namespace engines {

EngineInfo cuda_persistent() {
  return {.name = "cuda_persistent",
          .description = "one cooperative launch for many steps, weights on the chip",
          .device = gpu::emulated ? DeviceKind::emulated : DeviceKind::cuda,
          .ladder = 110,
          .probe = gpu::probe_device,
          .make_float32 = make<float>,
          .make_float64 = make<double>};
}

} // namespace engines

} // namespace diffbench::mlp
