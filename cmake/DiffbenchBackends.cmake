# The backend registry: a table generated from the files under */backends/.
#
# A backend is one file NAME.cpp or NAME.cu that defines `BackendInfo diffbench::backends::NAME()`.
# Self-registering statics would be dropped when a static library is linked, so the table is code.
#
# There are two tables, with the same functions in them. The solver's holds the solver's backends and
# lies in its archive, so that the library can be used alone. The program's holds all; it is an object
# library, and whatever object files name on the command line the linker prefers: it opens an archive
# only for what is still missing, so the solver's table is then never taken out.

set(DIFFBENCH_WITHOUT "" CACHE STRING "Backends to leave out of the build (list of names)")

# diffbench_add_backends(<target> <file>...)
# Compiles every file into <target>; those named in DIFFBENCH_WITHOUT are only listed, as "not
# compiled".
function(diffbench_add_backends target)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    if(name IN_LIST DIFFBENCH_WITHOUT)
      diffbench_leave_out("configure without ${name} in -DDIFFBENCH_WITHOUT" ${file})
    else()
      set_property(GLOBAL APPEND PROPERTY diffbench_backends ${name})
      target_sources(${target} PRIVATE ${file})
    endif()
  endforeach()
endfunction()

# diffbench_leave_out(<how to get them> <file>...)
# Lists the backends of these files as "not compiled".
function(diffbench_leave_out how_to_get)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    set_property(GLOBAL APPEND_STRING PROPERTY diffbench_missing_entries
      "      {\"${name}\", \"${how_to_get}\"},\n")
  endforeach()
endfunction()

# diffbench_generate_registry(<target>)
# Writes the table of all backends added so far and compiles it into <target>.
function(diffbench_generate_registry target)
  get_property(names GLOBAL PROPERTY diffbench_backends)
  get_property(missing GLOBAL PROPERTY diffbench_missing_entries)
  set(declarations "")
  set(entries "")
  foreach(name IN LISTS names)
    string(APPEND declarations "BackendInfo ${name}();\n")
    string(APPEND entries "      backends::${name}(),\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/registry_table.cpp.in
    ${CMAKE_CURRENT_BINARY_DIR}/registry_table.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/registry_table.cpp)
  # An object file of its own, or the linker could not leave the solver's table out.
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/registry_table.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
