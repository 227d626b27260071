# Adding a backend is adding ONE file: copies the library's sources from ${source} under ${work},
# drops planted.cpp into its backends, builds, and looks for it in the registry. The other backends
# are left out with DIFFBENCH_WITHOUT, which makes this quick, and must be listed as not compiled.
# Arguments: source, compiler, work.
file(REMOVE_RECURSE ${work})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/CMakeLists.txt ${CMAKE_CURRENT_LIST_DIR}/print_registry.cpp
  DESTINATION ${work})
file(COPY ${source}/CMakeLists.txt ${source}/cmake ${source}/base ${source}/solver DESTINATION ${work}/diffbench)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/planted.cpp DESTINATION ${work}/diffbench/solver/backends)

file(GLOB others ${source}/solver/backends/*.cpp)
list(TRANSFORM others REPLACE ".*/(.*)\\.cpp" "\\1")
list(REMOVE_ITEM others scalar)

execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND
  ${CMAKE_COMMAND} -S ${work} -B ${work}/build -G Ninja -D CMAKE_CXX_COMPILER=${compiler}
  -D CMAKE_BUILD_TYPE=Debug -D DIFFBENCH_BENCH=OFF -D DIFFBENCH_TESTS=OFF
  "-DDIFFBENCH_WITHOUT=${others}")
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CMAKE_COMMAND} --build ${work}/build)
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${work}/build/print_registry
  OUTPUT_VARIABLE printed)

set(expected "compiled planted" "compiled scalar")
list(TRANSFORM others PREPEND "not compiled ")
list(APPEND expected ${others})
foreach(line IN LISTS expected)
  if(NOT "\n${printed}" MATCHES "\n${line}\n")
    message(FATAL_ERROR "the registry lacks the line '${line}'; it has:\n${printed}")
  endif()
endforeach()
