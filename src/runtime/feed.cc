#include "runtime/feed.h"

#include <algorithm>

namespace trivet {
namespace {

std::string list(std::span<const Port> ports) {
  std::string out;
  for (const Port& port : ports)
    out += (out.empty() ? "'" : ", '") + port.name + "' (" + to_string(port.type) + ")";
  return out.empty() ? "none" : out;
}

Result<void> check_one(const Port& port, const Tensor& tensor,
                       std::map<std::string, std::int64_t>& symbols) {
  if (port.type.kind != ValueType::Kind::kTensor) {
    return unsupported("input '", port.name, "' is a ", to_string(port.type),
                       "; only tensors can be fed");
  }
  if (port.type.dtype != DType::kUndefined && tensor.dtype() != port.type.dtype) {
    return invalid_argument("input '", port.name, "' takes ", dtype_name(port.type.dtype), ", not ",
                            dtype_name(tensor.dtype()), "; convert the data first");
  }
  if (!port.type.shape) return {};
  const SymbolicShape& wanted = *port.type.shape;
  const auto mismatch = [&](const std::string& why) {
    return invalid_argument("input '", port.name, "' takes shape ", shape_to_string(wanted),
                            ", not ", shape_to_string(tensor.shape()), why);
  };
  if (wanted.size() != tensor.shape().size()) return mismatch("");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t given = tensor.shape()[i];
    if (wanted[i].is_constant()) {
      if (wanted[i].value() != given) return mismatch(cat("; axis ", i, " is fixed in the model"));
    } else if (!wanted[i].is_unknown()) {
      const auto [place, fresh] = symbols.emplace(wanted[i].to_string(), given);
      if (!fresh && place->second != given) {
        return mismatch(cat("; '", place->first, "' is ", place->second, " on another axis"));
      }
    }
  }
  return {};
}

}  // namespace

Result<void> check_feed(std::span<const Port> ports, std::span<const Tensor> tensors) {
  if (ports.size() != tensors.size()) {
    return invalid_argument("the model takes ", ports.size(), " inputs, ", tensors.size(),
                            " were given; it takes: ", list(ports));
  }
  std::map<std::string, std::int64_t> symbols;
  for (std::size_t i = 0; i < ports.size(); ++i)
    TRIVET_TRY(check_one(ports[i], tensors[i], symbols));
  return {};
}

Result<std::vector<Tensor>> order_feed(std::span<const Port> ports,
                                       const std::map<std::string, Tensor>& named) {
  for (const auto& [name, tensor] : named) {
    if (std::ranges::find(ports, name, &Port::name) == ports.end()) {
      return invalid_argument("the model has no input '", name, "'; it takes: ", list(ports));
    }
  }
  std::vector<Tensor> out;
  for (const Port& port : ports) {
    const auto it = named.find(port.name);
    if (it == named.end()) {
      return invalid_argument("input '", port.name, "' (", to_string(port.type), ") is missing");
    }
    out.push_back(it->second);
  }
  return out;
}

}  // namespace trivet
