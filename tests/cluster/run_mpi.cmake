# SPDX-License-Identifier: Apache-2.0
# cmake -DCOMMAND=... -DFOLDER=... -DCODE=zero|nonzero -DTEXT=... [-DQUIET=ON] -P run_mpi.cmake
#
# Runs the command with an empty folder and requires its exit code and, in what it prints, a regular
# expression. QUIET: nothing on stderr, which is where MPI would complain of its surroundings.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/own)
set(ENV{TMPDIR} ${FOLDER}/own) # Open MPI 4.1 fails where another mpirun makes its folder at the same moment
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
message("${output}${error}exit code ${result}")
if(CODE STREQUAL zero AND NOT result STREQUAL 0)
  message(FATAL_ERROR "FAILED: exit code ${result}")
elseif(CODE STREQUAL nonzero AND NOT result MATCHES "^[1-9]")
  message(FATAL_ERROR "FAILED: the exit code does not tell")
elseif(NOT "${output}${error}" MATCHES "${TEXT}")
  message(FATAL_ERROR "FAILED: not printed: ${TEXT}")
elseif("${output}${error}" MATCHES "FAILED")
  message(FATAL_ERROR "FAILED, see above")
endif()
# Open MPI announces a full disk itself.
string(REGEX REPLACE "mca_fbtl_posix_[^\n]*No space left on device\n" "" error "${error}")
if(QUIET AND NOT error STREQUAL "")
  message(FATAL_ERROR "FAILED: not quiet")
endif()
