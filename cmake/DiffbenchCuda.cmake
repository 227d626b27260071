# SPDX-License-Identifier: Apache-2.0
# The CUDA part of the build: DIFFBENCH_CUDA = toolkit | emulated | off, one for each build tree.
#   toolkit   kernels compiled by nvcc, the CUDA runtime linked statically: the program also starts
#             on a machine without a driver
#   emulated  the same sources compiled by the host compiler against emulation/: for the tests
#   off       the GPU backends are listed as "not compiled"

find_program(DIFFBENCH_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin
  DOC "The CUDA compiler")
# Atomics with an order and a scope, which kernels use, came with 12.8, as did sm_100.
set(oldest_nvcc 12.8)
# What a newer one warns of is shown, and ends no build.
set(newest_tried_nvcc 13.0)
# What to do for GPU backends, in `list` and `doctor` of a build that has none.
set(how_to_get_cuda "configure with -DDIFFBENCH_CUDA=toolkit")
set(default off)
# Why nvcc cannot be used; empty when it can. Beside its version a file that includes what all do: nvcc 12 does not
# compile the headers of glibc 2.41 (Debian 13), with which its own declare sinpi and others differently.
function(diffbench_nvcc_problem result)
  execute_process(COMMAND ${DIFFBENCH_NVCC} --version OUTPUT_VARIABLE says ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" release "${says}")
  set(version "${CMAKE_MATCH_1}")
  if(NOT release)
    set(${result} "${DIFFBENCH_NVCC} does not say which release it is" PARENT_SCOPE)
    return()
  elseif(NOT version VERSION_GREATER_EQUAL oldest_nvcc)
    set(${result} "nvcc ${version} is older than ${oldest_nvcc}" PARENT_SCOPE)
    return()
  endif()
  set(${result} "" PARENT_SCOPE)
  set(tried "${DIFFBENCH_NVCC} ${version} ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION}")
  if("${DIFFBENCH_NVCC_COMPILES}" STREQUAL tried)
    return()
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/nvcc_probe.cu "#include <cmath>\n#include <cuda_runtime.h>\n__global__ void none() {}\n")
  execute_process(COMMAND ${DIFFBENCH_NVCC} -std=c++20 -c nvcc_probe.cu -o nvcc_probe.o
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR} RESULT_VARIABLE failed OUTPUT_VARIABLE says ERROR_VARIABLE says)
  if(failed)
    string(REGEX MATCH "[^\n]*error[^\n]*" first "${says}")
    set(${result} "nvcc ${version} does not compile with this system's headers (${first})" PARENT_SCOPE)
  else()
    set(DIFFBENCH_NVCC_COMPILES "${tried}" CACHE INTERNAL "The nvcc that has compiled a file")
  endif()
endfunction()
set(nvcc_problem "no nvcc was found")
if(DIFFBENCH_NVCC)
  diffbench_nvcc_problem(nvcc_problem)
endif()
if(DIFFBENCH_SANITIZE) # sanitizers see only what the host compiler compiles
elseif(NOT nvcc_problem)
  set(default toolkit)
else()
  string(REGEX REPLACE "[\\\";]" "" nvcc_problem "${nvcc_problem}")
  set(how_to_get_cuda "${nvcc_problem}: install CUDA 13, and configure again in a new build folder")
  if(NOT DEFINED CACHE{DIFFBENCH_CUDA} AND (DIFFBENCH_NVCC OR EXISTS /proc/driver/nvidia/version))
    message(WARNING "no GPU backends: ${how_to_get_cuda}")
  endif()
endif()
set(DIFFBENCH_CUDA ${default} CACHE STRING "GPU backends: toolkit (nvcc), emulated (for tests) or off")
set_property(CACHE DIFFBENCH_CUDA PROPERTY STRINGS toolkit emulated off)

# Each architecture costs nvcc as much as the first: by default there is one, that of the card here (of
# the oldest one), or where there is none that nvcc knows, sm_90. As PTX, too, for newer cards.
# ("native" would be without PTX.)
function(diffbench_card_architecture result)
  find_program(DIFFBENCH_NVIDIA_SMI nvidia-smi DOC "Tells the compute capability of the card")
  mark_as_advanced(DIFFBENCH_NVIDIA_SMI)
  if(DIFFBENCH_NVIDIA_SMI)
    execute_process(COMMAND ${DIFFBENCH_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      TIMEOUT 20 OUTPUT_VARIABLE cards ERROR_QUIET)
    execute_process(COMMAND ${DIFFBENCH_NVCC} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" cards "${cards}")
    list(SORT cards COMPARE NATURAL)
    foreach(card IN LISTS cards)
      string(REPLACE "." "" card ${card})
      if("${known}" MATCHES "compute_${card}\n")
        set(${result} ${card} PARENT_SCOPE)
        break()
      endif()
    endforeach()
  endif()
endfunction()
set(card_architecture 90)
if(NOT DEFINED CACHE{DIFFBENCH_CUDA_ARCHITECTURES} AND DIFFBENCH_CUDA STREQUAL toolkit)
  diffbench_card_architecture(card_architecture)
endif()
set(DIFFBENCH_CUDA_ARCHITECTURES "${card_architecture}" CACHE STRING
  "GPU architectures to compile for, in the form of CMAKE_CUDA_ARCHITECTURES")

# Of what nvcc compiles: the warnings, and what all backends of the solver have besides.
add_library(diffbench_cuda_warnings INTERFACE)
add_library(diffbench_cuda_options INTERFACE)
target_link_libraries(diffbench_cuda_options INTERFACE diffbench_cuda_warnings)
if(DIFFBENCH_CUDA STREQUAL toolkit)
  if(nvcc_problem)
    message(FATAL_ERROR "DIFFBENCH_CUDA=toolkit, but ${nvcc_problem}; "
      "use another with -DDIFFBENCH_NVCC=/path/to/nvcc (CUDA 13 fits every release), or -DDIFFBENCH_CUDA=off")
  endif()
  # The program takes every newer card for one that it can serve (gpu/src/device.cpp).
  if(NOT DIFFBENCH_CUDA_ARCHITECTURES MATCHES "(^|;)[0-9]+$")
    message(FATAL_ERROR "DIFFBENCH_CUDA_ARCHITECTURES=${DIFFBENCH_CUDA_ARCHITECTURES}: numbers in "
      "ascending order, such as 80-real;90, the last one without -real, so that it is there as PTX")
  endif()
  set(CMAKE_CUDA_COMPILER ${DIFFBENCH_NVCC})
  set(CMAKE_CUDA_ARCHITECTURES ${DIFFBENCH_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that nvcc has it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_COMPILE_FEATURES cuda_std_20)
    list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
  endif()
  find_package(CUDAToolkit REQUIRED)
  # No contraction, on either side: all backends must give NumPy's bits.
  target_compile_options(diffbench_cuda_options INTERFACE
    -fmad=false -Xcompiler=-ffp-contract=off)
  target_compile_options(diffbench_cuda_warnings INTERFACE -Xcompiler=-Wall,-Wextra,-Wshadow)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" nvcc_release "${CMAKE_CUDA_COMPILER_VERSION}")
  if(DIFFBENCH_WERROR AND nvcc_release VERSION_LESS_EQUAL newest_tried_nvcc)
    target_compile_options(diffbench_cuda_warnings INTERFACE -Werror=all-warnings)
  endif()
  message(STATUS "GPU backends: nvcc ${CMAKE_CUDA_COMPILER_VERSION}, ${CMAKE_CUDA_ARCHITECTURES}")
  # The architectures that the kernels have a budget of registers for (tests/gpu): a tree with tests
  # compiles the kernels for them too. What else there is of GPU code (Thrust) is only for those that
  # were asked for, so the program says no to other cards.
  option(DIFFBENCH_KERNEL_BUDGETS "With the tests: compile kernels for three architectures, to test their size" ON)
  set(kernel_architectures ${DIFFBENCH_CUDA_ARCHITECTURES})
  if(DIFFBENCH_TESTS AND DIFFBENCH_KERNEL_BUDGETS)
    foreach(architecture IN ITEMS 80 90 100)
      if(NOT "${kernel_architectures}" MATCHES "(^|;)${architecture}(-|;|$)")
        list(PREPEND kernel_architectures ${architecture}-real)
      endif()
    endforeach()
  endif()
elseif(DIFFBENCH_CUDA STREQUAL emulated)
  message(STATUS "GPU backends: emulated on the CPU, for the tests")
elseif(DIFFBENCH_CUDA STREQUAL off)
  message(STATUS "GPU backends: none (DIFFBENCH_CUDA=off; nvcc: ${DIFFBENCH_NVCC})")
else()
  message(FATAL_ERROR "DIFFBENCH_CUDA=${DIFFBENCH_CUDA}; valid: toolkit, emulated, off")
endif()

# diffbench_kernel_sources(<file>...): compiled by nvcc or, in the emulated tree, by the host compiler.
function(diffbench_kernel_sources)
  if(DIFFBENCH_CUDA STREQUAL emulated)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
  endif()
endfunction()

# diffbench_kernels(<target> <file>): an object library of kernels.
function(diffbench_kernels target file)
  add_library(${target} OBJECT ${file})
  diffbench_kernel_sources(${file})
  if(DIFFBENCH_CUDA STREQUAL emulated)
    target_link_libraries(${target} PRIVATE diffbench_options diffbench_emulation)
    return()
  endif()
  target_link_libraries(${target} PRIVATE diffbench_cuda_warnings CUDA::cudart_static)
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${kernel_architectures}")
  if(DIFFBENCH_TESTS)
    # Keeps what ptxas says of each kernel for tests/gpu.
    set_target_properties(${target} PROPERTIES
      CUDA_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/tests/gpu/kernel_resources.py;compile;--")
  endif()
endfunction()
