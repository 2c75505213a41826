#include "ops/support/attribute_types.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace trivet {
namespace {

/// By the index of the alternative in AttributeValue.
constexpr std::array<std::string_view, 11> kTypeNames = {"an integer",
                                                         "a float",
                                                         "a string",
                                                         "a tensor",
                                                         "a graph",
                                                         "a list of integers",
                                                         "a list of floats",
                                                         "a list of strings",
                                                         "a list of tensors",
                                                         "a list of graphs",
                                                         "of a kind that is not read"};

enum Type : std::uint8_t { kInt, kFloat, kString, kTensor, kGraph, kInts, kFloats, kStrings };

/// An attribute's name tells its type: of all operators of ai.onnx, in all opsets of the onnx
/// package 1.23, only `p`, `scale`, `seed`, `to` and `value` come with two, and are left out.
const std::unordered_map<std::string_view, Type>& attribute_types() {
  static const std::unordered_map<std::string_view, Type> table = [] {
    std::unordered_map<std::string_view, Type> out;
    const auto add = [&out](Type type, std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names) out.emplace(name, type);
    };
    add(kInt, {"align_corners",
               "allowzero",
               "antialias",
               "axis",
               "batch_axis",
               "batch_dims",
               "block_size",
               "blocksize",
               "broadcast",
               "ceil_mode",
               "center_point_box",
               "chunk_size",
               "count_include_pad",
               "detect_negative",
               "detect_positive",
               "dtype",
               "end",
               "exclude_outside",
               "exclusive",
               "fmod",
               "group",
               "hidden_size",
               "ignore_index",
               "input_forget",
               "interleaved",
               "inverse",
               "is_case_sensitive",
               "is_causal",
               "is_test",
               "k",
               "keepdims",
               "kv_num_heads",
               "largest",
               "layout",
               "left_window_size",
               "linear_before_reset",
               "max_gram_length",
               "max_skip_count",
               "maxsplit",
               "min_gram_length",
               "new_axis",
               "noop_with_empty_axes",
               "num_groups",
               "num_heads",
               "num_outputs",
               "num_scan_inputs",
               "offset_group",
               "onesided",
               "output_datatype",
               "output_dtype",
               "output_height",
               "output_sequence",
               "output_width",
               "periodic",
               "precision",
               "q_num_heads",
               "qk_matmul_output_mode",
               "reverse",
               "right_window_size",
               "rotary_embedding_dim",
               "sample_size",
               "sampling_ratio",
               "saturate",
               "select_last_index",
               "size",
               "softmax_precision",
               "sorted",
               "spatial",
               "start",
               "stash_type",
               "storage_order",
               "time_axis",
               "training_mode",
               "transA",
               "transB",
               "upper",
               "value_int"});
    add(kFloat, {"alpha",
                 "beta",
                 "bias",
                 "clip",
                 "cubic_coeff_a",
                 "epsilon",
                 "extrapolation_value",
                 "gamma",
                 "height_scale",
                 "high",
                 "lambd",
                 "low",
                 "max",
                 "mean",
                 "min",
                 "momentum",
                 "ratio",
                 "softcap",
                 "spatial_scale",
                 "threshold",
                 "value_float",
                 "width_scale"});
    add(kString, {"activation",
                  "approximate",
                  "auto_pad",
                  "case_change_action",
                  "coordinate_transformation_mode",
                  "delimiter",
                  "direction",
                  "equation",
                  "keep_aspect_ratio_policy",
                  "locale",
                  "mode",
                  "nearest_mode",
                  "norm",
                  "padding_mode",
                  "pattern",
                  "pixel_format",
                  "reduction",
                  "round_mode",
                  "update_rule",
                  "value_string"});
    add(kGraph, {"body", "else_branch", "then_branch"});
    add(kInts, {"axes",
                "consumed_inputs",
                "dilations",
                "directions",
                "ends",
                "kernel_shape",
                "ngram_counts",
                "ngram_indexes",
                "output_padding",
                "output_shape",
                "paddings",
                "pads",
                "perm",
                "pool_int64s",
                "pooled_shape",
                "scan_input_axes",
                "scan_input_directions",
                "scan_output_axes",
                "scan_output_directions",
                "shape",
                "split",
                "starts",
                "strides",
                "value_ints"});
    add(kFloats, {"activation_alpha", "activation_beta", "scales", "value_floats", "weights"});
    add(kStrings, {"activations", "pool_strings", "stopwords", "value_strings"});
    return out;
  }();
  return table;
}

}  // namespace

Result<void> check_attribute_types(const Node& node) {
  if (!node.domain.empty()) return {};
  for (const Attribute& attribute : node.attributes.all()) {
    const auto known = attribute_types().find(attribute.name);
    if (known == attribute_types().end() || known->second == attribute.value.index()) continue;
    return invalid_model("attribute '", attribute.name, "' is ",
                         kTypeNames[attribute.value.index()], ", expected ",
                         kTypeNames[known->second]);
  }
  return {};
}

}  // namespace trivet
