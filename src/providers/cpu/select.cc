#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "base/mapped_file.h"
#include "providers/cpu/kernel.h"

namespace trivet::cpu {
namespace {

std::unordered_map<std::string_view, Selector> collect() {
  std::unordered_map<std::string_view, Selector> all;
  for (const auto entries :
       {conv_selectors(), matmul_selectors(), pool_selectors(), elementwise_selectors(),
        row_selectors(), layout_selectors(), cast_selectors()}) {
    for (const SelectorEntry& entry : entries) all.emplace(entry.op, entry.select);
  }
  return all;
}

std::optional<Shape> float_shape(const InferredValue* value) {
  if (value == nullptr || value->type.dtype != DType::kFloat32 || !value->type.shape)
    return std::nullopt;
  return constant_shape(*value->type.shape);
}

}  // namespace

const Tensor* SelectContext::float_constant(std::size_t i) const {
  if (!has_input(i) || inputs[i]->constant.dtype() != DType::kFloat32) return nullptr;
  return &inputs[i]->constant;
}

std::optional<Shape> SelectContext::float_input(std::size_t i) const {
  return has_input(i) ? float_shape(inputs[i]) : std::nullopt;
}

std::optional<Shape> SelectContext::float_output(std::size_t i) const {
  return i < outputs.size() ? float_shape(outputs[i]) : std::nullopt;
}

Result<std::optional<Kernel>> select_kernel(const SelectContext& context) {
  static const std::unordered_map<std::string_view, Selector> selectors = collect();
  const Node& node = context.node;
  const auto it = node.domain.empty() ? selectors.find(node.op_type)
                                      : selectors.find(node.domain + "." + node.op_type);
  return it == selectors.end() ? std::optional<Kernel>() : it->second(context);
}

Result<Tensor> PackedWeights::get(const Tensor& weight, const std::string& layout,
                                  std::int64_t floats,
                                  const std::function<Result<void>(float* to)>& pack) {
  const auto key = std::pair(weight.raw(), layout + "/" + shape_to_string(weight.shape()));
  if (const auto it = packed_.find(key); it != packed_.end()) return it->second.packed;
  if (counts_only_) {
    Tensor nothing = Tensor::view(DType::kFloat32, {floats}, nullptr, nullptr);
    bytes_ += nothing.bytes();
    largest_source_ = std::max(largest_source_, weight.bytes());
    const bool mapped = MappedFile::release_mapped(weight.raw(), 0);
    packed_.emplace(key, Entry{weight, nothing, mapped});
    return nothing;
  }
  TRIVET_ASSIGN(Tensor packed, Tensor::allocate(DType::kFloat32, {floats}));
  TRIVET_TRY(pack(packed.mutable_data<float>().data()));
  bytes_ += packed.bytes();
  // What is packed is not read from the file again.
  const bool released = MappedFile::release_mapped(weight.raw(), weight.bytes());
  packed_.emplace(key, Entry{weight, packed, released});
  return packed;
}

bool PackedWeights::replaces(const Tensor& weight) const {
  const auto it = packed_.lower_bound({weight.raw(), ""});
  return it != packed_.end() && it->first.first == weight.raw() && it->second.released;
}

PackedWeights PackedWeights::counting() const {
  PackedWeights out = *this;
  out.counts_only_ = true;
  return out;
}

}  // namespace trivet::cpu
