# HDF5 in its two kinds, which may both be installed: FindHDF5 takes the one whose compiler wrapper
# comes first. Their names are Debian's, and elsewhere that of the one which is there; its header says which
# kind it is.

# diffbench_find_hdf5(serial|parallel): makes the target diffbench_hdf5_<kind>, unless that kind is missing.
# DIFFBENCH_HDF5_<KIND> is the library; OFF leaves it out.
function(diffbench_find_hdf5 kind)
  string(TOUPPER ${kind} upper)
  set(folder ${kind})
  if(kind STREQUAL parallel)
    set(folder openmpi)
  endif()
  find_library(DIFFBENCH_HDF5_${upper} NAMES hdf5_${folder} hdf5 PATH_SUFFIXES hdf5/${folder}
    DOC "HDF5, ${kind}")
  find_path(DIFFBENCH_HDF5_${upper}_INCLUDE hdf5.h PATH_SUFFIXES hdf5/${folder}
    DOC "The headers of HDF5, ${kind}")
  mark_as_advanced(DIFFBENCH_HDF5_${upper} DIFFBENCH_HDF5_${upper}_INCLUDE)
  if(NOT DIFFBENCH_HDF5_${upper} OR NOT DIFFBENCH_HDF5_${upper}_INCLUDE)
    return()
  endif()
  set(is serial)
  file(GLOB settings ${DIFFBENCH_HDF5_${upper}_INCLUDE}/H5pubconf*.h)
  foreach(header IN LISTS settings)
    file(STRINGS ${header} parallel REGEX "^#define H5_HAVE_PARALLEL 1")
    if(parallel)
      set(is parallel)
    endif()
  endforeach()
  if(NOT is STREQUAL kind)
    return()
  endif()
  add_library(diffbench_hdf5_${kind} INTERFACE)
  target_include_directories(diffbench_hdf5_${kind} SYSTEM INTERFACE ${DIFFBENCH_HDF5_${upper}_INCLUDE})
  target_link_libraries(diffbench_hdf5_${kind} INTERFACE ${DIFFBENCH_HDF5_${upper}})
endfunction()
