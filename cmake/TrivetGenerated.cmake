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
