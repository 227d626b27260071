// SPDX-License-Identifier: Apache-2.0
// What a user's translated code calls (emulation/user_code.h): launches, and static shared memory.
#include "code_site.hpp"
#include "grid.hpp"
#include "kernel_name.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"
#include "user_image.hpp"

#include <emulation/kernel_launch.h>
#include <emulation/user_calls.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <vector>

namespace diffbench::emulation::detail {
namespace {

constexpr std::size_t most_argument_bytes = 4096; // of any device

struct Configured {
  cudaLaunchConfig_t config;
  std::vector<cudaLaunchAttribute> attributes;
  std::uint64_t site = 0;
};
thread_local std::optional<Configured> configured;
thread_local const void** asked_for = nullptr; ///< where to say what tells the kernel apart

// What may be pointers among the bytes.
std::vector<const void*> words_in(const KernelBody& body) {
  std::vector<const void*> words(body.bytes / sizeof(void*));
  std::memcpy(words.data(), body.captured, words.size() * sizeof(void*));
  return words;
}

std::string shape(const dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

void report_refusal(const KernelBody& body, const Configured& launched, cudaError_t why) {
  const cudaLaunchConfig_t& config = launched.config;
  const dim3& block = config.blockDim;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  const std::string message = std::string("the launch of ") + body.name + " with " +
                              shape(config.gridDim) + " blocks of " + shape(block) +
                              " threads failed: " + cudaGetErrorString(why) +
                              (threads > 1024 ? "; a block has at most 1024 threads" : "") +
                              (config.dynamicSmemBytes > (48 << 10)
                                   ? "; it asks for " + std::to_string(config.dynamicSmemBytes) +
                                         " bytes of shared memory, and more than 49152 need "
                                         "cudaFuncAttributeMaxDynamicSharedMemorySize"
                                   : "");
  runtime().unchecked = {};
  runtime().report(Finding{
      .kind = FindingKind::launch_refused, .message = message, .at = code_line_of(launched.site)});
}

} // namespace

void configure_launch(const cudaLaunchConfig_t& config, Site line) {
  if (current_thread()) {
    fail_current_thread(FindingKind::misuse, "launches a kernel, which is not emulated", {});
  }
  configured = Configured{config,
                          {config.attrs, config.attrs + config.numAttrs},
                          line.line == 0 ? call_site() : site_at(line)};
}

void name_next(const char* name) { next_name = name; }

void launch_body(const KernelBody& body) {
  const void* const key = reinterpret_cast<const void*>(body.run);
  name_kernel(key, body.name);
  if (asked_for != nullptr) {
    *asked_for = key;
    return;
  }
  if (current_thread()) {
    fail_current_thread(FindingKind::misuse,
                        std::string("calls the kernel ") + body.name + ", which is not emulated",
                        {});
  }
  if (!configured) {
    runtime().report(std::string("the kernel ") + body.name +
                     " is called without <<<blocks, threads>>>");
    return;
  }
  const std::lock_guard lock(runtime_mutex());
  const auto* const first = static_cast<const std::byte*>(body.captured);
  if (body.bytes > most_argument_bytes) {
    runtime().report(std::string("the kernel ") + body.name + " has " + std::to_string(body.bytes) +
                     " bytes of arguments; the emulation has room for " +
                     std::to_string(most_argument_bytes));
    return;
  }
  const auto bytes = std::make_shared<const std::vector<std::byte>>(first, first + body.bytes);
  KernelCall call;
  call.function = key;
  call.words = words_in(body);
  std::ranges::copy_if(call.words, std::back_inserter(call.pointers), [](const void* word) {
    return word != nullptr && runtime().memory.find(word, 1) != nullptr;
  });
  call.run_thread = [bytes, run = body.run] { // each thread has its own, on its stack
    alignas(std::max_align_t) std::byte own[most_argument_bytes];
    std::memcpy(own, bytes->data(), bytes->size());
    run(own);
  };
  if (body.run_block != nullptr && body.quick_bytes <= most_argument_bytes) {
    const auto* const begin = static_cast<const std::byte*>(body.quick_captured);
    const auto quick =
        std::make_shared<const std::vector<std::byte>>(begin, begin + body.quick_bytes);
    call.run_block = [quick, run = body.run_block](ThreadLoop& loop, uint3& thread) {
      run(quick->data(), loop, thread);
    };
  } else if (!body.waits) {
    call.run_block = [run = call.run_thread](ThreadLoop& loop, uint3& thread) {
      while (loop.take(thread)) {
        run();
      }
    };
  }
  Configured launched = std::move(*configured);
  configured.reset();
  call.site = launched.site;
  launched.config.attrs = launched.attributes.data();
  const cudaError_t before = runtime().device().sticky;
  const cudaError_t result = launch(launched.config, std::move(call));
  if (result != cudaSuccess && before == cudaSuccess) {
    report_refusal(body, launched, result);
  }
}

const void* kernel_of(void (*call)(const void*), const void* context) {
  const void* found = nullptr;
  asked_for = &found;
  call(context);
  asked_for = nullptr;
  return found;
}

void assertion_failed(const char* condition, Site site) {
  const CodeLine line = code_line_of(site_at(site));
  if (current_thread()) {
    fail_current_thread(FindingKind::kernel_fault,
                        std::string("asserts at ") + line.file + ":" + std::to_string(line.line) +
                            " what does not hold: " + condition,
                        line);
  }
  std::fprintf(stderr, "%s:%d: Assertion `%s' failed.\n", line.file.c_str(), line.line, condition);
  std::abort();
}

void* shared_variable(const void* key, std::size_t bytes, std::size_t alignment, Site site) {
  return static_shared(key, bytes, alignment, site);
}

} // namespace diffbench::emulation::detail
