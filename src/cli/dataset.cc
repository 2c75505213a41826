#include "cli/dataset.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <system_error>

#include "base/output_file.h"
#include "io/idx.h"
#include "io/npy.h"
#include "io/npz.h"

namespace trivet::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTruthBytes = 256u << 20;

bool is_data_file(const std::string& path) {
  return has_image_extension(path) || path.ends_with(".npy") || path.ends_with(".npz") ||
         path.ends_with(".pb");
}

struct Listing {
  std::vector<std::string> files;
  std::vector<std::string> folders;
};

/// Data files and folders, sorted by name; hidden ones are left out.
Result<Listing> list_folder(const std::string& folder) {
  Listing out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().string();
    if (it->path().filename().string().starts_with('.')) continue;
    if (it->is_directory(error)) {
      out.folders.push_back(path);
    } else if (is_data_file(path)) {
      out.files.push_back(path);
    }
  }
  if (error)
    return fail(ErrorCode::kIo, "cannot read the folder '", folder, "': ", error.message());
  std::ranges::sort(out.files);
  std::ranges::sort(out.folders);
  return out;
}

std::string base_name(const std::string& path) { return fs::path(path).filename().string(); }

std::optional<std::int64_t> as_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> index_of(const std::vector<std::string>& labels,
                                     std::string_view name) {
  const auto at = std::ranges::find(labels, name);
  if (at == labels.end()) return std::nullopt;
  return at - labels.begin();
}

/// The class of each folder; see Dataset.
Result<std::vector<std::int64_t>> classes_of(const std::vector<std::string>& folders,
                                             const std::vector<std::string>& labels) {
  std::vector<std::optional<std::int64_t>> by_label;
  std::vector<std::optional<std::int64_t>> by_number;
  std::vector<std::int64_t> by_place;
  for (const std::string& folder : folders) {
    by_label.push_back(index_of(labels, base_name(folder)));
    by_number.push_back(as_number(base_name(folder)));
    by_place.push_back(static_cast<std::int64_t>(by_place.size()));
  }
  const auto known = [](const auto& index) { return index.has_value(); };
  for (auto* indices : {&by_label, &by_number}) {
    const auto count = std::ranges::count_if(*indices, known);
    if (count == 0) continue;
    const auto unknown = std::ranges::find_if_not(*indices, known) - indices->begin();
    if (count == static_cast<std::ptrdiff_t>(folders.size())) {
      std::vector<std::int64_t> out;
      for (const auto& index : *indices) out.push_back(*index);
      return out;
    }
    return invalid_argument(
        "the folder '", folders[static_cast<std::size_t>(unknown)],
        "' is no class, though others are; name every folder as in --labels, or "
        "every one by its number");
  }
  return by_place;
}

/// The array of inputs in an .npz, and that of labels, which may be missing.
Result<std::pair<Tensor, Tensor>> arrays_of(const std::string& path, const std::string& input) {
  TRIVET_ASSIGN(const std::vector<NamedArray> arrays, read_npz(path));
  const auto find = [&](std::initializer_list<std::string_view> names) -> Tensor {
    for (const std::string_view name : names) {
      const auto at = std::ranges::find(arrays, name, &NamedArray::name);
      if (at != arrays.end()) return at->tensor;
    }
    return {};
  };
  Tensor images = find({input, "images", "x", "data"});
  if (!images.defined() && arrays.size() == 1) images = arrays.front().tensor;
  if (!images.defined()) {
    return invalid_argument("'", path, "' has no array '", input, "', images, x or data");
  }
  return std::pair(std::move(images), find({"labels", "y"}));
}

Result<Tensor> read_array(const std::string& path) {
  if (path.ends_with(".npy")) return read_npy(path);
  auto tensor = read_idx(path);
  if (tensor || tensor.error().code == ErrorCode::kIo) return tensor;
  return invalid_argument("'", path, "' is no folder, no .npy, .npz or IDX file");
}

/// Element i of the first axis, as a batch of one.
Tensor slice(const Tensor& stack, std::size_t i) {
  Shape shape = stack.shape();
  shape[0] = 1;
  const std::size_t bytes = stack.bytes() / static_cast<std::size_t>(stack.dim(0));
  const auto* data = static_cast<const std::byte*>(stack.raw()) + i * bytes;
  return Tensor::view(stack.dtype(), std::move(shape), data, stack.owner());
}

bool fits(const Port& port, const Tensor& tensor) {
  if (port.type.dtype != tensor.dtype()) return false;
  if (!port.type.shape) return true;
  const SymbolicShape& wanted = *port.type.shape;
  if (wanted.size() != tensor.shape().size()) return false;
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    if (wanted[i].is_constant() && !wanted[i].equals(tensor.shape()[i])) return false;
  }
  return true;
}

/// 1xHxW, 1xHxWx1 or 1xHxWx3 of bytes as a picture.
std::optional<Image> as_picture(const Tensor& tensor) {
  const bool grey = tensor.rank() == 3 || (tensor.rank() == 4 && tensor.dim(3) == 1);
  const bool colour = tensor.rank() == 4 && tensor.dim(3) == 3;
  if (tensor.dtype() != DType::kUInt8 || (!grey && !colour)) return std::nullopt;
  if (tensor.size() == 0 || tensor.size() > kMaxImagePixels) return std::nullopt;
  Image image{static_cast<int>(tensor.dim(2)), static_cast<int>(tensor.dim(1)), {}};
  for (const std::uint8_t x : tensor.data<std::uint8_t>()) {
    image.pixels.insert(image.pixels.end(), grey ? 3 : 1, x);
  }
  return image;
}

}  // namespace

void DataFlags::add_to(CLI::App& command, bool required) {
  add_text(command, "--data", data,
           "Folder of inputs, folder of a folder per class, or an .npy, "
           ".npz or IDX file of many",
           "PATH", required);
  add_text(command, "--truth", truth, "Labels: lines `file label`, or an array of numbers", "FILE");
  add_text(command, "--labels", labels, "Names of the classes, one a line", "FILE");
  add_number(command, "--limit", limit, "Use only so many inputs", 1, 1000000000);
  add_shapes(command, feed.shapes);
  add_seed(command, feed.seed);
  feed.preprocess.add_to(command);
}

Result<Dataset> Dataset::open(const DataFlags& flags, std::span<const Port> ports,
                              const std::vector<std::string>& labels) {
  Dataset set;
  set.ports_.assign(ports.begin(), ports.end());
  TRIVET_ASSIGN(set.preprocess_, flags.feed.preprocess.parse());
  std::error_code ignored;
  if (!fs::exists(flags.data, ignored)) {
    return fail(ErrorCode::kIo, "--data: there is no '", flags.data, "'");
  }
  if (fs::is_directory(flags.data, ignored)) {
    TRIVET_TRY(set.open_folder(flags, labels));
  } else {
    TRIVET_TRY(set.open_array(flags));
  }
  if (!flags.truth.empty()) TRIVET_TRY(set.read_truth(flags.truth, labels));
  if (flags.limit > 0 && set.items_.size() > flags.limit) set.items_.resize(flags.limit);
  set.description_ = base_name(fs::path(flags.data).lexically_normal().string());
  if (set.description_.empty()) set.description_ = flags.data;
  return set;
}

Result<Dataset> Dataset::random(const FeedFlags& flags, std::span<const Port> ports,
                                std::size_t count) {
  Dataset set;
  TRIVET_TRY(flags.preprocess.parse());  // of no use here, but a fault in it is still one
  set.ports_.assign(ports.begin(), ports.end());
  TRIVET_ASSIGN(set.bindings_, parse_shapes(ports, flags.shapes));
  set.seed_ = flags.seed;
  for (std::size_t i = 0; i < count; ++i) set.items_.push_back({cat("random ", i), "", {}});
  set.description_ = cat("random numbers, seed ", flags.seed);
  return set;
}

Result<Dataset> Dataset::from_inputs(const FeedFlags& flags, std::span<const Port> ports) {
  Dataset set;
  set.ports_.assign(ports.begin(), ports.end());
  TRIVET_ASSIGN(set.fixed_, build_feed(ports, flags));
  set.items_.push_back({"input", "", {}});
  set.description_ = "given inputs";
  return set;
}

Result<void> Dataset::open_folder(const DataFlags& flags, const std::vector<std::string>& labels) {
  TRIVET_ASSIGN(const Listing listing, list_folder(flags.data));
  for (const std::string& file : listing.files) items_.push_back({base_name(file), file, {}});
  if (items_.empty()) TRIVET_TRY(add_classes(listing.folders, labels));
  if (!items_.empty()) return {};
  return invalid_argument(
      "--data: '", flags.data,
      "' holds no .png, .jpg, .bmp, .npy, .npz or .pb file, and no folder with some");
}

Result<void> Dataset::add_classes(const std::vector<std::string>& folders,
                                  const std::vector<std::string>& labels) {
  TRIVET_ASSIGN(const std::vector<std::int64_t> classes, classes_of(folders, labels));
  std::vector<std::vector<Item>> by_class(folders.size());
  std::size_t longest = 0;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    TRIVET_ASSIGN(const Listing inside, list_folder(folders[i]));
    for (const std::string& file : inside.files) {
      by_class[i].push_back({base_name(folders[i]) + "/" + base_name(file), file, classes[i]});
    }
    longest = std::max(longest, by_class[i].size());
  }
  // Round about the classes, so that the first N are a fair sample of all.
  for (std::size_t k = 0; k < longest; ++k) {
    for (std::vector<Item>& items : by_class) {
      if (k < items.size()) items_.push_back(std::move(items[k]));
    }
  }
  return {};
}

Result<void> Dataset::open_array(const DataFlags& flags) {
  if (ports_.size() != 1) {
    return invalid_argument("--data '", flags.data, "' is one array, but the model takes ",
                            ports_.size(), " inputs; give a folder of .npz files");
  }
  Tensor labels;
  if (flags.data.ends_with(".npz")) {
    TRIVET_ASSIGN(std::tie(stack_, labels), arrays_of(flags.data, ports_[0].name));
  } else {
    TRIVET_ASSIGN(stack_, read_array(flags.data));
  }
  if (stack_.rank() == 0 || stack_.size() == 0) {
    return invalid_argument("--data: the array in '", flags.data, "' has shape ",
                            shape_to_string(stack_.shape()),
                            "; the first axis must count the inputs");
  }
  const bool has_labels = labels.defined() && is_integer(labels.dtype());
  if (has_labels && labels.size() != stack_.dim(0)) {
    return invalid_argument("'", flags.data, "' has ", stack_.dim(0), " inputs and ", labels.size(),
                            " labels");
  }
  for (std::int64_t i = 0; i < stack_.dim(0); ++i) {
    items_.push_back({cat("#", i), "", {}});
    if (has_labels) items_.back().truth = element_as_int64(labels, i);
  }
  return {};
}

Result<void> Dataset::read_truth(const std::string& file, const std::vector<std::string>& labels) {
  const bool numbers = file.ends_with(".npy") || stack_.defined();
  if (numbers) {
    TRIVET_ASSIGN(const Tensor truth, read_array(file));
    if (!is_integer(truth.dtype()) || truth.size() != static_cast<std::int64_t>(items_.size())) {
      return invalid_argument("--truth: '", file, "' has ", truth.size(), " values of ",
                              dtype_name(truth.dtype()), "; ", items_.size(),
                              " whole numbers are expected");
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].truth = element_as_int64(truth, static_cast<std::int64_t>(i));
    }
    return {};
  }
  TRIVET_ASSIGN(const std::string content, read_text_file(file, kMaxTruthBytes));
  std::map<std::string, std::int64_t> by_name;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const std::size_t split = line.find_first_of(", \t");
    if (line.empty() || split == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(", \t", split);
    const std::string label = begin == std::string::npos ? "" : line.substr(begin);
    auto index = as_number(label);
    if (!index) index = index_of(labels, label);
    if (!index && by_name.empty()) continue;  // the heading of a table
    if (!index) {
      return invalid_argument("--truth: '", file, "' has the label '", label,
                              "', which is no number and not in --labels");
    }
    by_name[base_name(line.substr(0, split))] = *index;
  }
  for (Item& item : items_) {
    const auto found = by_name.find(base_name(item.name));
    if (found == by_name.end()) {
      return invalid_argument("--truth: '", file, "' has no line for '", item.name, "'");
    }
    item.truth = found->second;
  }
  return {};
}

bool Dataset::labelled() const {
  return !items_.empty() &&
         std::ranges::all_of(items_, [](const Item& item) { return item.truth.has_value(); });
}

Result<Sample> Dataset::from_file(const Item& item) const {
  Sample sample{item.name, {}, item.truth, item.file, {}};
  if (ports_.size() > 1) {
    if (!item.file.ends_with(".npz")) {
      return invalid_argument("'", item.file, "' is one input, but the model takes ", ports_.size(),
                              "; give .npz files with all of them by name");
    }
    TRIVET_ASSIGN(std::vector<NamedArray> arrays, read_npz(item.file));
    for (NamedArray& array : arrays) sample.feed[array.name] = std::move(array.tensor);
    return sample;
  }
  TRIVET_ASSIGN(sample.feed[ports_[0].name], read_input(ports_[0], item.file, preprocess_));
  return sample;
}

Result<Sample> Dataset::from_stack(std::size_t i) const {
  const Port& port = ports_[0];
  Sample sample{items_[i].name, {}, items_[i].truth, "", {}};
  const Tensor one = slice(stack_, i);
  sample.picture = as_picture(one);
  if (fits(port, one)) {
    sample.feed[port.name] = one;
    return sample;
  }
  if (sample.picture) {
    TRIVET_ASSIGN(Tensor input, apply(preprocess_, *sample.picture, port.type.dtype));
    if (!fits(port, input)) {
      return invalid_argument("the data give shape ", shape_to_string(input.shape()), "; input '",
                              port.name, "' takes ", to_string(port.type),
                              ", so use --resize, --crop, --layout and --channels to match");
    }
    sample.feed[port.name] = std::move(input);
    return sample;
  }
  return invalid_argument("the data are ", dtype_name(one.dtype()), " ",
                          shape_to_string(one.shape()), " each; input '", port.name, "' takes ",
                          to_string(port.type));
}

Result<Sample> Dataset::sample(std::size_t i) const {
  const Item& item = items_[i];
  if (fixed_) return Sample{item.name, *fixed_, {}, "", {}};
  if (!item.file.empty()) return from_file(item);
  if (stack_.defined()) return from_stack(i);
  TRIVET_ASSIGN(Feed feed, random_feed(ports_, bindings_, seed_ + i));
  return Sample{item.name, std::move(feed), {}, "", {}};
}

}  // namespace trivet::cli
