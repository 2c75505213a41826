# stb's picture decoders are compiled into src/io/stb.cc. Under the sanitizers they are checked for memory
# errors only (they copy nothing from a null pointer, which is undefined and harmless), and optimised a
# little: a picture that claims 64 million pixels would take half a minute.
if(TRIVET_SANITIZE)
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/src/io/stb.cc APPEND PROPERTY COMPILE_OPTIONS
    -O1 -fno-sanitize=undefined)
endif()
set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/src/io/stb.cc PROPERTY SKIP_PRECOMPILE_HEADERS ON)
