# SPDX-License-Identifier: Apache-2.0
# The registries of backends and of engines: tables generated from the files that define them.
#
# A part of a kind (backend, engine) is one file NAME.cpp that defines `NAME()` in the namespace of that
# kind (diffbench::backends, diffbench::mlp::engines). Self-registering statics would be dropped when a
# static library is linked, so the table is code.
#
# Of backends there are two tables, with the same functions in them. The solver's holds the solver's
# backends and lies in its archive, so that the library can be used alone. The program's holds all; it is
# an object library, and whatever object files name on the command line the linker prefers: it opens an
# archive only for what is still missing, so the solver's table is then never taken out.

set(DIFFBENCH_WITHOUT "" CACHE STRING "Backends and engines to leave out of the build (list of names)")

# diffbench_register(<kind> <target> <file>...)
# Compiles every file into <target>; those named in DIFFBENCH_WITHOUT are only listed, as "not
# compiled". The engine `scalar` stays: the others are checked with it.
function(diffbench_register kind target)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    if(name IN_LIST DIFFBENCH_WITHOUT AND NOT "${kind} ${name}" STREQUAL "engine scalar")
      diffbench_leave_out(${kind} "configure without ${name} in -DDIFFBENCH_WITHOUT" ${file})
    else()
      set_property(GLOBAL APPEND PROPERTY diffbench_${kind}s ${name})
      target_sources(${target} PRIVATE ${file})
    endif()
  endforeach()
endfunction()

# diffbench_leave_out(<kind> <how to get them> <file>...)
# Lists these files as "not compiled".
function(diffbench_leave_out kind how_to_get)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    set_property(GLOBAL APPEND_STRING PROPERTY diffbench_missing_${kind}s
      "      {\"${name}\", \"${how_to_get}\"},\n")
  endforeach()
endfunction()

# diffbench_generate_registry(<kind> <target> <type of an entry> <namespace> <header that declares it>)
# Writes the table of all that was registered so far and compiles it into <target>.
function(diffbench_generate_registry kind target entry namespace header)
  get_property(names GLOBAL PROPERTY diffbench_${kind}s)
  get_property(missing GLOBAL PROPERTY diffbench_missing_${kind}s)
  set(declarations "")
  set(entries "")
  foreach(name IN LISTS names)
    string(APPEND declarations "${entry} ${name}();\n")
    string(APPEND entries "      ${kind}s::${name}(),\n")
  endforeach()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/${kind}_table.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/registry_table.cpp.in ${table} @ONLY)
  target_sources(${target} PRIVATE ${table})
  # An object file of its own, or the linker could not leave the solver's table out.
  set_source_files_properties(${table} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
