# One program per bench/*_bench.cc, named after the file. They time with a loop of their own and need
# no library. Built when they are asked for by name.
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/bench/*_bench.cc)
foreach(source ${bench_sources})
  get_filename_component(stem ${source} NAME_WE)
  add_executable(${stem} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${stem} PRIVATE trivet_core)
  trivet_target_options(${stem})
endforeach()
