# SPDX-License-Identifier: Apache-2.0
# Python3_EXECUTABLE: a python3 that has NumPy. Debian's NumPy belongs to Debian's python3, which need not be the first
# in PATH.
function(has_numpy result python)
  execute_process(COMMAND ${python} -c "import numpy"
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_program(Python3_EXECUTABLE python3 VALIDATOR has_numpy
  DOC "A python3 that has NumPy (python3-numpy)")
