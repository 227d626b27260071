# SPDX-License-Identifier: Apache-2.0
# What a build knows about itself: version, commit, compiler flags, and where its peers are.
#
# Included by CMakeLists.txt, which has made the target diffbench_bench_measure. The commit must be that of
# the build, not of the last configure, so a target that always runs calls this same file as a script
# to write build_info.cpp, and touches it only when something changed.

if(CMAKE_SCRIPT_MODE_FILE)
  set(GIT_SHA unknown)
  # Only a repository of our own: a source archive unpacked inside another has no commit to tell.
  if(GIT AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND ${GIT} --no-optional-locks describe --always --abbrev=40 --exclude=* --dirty
      WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE description RESULT_VARIABLE failed
      ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      set(GIT_SHA ${description})
    endif()
  endif()
  configure_file(${TEMPLATE} ${OUTPUT} @ONLY) # leaves a file that would not change alone
  return()
endif()

find_package(Git QUIET)
set(build_info ${CMAKE_CURRENT_BINARY_DIR}/build_info.cpp)

# The flags that shape the code; warnings do not.
get_target_property(shared_options diffbench_options INTERFACE_COMPILE_OPTIONS)
list(FILTER shared_options EXCLUDE REGEX "(^|:)-W")
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(JOIN " " build_flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} ${shared_options})

add_custom_target(diffbench_build_info
  COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DTEMPLATE=${CMAKE_CURRENT_LIST_DIR}/build_info.cpp.in -DOUTPUT=${build_info}
    -DVERSION=${PROJECT_VERSION} "-DFLAGS=${build_flags}" -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
    -DARCH=${DIFFBENCH_ARCH} -DPEERS=${CMAKE_CURRENT_SOURCE_DIR}/peers
    -P ${CMAKE_CURRENT_LIST_FILE}
  BYPRODUCTS ${build_info}
  COMMENT "Checking the commit" VERBATIM)
add_dependencies(diffbench_bench_measure diffbench_build_info)
target_sources(diffbench_bench_measure PRIVATE ${build_info})
set_source_files_properties(${build_info} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# The guard must run on any CPU of the architecture.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(measure/cpu_guard.cpp PROPERTIES COMPILE_OPTIONS "-march=x86-64"
    SKIP_PRECOMPILE_HEADERS ON)
endif()

