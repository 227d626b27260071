# SPDX-License-Identifier: Apache-2.0
# The Debian packages that `make package` makes with CPack: diffbench, the program with its modules, peers,
# man pages and documents, and diffbench-dev, the solver as a library.
#
# CPack reads this same file again when it makes them (CPACK_PROJECT_CONFIG_FILE): only then are the
# programs there of which the dependencies follow.

if(DEFINED CPACK_GENERATOR AND CPACK_DIFFBENCH_PROGRAM)
  # The program cannot start without its libraries. A module is loaded by who wants it, says what it lacks,
  # and would bring MPI along.
  file(WRITE ${CPACK_DIFFBENCH_WORK}/debian/control "Source: diffbench\n\nPackage: diffbench\nArchitecture: any\n")
  execute_process(COMMAND dpkg-shlibdeps -O
    -dDepends ${CPACK_DIFFBENCH_PROGRAM} -dSuggests ${CPACK_DIFFBENCH_MODULES}
    WORKING_DIRECTORY ${CPACK_DIFFBENCH_WORK} OUTPUT_VARIABLE found ERROR_VARIABLE complaint RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "dpkg-shlibdeps could not find the dependencies of diffbench: ${complaint}")
  endif()
  foreach(kind IN ITEMS Depends Suggests)
    string(REGEX MATCH "shlibs:${kind}=([^\n]*)" line "${found}")
    string(TOUPPER ${kind} upper)
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_${upper} "${CMAKE_MATCH_1}")
  endforeach()
  string(JOIN ", " CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS ${CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS}
    openmpi-bin python3-numpy dataset-fashion-mnist)
  if(CPACK_DIFFBENCH_PAGE_STAMP AND NOT EXISTS ${CPACK_DIFFBENCH_PAGE_STAMP})
    list(APPEND CPACK_DIFFBENCH_MISSING "the report page: npm could not build it, see the warning of the build")
  endif()
  foreach(line IN LISTS CPACK_DIFFBENCH_MISSING)
    message("package: without ${line}")
  endforeach()
  return()
endif()

# Whom Debian's tools name as responsible; who gives the package away puts themselves here.
set(DIFFBENCH_MAINTAINER "diffbench maintainers <maintainers@localhost>" CACHE STRING
  "Maintainer of the Debian packages: Name <address>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME diffbench)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "diffusion-equation solver and benchmark, CPU against GPU")
set(CPACK_PACKAGE_CONTACT "${DIFFBENCH_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev)
if(TARGET diffbench_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME diffbench)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
# Loaded by the engine that wants it.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS libopenblas0)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "Compares the ways to compute the 2D diffusion equation: NumPy-style C++,
a plain loop, a tuned CPU path, Thrust, CUDA. It proves that all of them
computed the same field, to the last bit, and says how long each took and
where the time went. Useful without a GPU.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME diffbench-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "cmake, diffbench")
set(CPACK_DEBIAN_DEV_DESCRIPTION "The static library and headers: problems, fields, CPU backends,
verification and files of diffbench, as the CMake target diffbench::solver.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-diffbench)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
# The module is compiled for one version of Python.
find_package(Python3 COMPONENTS Interpreter QUIET)
math(EXPR next_python "${Python3_VERSION_MINOR} + 1")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next_python}), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "diffbench, python3-pandas")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "The solver of diffbench on NumPy arrays: the diffusion equation with
NumPy's bits in a fraction of its time, and the program's results as dicts.")

set(package_dir ${PROJECT_BINARY_DIR}/package)

# What CPack needs above.
set(CPACK_DIFFBENCH_WORK ${package_dir})
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_FILE})
set(CPACK_DIFFBENCH_PROGRAM ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/diffbench)
set(CPACK_DIFFBENCH_MODULES "")
set(CPACK_DIFFBENCH_MISSING "")
if(TARGET diffbench_module_mpi)
  list(APPEND CPACK_DIFFBENCH_MODULES ${PROJECT_BINARY_DIR}/lib/diffbench/mpi.so)
else()
  list(APPEND CPACK_DIFFBENCH_MISSING "the module mpi: CMake found no library for it")
endif()
if(NOT DIFFBENCH_CUDA STREQUAL toolkit)
  list(APPEND CPACK_DIFFBENCH_MISSING "GPU backends: CMake found no nvcc of 12.8 or newer, or was told DIFFBENCH_CUDA=off")
endif()
get_property(has_page GLOBAL PROPERTY diffbench_has_page)
if(has_page)
  set(CPACK_DIFFBENCH_PAGE_STAMP ${PROJECT_BINARY_DIR}/bench/report/page.stamp)
else()
  list(APPEND CPACK_DIFFBENCH_MISSING "the report page: CMake found no npm, or was told DIFFBENCH_VIZ=OFF")
endif()

# What Debian wants beside the files that `cmake --install` installs everywhere.
find_package(Git QUIET)
set(date $ENV{SOURCE_DATE_EPOCH})
if(NOT date AND GIT_EXECUTABLE)
  execute_process(COMMAND ${GIT_EXECUTABLE} log -1 --format=%ct WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE date ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(ENV{SOURCE_DATE_EPOCH} ${date}) # by which string(TIMESTAMP) goes
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
unset(ENV{SOURCE_DATE_EPOCH})
configure_file(${PROJECT_SOURCE_DIR}/packaging/changelog.in ${package_dir}/changelog.Debian @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${package_dir}/changelog COPYONLY)
execute_process(COMMAND gzip -9nf ${package_dir}/changelog.Debian ${package_dir}/changelog)
set(packages diffbench diffbench-dev)
if(TARGET diffbench_python)
  list(APPEND packages python3-diffbench)
else()
  list(APPEND CPACK_DIFFBENCH_MISSING "the Python module: CMake found no pybind11 or no headers of Python")
endif()
foreach(component package IN ZIP_LISTS CPACK_COMPONENTS_ALL packages)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/copyright DESTINATION share/doc/${package} COMPONENT ${component})
  install(FILES ${package_dir}/changelog.Debian.gz ${package_dir}/changelog.gz
    DESTINATION share/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/${package}.lintian-overrides
    DESTINATION share/lintian/overrides RENAME ${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
# Documents with the links between them, and the recorded runs that they speak of.
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/results/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT runtime)

include(CPack)
