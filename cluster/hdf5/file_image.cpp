// SPDX-License-Identifier: Apache-2.0
#include "file_image.hpp"

#include "diffbench/errors.hpp"

#include <cerrno>
#include <system_error>

#include <sys/mman.h>
#include <sys/stat.h>

namespace diffbench::cluster {

namespace {

// Whenever HDF5 wants memory for a copy of the image, it gets the image itself.

void* give_pages(std::size_t, H5FD_file_image_op_t, void* pages) { return pages; }
void* copy_nothing(void* to, const void*, std::size_t, H5FD_file_image_op_t, void*) { return to; }
void* refuse_to_grow(void*, std::size_t, H5FD_file_image_op_t, void*) { return nullptr; }
herr_t free_nothing(void*, H5FD_file_image_op_t, void*) { return 0; }
void* same_pages(void* pages) { return pages; }
herr_t keep_pages(void*) { return 0; }

} // namespace

FileImage::FileImage(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    throw Error(std::generic_category().message(errno));
  }
  bytes_ = static_cast<std::size_t>(status.st_size);
  if (bytes_ == 0) {
    throw Error("it is empty");
  }
  pages_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (pages_ == MAP_FAILED) {
    throw Error(std::generic_category().message(errno));
  }
}

FileImage::~FileImage() { ::munmap(pages_, bytes_); }

Handle FileImage::open() {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "a file in memory");
  constexpr std::size_t increment = 64 << 10; // of a file that grows
  checked(H5Pset_fapl_core(access.get(), increment, false), "a file in memory");
  H5FD_file_image_callbacks_t callbacks = {.image_malloc = give_pages,
                                           .image_memcpy = copy_nothing,
                                           .image_realloc = refuse_to_grow,
                                           .image_free = free_nothing,
                                           .udata_copy = same_pages,
                                           .udata_free = keep_pages,
                                           .udata = pages_};
  checked(H5Pset_file_image_callbacks(access.get(), &callbacks), "a file in memory");
  checked(H5Pset_file_image(access.get(), pages_, bytes_), "a file in memory");
  return {H5Fopen("checkpoint", H5F_ACC_RDONLY, access.get()), H5Fclose, "opening it as HDF5"};
}

} // namespace diffbench::cluster
