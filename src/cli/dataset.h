// The inputs of verify, eval and ship, one at a time, with their labels where there are any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/feed.h"
#include "cli/options.h"
#include "io/image.h"
#include "tensor/tensor.h"

namespace CLI {
class App;
}

namespace trivet::cli {

/// --data, --truth, --labels, --limit and what says how data become inputs
struct DataFlags {
  std::string data;
  std::string truth;
  std::string labels;
  std::size_t limit = 0;  ///< 0: all
  FeedFlags feed;

  /// `required`: the command cannot do without --data.
  void add_to(CLI::App& command, bool required);
};

struct Sample {
  std::string name;
  Feed feed;
  std::optional<std::int64_t> truth;
  std::string file;              ///< it came from; empty where that holds many
  std::optional<Image> picture;  ///< where it came from an array of pictures
};

/// --data is one of
///  - a folder of pictures, .npy, .npz or .pb files, each one input (an .npz: all inputs by name);
///  - a folder with one folder of pictures per class. The class is the folder's name in --labels;
///    where no name is there, the name as a number; else its place among the sorted names;
///  - an .npy, .npz or IDX file (gzipped or not) with an array of inputs along its first axis;
///    in an .npz the array called like the input, images, x or data. Labels are in labels or y.
/// --truth FILE has the labels otherwise: lines `file label` or `file,label` with a number or a
/// name of --labels, or an array of numbers (.npy, IDX) in the order of the inputs.
class Dataset {
 public:
  [[nodiscard]] static Result<Dataset> open(const DataFlags& flags, std::span<const Port> ports,
                                            const std::vector<std::string>& labels);
  /// `count` samples of random numbers, from seed, seed + 1, …
  [[nodiscard]] static Result<Dataset> random(const FeedFlags& flags, std::span<const Port> ports,
                                              std::size_t count);
  /// The one sample that --input (and --random) give.
  [[nodiscard]] static Result<Dataset> from_inputs(const FeedFlags& flags,
                                                   std::span<const Port> ports);

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  /// Whether every item has a label.
  [[nodiscard]] bool labelled() const;
  [[nodiscard]] Result<Sample> sample(std::size_t i) const;
  /// For people: "folder photos", "random numbers, seed 0".
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  struct Item {
    std::string name;
    std::string file;  ///< empty: a slice of stack_, or random
    std::optional<std::int64_t> truth;
  };

  Result<void> open_folder(const DataFlags& flags, const std::vector<std::string>& labels);
  Result<void> open_array(const DataFlags& flags);
  Result<void> add_classes(const std::vector<std::string>& folders,
                           const std::vector<std::string>& labels);
  Result<void> read_truth(const std::string& file, const std::vector<std::string>& labels);
  [[nodiscard]] Result<Sample> from_file(const Item& item) const;
  [[nodiscard]] Result<Sample> from_stack(std::size_t i) const;

  std::vector<Port> ports_;
  Preprocess preprocess_;
  ShapeBindings bindings_;
  std::uint64_t seed_ = 0;
  std::vector<Item> items_;
  Tensor stack_;
  std::optional<Feed> fixed_;
  std::string description_;
};

}  // namespace trivet::cli
