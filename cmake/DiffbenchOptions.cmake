# SPDX-License-Identifier: Apache-2.0
# Compile options that every target of the project shares.
#
# Contraction is off everywhere: all backends must give NumPy's bits (docs/decisions.md).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
# Libraries are looked for beside the program first: scripts/gpu-kit puts them there. As RPATH, which unlike
# RUNPATH also serves what those libraries need.
set(CMAKE_BUILD_RPATH "$ORIGIN/../lib")
add_link_options(-Wl,--disable-new-dtags)
# Relocated at the start and read-only from then on; at an address of its own (PIE) each time.
add_link_options(-Wl,-z,relro,-z,now)
include(CheckPIESupported)
check_pie_supported()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
if(DIFFBENCH_SANITIZE)
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1") # -O1 keeps the instrumented loops quick
else()
  set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # It collects its garbage later, at 0.2 GB more a compiler, and a batch of tests takes a tenth less.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-expand=400>
    $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1500000>)
endif()

# diffbench_batches(<target> <size> [SKIP <file>...]): its sources are compiled in batches of that size,
# so that their headers are parsed once for several; those named in SKIP, which are optimized apart or
# use one local name for different things, one by one. The thread sanitizer's tree compiles all one by one,
# and so finds an include that is missing.
function(diffbench_batches target size)
  cmake_parse_arguments(arg "" "" "SKIP" ${ARGN})
  if(NOT DIFFBENCH_SANITIZE STREQUAL thread)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    set_source_files_properties(${arg_SKIP} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# diffbench_isa_sources(<target> <prefix>): one source for each instruction set, <prefix>_baseline.cpp,
# _avx2.cpp and _avx512.cpp. They contain nothing but functions with internal linkage and one table each,
# so that the linker cannot pick code compiled for a larger instruction set for the rest of the program
# (tests/negative checks the symbols).
function(diffbench_isa_sources target prefix)
  target_sources(${target} PRIVATE ${prefix}_baseline.cpp)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  target_sources(${target} PRIVATE ${prefix}_avx2.cpp ${prefix}_avx512.cpp)
  set(avx2 -mavx2 -mfma)
  set(avx512 ${avx2} -mavx512f -mavx512vl -mavx512dq -mavx512bw)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC's own AVX-512 intrinsics start from a deliberately uninitialised vector (GCC bug 105593).
    list(APPEND avx512 -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
  set_source_files_properties(${prefix}_avx2.cpp PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(${prefix}_avx512.cpp PROPERTIES COMPILE_OPTIONS "${avx512}")
endfunction()

add_library(diffbench_options INTERFACE)
target_compile_options(diffbench_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  # In a batch of sources, a local of one may hide what another one declares.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # It sees overlaps in std::string's operator+ that are not there (GCC bug 105651).
  target_compile_options(diffbench_options INTERFACE -Wno-restrict)
endif()
if(DIFFBENCH_WERROR)
  target_compile_options(diffbench_options INTERFACE -Werror)
endif()
# What is for any 64-bit PC is there for any 64-bit Arm.
if(DIFFBENCH_ARCH MATCHES "^x86-64" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(DIFFBENCH_ARCH armv8-a)
endif()
if(DIFFBENCH_ARCH)
  target_compile_options(diffbench_options INTERFACE -march=${DIFFBENCH_ARCH})
endif()
# What a file or an argument could overrun ends the program. The sanitizers have their own, stricter checks,
# and FORTIFY needs an optimizing compiler. -U first: some compilers define it themselves.
if(NOT DIFFBENCH_SANITIZE)
  target_compile_options(diffbench_options INTERFACE -fstack-protector-strong
    $<$<CONFIG:Release>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
else()
  string(REPLACE ";" "," sanitizers "${DIFFBENCH_SANITIZE}")
  target_compile_options(diffbench_options INTERFACE
    -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(diffbench_options INTERFACE -fsanitize=${sanitizers})
endif()
