# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: the library, its headers, and a CMake package, so that another project can say
# find_package(diffbench CONFIG REQUIRED) and link diffbench::solver. bench/ adds the program.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/diffbench)

install(TARGETS diffbench_base diffbench_solver EXPORT diffbench_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/base/include/ ${PROJECT_SOURCE_DIR}/solver/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT diffbench_targets NAMESPACE diffbench:: DESTINATION ${package_dir}
  FILE diffbench_targets.cmake COMPONENT dev)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/diffbench-config.cmake.in
  ${PROJECT_BINARY_DIR}/diffbench-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/diffbench-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/diffbench-config.cmake
  ${PROJECT_BINARY_DIR}/diffbench-config-version.cmake
  DESTINATION ${package_dir} COMPONENT dev)
