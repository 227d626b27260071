// A backend that exists only in the test of the registry: one file more, and nothing else changed.
#include "diffbench/backend.hpp"

namespace diffbench::backends {

BackendInfo planted() { return {.name = "planted", .description = "a planted file"}; }

} // namespace diffbench::backends
