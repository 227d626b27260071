// SPDX-License-Identifier: Apache-2.0
// A library that plays libnvidia-ml.so.1, which knows one card and whose figures are fixed, and
// libcuda.so.1, which knows another one, too. FAKE_NVML holds "CALL=CODE" words; those calls fail
// with that code.
#include "nvml.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int alive = 0; // nvmlInit without nvmlShutdown
unsigned long long millijoules = 5'000'000;

int code_of(const char* call) {
  const char* plan = std::getenv("FAKE_NVML");
  if (plan == nullptr) {
    return 0;
  }
  const std::string key = std::string(" ") + call + "=";
  const std::string words = std::string(" ") + plan;
  const std::size_t found = words.find(key);
  return found == std::string::npos ? 0 : std::atoi(words.c_str() + found + key.size());
}

template <typename Value>
int give(const char* call, Value* target, Value value) {
  const int code = code_of(call);
  if (code == 0) {
    *target = value;
  }
  return code;
}

using diffbench::bench::nvml::Memory;
using diffbench::bench::nvml::Utilization;

} // namespace

// The names are NVML's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int fake_nvml_alive() { return alive; }

const char* nvmlErrorString(int code) { return code == 3 ? "Not Supported" : "GPU is lost"; }
int nvmlInit_v2() {
  const int code = code_of("init");
  alive += code == 0 ? 1 : 0;
  return code;
}
int nvmlShutdown() {
  --alive;
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** card) {
  *card = &alive;
  return std::strcmp(id, "0000:AF:00.0") == 0 ? code_of("handle") : 6;
}
// The driver: its device 0 is the second on the bus, which is the faster.
int cuInit(unsigned /*flags*/) { return code_of("cuInit"); }
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < 2 ? 0 : 101;
}
int cuDeviceGetPCIBusId(char* id, int length, int device) {
  std::strncpy(id, device == 0 ? "0000:AF:00.0" : "0000:3B:00.0", static_cast<std::size_t>(length));
  return 0;
}
int nvmlDeviceGetName(void* /*card*/, char* name, unsigned length) {
  std::strncpy(name, "Toy GPU", length);
  return code_of("name");
}
int nvmlDeviceGetPowerUsage(void* /*card*/, unsigned* value) {
  return give("power", value, 250'500U);
}
// 2 J between any two readings.
int nvmlDeviceGetTotalEnergyConsumption(void* /*card*/, unsigned long long* value) {
  return give("energy", value, millijoules += 2000);
}
int nvmlDeviceGetUtilizationRates(void* /*card*/, Utilization* value) {
  return give("utilization", value, Utilization{98, 40});
}
int nvmlDeviceGetMemoryInfo(void* /*card*/, Memory* value) {
  return give("memory", value, Memory{80ULL << 30, 79ULL << 30, 1ULL << 30});
}
int nvmlDeviceGetClockInfo(void* /*card*/, int domain, unsigned* value) {
  return give("clock", value, domain == 1 ? 1980U : 2619U);
}
int nvmlDeviceGetTemperature(void* /*card*/, int /*sensor*/, unsigned* value) {
  return give("temperature", value, 61U);
}
// Idle, which is no throttling, and the power cap. By its old name: an old driver.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*card*/, unsigned long long* value) {
  return give("reasons", value, 0x5ULL);
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* /*card*/, unsigned* value) {
  return give("link", value, 4U);
}
int nvmlDeviceGetCurrPcieLinkWidth(void* /*card*/, unsigned* value) {
  return give("link", value, 8U);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void* /*card*/, unsigned* value) {
  return give("link", value, 5U);
}
int nvmlDeviceGetMaxPcieLinkWidth(void* /*card*/, unsigned* value) {
  return give("link", value, 16U);
}
}
// NOLINTEND(readability-identifier-naming)
