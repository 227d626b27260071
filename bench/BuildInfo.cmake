# What a build knows about itself: version, commit, compiler flags, and where its peers are.
#
# Included by CMakeLists.txt, which has made the target diffbench_bench. The commit must be that of
# the build, not of the last configure, so a target that always runs calls this same file as a script
# to write build_info.hpp, and touches it only when something changed.

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
  configure_file(${TEMPLATE} ${HEADER} @ONLY) # leaves a file that would not change alone
  return()
endif()

find_package(Git QUIET)
set(build_info_dir ${CMAKE_CURRENT_BINARY_DIR}/build_info)

# The flags that shape the code; warnings do not.
get_target_property(shared_options diffbench_options INTERFACE_COMPILE_OPTIONS)
list(FILTER shared_options EXCLUDE REGEX "(^|:)-W")
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(JOIN " " build_flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} ${shared_options})

add_custom_target(diffbench_build_info
  COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DTEMPLATE=${CMAKE_CURRENT_LIST_DIR}/build_info.hpp.in -DHEADER=${build_info_dir}/build_info.hpp
    -DVERSION=${PROJECT_VERSION} "-DFLAGS=${build_flags}" -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
    -DARCH=${DIFFBENCH_ARCH} -DPEERS=${CMAKE_CURRENT_SOURCE_DIR}/peers
    -P ${CMAKE_CURRENT_LIST_FILE}
  BYPRODUCTS ${build_info_dir}/build_info.hpp
  COMMENT "Checking the commit" VERBATIM)
add_dependencies(diffbench_bench diffbench_build_info)
target_include_directories(diffbench_bench PRIVATE ${build_info_dir})

# The guard must run on any CPU of the architecture.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(src/cpu_guard.cpp PROPERTIES COMPILE_OPTIONS "-march=x86-64"
    SKIP_PRECOMPILE_HEADERS ON)
endif()

target_link_libraries(diffbench_bench PRIVATE ${CMAKE_DL_LIBS}) # doctor asks libcuda

