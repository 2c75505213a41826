#include "onnx/attribute_reader.h"

#include "onnx/tensor_reader.h"
#include "onnx/wire.h"

namespace trivet::onnx {
namespace {

Result<Tensor> decode_tensor(std::string_view bytes, const Bytes& source, ExternalFiles& external) {
  TRIVET_ASSIGN(TensorRecord named, read_tensor_proto(source.part(bytes), external));
  return std::move(named.tensor);
}

template <class T, class Decode>
Result<AttributeValue> decode_each(const std::vector<std::string_view>& messages,
                                   const Decode& decode) {
  std::vector<T> out;
  for (const std::string_view bytes : messages) {
    TRIVET_ASSIGN(T value, decode(bytes));
    out.push_back(std::move(value));
  }
  return AttributeValue(std::move(out));
}

/// An encoded part of an attribute, kept until the type is known: writers may set others to empty.
struct Part {
  std::uint32_t field = 0;
  std::string_view bytes;
};

void select_messages(const std::vector<Part>& parts, AttributeRecord& out) {
  const bool is_list = out.type == AttributeType::kTensors || out.type == AttributeType::kGraphs ||
                       out.type == AttributeType::kSparseTensors ||
                       out.type == AttributeType::kTypeProtos;
  for (const Part& part : parts) {
    if (part.field != field_of(out.type)) continue;
    if (!is_list) out.messages.clear();
    out.messages.push_back(part.bytes);
  }
}

}  // namespace

Result<AttributeRecord> read_attribute_record(std::string_view bytes) {
  AttributeRecord out;
  std::vector<Part> parts;
  std::int64_t type = 0;
  AttributeType present = AttributeType::kUndefined;
  Message message(bytes, "AttributeProto");
  while (message.next()) {
    const std::uint32_t field = message.field();
    if (type_of_field(field) != AttributeType::kUndefined) present = type_of_field(field);
    switch (field) {
      case 1: out.name = message.text(); break;
      case 2: out.f = message.float32(); break;
      case 3: out.i = message.integer(); break;
      case 4: out.s = message.bytes(); break;
      case 5:
      case 6:
      case 10:
      case 11:
      case 14:
      case 15:
      case 22:
      case 23: parts.push_back({field, message.bytes()}); break;
      case 7: message.append_to(out.floats); break;
      case 8: message.append_to(out.ints); break;
      case 9: out.strings.push_back(message.bytes()); break;
      case 20: type = message.integer(); break;
      case 21: out.reference = message.text(); break;
      default: break;
    }
  }
  TRIVET_TRY(message.status());
  if (out.name.empty()) return invalid_model("an attribute has no name");
  if (type < 0 || type >= static_cast<std::int64_t>(kAttributeTypes)) {
    return invalid_model("attribute '", out.name, "' has unknown type ", type);
  }
  out.type = type == 0 ? present : static_cast<AttributeType>(type);
  select_messages(parts, out);
  return out;
}

Result<AttributeValue> decode_attribute(const AttributeRecord& record, const Bytes& source,
                                        ExternalFiles& external, const GraphDecoder& read_graph) {
  const auto tensor = [&](std::string_view bytes) {
    return decode_tensor(bytes, source, external);
  };
  const bool is_message =
      record.type == AttributeType::kTensor || record.type == AttributeType::kGraph;
  if (is_message && record.messages.empty()) return invalid_model("it has no value");
  switch (record.type) {
    case AttributeType::kUndefined: return invalid_model("it has neither type nor value");
    case AttributeType::kFloat: return AttributeValue(record.f);
    case AttributeType::kInt: return AttributeValue(record.i);
    case AttributeType::kString: return AttributeValue(std::string(record.s));
    case AttributeType::kFloats: return AttributeValue(record.floats);
    case AttributeType::kInts: return AttributeValue(record.ints);
    case AttributeType::kStrings: {
      return AttributeValue(std::vector<std::string>(record.strings.begin(), record.strings.end()));
    }
    case AttributeType::kTensor: {
      TRIVET_ASSIGN(Tensor value, tensor(record.messages.front()));
      return AttributeValue(std::move(value));
    }
    case AttributeType::kGraph: {
      TRIVET_ASSIGN(GraphPtr value, read_graph(record.messages.front()));
      return AttributeValue(std::move(value));
    }
    case AttributeType::kTensors: return decode_each<Tensor>(record.messages, tensor);
    case AttributeType::kGraphs: return decode_each<GraphPtr>(record.messages, read_graph);
    case AttributeType::kSparseTensor:
    case AttributeType::kSparseTensors:
    case AttributeType::kTypeProto:
    case AttributeType::kTypeProtos: break;
  }
  OpaqueAttribute opaque;
  opaque.onnx_type = static_cast<std::int32_t>(record.type);
  opaque.field = field_of(record.type);
  opaque.messages.assign(record.messages.begin(), record.messages.end());
  return AttributeValue(std::move(opaque));
}

}  // namespace trivet::onnx
