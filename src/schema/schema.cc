#include "schema/schema.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "schema/table.h"

namespace trivet::schema {
namespace {

/// AttributeProto's word for a value.
std::string_view type_word(const AttributeValue& value) {
  struct Words {
    std::string_view operator()(std::int64_t) const { return "int"; }
    std::string_view operator()(float) const { return "float"; }
    std::string_view operator()(const std::string&) const { return "string"; }
    std::string_view operator()(const Tensor&) const { return "tensor"; }
    std::string_view operator()(const GraphPtr&) const { return "graph"; }
    std::string_view operator()(const std::vector<std::int64_t>&) const { return "ints"; }
    std::string_view operator()(const std::vector<float>&) const { return "floats"; }
    std::string_view operator()(const std::vector<std::string>&) const { return "strings"; }
    std::string_view operator()(const std::vector<Tensor>&) const { return "tensors"; }
    std::string_view operator()(const std::vector<GraphPtr>&) const { return "graphs"; }
    std::string_view operator()(const OpaqueAttribute&) const { return ""; }
  };
  return std::visit(Words{}, value);
}

bool empty_list(const AttributeValue& value) {
  const auto* ints = std::get_if<std::vector<std::int64_t>>(&value);
  return ints != nullptr && ints->empty();  // the reader cannot tell empty lists apart
}

bool same_kind_and_dtype(const ValueType& a, const ValueType& b) {
  if (a.kind != b.kind) return false;
  if (a.dtype == DType::kUndefined || b.dtype == DType::kUndefined) return true;
  return a.dtype == b.dtype;
}

std::string type_text(const ValueType& type) {
  if (type.kind == ValueType::Kind::kTensor) return std::string(dtype_name(type.dtype));
  return to_string(type);
}

/// Collects what does not fit.
class Fitting {
 public:
  Fitting(const Node& node, const Schema& schema,
          const std::function<const ValueType*(ValueId)>& types)
      : node_(node), schema_(schema), types_(types), bound_(schema.types.size(), nullptr) {}

  std::vector<Misfit> run() && {
    if (schema_.deprecated) {
      add(Misfit::Kind::kDeprecated, "", cat("deprecated since opset ", schema_.since));
    }
    attributes();
    ports(node_.inputs, schema_.inputs, Misfit::Kind::kInputs, "input");
    ports(node_.outputs, schema_.outputs, Misfit::Kind::kOutputs, "output");
    return std::move(misfits_);
  }

 private:
  void add(Misfit::Kind kind, std::string_view subject, std::string message) {
    misfits_.push_back({kind, std::string(subject), std::move(message)});
  }

  void attributes() {
    for (const Attribute& attribute : node_.attributes.all()) {
      const AttributeSchema* known = schema_.attribute(attribute.name);
      if (known == nullptr) {
        add(Misfit::Kind::kUnknownAttribute, attribute.name,
            cat("attribute '", attribute.name, "' is not known"));
        continue;
      }
      const std::string_view word = type_word(attribute.value);
      if (word.empty() || word == known->type) continue;
      if (empty_list(attribute.value) && known->type.ends_with('s')) continue;
      add(Misfit::Kind::kAttributeType, attribute.name,
          cat("attribute '", attribute.name, "' is of type ", word, ", not ", known->type));
    }
    for (const AttributeSchema& known : schema_.attributes) {
      if (!known.required || node_.attributes.has(known.name)) continue;
      add(Misfit::Kind::kMissingAttribute, known.name,
          cat("attribute '", known.name, "' is missing"));
    }
  }

  void ports(std::span<const ValueId> values, std::span<const PortSchema> ports, Misfit::Kind kind,
             std::string_view word) {
    const bool open = !ports.empty() && ports.back().option == PortSchema::Option::kVariadic;
    std::size_t given = values.size();
    while (given > 0 && values[given - 1] == kNoValue) --given;
    if (given > ports.size() && !open) {
      add(kind, "", cat("it has ", given, " ", word, "s, and may have ", ports.size()));
    }
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const PortSchema& port = ports[i];
      if (port.option == PortSchema::Option::kVariadic) {
        if (values.size() < i + static_cast<std::size_t>(port.least)) {
          add(kind, port.name, cat("it needs at least ", port.least, " ", word, "s"));
        }
        for (std::size_t v = i; v < values.size(); ++v) type(values[v], port, word);
        break;
      }
      const bool there = i < values.size() && values[i] != kNoValue;
      if (there) type(values[i], port, word);
      const bool is_input = kind == Misfit::Kind::kInputs;
      if (!there && is_input && port.option == PortSchema::Option::kSingle) {
        add(kind, port.name, cat(word, " '", port.name, "' is missing"));
      }
    }
  }

  void type(ValueId value, const PortSchema& port, std::string_view word) {
    const ValueType* type = value == kNoValue ? nullptr : types_(value);
    if (type == nullptr || port.type >= schema_.types.size()) return;
    const TypeParameter& parameter = schema_.types[port.type];
    if (!parameter.allowed->allows(*type)) {
      add(Misfit::Kind::kType, port.name,
          cat(word, " '", port.name, "' may not be ", type_text(*type)));
      return;
    }
    if (!port.same_type) return;
    const ValueType*& bound = bound_[port.type];
    if (bound != nullptr && !same_kind_and_dtype(*bound, *type)) {
      add(Misfit::Kind::kType, port.name,
          cat(word, " '", port.name, "' is ", type_text(*type), " beside ", type_text(*bound),
              "; they have to be of one type"));
    }
    const bool known = type->kind != ValueType::Kind::kTensor || type->dtype != DType::kUndefined;
    if (bound == nullptr && known) bound = type;
  }

  const Node& node_;
  const Schema& schema_;
  const std::function<const ValueType*(ValueId)>& types_;
  std::vector<const ValueType*> bound_;
  std::vector<Misfit> misfits_;
};

bool has_bit(std::uint32_t bits, DType dtype) {
  return dtype == DType::kUndefined || ((bits >> static_cast<unsigned>(dtype)) & 1U) != 0;
}

}  // namespace

bool TypeSet::allows(const ValueType& type) const {
  const auto element = [&] { return type.element ? type.element->dtype : DType::kUndefined; };
  const auto kind_of_element = [&] {
    return type.element ? type.element->kind : ValueType::Kind::kTensor;
  };
  switch (type.kind) {
    case ValueType::Kind::kTensor: return has_bit(tensors, type.dtype);
    case ValueType::Kind::kSparseTensor: return has_bit(sparse, type.dtype);
    case ValueType::Kind::kMap: return maps;
    case ValueType::Kind::kSequence:
      if (kind_of_element() == ValueType::Kind::kMap) return maps;
      return sequences != 0 && has_bit(sequences, element());
    case ValueType::Kind::kOptional:
      if (kind_of_element() == ValueType::Kind::kSequence) return optional_sequences != 0;
      return optionals != 0 && has_bit(optionals, element());
  }
  return true;
}

const AttributeSchema* Schema::attribute(std::string_view attribute_name) const {
  const auto it = std::ranges::find(attributes, attribute_name, &AttributeSchema::name);
  return it == attributes.end() ? nullptr : &*it;
}

std::span<const Schema> versions(std::string_view domain, std::string_view name) {
  const auto it = table().operators.find({domain, name});
  return it == table().operators.end() ? std::span<const Schema>()
                                       : std::span<const Schema>(it->second);
}

const Schema* find_schema(std::string_view domain, std::string_view name, int opset) {
  const std::span<const Schema> all = versions(domain, name);
  const auto next = std::ranges::upper_bound(all, opset, {}, &Schema::since);
  return next == all.begin() ? nullptr : &*std::prev(next);
}

std::vector<Misfit> fits(const Node& node, const Schema& schema,
                         const std::function<const ValueType*(ValueId)>& types) {
  return Fitting(node, schema, types).run();
}

std::vector<Misfit> fits(const Graph& graph, const Node& node, const Schema& schema) {
  return fits(node, schema, [&](ValueId id) { return &graph.value(id).type; });
}

bool is_default(const AttributeSchema& schema, const AttributeValue& value) {
  if (!schema.has_default) return false;
  const std::string text(schema.default_value);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return cat(*number) == text;
  if (const auto* word = std::get_if<std::string>(&value)) return *word == text;
  if (const auto* real = std::get_if<float>(&value)) {
    return *real == std::strtof(text.c_str(), nullptr);
  }
  return false;
}

}  // namespace trivet::schema
