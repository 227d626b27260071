// SPDX-License-Identifier: Apache-2.0
#include "findings.hpp"

#include <cstddef>
#include <cstdio>

namespace diffbench::emulation {
namespace {

// In the order of FindingKind.
constexpr const char* kind_names[] = {"race",
                                      "divergence",
                                      "out_of_bounds",
                                      "use_after_free",
                                      "uninitialized",
                                      "early_read",
                                      "copy_direction",
                                      "copy_size",
                                      "launch_refused",
                                      "unchecked_error",
                                      "leak",
                                      "host_touches_device",
                                      "device_touches_host",
                                      "kernel_fault",
                                      "misuse",
                                      "host_crash",
                                      "stopwatch"};

/// Whether what the code computes may be another thing in another schedule, or on a card.
bool affects_result(FindingKind kind) {
  return kind != FindingKind::leak && kind != FindingKind::unchecked_error &&
         kind != FindingKind::stopwatch;
}

std::string json_triple(uint3 v) {
  return "[" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + "]";
}

std::string json_line(const char* prefix, const CodeLine& line) {
  return line.line == 0 ? std::string()
                        : std::string(", \"") + prefix + "file\": " + json_text(line.file) +
                              ", \"" + prefix + "line\": " + std::to_string(line.line);
}

} // namespace

std::string triple(uint3 v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

std::string json_text(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      json += code;
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string json_of(const Finding& finding) {
  std::string json = std::string("{\"kind\": \"") +
                     kind_names[static_cast<std::size_t>(finding.kind)] +
                     "\", \"message\": " + json_text(finding.message) + json_line("", finding.at);
  if (finding.by) {
    json += ", \"kernel\": " + json_text(finding.by->kernel) +
            ", \"block\": " + json_triple(finding.by->block) +
            ", \"thread\": " + json_triple(finding.by->thread);
  }
  return json + json_line("other_", finding.other) +
         ", \"unwritten\": " + (finding.unwritten ? "true" : "false") +
         ", \"affects_result\": " + (affects_result(finding.kind) ? "true" : "false") + "}";
}

} // namespace diffbench::emulation
