# Files that the build writes: base/version.h, and op_list.cc, the list of operator families.
# file(CONFIGURE) leaves a file alone when its content is the same, so nothing is recompiled for it.
set(TRIVET_GENERATED_DIR ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(TRIVET_GENERATED_SOURCES "")

file(CONFIGURE OUTPUT ${TRIVET_GENERATED_DIR}/base/version.h @ONLY CONTENT
[[// Generated from the version in CMakeLists.txt.
#pragma once

#include <string_view>

namespace trivet {

inline constexpr std::string_view kVersion = "@PROJECT_VERSION@";
inline constexpr int kVersionMajor = @PROJECT_VERSION_MAJOR@;
inline constexpr int kVersionMinor = @PROJECT_VERSION_MINOR@;
inline constexpr int kVersionPatch = @PROJECT_VERSION_PATCH@;

}  // namespace trivet
]])

# src/ops/<stem>.cc defines `OpDefs trivet::ops::<stem>_ops()`. A list, because the linker would drop
# self-registering objects from a static library.
file(GLOB op_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/ops/*.cc)
set(op_infrastructure registry infer_context eval_context)  # the files of src/ops that define no family
set(TRIVET_OP_DECLARATIONS "")
set(TRIVET_OP_ENTRIES "")
foreach(source ${op_sources})
  get_filename_component(stem ${source} NAME_WE)
  if(stem IN_LIST op_infrastructure OR stem MATCHES "_(test|fuzz)$")
    continue()
  endif()
  string(APPEND TRIVET_OP_DECLARATIONS "OpDefs ${stem}_ops();\n")
  string(APPEND TRIVET_OP_ENTRIES "    &ops::${stem}_ops,\n")
endforeach()

if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/src/ops/registry.h)
  if(TRIVET_OP_ENTRIES)
    set(op_array "const OpFamily kOpFamilies[] = {\n${TRIVET_OP_ENTRIES}}")
  else()
    set(op_array "const std::span<const OpFamily> kOpFamilies")
  endif()
  file(CONFIGURE OUTPUT ${TRIVET_GENERATED_DIR}/op_list.cc @ONLY CONTENT
[[// Generated from the names of the files in src/ops.
#include <span>

#include "ops/registry.h"

namespace trivet {

namespace ops {
@TRIVET_OP_DECLARATIONS@}  // namespace ops

namespace {
@op_array@;
}  // namespace

std::span<const OpFamily> op_families() { return kOpFamilies; }

}  // namespace trivet
]])
  list(APPEND TRIVET_GENERATED_SOURCES ${TRIVET_GENERATED_DIR}/op_list.cc)
endif()

# Tables that are kept as data: each file src/<layer>/data/<stem>.<ext> becomes
# `const std::string_view trivet::embedded::<layer>_<stem>`, its bytes, declared in "<layer>/embedded.h".
file(GLOB data_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/*/data/*)
set(data_layers "")
foreach(file ${data_files})
  file(RELATIVE_PATH place ${CMAKE_CURRENT_SOURCE_DIR}/src ${file})
  string(REGEX REPLACE "/.*" "" layer ${place})
  get_filename_component(stem ${file} NAME_WE)
  set(TRIVET_DATA_NAME ${layer}_${stem})
  set(TRIVET_DATA_LAYER ${layer})
  list(APPEND data_layers ${layer})
  string(APPEND data_declarations_${layer} "extern const std::string_view ${TRIVET_DATA_NAME};\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} TRIVET_DATA_BYTES)
  file(CONFIGURE OUTPUT ${TRIVET_GENERATED_DIR}/${TRIVET_DATA_NAME}.cc @ONLY CONTENT
[[// Generated from the data files of src/@TRIVET_DATA_LAYER@.
#include "@TRIVET_DATA_LAYER@/embedded.h"

namespace trivet::embedded {

const std::string_view @TRIVET_DATA_NAME@ = R"~data~(@TRIVET_DATA_BYTES@)~data~";

}  // namespace trivet::embedded
]])
  list(APPEND TRIVET_GENERATED_SOURCES ${TRIVET_GENERATED_DIR}/${TRIVET_DATA_NAME}.cc)
endforeach()
list(REMOVE_DUPLICATES data_layers)
foreach(layer ${data_layers})
  set(TRIVET_DATA_DECLARATIONS ${data_declarations_${layer}})
  file(CONFIGURE OUTPUT ${TRIVET_GENERATED_DIR}/${layer}/embedded.h @ONLY CONTENT
[[// Generated: the data files of this layer.
#pragma once

#include <string_view>

namespace trivet::embedded {

@TRIVET_DATA_DECLARATIONS@
}  // namespace trivet::embedded
]])
endforeach()
