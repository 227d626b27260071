# SPDX-License-Identifier: Apache-2.0
# The report page: npm builds viz/ into one HTML file, which the program carries.
#
# Included by bench/CMakeLists.txt, which has made the target diffbench_bench_report. The build calls this same
# file as a script. A page that cannot be built (no npm, no network, a broken one) stops nobody: its
# place is taken by a line that says why, and `diffbench report` shows that. The row kernel goes into the page as
# WebAssembly, where Clang and wasm-ld are found; a page without it says so.

set(no_page_hint "install Node.js (18 or newer) with npm (Debian: apt-get install nodejs npm), then configure and build again")

if(CMAKE_SCRIPT_MODE_FILE)
  # Several build trees share what is made in viz/, one at a time.
  file(MAKE_DIRECTORY ${VIZ}/dist)
  file(LOCK ${VIZ}/dist/.lock GUARD PROCESS TIMEOUT 900)

  set(module ${VIZ}/dist/row_solver.wasm)
  set(module_failed TRUE)
  if(WASM_COMPILER AND WASM_LINKER)
    # No library: nothing of the host's gets in. Bulk memory, since there is no memset to call.
    execute_process(COMMAND ${WASM_COMPILER} --target=wasm32 -std=c++20 -O3 -msimd128 -mbulk-memory
      -ffp-contract=off -ffreestanding -fno-exceptions -fno-rtti -nostdlib -fuse-ld=${WASM_LINKER}
      -Wl,--no-entry,--export=bytes_for,--export=place,--export=upload,--export=advance,--export=download,--strip-all
      -I${SOLVER} -I${SOLVER}/wasm/include ${SOLVER}/wasm/row_solver.cpp ${SOLVER}/simd/row_kernel_baseline.cpp
      -o ${module} RESULT_VARIABLE module_failed ERROR_VARIABLE module_output)
    if(module_failed)
      message(WARNING "the page is made without WebAssembly, since ${WASM_COMPILER} could not compile it:\n${module_output}")
    endif()
  endif()
  if(module_failed)
    file(REMOVE ${module})
  endif()

  file(GLOB_RECURSE sources ${VIZ}/src/* ${VIZ}/dist/row_solver.wasm)
  set(fingerprint "")
  foreach(source IN LISTS sources ITEMS ${VIZ}/index.html ${VIZ}/vite.config.ts ${VIZ}/package-lock.json)
    file(SHA256 ${source} hash)
    string(APPEND fingerprint "${hash}\n")
  endforeach()
  file(SHA256 ${VIZ}/package-lock.json lock_hash)

  foreach(record IN ITEMS dist/.fingerprint node_modules/.lock-hash)
    set(${record} "")
    if(EXISTS ${VIZ}/${record})
      file(READ ${VIZ}/${record} ${record})
    endif()
  endforeach()
  set(built "${dist/.fingerprint}")
  set(installed "${node_modules/.lock-hash}")

  set(failed FALSE)
  macro(npm)
    execute_process(COMMAND ${NPM} ${ARGN} WORKING_DIRECTORY ${VIZ}
      RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
    file(APPEND ${LOG} "${output}")
  endmacro()
  file(WRITE ${LOG} "")
  if(NOT installed STREQUAL lock_hash)
    npm(ci --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000)
    if(NOT failed)
      file(WRITE ${VIZ}/node_modules/.lock-hash ${lock_hash})
    endif()
  endif()
  if(NOT failed AND NOT built STREQUAL fingerprint)
    npm(run build)
    if(NOT failed)
      file(WRITE ${VIZ}/dist/.fingerprint "${fingerprint}")
    endif()
  endif()

  if(NOT failed)
    file(COPY_FILE ${VIZ}/dist/index.html ${PAGE})
    file(TOUCH ${STAMP})
  elseif(REQUIRED)
    message(FATAL_ERROR "npm could not build the report page:\n${output}")
  else()
    # Without the stamp the next build tries again.
    file(WRITE ${PAGE} "npm could not build it (${LOG} says why); mend that, then build again")
    message(WARNING "npm could not build the report page, so `diffbench report` will not work: see ${LOG}")
  endif()
  return()
endif()

set(DIFFBENCH_VIZ AUTO CACHE STRING "The report page: AUTO (where npm is found), ON or OFF")
set_property(CACHE DIFFBENCH_VIZ PROPERTY STRINGS AUTO ON OFF)
find_program(DIFFBENCH_NPM npm DOC "Builds the report page")
find_program(DIFFBENCH_WASM_COMPILER NAMES clang++ clang++-14 DOC "Compiles the page's WebAssembly")
find_program(DIFFBENCH_WASM_LINKER NAMES wasm-ld wasm-ld-14 DOC "Links the page's WebAssembly")

set(page_dir ${CMAKE_CURRENT_BINARY_DIR}/report)
set(page ${page_dir}/page.html)
set(page_stamp ${page_dir}/page.stamp)
set(viz_dir ${PROJECT_SOURCE_DIR}/viz)
if(NOT DIFFBENCH_VIZ STREQUAL AUTO AND NOT DIFFBENCH_VIZ)
  file(CONFIGURE OUTPUT ${page} CONTENT "it was built with DIFFBENCH_VIZ=OFF; configure with -DDIFFBENCH_VIZ=ON")
elseif(DIFFBENCH_NPM)
  file(GLOB_RECURSE viz_sources CONFIGURE_DEPENDS ${viz_dir}/src/*)
  set(solver_dir ${PROJECT_SOURCE_DIR}/solver)
  set(module_sources ${solver_dir}/wasm/row_solver.cpp ${solver_dir}/wasm/include/cstdint
    ${solver_dir}/simd/row_kernel.hpp ${solver_dir}/simd/row_kernel_baseline.cpp)
  set(required FALSE)
  if(NOT DIFFBENCH_VIZ STREQUAL AUTO)
    set(required TRUE)
  endif()
  add_custom_command(OUTPUT ${page_stamp} BYPRODUCTS ${page}
    COMMAND ${CMAKE_COMMAND} -DNPM=${DIFFBENCH_NPM} -DVIZ=${viz_dir} -DPAGE=${page} -DSOLVER=${solver_dir}
      -DWASM_COMPILER=${DIFFBENCH_WASM_COMPILER} -DWASM_LINKER=${DIFFBENCH_WASM_LINKER}
      -DSTAMP=${page_stamp} -DLOG=${page_dir}/npm.log -DREQUIRED=${required}
      -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${viz_sources} ${module_sources} ${viz_dir}/index.html ${viz_dir}/vite.config.ts ${viz_dir}/package-lock.json
      ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Building the report page" VERBATIM)
  set_property(GLOBAL PROPERTY diffbench_has_page TRUE) # for the tests
elseif(DIFFBENCH_VIZ STREQUAL AUTO)
  file(CONFIGURE OUTPUT ${page} CONTENT "npm was not found when it was built; ${no_page_hint}")
else()
  message(FATAL_ERROR "DIFFBENCH_VIZ=ON needs npm: ${no_page_hint}")
endif()

get_property(has_page GLOBAL PROPERTY diffbench_has_page)
if(NOT has_page)
  file(REMOVE ${page_stamp}) # a later configuration with npm must not take the line for a page
  unset(page_stamp)
endif()
set_source_files_properties(report/page.cpp PROPERTIES
  OBJECT_DEPENDS "${page_stamp};${page}"
  COMPILE_DEFINITIONS DIFFBENCH_PAGE_FILE="${page}")
