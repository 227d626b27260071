#include "train_ledger.hpp"

#include "result_file.hpp"
#include "text_table.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

namespace diffbench::bench {

using mlp::StepTimes;
namespace {

/// In the order in which a step goes through them.
constexpr std::array<std::pair<const char*, double StepTimes::*>, 7> named_parts{
    {{"data", &StepTimes::data},
     {"h2d", &StepTimes::h2d},
     {"launch", &StepTimes::launch},
     {"forward", &StepTimes::forward},
     {"backward", &StepTimes::backward},
     {"update", &StepTimes::update},
     {"sync", &StepTimes::sync}}};

void add(StepTimes& sum, const StepTimes& times) {
  for (const auto& [name, part] : named_parts) {
    sum.*part += times.*part;
  }
}

double sum_of(const StepTimes& times) {
  double sum = 0;
  for (const auto& [name, part] : named_parts) {
    sum += times.*part;
  }
  return sum;
}

} // namespace

TrainLedger ledger_of(std::string engine, std::span<const mlp::Epoch> epochs) {
  TrainLedger ledger{.engine = std::move(engine), .parts = {}, .device = {}};
  StepTimes device;
  for (const mlp::Epoch& epoch : epochs) {
    ledger.wall += epoch.wall;
    ledger.parts.data += epoch.times.data;
    if (epoch.engine) {
      add(ledger.parts, epoch.engine->host);
      add(device, epoch.engine->device);
    }
  }
  ledger.unexplained = ledger.wall - sum_of(ledger.parts);
  if (sum_of(device) > 0) {
    ledger.device = device;
  }
  return ledger;
}

std::string ledger_table(std::span<const TrainLedger> ledgers) {
  TextTable::Cells header{"where the time went"};
  for (const auto& [name, part] : named_parts) {
    header.emplace_back(name);
  }
  header.insert(header.end(), {"unexplained", "wall"});
  TextTable table(header);
  std::vector<std::string> fused;
  for (const TrainLedger& ledger : ledgers) {
    const auto share = [&](double seconds) {
      return seconds == 0 ? "-" : fmt::format("{:.1f} %", 100 * seconds / ledger.wall);
    };
    TextTable::Cells cells{ledger.engine};
    for (const auto& [name, part] : named_parts) {
      cells.push_back(share(ledger.parts.*part));
    }
    cells.push_back(share(ledger.unexplained));
    cells.push_back(format_seconds(ledger.wall));
    table.add(std::move(cells));
    if (ledger.parts.backward > 0 && ledger.parts.update == 0) {
      fused.push_back(ledger.engine);
    }
  }
  return table.format() + (fused.empty() ? ""
                                         : fmt::format("The update is within backward: {}.\n",
                                                       fmt::join(fused, ", ")));
}

Value ledger_json(const TrainLedger& ledger) {
  const auto parts_json = [](const StepTimes& times) {
    Value json;
    for (const auto& [name, part] : named_parts) {
      json[name] = times.*part;
    }
    return json;
  };
  Value json = parts_json(ledger.parts);
  json["unexplained"] = ledger.unexplained;
  json["wall"] = ledger.wall;
  json["device"] = ledger.device ? parts_json(*ledger.device) : Value();
  return json;
}

} // namespace diffbench::bench
