#include "cli/feed.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/math.h"
#include "base/memory_info.h"
#include "io/image.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/random_tensor.h"
#include "onnx/tensor_proto.h"

namespace trivet::cli {
namespace {

bool is_file(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && std::filesystem::exists(path, ignored);
}

/// "1x3x224x224"; nothing when it is not that.
std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    std::int64_t d = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, d);
    if (error != std::errc() || stop != text.data() + end || d < 0) return std::nullopt;
    shape.push_back(d);
    begin = end + 1;
  }
  return shape;
}

/// "'x' (float32 batchx3x224x224), 'y' (…)".
std::string list_inputs(std::span<const Port> ports) {
  std::string out;
  for (const Port& port : ports) {
    out += (out.empty() ? "'" : ", '") + port.name + "' (" + to_string(port.type) + ")";
  }
  return out.empty() ? "none" : out;
}

const Port* find_port(std::span<const Port> ports, std::string_view name) {
  const auto it = std::ranges::find(ports, name, &Port::name);
  return it == ports.end() ? nullptr : &*it;
}

bool has_symbol(std::span<const Port> ports, const std::string& name) {
  const Dim symbol = Dim::symbol(name);
  return std::ranges::any_of(ports, [&](const Port& port) {
    return port.type.shape && std::ranges::find(*port.type.shape, symbol) != port.type.shape->end();
  });
}

/// Whether a shape may stand for what the model declares.
Result<void> check_shape(const Port& port, const Shape& shape) {
  if (!port.type.shape) return {};
  const SymbolicShape& wanted = *port.type.shape;
  bool fits = wanted.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = !wanted[i].is_constant() || wanted[i].equals(shape[i]);
  }
  if (fits) return {};
  return invalid_argument("--shape: input '", port.name, "' takes shape ", shape_to_string(wanted),
                          ", not ", shape_to_string(shape));
}

Result<void> bind_shape(std::span<const Port> ports, const std::string& text, ShapeBindings& out) {
  const std::size_t split = text.find_last_of("=:");
  const std::string name = split == std::string::npos ? "" : text.substr(0, split);
  const auto shape = parse_shape(split == std::string::npos ? text : text.substr(split + 1));
  if (!shape) {
    return invalid_argument("--shape '", text,
                            "': sizes are numbers with an x between them, as in ",
                            "NAME=1x3x224x224");
  }
  if (name.empty() && ports.size() != 1) {
    return invalid_argument("--shape '", text,
                            "' names no input; the model takes: ", list_inputs(ports));
  }
  const Port* port = name.empty() ? &ports[0] : find_port(ports, name);
  if (port != nullptr) {
    TRIVET_TRY(check_shape(*port, *shape));
    out.inputs[port->name] = *shape;
    return {};
  }
  if (!has_symbol(ports, name) || shape->size() != 1) {
    return invalid_argument("--shape: the model has no input '", name,
                            "', and names no dimension so; it takes: ", list_inputs(ports));
  }
  out.symbols[name] = shape->front();
  return {};
}

/// Takes over the sizes that --shape gives an input for the symbols that its declaration names.
Result<void> bind_symbols_of_inputs(std::span<const Port> ports, ShapeBindings& bindings) {
  for (const Port& port : ports) {
    const auto given = bindings.inputs.find(port.name);
    if (given == bindings.inputs.end() || !port.type.shape) continue;
    for (std::size_t i = 0; i < given->second.size(); ++i) {
      const Dim& wanted = (*port.type.shape)[i];
      if (wanted.is_constant() || wanted.is_unknown()) continue;
      const auto [place, fresh] = bindings.symbols.emplace(wanted.to_string(), given->second[i]);
      if (!fresh && place->second != given->second[i]) {
        return invalid_argument("--shape gives '", place->first, "' two sizes, ", place->second,
                                " and ", given->second[i]);
      }
    }
  }
  return {};
}

/// "input=1x3x224x224": an example that fits the port.
std::string example_shape(const Port& port) {
  std::string out;
  const SymbolicShape& shape = *port.type.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t size = shape[i].is_constant() ? shape[i].value() : i == 0 ? 1 : 224;
    out += (i == 0 ? "" : "x") + std::to_string(size);
  }
  return port.name + "=" + out;
}

Result<ValueType> resolve_port(const Port& port, const ShapeBindings& bindings, OpenDims open) {
  ValueType type = port.type;
  if (const auto given = bindings.inputs.find(port.name); given != bindings.inputs.end()) {
    type.shape = SymbolicShape(given->second.begin(), given->second.end());
    return type;
  }
  if (!type.shape) {
    if (open == OpenDims::kSymbolic) return type;
    return invalid_argument("input '", port.name,
                            "' has no shape in the model; give one with --shape ", port.name,
                            "=1x3x224x224");
  }
  SymbolicShape& shape = *type.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].is_constant()) continue;
    const auto bound = bindings.symbols.find(shape[i].to_string());
    if (!shape[i].is_unknown() && bound != bindings.symbols.end()) {
      shape[i] = bound->second;
    } else if (open == OpenDims::kDefault) {
      if (shape.size() >= 4 && i > 0) {
        return invalid_argument(
            "input '", port.name, "' takes shape ", shape_to_string(*port.type.shape),
            ", which leaves sizes open; give them, for example --shape ", example_shape(port));
      }
      shape[i] = 1;
    }
  }
  return type;
}

/// The tensors of the files; a bare .npz gives all its arrays, by their names.
Result<void> read_files(std::span<const Port> ports, const FeedFlags& flags, Feed& feed) {
  TRIVET_ASSIGN(const Preprocess preprocess, flags.preprocess.parse());
  for (const std::string& text : flags.inputs) {
    const NamedFile input = split_input(text);
    if (input.name.empty() && input.file.ends_with(".npz") && ports.size() != 1) {
      TRIVET_ASSIGN(std::vector<NamedArray> arrays, read_npz(input.file));
      for (NamedArray& array : arrays) feed[array.name] = std::move(array.tensor);
      continue;
    }
    if (input.name.empty() && ports.size() != 1) {
      return invalid_argument("--input '", text, "' names no input; use NAME=", text,
                              "; the model takes: ", list_inputs(ports));
    }
    const Port* port = input.name.empty() ? &ports[0] : find_port(ports, input.name);
    if (port == nullptr) {
      return invalid_argument("the model has no input '", input.name,
                              "'; it takes: ", list_inputs(ports));
    }
    if (feed.contains(port->name)) {
      return invalid_argument("--input gives '", port->name, "' twice");
    }
    TRIVET_ASSIGN(feed[port->name], read_input(*port, input.file, preprocess));
  }
  return {};
}

/// The sizes of the inputs that are there bind the symbols of those that are to be made up.
void bind_symbols_of_feed(std::span<const Port> ports, const Feed& feed, ShapeBindings& bindings) {
  for (const Port& port : ports) {
    const auto it = feed.find(port.name);
    if (it == feed.end() || !port.type.shape) continue;
    for (std::size_t i = 0; i < port.type.shape->size() && i < it->second.shape().size(); ++i) {
      const Dim& wanted = (*port.type.shape)[i];
      if (!wanted.is_constant() && !wanted.is_unknown()) {
        bindings.symbols.emplace(wanted.to_string(), it->second.shape()[i]);
      }
    }
  }
}

Result<void> check_memory(std::span<const ValueType> types) {
  double bytes = 0;
  for (const ValueType& type : types) {
    double size = dtype_bits(type.dtype) / 8.0;
    for (const Dim& d : type.shape.value_or(SymbolicShape{}))
      size *= static_cast<double>(d.value());
    bytes += size;
  }
  return check_available_memory(bytes, "the inputs");
}

std::uint64_t mix(std::uint64_t seed, std::size_t index) { return seed * 1'000'003 + index; }

std::string advice_for_pictures(const Port& port) {
  return cat("; input '", port.name, "' takes ", to_string(port.type),
             ", so use --resize, --crop, --layout and --channels to match");
}

Result<Tensor> read_picture(const Port& port, const std::string& file,
                            const Preprocess& preprocess) {
  TRIVET_ASSIGN(const Image image, read_image(file));
  const DType dtype = port.type.dtype == DType::kUndefined ? DType::kFloat32 : port.type.dtype;
  auto tensor = apply(preprocess, image, dtype);
  if (!tensor) return tl::unexpected(std::move(tensor).error().at(file));
  const auto& wanted = port.type.shape;
  bool fits = !wanted || wanted->size() == tensor->shape().size();
  for (std::size_t i = 1; wanted && fits && i < wanted->size(); ++i) {
    fits = !(*wanted)[i].is_constant() || (*wanted)[i].equals(tensor->shape()[i]);
  }
  if (fits) return tensor;
  return invalid_argument("picture '", file, "' gives shape ", shape_to_string(tensor->shape()),
                          advice_for_pictures(port));
}

Result<Tensor> read_from_npz(const Port& port, const std::string& file) {
  TRIVET_ASSIGN(const std::vector<NamedArray> arrays, read_npz(file));
  if (arrays.size() == 1) return arrays.front().tensor;
  std::string names;
  for (const NamedArray& array : arrays) {
    if (array.name == port.name) return array.tensor;
    names += (names.empty() ? "" : ", ") + array.name;
  }
  return invalid_argument("'", file, "' has no array '", port.name,
                          "'; it has: ", names.empty() ? "none" : names);
}

}  // namespace

std::vector<Port> input_ports(const Graph& graph) {
  std::vector<Port> out;
  for (const ValueId id : graph.inputs())
    out.push_back({graph.value(id).name, graph.value(id).type});
  return out;
}

NamedFile split_input(const std::string& text) {
  for (std::size_t at = text.rfind('='); at != std::string::npos && at > 0;
       at = text.rfind('=', at - 1)) {
    if (is_file(text.substr(at + 1))) return {text.substr(0, at), text.substr(at + 1)};
  }
  const std::size_t first = text.find('=');
  if (first == std::string::npos || first == 0 || is_file(text)) return {"", text};
  return {text.substr(0, first), text.substr(first + 1)};
}

Result<ShapeBindings> parse_shapes(std::span<const Port> ports,
                                   std::span<const std::string> texts) {
  ShapeBindings out;
  for (const std::string& text : texts) TRIVET_TRY(bind_shape(ports, text, out));
  TRIVET_TRY(bind_symbols_of_inputs(ports, out));
  return out;
}

Result<std::vector<ValueType>> resolve_shapes(std::span<const Port> ports,
                                              const ShapeBindings& bindings, OpenDims open) {
  std::vector<ValueType> out;
  for (const Port& port : ports) {
    TRIVET_ASSIGN(ValueType type, resolve_port(port, bindings, open));
    out.push_back(std::move(type));
  }
  return out;
}

Result<Tensor> read_input(const Port& port, const std::string& file, const Preprocess& preprocess) {
  if (!is_file(file))
    return fail(ErrorCode::kIo, "input '", port.name, "': there is no file '", file, "'");
  if (has_image_extension(file)) return read_picture(port, file, preprocess);
  if (file.ends_with(".npy")) return read_npy(file);
  if (file.ends_with(".npz")) return read_from_npz(port, file);
  if (file.ends_with(".pb")) return read_tensor_file(file);
  return unsupported("input '", port.name, "': cannot tell what '", file,
                     "' holds; the name must end in .npy, .npz, .pb, .png, .jpg, .jpeg or .bmp");
}

Result<Feed> random_feed(std::span<const Port> ports, const ShapeBindings& bindings,
                         std::uint64_t seed) {
  TRIVET_ASSIGN(const std::vector<ValueType> types,
                resolve_shapes(ports, bindings, OpenDims::kDefault));
  TRIVET_TRY(check_memory(types));
  Feed feed;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto shape = constant_shape(types[i].shape.value_or(SymbolicShape{}));
    if (types[i].kind != ValueType::Kind::kTensor || !shape) {
      return unsupported("input '", ports[i].name, "' is a ", to_string(ports[i].type),
                         "; only tensors can be fed");
    }
    auto tensor = random_tensor(types[i].dtype, *shape, mix(seed, i));
    if (!tensor)
      return tl::unexpected(std::move(tensor).error().at(cat("input '", ports[i].name, "'")));
    feed[ports[i].name] = *std::move(tensor);
  }
  return feed;
}

Result<Feed> build_feed(std::span<const Port> ports, const FeedFlags& flags) {
  Feed feed;
  TRIVET_TRY(read_files(ports, flags, feed));
  TRIVET_ASSIGN(ShapeBindings bindings, parse_shapes(ports, flags.shapes));
  std::vector<Port> open;
  for (const Port& port : ports) {
    if (!feed.contains(port.name)) open.push_back(port);
  }
  if (open.empty()) return feed;
  if (!flags.random) {
    return invalid_argument("input '", open.front().name, "' (", to_string(open.front().type),
                            ") has no data; give --input ", open.front().name,
                            "=FILE, or --random to make it up");
  }
  bind_symbols_of_feed(ports, feed, bindings);
  TRIVET_ASSIGN(Feed made_up, random_feed(open, bindings, flags.seed));
  feed.merge(made_up);
  return feed;
}

std::int64_t batch_of(std::span<const Port> ports, const Feed& feed) {
  static constexpr std::string_view kNames[] = {"batch", "batch_size", "N", "n"};
  for (const Port& port : ports) {
    const Shape& shape = feed.at(port.name).shape();
    for (std::size_t i = 0; port.type.shape && i < shape.size(); ++i) {
      const Dim& dim = (*port.type.shape)[i];
      if (!dim.is_constant() && std::ranges::count(kNames, dim.to_string()) > 0) return shape[i];
    }
  }
  if (ports.empty()) return 1;
  const Shape& shape = feed.at(ports.front().name).shape();
  return shape.size() >= 4 ? shape[0] : 1;
}

}  // namespace trivet::cli
