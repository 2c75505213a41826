# What would take most of the sanitizers' time unoptimised: the bootstrap of `bench --compare` draws millions
# of resamples, and the tests of convolutions compute each output in plain loops. Both keep their
# instrumentation.
if(TRIVET_SANITIZE)
  foreach(source measure/compare.cc kernels/window_test.cc)
    set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/src/${source} APPEND PROPERTY COMPILE_OPTIONS -O1)
    set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/src/${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endif()
