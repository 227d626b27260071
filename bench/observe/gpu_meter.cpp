// SPDX-License-Identifier: Apache-2.0
#include "gpu_meter.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/shared_library.hpp"
#include "nvml.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <mutex>

namespace diffbench::bench {

namespace {

// From the NVML API reference manual; the library's interface is stable C.
using Return = int;
using Handle = void*;
constexpr Return success = 0;
constexpr int clock_sm = 1;
constexpr int clock_memory = 2;
constexpr int temperature_gpu = 0;

struct Reason {
  std::uint64_t bit;
  const char* name;
};
// 1 (idle), 2 (clocks that the user has set) and 0x100 (of the display) are no throttling.
constexpr std::array<Reason, 6> slowing_reasons{{
    {0x04, "power cap"},
    {0x08, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "thermal (software)"},
    {0x40, "thermal (hardware)"},
    {0x80, "power brake"},
}};

/// The PCI bus id of the card that CUDA calls `device`, by the driver. CUDA counts the fastest
/// first, or as CUDA_VISIBLE_DEVICES has it, and NVML by the bus. `stand_in` may play the driver,
/// too.
std::string bus_id_of(int device, const SharedLibrary& stand_in) {
  int (*init)(unsigned) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*bus_id)(char*, int, int) = nullptr;
  const SharedLibrary driver("libcuda.so.1");
  const SharedLibrary& library = stand_in.find("cuInit", init) ? stand_in : driver;
  if (!library.loaded() || !library.find("cuInit", init) || !library.find("cuDeviceGet", get) ||
      !library.find("cuDeviceGetPCIBusId", bus_id)) {
    throw Unavailable("the driver's libcuda.so.1, which says where a card is, cannot be used");
  }
  std::array<char, 32> id{};
  int handle = 0;
  if (init(0) != 0 || get(&handle, device) != 0 ||
      bus_id(id.data(), static_cast<int>(id.size()), handle) != 0) {
    throw Unavailable(fmt::format("the driver has no device {}", device));
  }
  return id.data();
}

} // namespace

std::vector<std::string> throttle_reasons(std::uint64_t bits) {
  return names_in(slowing_reasons, [&](const Reason& reason) { return (bits & reason.bit) != 0; });
}

std::string nvml_library() {
  const char* chosen = std::getenv("DIFFBENCH_NVML");
  return chosen != nullptr && *chosen != '\0' ? chosen : "libnvidia-ml.so.1";
}

/// The library, loaded and initialized, and a card.
struct GpuMeter::Nvml {
  explicit Nvml(const std::string& path) : library(path) {
    if (!library.loaded()) {
      throw Unavailable(fmt::format("NVML: {}", library.error()));
    }
    library.find("nvmlErrorString", error_string);
    require("nvmlInit_v2", init);
    library.find("nvmlShutdown", shutdown);
    demand("nvmlInit", init());
    initialized = true;
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (initialized && shutdown != nullptr) {
      shutdown();
    }
  }

  void open(const std::string& bus_id) {
    require("nvmlDeviceGetHandleByPciBusId_v2", by_bus_id);
    demand("card " + bus_id, by_bus_id(bus_id.c_str(), &card));
    library.find("nvmlDeviceGetName", name);
    library.find("nvmlDeviceGetPowerUsage", power);
    library.find("nvmlDeviceGetTotalEnergyConsumption", energy);
    library.find("nvmlDeviceGetUtilizationRates", utilization);
    library.find("nvmlDeviceGetMemoryInfo", memory);
    library.find("nvmlDeviceGetClockInfo", clock);
    library.find("nvmlDeviceGetTemperature", temperature);
    library.find("nvmlDeviceGetCurrentClocksEventReasons", reasons); // the name since driver 535
    if (reasons == nullptr) {
      library.find("nvmlDeviceGetCurrentClocksThrottleReasons", reasons);
    }
    library.find("nvmlDeviceGetCurrPcieLinkGeneration", link_generation);
    library.find("nvmlDeviceGetCurrPcieLinkWidth", link_width);
    library.find("nvmlDeviceGetMaxPcieLinkGeneration", most_generation);
    library.find("nvmlDeviceGetMaxPcieLinkWidth", most_width);
  }

  template <typename Function>
  void require(const char* symbol, Function*& function) const {
    if (!library.find(symbol, function)) {
      throw Unavailable(fmt::format("NVML: the library has no {}", symbol));
    }
  }

  [[nodiscard]] std::string words(Return code) const {
    const char* text = error_string != nullptr ? error_string(code) : nullptr;
    return text != nullptr ? text : fmt::format("error {}", code);
  }
  void demand(const std::string& what, Return code) const {
    if (code != success) {
      throw Unavailable(fmt::format("NVML: {}: {}", what, words(code)));
    }
  }

  /// Calls `function(card, arguments..., &value)` and gives the value, or notes why there is none.
  template <typename Value, typename Function, typename... Arguments>
  std::optional<Value> get(const char* what, Function function, Arguments... arguments) {
    Value value{};
    const Return code = function == nullptr ? success : function(card, arguments..., &value);
    if (function != nullptr && code == success) {
      return value;
    }
    const std::lock_guard lock(mutex);
    failures.emplace(what,
                     function == nullptr ? "this driver's NVML does not report it" : words(code));
    return std::nullopt;
  }

  SharedLibrary library;
  bool initialized = false;
  Handle card = nullptr;
  std::mutex mutex;
  std::map<std::string, std::string> failures;

  const char* (*error_string)(Return) = nullptr;
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*by_bus_id)(const char*, Handle*) = nullptr;
  Return (*name)(Handle, char*, unsigned) = nullptr;
  Return (*power)(Handle, unsigned*) = nullptr;                // milliwatts
  Return (*energy)(Handle, unsigned long long*) = nullptr;     // millijoules
  Return (*utilization)(Handle, nvml::Utilization*) = nullptr; // percent
  Return (*memory)(Handle, nvml::Memory*) = nullptr;           // bytes
  Return (*clock)(Handle, int, unsigned*) = nullptr;           // MHz
  Return (*temperature)(Handle, int, unsigned*) = nullptr;     // degrees Celsius
  Return (*reasons)(Handle, unsigned long long*) = nullptr;    // bits
  Return (*link_generation)(Handle, unsigned*) = nullptr;
  Return (*link_width)(Handle, unsigned*) = nullptr;
  Return (*most_generation)(Handle, unsigned*) = nullptr;
  Return (*most_width)(Handle, unsigned*) = nullptr;
};

GpuMeter::GpuMeter(const std::string& library, int device)
    : nvml_(std::make_unique<Nvml>(library)) {
  nvml_->open(bus_id_of(device, nvml_->library));
}

GpuMeter::~GpuMeter() = default;

GpuReading GpuMeter::read() {
  GpuReading reading;
  if (const auto milliwatts = nvml_->get<unsigned>("power", nvml_->power)) {
    reading.watts = 1e-3 * *milliwatts;
  }
  if (const auto rates = nvml_->get<nvml::Utilization>("utilization", nvml_->utilization)) {
    reading.utilization_percent = rates->gpu;
  }
  if (const auto memory = nvml_->get<nvml::Memory>("memory", nvml_->memory)) {
    reading.memory_bytes = static_cast<double>(memory->used);
  }
  reading.sm_mhz = nvml_->get<unsigned>("clock of the multiprocessors", nvml_->clock, clock_sm);
  reading.memory_mhz = nvml_->get<unsigned>("clock of the memory", nvml_->clock, clock_memory);
  reading.celsius = nvml_->get<unsigned>("temperature", nvml_->temperature, temperature_gpu);
  reading.throttle_reasons = nvml_->get<unsigned long long>("throttle reasons", nvml_->reasons);
  return reading;
}

std::optional<double> GpuMeter::joules() {
  const auto millijoules = nvml_->get<unsigned long long>("energy counter", nvml_->energy);
  return millijoules ? std::optional(1e-3 * static_cast<double>(*millijoules)) : std::nullopt;
}

std::string GpuMeter::description() {
  std::array<char, 96> text{}; // the manual's NVML_DEVICE_NAME_V2_BUFFER_SIZE
  const bool named =
      nvml_->name != nullptr && nvml_->name(nvml_->card, text.data(), text.size() - 1) == success;
  std::string description = named ? text.data() : "a card without a name";
  const auto generation = nvml_->get<unsigned>("link generation", nvml_->link_generation);
  const auto width = nvml_->get<unsigned>("link width", nvml_->link_width);
  const auto most_generation = nvml_->get<unsigned>("link generation", nvml_->most_generation);
  const auto most_width = nvml_->get<unsigned>("link width", nvml_->most_width);
  if (generation && width && most_generation && most_width) {
    description += fmt::format(", PCIe {} x{} of at most {} x{} (an idle link may be slower)",
                               *generation, *width, *most_generation, *most_width);
  }
  return description;
}

std::map<std::string, std::string> GpuMeter::failures() const {
  const std::lock_guard lock(nvml_->mutex);
  return nvml_->failures;
}

} // namespace diffbench::bench
