// One operator of any opset with any attributes and operands: inference and evaluation answer or
// refuse, what inference promises is what comes out, and what convert() makes of the node is legal
// in its opset and computes the same.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "convert/convert.h"
#include "onnx/versions.h"
#include "ops/eval_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/inference.h"
#include "schema/schema.h"

namespace trivet {
namespace {

using Bytes = FuzzedDataProvider;

/// Elements of one tensor: enough for every case, too few to take time.
constexpr std::int64_t kMostElements = 4096;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "FAULT %s\n", why.c_str());
  std::abort();
}

/// Words that some attribute takes.
constexpr std::string_view kWords[] = {"",
                                       "NOTSET",
                                       "VALID",
                                       "SAME_UPPER",
                                       "SAME_LOWER",
                                       "constant",
                                       "reflect",
                                       "edge",
                                       "wrap",
                                       "nearest",
                                       "linear",
                                       "cubic",
                                       "bilinear",
                                       "bicubic",
                                       "zeros",
                                       "border",
                                       "reflection",
                                       "DCR",
                                       "CRD",
                                       "none",
                                       "add",
                                       "mul",
                                       "min",
                                       "max",
                                       "avg",
                                       "sum",
                                       "mean",
                                       "tanh",
                                       "Relu",
                                       "Tanh",
                                       "Sigmoid",
                                       "Affine",
                                       "HardSigmoid",
                                       "Elu",
                                       "forward",
                                       "reverse",
                                       "bidirectional",
                                       "LEFT",
                                       "RIGHT",
                                       "LOWER",
                                       "UPPER",
                                       "asymmetric",
                                       "half_pixel",
                                       "align_corners",
                                       "pytorch_half_pixel",
                                       "tf_crop_and_resize",
                                       "half_pixel_symmetric",
                                       "floor",
                                       "ceil",
                                       "round_prefer_floor",
                                       "stretch",
                                       "not_larger",
                                       "not_smaller",
                                       "ij,jk->ik",
                                       "bij,bjk",
                                       "ii->i",
                                       "...ij->...ji",
                                       "i,i->",
                                       "float16",
                                       "output_half_pixel"};

std::set<std::pair<std::string_view, std::string_view>> operator_names() {
  std::set<std::pair<std::string_view, std::string_view>> out;
  for (const OpDef& op : all_ops()) {
    if (!schema::versions(op.domain, op.name).empty()) out.insert({op.domain, op.name});
  }
  return out;
}

std::int64_t number(Bytes& bytes) {
  constexpr std::int64_t kOdd[] = {std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max(),
                                   std::int64_t{1} << 40,
                                   1000,
                                   -1000,
                                   255};
  const int kind = bytes.ConsumeIntegralInRange(0, 15);
  return kind == 0 ? bytes.PickValueInArray(kOdd) : bytes.ConsumeIntegralInRange<int>(-3, 8);
}

float real(Bytes& bytes) {
  constexpr float kOdd[] = {std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(),
                            1e30F,
                            1e-30F,
                            -1e9F};
  const int kind = bytes.ConsumeIntegralInRange(0, 31);
  return kind == 0 ? bytes.PickValueInArray(kOdd)
                   : static_cast<float>(bytes.ConsumeIntegralInRange<int>(-64, 64)) / 16;
}

/// A shape that was used before, or its last axes, or another one.
Shape shape_like(Bytes& bytes, const std::vector<Shape>& used) {
  if (!used.empty() && bytes.ConsumeIntegralInRange(0, 3) > 0) {
    Shape shape = used[bytes.ConsumeIntegralInRange<std::size_t>(0, used.size() - 1)];
    const bool shorter = !shape.empty() && bytes.ConsumeBool() && bytes.ConsumeBool();
    if (shorter) shape.erase(shape.begin());
    return shape;
  }
  Shape shape(bytes.ConsumeIntegralInRange<std::size_t>(0, 5));
  for (std::int64_t& size : shape) size = bytes.ConsumeIntegralInRange<int>(0, 4);
  return shape;
}

Tensor tensor_of(Bytes& bytes, DType dtype, const Shape& shape) {
  if (dtype == DType::kString) {
    std::vector<std::string> words;
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      words.emplace_back(bytes.PickValueInArray(kWords));
    }
    return Tensor::from_values(shape, words);
  }
  Tensor out = *Tensor::allocate(dtype, shape);
  if (out.bytes() == 0) return out;
  if (is_integer(dtype) && dtype_bits(dtype) == 64) {
    for (auto& value : std::span(static_cast<std::int64_t*>(out.mutable_raw()),
                                 static_cast<std::size_t>(out.size()))) {
      value = number(bytes);
    }
    return out;
  }
  std::vector<float> values(static_cast<std::size_t>(out.size()));
  for (float& value : values) {
    value = is_integer(dtype) || dtype == DType::kBool ? static_cast<float>(number(bytes) & 127)
                                                       : real(bytes);
  }
  const auto converted = ops::converted(Tensor::from_values(shape, values), dtype);
  if (converted) return *converted;
  std::memset(out.mutable_raw(), bytes.ConsumeIntegral<std::uint8_t>() & 1, out.bytes());
  return out;
}

template <class T, class Make>
std::vector<T> list(Bytes& bytes, const Make& make) {
  std::vector<T> out(bytes.ConsumeIntegralInRange<std::size_t>(0, 6));
  for (T& item : out) item = make(bytes);
  return out;
}

std::string word(Bytes& bytes) { return std::string(bytes.PickValueInArray(kWords)); }

/// Nothing for the types that no bytes make: graphs, types.
std::optional<AttributeValue> value_of(Bytes& bytes, std::string_view type) {
  if (type == "int") return number(bytes);
  if (type == "float") return real(bytes);
  if (type == "string") return word(bytes);
  if (type == "ints") return list<std::int64_t>(bytes, number);
  if (type == "floats") return list<float>(bytes, real);
  if (type == "strings") return list<std::string>(bytes, word);
  if (type != "tensor") return std::nullopt;
  constexpr DType kTypes[] = {DType::kFloat32, DType::kInt64, DType::kFloat16, DType::kBool};
  return tensor_of(bytes, bytes.PickValueInArray(kTypes), shape_like(bytes, {}));
}

/// A model of one node, and what it is fed.
struct Case {
  Model model;
  std::vector<Tensor> feed;
};

class CaseMaker {
 public:
  CaseMaker(Bytes& bytes, const schema::Schema& schema, int opset)
      : bytes_(bytes), schema_(schema), builder_("one") {
    node_ = {.name = "node",
             .op_type = std::string(schema.name),
             .domain = std::string(schema.domain),
             .opset = opset};
  }

  std::optional<Case> make() {
    for (const schema::AttributeSchema& attribute : schema_.attributes) add_attribute(attribute);
    for (const schema::PortSchema& port : schema_.inputs) add_inputs(port);
    add_outputs();
    const std::vector<ValueId> outputs = node_.outputs;
    const int opset = node_.opset;
    out_.model.opsets[node_.domain] = opset;
    builder_.add_node(std::move(node_));
    for (const ValueId id : outputs) {
      if (id != kNoValue) builder_.add_output(id);
    }
    auto graph = builder_.finish();
    if (!graph) return std::nullopt;
    out_.model.ir_version = 8;
    out_.model.graph = std::make_shared<Graph>(*std::move(graph));
    return std::move(out_);
  }

 private:
  void add_attribute(const schema::AttributeSchema& attribute) {
    if (!attribute.required && bytes_.ConsumeBool()) return;
    if (auto value = value_of(bytes_, attribute.type)) {
      node_.attributes.set(std::string(attribute.name), *std::move(value));
    }
  }

  /// The same type for the same parameter, mostly one that is allowed.
  DType type_of(const schema::PortSchema& port) {
    auto [at, is_new] = types_.try_emplace(port.type, DType::kFloat32);
    if (!is_new) return at->second;
    const schema::TypeSet* allowed = schema_.types[port.type].allowed;
    std::vector<DType> choice;
    for (int i = 1; i < kDTypeCount; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (allowed->allows(ValueType::tensor(dtype, SymbolicShape{}))) choice.push_back(dtype);
    }
    const bool any = choice.empty() || bytes_.ConsumeIntegralInRange(0, 31) == 0;
    at->second = any ? static_cast<DType>(bytes_.ConsumeIntegralInRange(1, kDTypeCount - 1))
                     : choice[bytes_.ConsumeIntegralInRange<std::size_t>(0, choice.size() - 1)];
    return at->second;
  }

  void add_inputs(const schema::PortSchema& port) {
    using Option = schema::PortSchema::Option;
    int count = 1;
    if (port.option == Option::kVariadic) count = bytes_.ConsumeIntegralInRange(port.least, 4);
    if (port.option == Option::kOptional && bytes_.ConsumeBool()) count = 0;
    if (count == 0) node_.inputs.push_back(kNoValue);
    for (int i = 0; i < count; ++i) {
      const Shape shape = shape_like(bytes_, shapes_);
      shapes_.push_back(shape);
      const Tensor tensor = tensor_of(bytes_, type_of(port), shape);
      const std::string name = cat("x", node_.inputs.size());
      const bool is_constant = bytes_.ConsumeBool();
      node_.inputs.push_back(is_constant ? builder_.add_constant(name, tensor)
                                         : builder_.add_input(name, declared(tensor)));
      if (!is_constant) out_.feed.push_back(tensor);
    }
  }

  /// With sizes, with symbols, or without a rank.
  ValueType declared(const Tensor& tensor) {
    const int how = bytes_.ConsumeIntegralInRange(0, 4);
    if (how == 0) return {.dtype = tensor.dtype()};
    SymbolicShape shape(tensor.shape().begin(), tensor.shape().end());
    for (std::size_t i = 0; how == 1 && i < shape.size(); ++i) {
      if (bytes_.ConsumeBool()) shape[i] = Dim::symbol(cat("n", tensor.shape()[i]));
    }
    return ValueType::tensor(tensor.dtype(), shape);
  }

  void add_outputs() {
    using Option = schema::PortSchema::Option;
    std::size_t count = 0;
    for (const schema::PortSchema& port : schema_.outputs) {
      if (port.option == Option::kSingle) ++count;
      if (port.option == Option::kOptional && bytes_.ConsumeBool()) ++count;
      if (port.option == Option::kVariadic) {
        count += bytes_.ConsumeIntegralInRange<std::size_t>(1, 3);
      }
    }
    for (std::size_t i = 0; i < count; ++i)
      node_.outputs.push_back(builder_.add_value(cat("y", i)));
  }

  Bytes& bytes_;
  const schema::Schema& schema_;
  GraphBuilder builder_;
  Node node_;
  Case out_;
  std::map<std::size_t, DType> types_;
  std::vector<Shape> shapes_;
};

class SmallHost : public EvalHost {
 public:
  Result<Tensor> allocate_output(std::size_t, DType dtype, const Shape& shape) override {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
      if (size < 0) return Tensor::allocate(dtype, shape);  // says what is wrong with it
      count = size == 0 ? 0 : std::min(count, kMostElements) * std::min(size, kMostElements);
    }
    if (count > kMostElements) return invalid_argument("too large to try");
    return Tensor::allocate(dtype, shape);
  }
};

/// All values of the graph, node by node.
Result<std::vector<Tensor>> evaluate(const Graph& graph, const std::vector<Tensor>& feed) {
  std::vector<Tensor> values(graph.value_count());
  const auto at = [&](ValueId id) -> Tensor& { return values[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < graph.value_count(); ++i) values[i] = graph.values()[i].constant;
  for (std::size_t i = 0; i < feed.size(); ++i) at(graph.inputs()[i]) = feed[i];
  for (const Node& node : graph.nodes()) {
    TRIVET_ASSIGN(const OpDef* op, find_op(node));
    if (op->eval == nullptr || !op->deterministic) return unsupported("not comparable");
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && !at(id).defined()) return unsupported("no tensor");
      inputs.push_back(id == kNoValue ? nullptr : &at(id));
    }
    SmallHost host;
    EvalContext context(node, inputs, host);
    TRIVET_TRY(op->eval(context));
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k] != kNoValue) at(node.outputs[k]) = std::move(context.outputs()[k]);
    }
  }
  return values;
}

std::string text_of(const Node& node) {
  std::string out = cat(node.domain, ":", node.op_type, " of opset ", node.opset);
  for (const Attribute& attribute : node.attributes.all()) {
    out += cat(" ", attribute.name);
    if (const auto* n = std::get_if<std::int64_t>(&attribute.value)) out += cat("=", *n);
    if (const auto* s = std::get_if<std::string>(&attribute.value)) out += cat("=", *s);
    if (const auto* l = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
      out += "=" + shape_to_string(*l);
    }
  }
  return out;
}

std::string text_of(const Case& given) {
  std::string out = text_of(given.model.graph->node(0));
  for (const Tensor& tensor : given.feed) out += cat("\n  fed ", to_string(ValueType::of(tensor)));
  for (const Value& value : given.model.graph->values()) {
    if (!value.constant.defined()) continue;
    out += cat("\n  constant ", value.name, ": ", to_string(value.type));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(value.constant.size(), 8); ++i) {
      if (value.constant.dtype() == DType::kString) continue;
      out += cat(" ", element_as_double(value.constant, i));
    }
  }
  return out;
}

void expect_promised(const Case& given, const Inference& promised,
                     const std::vector<Tensor>& values) {
  const Graph& graph = *given.model.graph;
  for (const ValueId id : graph.outputs()) {
    const ValueType& type = promised[id].type;
    const Tensor& tensor = values[static_cast<std::size_t>(id)];
    if (!tensor.defined() || type.kind != ValueType::Kind::kTensor) continue;
    bool same = type.dtype == DType::kUndefined || type.dtype == tensor.dtype();
    if (type.shape) {
      same = same && type.shape->size() == tensor.shape().size();
      for (std::size_t i = 0; same && i < type.shape->size(); ++i) {
        const Dim& size = (*type.shape)[i];
        same = !size.is_constant() || size.value() == tensor.shape()[i];
      }
    }
    if (!same) {
      stop(cat(text_of(given), "\ninference says ", to_string(type), ", what came out is ",
               to_string(ValueType::of(tensor))));
    }
  }
}

/// Above it integers and doubles part.
constexpr double kMostExact = 9007199254740992;

bool close(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::kString) {
    return std::ranges::equal(a.data<std::string>(), b.data<std::string>());
  }
  const bool is_complex = a.dtype() == DType::kComplex64 || a.dtype() == DType::kComplex128;
  if (is_complex) return true;
  const double tolerance = dtype_bits(a.dtype()) < 32 ? 2e-2 : 1e-4;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = element_as_double(a, i);
    const double y = element_as_double(b, i);
    const bool exact = std::fabs(x) < kMostExact && std::fabs(y) < kMostExact;  // false of NaN
    if (!exact) continue;
    if (std::fabs(x - y) > tolerance * (1 + std::fabs(x))) return false;
  }
  return true;
}

void expect_legal(const Case& given, const Model& converted, int opset) {
  for (const Node& node : converted.graph->nodes()) {
    if (!node.domain.empty()) continue;
    const schema::Schema* schema = schema::find_schema("", node.op_type, opset);
    if (schema == nullptr)
      stop(cat(text_of(given), "\nbecame ", node.op_type, ", which opset ", opset, " lacks"));
    const auto misfits = schema::fits(*converted.graph, node, *schema);
    if (!misfits.empty()) {
      stop(cat(text_of(given), "\nin opset ", opset, " became ", text_of(node), ": ",
               misfits.front().message));
    }
  }
}

/// A Reshape to a computed shape takes a 0 for "as it was" before opset 14.
bool has_no_elements(const Case& given) {
  return std::ranges::any_of(given.feed, [](const Tensor& tensor) { return tensor.size() == 0; }) ||
         std::ranges::any_of(given.model.graph->values(), [](const Value& value) {
           return value.constant.defined() && value.constant.size() == 0;
         });
}

void expect_converts(const Case& given, const std::vector<Tensor>& before, int opset) {
  const Graph& graph = *given.model.graph;
  const Node& node = graph.node(0);
  const schema::Schema* schema = schema::find_schema(node.domain, node.op_type, node.opset);
  if (schema == nullptr || !schema::fits(graph, node, *schema).empty()) return;
  convert::ConversionReport report;
  const auto converted = convert::convert(given.model, opset, report);
  if (!converted) return;
  expect_legal(given, *converted, opset);
  const auto after = evaluate(*converted->graph, given.feed);
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Tensor& wanted = before[static_cast<std::size_t>(graph.outputs()[i])];
    if (!after) {
      if (after.error().code == ErrorCode::kUnsupported || has_no_elements(given)) return;
      stop(cat(text_of(given), "\nin opset ", opset, " fails: ", after.error().message));
    }
    const Tensor& got = (*after)[static_cast<std::size_t>(converted->graph->outputs()[i])];
    if (wanted.defined() != got.defined() || (wanted.defined() && !close(wanted, got))) {
      stop(cat(text_of(given), "\nin opset ", opset, " gives another output ", i));
    }
  }
}

void try_case(Bytes& bytes) {
  static const auto names = operator_names();
  const auto& [domain, name] =
      *std::next(names.begin(), bytes.ConsumeIntegralInRange<std::ptrdiff_t>(
                                    0, static_cast<std::ptrdiff_t>(names.size()) - 1));
  const int newest = onnx::newest_opset(std::string(domain)).value_or(1);
  const int opset = bytes.ConsumeIntegralInRange(1, newest);
  const int target = bytes.ConsumeIntegralInRange(convert::kLowestOpset, onnx::kNewestOpset);
  const schema::Schema* schema = schema::find_schema(domain, name, opset);
  if (schema == nullptr) return;
  const auto given = CaseMaker(bytes, *schema, opset).make();
  if (!given) return;
  const Graph& graph = *given->model.graph;
  const auto promised = infer(graph, declared_inputs(graph));
  const auto values = evaluate(graph, given->feed);
  (void)convert::lowest_opset(given->model);
  if (!values) {
    if (values.error().message.empty()) stop("an error without a message");
    convert::ConversionReport report;
    (void)convert::convert(given->model, target, report);
    return;
  }
  if (promised) expect_promised(*given, *promised, *values);
  if (domain.empty()) expect_converts(*given, *values, target);
}

}  // namespace
}  // namespace trivet

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  trivet::try_case(bytes);
  return 0;
}
