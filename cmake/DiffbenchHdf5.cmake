# SPDX-License-Identifier: Apache-2.0
# HDF5 for one process. FindHDF5 takes the kind whose compiler wrapper comes first, which may be the parallel one: its
# header wants MPI's. Names are Debian's, and elsewhere that of the one which is there.

# diffbench_find_hdf5(): makes the target diffbench_hdf5, unless it is missing. DIFFBENCH_HDF5 is the library; OFF leaves
# it out.
function(diffbench_find_hdf5)
  find_library(DIFFBENCH_HDF5 NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial DOC "HDF5 for one process")
  find_path(DIFFBENCH_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial DOC "The headers of HDF5")
  mark_as_advanced(DIFFBENCH_HDF5 DIFFBENCH_HDF5_INCLUDE)
  if(NOT DIFFBENCH_HDF5 OR NOT DIFFBENCH_HDF5_INCLUDE)
    return()
  endif()
  file(GLOB settings ${DIFFBENCH_HDF5_INCLUDE}/H5pubconf*.h)
  foreach(header IN LISTS settings)
    file(STRINGS ${header} parallel REGEX "^#define H5_HAVE_PARALLEL 1")
    if(parallel)
      return()
    endif()
  endforeach()
  add_library(diffbench_hdf5 INTERFACE)
  target_include_directories(diffbench_hdf5 SYSTEM INTERFACE ${DIFFBENCH_HDF5_INCLUDE})
  target_link_libraries(diffbench_hdf5 INTERFACE ${DIFFBENCH_HDF5})
endfunction()
