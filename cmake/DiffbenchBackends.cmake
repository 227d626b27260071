# The backend registry: a table generated from the files under */backends/.
#
# A backend is one file NAME.cpp that defines `BackendInfo diffbench::backends::NAME()`.
# Self-registering statics would be dropped when a static library is linked, so the table is code.

set(DIFFBENCH_WITHOUT "" CACHE STRING "Backends to leave out of the build (list of names)")

# diffbench_add_backends(<target> <directory>)
# Compiles every backend file of <directory> into <target>; those named in DIFFBENCH_WITHOUT are
# only listed, as "not compiled".
function(diffbench_add_backends target directory)
  file(GLOB files CONFIGURE_DEPENDS ${directory}/*.cpp)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    if(name IN_LIST DIFFBENCH_WITHOUT)
      set_property(GLOBAL APPEND PROPERTY diffbench_backends_left_out ${name})
    else()
      set_property(GLOBAL APPEND PROPERTY diffbench_backends ${name})
      target_sources(${target} PRIVATE ${file})
    endif()
  endforeach()
endfunction()

# diffbench_generate_registry(<target>)
# Writes the table of all backends added so far and compiles it into <target>.
function(diffbench_generate_registry target)
  get_property(names GLOBAL PROPERTY diffbench_backends)
  get_property(left_out GLOBAL PROPERTY diffbench_backends_left_out)
  set(declarations "")
  set(entries "")
  set(missing "")
  foreach(name IN LISTS names)
    string(APPEND declarations "BackendInfo ${name}();\n")
    string(APPEND entries "      backends::${name}(),\n")
  endforeach()
  foreach(name IN LISTS left_out)
    string(APPEND missing "      {\"${name}\", \"configure without ${name} in -DDIFFBENCH_WITHOUT\"},\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/registry_table.cpp.in
    ${CMAKE_CURRENT_BINARY_DIR}/registry_table.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/registry_table.cpp)
endfunction()
