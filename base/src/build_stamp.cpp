#include "diffbench/build_stamp.hpp"

#include <sys/stat.h>

#include <sstream>

namespace diffbench {

std::string build_stamp() {
  struct stat file {};
  if (stat("/proc/self/exe", &file) != 0) {
    return "unknown";
  }
  std::ostringstream stamp;
  stamp << file.st_size << '-' << file.st_mtim.tv_sec << '-' << file.st_mtim.tv_nsec;
  return stamp.str();
}

} // namespace diffbench
