#include "cli/json.h"

#include "cli/command.h"

namespace trivet::cli {

void print_json(const Json& document) {
  print(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json json_shape(const SymbolicShape& shape) {
  Json out = Json::array();
  for (const Dim& d : shape) {
    if (d.is_constant()) {
      out.push_back(d.value());
    } else {
      out.push_back(d.to_string());
    }
  }
  return out;
}

Json json_shape(std::span<const std::int64_t> shape) {
  Json out = Json::array();
  for (const std::int64_t d : shape) out.push_back(d);
  return out;
}

Json json_port(const std::string& name, const ValueType& type) {
  Json out = {{"name", name}};
  const bool tensor = type.kind == ValueType::Kind::kTensor;
  out["dtype"] = tensor ? std::string(dtype_name(type.dtype)) : to_string(type);
  out["shape"] = type.shape ? json_shape(*type.shape) : Json();
  return out;
}

}  // namespace trivet::cli
