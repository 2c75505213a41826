// Which ONNX operators PyTorch's own become when a model is exported.
#include <algorithm>
#include <array>
#include <utility>

#include "measure/trace_import.h"

namespace trivet {
namespace {

/// Sorted by the first; what one operator becomes several of is under the first of them, as
/// leading_operator() has it (SiLU is Sigmoid and Mul).
constexpr std::array<std::pair<std::string_view, std::string_view>, 68> kOperators = {{
    {"_convolution", "Conv"},
    {"_softmax", "Softmax"},
    {"abs", "Abs"},
    {"adaptive_avg_pool2d", "GlobalAveragePool"},
    {"add", "Add"},
    {"addmm", "Gemm"},
    {"argmax", "ArgMax"},
    {"avg_pool2d", "AveragePool"},
    {"baddbmm", "MatMul"},
    {"batch_norm", "BatchNormalization"},
    {"bmm", "MatMul"},
    {"cat", "Concat"},
    {"chunk", "Split"},
    {"clamp", "Clip"},
    {"clamp_min", "Clip"},
    {"concat", "Concat"},
    {"conv1d", "Conv"},
    {"conv2d", "Conv"},
    {"conv3d", "Conv"},
    {"conv_transpose2d", "ConvTranspose"},
    {"convolution", "Conv"},
    {"div", "Div"},
    {"dropout", "Dropout"},
    {"elu", "Elu"},
    {"embedding", "Gather"},
    {"erf", "Erf"},
    {"exp", "Exp"},
    {"expand", "Expand"},
    {"flatten", "Flatten"},
    {"gelu", "Gelu"},
    {"group_norm", "GroupNormalization"},
    {"gru", "GRU"},
    {"hardsigmoid", "HardSigmoid"},
    {"hardswish", "HardSwish"},
    {"hardtanh", "Clip"},
    {"instance_norm", "InstanceNormalization"},
    {"layer_norm", "LayerNormalization"},
    {"leaky_relu", "LeakyRelu"},
    {"linear", "Gemm"},
    {"log_softmax", "LogSoftmax"},
    {"lstm", "LSTM"},
    {"matmul", "MatMul"},
    {"max_pool2d", "MaxPool"},
    {"mean", "ReduceMean"},
    {"mm", "MatMul"},
    {"mul", "Mul"},
    {"pad", "Pad"},
    {"permute", "Transpose"},
    {"pixel_shuffle", "DepthToSpace"},
    {"pow", "Pow"},
    {"prelu", "PRelu"},
    {"relu", "Relu"},
    {"relu6", "Clip"},
    {"reshape", "Reshape"},
    {"scaled_dot_product_attention", "Attention"},
    {"sigmoid", "Sigmoid"},
    {"silu", "Sigmoid"},
    {"slice", "Slice"},
    {"softmax", "Softmax"},
    {"split", "Split"},
    {"squeeze", "Squeeze"},
    {"sub", "Sub"},
    {"sum", "ReduceSum"},
    {"tanh", "Tanh"},
    {"transpose", "Transpose"},
    {"unsqueeze", "Unsqueeze"},
    {"upsample_bilinear2d", "Resize"},
    {"view", "Reshape"},
}};
static_assert(std::ranges::is_sorted(kOperators));

}  // namespace

std::string onnx_operator_of(std::string_view torch_operator) {
  constexpr std::string_view kNamespace = "aten::";
  if (!torch_operator.starts_with(kNamespace)) return std::string(torch_operator);
  std::string_view name = torch_operator.substr(kNamespace.size());
  if (name.ends_with('_')) name.remove_suffix(1);  // computes in place
  const auto at = std::ranges::lower_bound(kOperators, name, {},
                                           &std::pair<std::string_view, std::string_view>::first);
  if (at == kOperators.end() || at->first != name) return std::string(torch_operator);
  return std::string(at->second);
}

}  // namespace trivet
