# SPDX-License-Identifier: Apache-2.0
# -DDIFFBENCH_FETCH=ON: the libraries that are headers only come as their authors' archives, of the versions that
# Debian 12 has, and what is installed of them is not looked for. With tests or suites, GoogleTest and Google
# Benchmark come as well and are built. -DFETCHCONTENT_SOURCE_DIR_<NAME>=FOLDER takes one from a folder, without a
# network.
#
# The CMake files of the headers do not run: they differ in what they build, install and require of CMake.
# find_package() elsewhere finds what is declared here.
include(FetchContent)
include(CMakePackageConfigHelpers)

# diffbench_fetched_package(<name> <version>): from here on find_package(<name>) is satisfied.
function(diffbench_fetched_package name version)
  string(TOLOWER ${name} lower)
  set(config ${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/${lower}-config)
  file(WRITE ${config}.cmake "")
  write_basic_package_version_file(${config}-version.cmake
    VERSION ${version} COMPATIBILITY AnyNewerVersion ARCH_INDEPENDENT)
endfunction()

# diffbench_fetch(<name> <version> <target> <header> <url> <SHA256>): the package; <target> is its folder include/.
function(diffbench_fetch name version target header url hash)
  string(TOUPPER ${name} upper)
  string(TOLOWER ${name} lower)
  message(STATUS "Fetching ${name} ${version} (-DFETCHCONTENT_SOURCE_DIR_${upper}=FOLDER takes it from a folder)")
  FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${hash} SOURCE_SUBDIR no_build_of_its_own)
  FetchContent_MakeAvailable(${name})
  set(folder ${${lower}_SOURCE_DIR}/include)
  if(NOT EXISTS ${folder}/${header})
    message(FATAL_ERROR "${name}: no ${header} in ${folder}; "
      "set FETCHCONTENT_SOURCE_DIR_${upper} to a folder with include/${header}")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${folder})
  diffbench_fetched_package(${name} ${version})
endfunction()

set(github https://github.com)
diffbench_fetch(xtl 0.7.2 xtl xtl/xsequence.hpp ${github}/xtensor-stack/xtl/archive/0.7.2.tar.gz
  95c221bdc6eaba592878090916383e5b9390a076828552256693d5d97f78357c)
diffbench_fetch(xsimd 8.1.0 xsimd xsimd/xsimd.hpp ${github}/xtensor-stack/xsimd/archive/8.1.0.tar.gz
  d52551360d37709675237d2a0418e28f70995b5b7cdad7c674626bcfbbf48328)
diffbench_fetch(xtensor 0.24.3 xtensor xtensor/xtensor.hpp ${github}/xtensor-stack/xtensor/archive/0.24.3.tar.gz
  3acde856b9fb8cf4e2a7b66726da541275d40ab9b002e618ad985ab97f08ca4f)
foreach(part xtl xsimd) # whose headers xtensor's include
  get_target_property(folder ${part} INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(xtensor INTERFACE ${folder})
endforeach()
diffbench_fetch(CLI11 2.1.2 CLI11::CLI11 CLI/CLI.hpp ${github}/CLIUtils/CLI11/archive/v2.1.2.tar.gz
  26291377e892ba0e5b4972cdfd4a2ab3bf53af8dac1f4ea8fe0d1376b625c8cb)
diffbench_fetch(nlohmann_json 3.11.2 nlohmann_json::nlohmann_json nlohmann/json.hpp
  ${github}/nlohmann/json/archive/v3.11.2.tar.gz
  d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273)
diffbench_fetch(tomlplusplus 3.3.0 tomlplusplus::tomlplusplus toml++/toml.h
  ${github}/marzer/tomlplusplus/archive/v3.3.0.tar.gz
  fc1a5eb410f3c67e90e5ad1264a1386d020067cfb01b633cc8c0441789aa6cf2)
diffbench_fetch(fmt 9.1.0 fmt::fmt fmt/format.h ${github}/fmtlib/fmt/archive/9.1.0.tar.gz
  5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)

# These two are built, by their own CMake files, whose options are variables here.
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
if(DIFFBENCH_TESTS)
  set(INSTALL_GTEST OFF)
  FetchContent_Declare(GTest URL ${github}/google/googletest/archive/release-1.12.1.tar.gz
    URL_HASH SHA256=81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2 OVERRIDE_FIND_PACKAGE)
endif()
if(DIFFBENCH_SUITES AND DIFFBENCH_BENCH)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  set(BENCHMARK_ENABLE_WERROR OFF)
  FetchContent_Declare(benchmark URL ${github}/google/benchmark/archive/v1.7.1.tar.gz
    URL_HASH SHA256=6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7 OVERRIDE_FIND_PACKAGE)
endif()
