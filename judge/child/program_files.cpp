// SPDX-License-Identifier: Apache-2.0
// In the place of the C library's fopen() and open(), for a whole program: it may write no file, so
// what it writes lies in memory, under that name as long as it runs.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

std::map<std::string, int>& files() {
  static auto& all = *new std::map<std::string, int>;
  return all;
}

/// A descriptor of its own of the file in memory; below 0 where there is none.
int in_memory(const char* path, bool makes, bool truncates, bool appends) {
  auto found = files().find(path);
  if (found == files().end()) {
    if (!makes) {
      return -1;
    }
    found = files().emplace(path, memfd_create("result", MFD_CLOEXEC)).first;
  }
  const int fd = fcntl(found->second, F_DUPFD_CLOEXEC, 3);
  if (fd < 0 || (truncates && ftruncate(fd, 0) != 0)) {
    return -1;
  }
  lseek(fd, 0, appends ? SEEK_END : SEEK_SET);
  return fd;
}

std::FILE* open_stream(const char* path, const char* mode) {
  const int fd = std::strpbrk(mode, "wa+") != nullptr || files().contains(path)
                     ? in_memory(path, mode[0] != 'r', mode[0] == 'w', mode[0] == 'a')
                     : -1;
  using Open = std::FILE*(const char*, const char*);
  return fd >= 0 ? fdopen(fd, mode)
                 : reinterpret_cast<Open*>(dlsym(RTLD_NEXT, "fopen"))(path, mode);
}

int open_descriptor(const char* path, int flags, unsigned mode) {
  const int fd =
      (flags & (O_WRONLY | O_RDWR)) != 0 || files().contains(path)
          ? in_memory(path, (flags & O_CREAT) != 0, (flags & O_TRUNC) != 0, (flags & O_APPEND) != 0)
          : -1;
  using Open = int(const char*, int, ...);
  return fd >= 0 ? fd : reinterpret_cast<Open*>(dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}

} // namespace

// NOLINTBEGIN: the names are the C library's
extern "C" {
std::FILE* fopen(const char* path, const char* mode) { return open_stream(path, mode); }
std::FILE* fopen64(const char* path, const char* mode) { return open_stream(path, mode); }
#define DIFFBENCH_OPEN(NAME)                      \
  int NAME(const char* path, int flags, ...) {    \
    va_list rest;                                 \
    va_start(rest, flags);                        \
    const unsigned mode = va_arg(rest, unsigned); \
    va_end(rest);                                 \
    return open_descriptor(path, flags, mode);    \
  }
DIFFBENCH_OPEN(open)
DIFFBENCH_OPEN(open64)
#undef DIFFBENCH_OPEN
}
// NOLINTEND
