// SPDX-License-Identifier: Apache-2.0
#include "handle.hpp"

#include "diffbench/text.hpp"

#include <string>
#include <string_view>

namespace diffbench::cluster {

namespace {

herr_t take_innermost(unsigned, const H5E_error2_t* entry, void* text) {
  if (entry->desc != nullptr) {
    *static_cast<std::string*>(text) = entry->desc;
  }
  return 1; // no further
}

// Failures of the system come with addresses and sizes round what counts:
// "file write failed: time = ..., errno = 28, error message = 'No space left on device', buf =
// ...".
std::string_view essence(std::string_view text) {
  constexpr std::string_view mark = "error message = '";
  const std::size_t at = text.find(mark);
  if (at == text.npos) {
    return text;
  }
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find('\''));
}

} // namespace

void start_hdf5() {
  // HDF5 1.10 keeps a file that it failed to close in its tables; its clean-up at the exit of the
  // program tries that again, and crashes.
  H5dont_atexit();
  checked(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "silencing HDF5");
}

hid_t checked(hid_t value, const char* what) {
  if (value < 0) {
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &text);
    throw Error(std::string(what) + " failed" +
                (text.empty() ? "" : " (HDF5: " + one_line(essence(text)) + ")"));
  }
  return value;
}

} // namespace diffbench::cluster
