// Prints the registry, one backend a line: "compiled NAME" or "not compiled NAME".
#include "diffbench/registry.hpp"

#include <iostream>

int main() {
  for (const diffbench::BackendInfo& backend : diffbench::all_backends()) {
    std::cout << "compiled " << backend.name << '\n';
  }
  for (const diffbench::NotCompiled& backend : diffbench::missing_backends()) {
    std::cout << "not compiled " << backend.name << '\n';
  }
}
