// Makes a model's inputs from --input, --shape and --random.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/options.h"
#include "runtime/session.h"
#include "tensor/tensor.h"

namespace trivet::cli {

using Feed = std::map<std::string, Tensor>;

/// The inputs of a model as Session::inputs() has them, without a session.
[[nodiscard]] std::vector<Port> input_ports(const Graph& graph);

/// `text` at the '=' that separates NAME from FILE; both may hold '=' themselves. The last '='
/// with an existing file behind it counts, else the first; the name is empty for a file alone.
struct NamedFile {
  std::string name;
  std::string file;
};
[[nodiscard]] NamedFile split_input(const std::string& text);

/// What --shape says: sizes for whole inputs, and for dimensions that the model names.
struct ShapeBindings {
  std::map<std::string, Shape> inputs;
  std::map<std::string, std::int64_t> symbols;
};

/// Each text is NAME=1x3x224x224, NAME:1x3x224x224, a shape alone where there is one input, or
/// SYMBOL=3. An entry that fits no input is an error that lists what there is.
[[nodiscard]] Result<ShapeBindings> parse_shapes(std::span<const Port> ports,
                                                 std::span<const std::string> texts);

/// How dimensions are treated that neither the model nor --shape fixes.
enum class OpenDims : std::uint8_t {
  kDefault,   ///< 1; but those of pictures (rank 4 and more, not the first) are an error
  kSymbolic,  ///< stay as the model has them
};

/// The type of each port with --shape put in, in the order of the ports.
[[nodiscard]] Result<std::vector<ValueType>> resolve_shapes(std::span<const Port> ports,
                                                            const ShapeBindings& bindings,
                                                            OpenDims open);

/// All inputs by name: from files, and with --random what the files leave out. Memory is checked
/// before it is taken.
[[nodiscard]] Result<Feed> build_feed(std::span<const Port> ports, const FeedFlags& flags);

/// Random values for every input.
[[nodiscard]] Result<Feed> random_feed(std::span<const Port> ports, const ShapeBindings& bindings,
                                       std::uint64_t seed);

/// One array of a file for the input `port`: .npy, .npz (the array named like the input, or the
/// only one), .pb, or a picture by way of `preprocess`.
[[nodiscard]] Result<Tensor> read_input(const Port& port, const std::string& file,
                                        const Preprocess& preprocess);

/// The size of the dimension that the model calls batch or N; else of the first axis of a picture;
/// else 1.
[[nodiscard]] std::int64_t batch_of(std::span<const Port> ports, const Feed& feed);

}  // namespace trivet::cli
