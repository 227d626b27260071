#include "diffbench/mlp/engine.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"

#include <string>

namespace diffbench::mlp {

EngineInfo require_engine(std::string_view name, int device) {
  std::vector<std::string> valid;
  for (const EngineInfo& engine : all_engines()) {
    if (engine.name == name) {
      if (const Probe probe = engine.probe(device); !probe.available) {
        throw Unavailable("engine '" + std::string(name) + "' is not available: " + probe.reason);
      }
      return engine;
    }
    valid.emplace_back(engine.name);
  }
  for (const MissingEngine& engine : missing_engines()) {
    if (engine.name == name) {
      throw Unavailable("engine '" + std::string(name) + "' is not compiled; " +
                        std::string(engine.how_to_get));
    }
  }
  throw unknown_name("engine", name, valid);
}

} // namespace diffbench::mlp
