#include "diffbench/mlp/engine.hpp"

#include "diffbench/errors.hpp"

#include <string>

namespace diffbench::mlp {

EngineInfo require_engine(std::string_view name, int device) {
  std::string valid;
  for (const EngineInfo& engine : all_engines()) {
    if (engine.name == name) {
      if (const Probe probe = engine.probe(device); !probe.available) {
        throw Unavailable("engine '" + std::string(name) + "' is not available: " + probe.reason);
      }
      return engine;
    }
    valid += (valid.empty() ? "" : ", ") + std::string(engine.name);
  }
  for (const MissingEngine& engine : missing_engines()) {
    if (engine.name == name) {
      throw Unavailable("engine '" + std::string(name) + "' is not compiled; " +
                        std::string(engine.how_to_get));
    }
  }
  throw InvalidInput("unknown engine '" + std::string(name) + "'; valid: " + valid);
}

} // namespace diffbench::mlp
