// Encoded ONNX messages, written field by field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trivet::onnx {

/// Builds one message: `Proto().text(1, "x").integer(2, 7).bytes`.
struct Proto {
  std::string bytes;

  Proto& text(std::uint32_t field, std::string_view value) {
    protozero::pbf_writer(bytes).add_bytes(field, value.data(), value.size());
    return *this;
  }
  Proto& integer(std::uint32_t field, std::int64_t value) {
    protozero::pbf_writer(bytes).add_int64(field, value);
    return *this;
  }
  Proto& message(std::uint32_t field, const Proto& inner) { return text(field, inner.bytes); }
  Proto& messages(std::uint32_t field, const std::vector<Proto>& inner) {
    for (const Proto& one : inner) message(field, one);
    return *this;
  }
  Proto& packed(std::uint32_t field, const std::vector<std::int64_t>& values) {
    protozero::pbf_writer(bytes).add_packed_int64(field, values.begin(), values.end());
    return *this;
  }
};

inline Proto tensor_for_test(std::string_view name, const std::vector<std::int64_t>& dims,
                             int data_type, std::string_view raw) {
  Proto out;
  for (const std::int64_t d : dims) out.integer(1, d);
  return out.integer(2, data_type).text(8, name).text(9, raw);
}

/// A ValueInfoProto of float32.
inline Proto value_for_test(std::string_view name, std::initializer_list<std::string_view> dims) {
  Proto shape;
  for (const std::string_view d : dims) shape.message(1, Proto().text(2, d));
  const Proto tensor = Proto().integer(1, 1).message(2, shape);
  return Proto().text(1, name).message(2, Proto().message(1, tensor));
}

inline Proto node_for_test(std::string_view op, std::initializer_list<std::string_view> inputs,
                           std::initializer_list<std::string_view> outputs,
                           std::string_view name = "", std::string_view domain = "") {
  Proto out;
  for (const std::string_view i : inputs) out.text(1, i);
  for (const std::string_view o : outputs) out.text(2, o);
  return out.text(3, name).text(4, op).text(7, domain);
}

inline Proto graph_attribute_for_test(std::string_view name, const Proto& graph) {
  return Proto().text(1, name).message(6, graph).integer(20, 5);
}

inline Proto graph_for_test(const std::vector<Proto>& nodes, const std::vector<Proto>& inputs,
                            const std::vector<Proto>& outputs,
                            const std::vector<Proto>& initializers = {}) {
  return Proto()
      .messages(1, nodes)
      .text(2, "g")
      .messages(5, initializers)
      .messages(11, inputs)
      .messages(12, outputs);
}

inline Proto opset_for_test(std::string_view domain, int version) {
  return Proto().text(1, domain).integer(2, version);
}

inline Proto function_for_test(std::string_view name,
                               std::initializer_list<std::string_view> inputs,
                               std::initializer_list<std::string_view> outputs,
                               const std::vector<Proto>& nodes, int opset = 17) {
  Proto out;
  out.text(1, name).text(10, "local");
  for (const std::string_view i : inputs) out.text(4, i);
  for (const std::string_view o : outputs) out.text(5, o);
  return out.messages(7, nodes)
      .message(9, opset_for_test("", opset))
      .message(9, opset_for_test("local", 1));
}

inline Proto model_for_test(const Proto& graph, const std::vector<Proto>& functions = {}) {
  return Proto()
      .integer(1, 8)
      .message(7, graph)
      .message(8, opset_for_test("", 17))
      .message(8, opset_for_test("local", 1))
      .messages(25, functions);
}

}  // namespace trivet::onnx
