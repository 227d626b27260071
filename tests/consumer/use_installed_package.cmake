# SPDX-License-Identifier: Apache-2.0
# Installs the build tree ${build} under ${work} and builds and runs project/ against what is there.
# Arguments: build, compiler, version, work.
set(prefix ${work}/prefix)
set(tree ${work}/tree)
file(REMOVE_RECURSE ${prefix} ${tree})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${tree} -G Ninja
  -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_PREFIX_PATH=${prefix}
  -D diffbench_version=${version})
run(${CMAKE_COMMAND} --build ${tree})
run(${tree}/consumer)
