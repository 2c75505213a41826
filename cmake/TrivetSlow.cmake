# What would take minutes in the tests of the sanitizer presets, at -O0: the bootstrap, of which the tests draw
# millions of resamples. It keeps its instrumentation.
if(TRIVET_SANITIZE)
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/src/measure/compare.cc APPEND PROPERTY COMPILE_OPTIONS -O1)
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/src/measure/compare.cc PROPERTY SKIP_PRECOMPILE_HEADERS ON)
endif()
