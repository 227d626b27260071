// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

#include "columns.hpp"
#include "diffbench/registry.hpp"
#include "peer.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace diffbench::bench {

namespace {

struct Listed {
  std::string kind, name;
  std::string device = {}; ///< empty where it is not known, as the next one
  std::optional<bool> threaded = {};
  bool available = false;
  std::string description = {}, how_to_use, reason;
};

/// What a reader wants to know first.
std::string about(const Listed& listed) {
  const bool described = !listed.description.empty();
  return !listed.available ? listed.reason : described ? listed.description : listed.how_to_use;
}

constexpr Column<Listed> listed_columns[] = {
    {"kind", nullptr, as_text, field<&Listed::kind>},
    {"name", "backend", as_text, field<&Listed::name>},
    {"device", "device", as_text, field<&Listed::device, or_null>},
    {"threaded", "threads", as_yes_no, field<&Listed::threaded>},
    {"available", "available", as_yes_no, field<&Listed::available>},
    {"description", nullptr, as_text, field<&Listed::description, or_null>},
    {"how_to_use", nullptr, as_text, field<&Listed::how_to_use>},
    {"reason", nullptr, as_text, field<&Listed::reason, or_null>},
    {nullptr, "description", as_text, field<about>},
};
constexpr std::size_t about_column = 4; // of the table

std::vector<Listed> list_backends() {
  std::vector<Listed> rows;
  for (const BackendInfo& backend : all_backends()) {
    const Probe probe = backend.probe(0);
    rows.push_back({.kind = "backend",
                    .name = std::string(backend.name),
                    .device = std::string(to_string(backend.device)),
                    .threaded = backend.threaded,
                    .available = probe.available,
                    .description = fmt::format("{}{}", backend.description,
                                               backend.teaching ? "; slow, only with --all" : ""),
                    .how_to_use = fmt::format("--backend {}", backend.name),
                    .reason = probe.reason});
  }
  for (const NotCompiled& backend : missing_backends()) {
    rows.push_back({.kind = "backend",
                    .name = std::string(backend.name),
                    .how_to_use = fmt::format("--backend {}", backend.name),
                    .reason = fmt::format("not compiled: {}", backend.how_to_get)});
  }
  return rows;
}

std::vector<Listed> list_peers(const std::string& kind, const std::string& option, PeerTask task) {
  std::vector<Listed> rows;
  for (const std::string& name : peer_names(task)) {
    const Probe probe = probe_peer(name, task);
    rows.push_back({.kind = kind,
                    .name = name,
                    .available = probe.available,
                    .how_to_use = fmt::format("{} {}", option, name),
                    .reason = probe.reason});
  }
  return rows;
}

/// Without the columns in which these rows have nothing.
std::string format_listed(const std::string& title, const std::string& last,
                          std::span<const Listed> rows) {
  TextTable table = table_of(listed_columns);
  table.of_words();
  table.rename(0, title);
  table.rename(about_column, last);
  std::string last_reason;
  for (Listed row : rows) {
    if (row.reason == last_reason && !row.available) {
      row.reason = "as above"; // a missing driver once, not for each backend
    } else {
      last_reason = row.reason;
    }
    add_row(table, listed_columns, row);
  }
  table.drop_empty();
  return table.format();
}

} // namespace

LabReport list_report() {
  const std::vector<Listed> backends = list_backends();
  const std::vector<Listed> peers = list_peers("peer", "--peer", PeerTask::diffusion);
  const std::vector<Listed> mlp_peers =
      list_peers("mlp peer", "mlp depth --peer", PeerTask::training);
  LabReport report;
  report.text = format_listed("backend", "description", backends) + "\n" +
                format_listed("peer", "how to use", peers) + "\n" +
                format_listed("peer, mlp", "how to use", mlp_peers);
  report.data = Value::list();
  for (const std::vector<Listed>* group : {&backends, &peers, &mlp_peers}) {
    for (const Listed& row : *group) {
      report.data.push_back(object_of(listed_columns, row));
    }
  }
  report.rows = report.data;
  return report;
}

} // namespace diffbench::bench
