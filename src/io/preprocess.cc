#include "io/preprocess.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "tensor/half.h"

namespace trivet {
namespace {

constexpr int kMaxSide = 65536;

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> parse_side(std::string_view text) {
  const auto side = parse_number<int>(text);
  return side && *side >= 1 && *side <= kMaxSide ? side : std::nullopt;
}

/// "0.5" or "1/255", finite.
std::optional<double> parse_real(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto top = parse_number<double>(text.substr(0, slash));
  const auto bottom =
      slash == std::string_view::npos ? 1.0 : parse_number<double>(text.substr(slash + 1));
  if (!top || !bottom || *bottom == 0 || !std::isfinite(*top / *bottom)) return std::nullopt;
  return *top / *bottom;
}

/// A side alone, or width x height.
struct Sides {
  std::optional<int> side;
  std::optional<PixelSize> both;
};

Result<Sides> parse_sides(std::string_view text) {
  const std::size_t x = text.find('x');
  const auto first = parse_side(text.substr(0, x));
  if (x == std::string_view::npos && first) return Sides{first, std::nullopt};
  const auto second = x == std::string_view::npos ? std::nullopt : parse_side(text.substr(x + 1));
  if (first && second) return Sides{std::nullopt, PixelSize{*first, *second}};
  return invalid_argument("it is a number of pixels, or width and height as in 320x240, up to ",
                          kMaxSide);
}

Result<std::vector<double>> parse_reals(std::string_view text) {
  std::vector<double> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto value = parse_real(text.substr(begin, end - begin));
    if (!value)
      return invalid_argument("it is numbers with commas between them, as in 0.485,0.456,0.406");
    out.push_back(*value);
    begin = end + 1;
  }
  return out;
}

template <class Enum, std::size_t kCount>
using NameTable = std::array<std::pair<Enum, std::string_view>, kCount>;

constexpr NameTable<Layout, 2> kLayouts = {{{Layout::kNchw, "nchw"}, {Layout::kNhwc, "nhwc"}}};
constexpr NameTable<Channels, 3> kChannelOrders = {
    {{Channels::kRgb, "rgb"}, {Channels::kBgr, "bgr"}, {Channels::kGray, "gray"}}};

template <class Enum, std::size_t kCount>
Result<Enum> from_name(const NameTable<Enum, kCount>& table, std::string_view name) {
  std::string known;
  for (const auto& [value, its_name] : table) {
    if (its_name == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(its_name);
  }
  return invalid_argument("there are: ", known);
}

template <class Enum, std::size_t kCount>
std::string name_of(const NameTable<Enum, kCount>& table, Enum value) {
  return std::string(
      std::ranges::find(table, value, &std::pair<Enum, std::string_view>::first)->second);
}

/// The shortest text that reads back as the same number.
std::string real_text(double value) {
  std::array<char, 40> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

std::string reals_text(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : ",") + real_text(value);
  return out;
}

std::string size_text(const PixelSize& size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

Result<void> set_resize(Preprocess& out, std::string_view text) {
  TRIVET_ASSIGN(const Sides sides, parse_sides(text));
  out.resize_shorter = sides.side;
  out.resize = sides.both;
  return {};
}
Result<void> set_crop(Preprocess& out, std::string_view text) {
  TRIVET_ASSIGN(const Sides sides, parse_sides(text));
  out.crop = sides.both ? *sides.both : PixelSize{*sides.side, *sides.side};
  return {};
}
Result<void> set_interpolation(Preprocess& out, std::string_view text) {
  TRIVET_ASSIGN(out.interpolation, interpolation_from_name(text));
  return {};
}
Result<void> set_scale(Preprocess& out, std::string_view text) {
  const auto value = parse_real(text);
  if (!value || *value == 0) {
    return invalid_argument("it is a number other than 0, as 0.5 or 1/255");
  }
  out.scale = *value;
  return {};
}
Result<void> set_mean(Preprocess& out, std::string_view text) {
  TRIVET_ASSIGN(out.mean, parse_reals(text));
  return {};
}
Result<void> set_std(Preprocess& out, std::string_view text) {
  TRIVET_ASSIGN(out.std, parse_reals(text));
  if (std::ranges::find(out.std, 0.0) == out.std.end()) return {};
  return invalid_argument("it divides, and must not be 0");
}
Result<void> set_layout(Preprocess& out, std::string_view text) {
  TRIVET_ASSIGN(out.layout, from_name(kLayouts, text));
  return {};
}
Result<void> set_channels(Preprocess& out, std::string_view text) {
  TRIVET_ASSIGN(out.channels, from_name(kChannelOrders, text));
  return {};
}

struct Key {
  std::string_view name;
  Result<void> (*set)(Preprocess&, std::string_view);
};
constexpr Key kKeys[] = {
    {"resize", set_resize}, {"crop", set_crop},         {"interpolation", set_interpolation},
    {"scale", set_scale},   {"mean", set_mean},         {"std", set_std},
    {"layout", set_layout}, {"channels", set_channels},
};

std::size_t channel_count(Channels channels) { return channels == Channels::kGray ? 1 : 3; }

Result<void> check_channels(const Preprocess& preprocess) {
  const std::size_t channels = channel_count(preprocess.channels);
  for (const auto& [name, values] :
       {std::pair{"mean", &preprocess.mean}, {"std", &preprocess.std}}) {
    if (values->size() <= 1 || values->size() == channels) continue;
    return invalid_argument("--", name, " has ", values->size(),
                            " numbers; a picture of this kind has ", channels,
                            " channels: give one number, or one for each");
  }
  return {};
}

/// Of the longer side, the part that is left over when it shrinks with the shorter one is cut off,
/// as torchvision does.
PixelSize in_proportion(const Image& image, int shorter) {
  const auto longer = [shorter](int long_side, int short_side) {
    return static_cast<int>(std::min<std::int64_t>(std::int64_t{shorter} * long_side / short_side,
                                                   std::int64_t{kMaxImagePixels}));
  };
  if (image.width <= image.height) return {shorter, longer(image.height, image.width)};
  return {longer(image.width, image.height), shorter};
}

Result<Image> resize_for(const Preprocess& preprocess, const Image& image) {
  if (!preprocess.resize && !preprocess.resize_shorter) return image;
  const PixelSize size =
      preprocess.resize ? *preprocess.resize : in_proportion(image, *preprocess.resize_shorter);
  return resize(image, size.width, size.height, preprocess.interpolation);
}

/// Where a window of `inner` starts in the middle of `outer`: half of the rest, rounded to even, as
/// torchvision has it.
int middle(int outer, int inner) {
  const int rest = outer - inner;
  return rest / 2 + (rest % 4 == 3 ? 1 : 0);
}

Result<Image> crop_for(const Preprocess& preprocess, Image image) {
  if (!preprocess.crop) return image;
  const auto [width, height] = *preprocess.crop;
  if (width > image.width || height > image.height) {
    return invalid_argument("cannot crop ", width, "x", height, " out of a picture of ",
                            image.width, "x", image.height,
                            "; add a larger --resize or a smaller --crop");
  }
  Image out{width, height, {}};
  out.pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  const int left = middle(image.width, width);
  const int top = middle(image.height, height);
  for (int y = top; y < top + height; ++y) {
    const auto begin = image.pixels.begin() + (std::ptrdiff_t{y} * image.width + left) * 3;
    out.pixels.insert(out.pixels.end(), begin, begin + std::ptrdiff_t{width} * 3);
  }
  return out;
}

/// ITU-R 601 luma in 16-bit fixed point, as Pillow converts to "L".
std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >>
                                   16);
}

std::uint8_t channel_of(const std::uint8_t* rgb, Channels channels, std::size_t c) {
  switch (channels) {
    case Channels::kRgb: return rgb[c];
    case Channels::kBgr: return rgb[2 - c];
    case Channels::kGray: return luma(rgb);
  }
  return 0;
}

/// What each of the 256 values of a channel becomes.
std::array<float, 256> value_table(const Preprocess& preprocess, std::size_t channel) {
  const auto pick = [channel](const std::vector<double>& values, double fallback) {
    return values.empty() ? fallback : values.size() == 1 ? values[0] : values[channel];
  };
  const double mean = pick(preprocess.mean, 0);
  const double std = pick(preprocess.std, 1);
  std::array<float, 256> table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<float>((static_cast<double>(i) * preprocess.scale - mean) / std);
  }
  return table;
}

template <class T>
T convert(float value) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return static_cast<T>(std::nearbyint(std::clamp(value, 0.0F, 255.0F)));
  } else {
    return T(value);
  }
}

template <class T>
void fill(const Preprocess& preprocess, const Image& image, Tensor& out) {
  const std::size_t channels = channel_count(preprocess.channels);
  const std::size_t pixels = image.pixels.size() / 3;
  const bool planes = preprocess.layout == Layout::kNchw;
  T* const to = out.mutable_data<T>().data();
  for (std::size_t c = 0; c < channels; ++c) {
    std::array<T, 256> table;
    std::ranges::transform(value_table(preprocess, c), table.begin(), convert<T>);
    T* channel = to + (planes ? c * pixels : c);
    for (std::size_t i = 0; i < pixels; ++i) {
      channel[planes ? i : i * channels] =
          table[channel_of(&image.pixels[3 * i], preprocess.channels, c)];
    }
  }
}

}  // namespace

Result<Preprocess> parse_preprocess(const PreprocessText& text) {
  Preprocess out;
  for (const auto& [name, value] : text) {
    const auto* key = std::ranges::find(kKeys, name, &Key::name);
    if (key == std::end(kKeys))
      return invalid_argument("there is no preprocessing step '", name, "'");
    auto done = key->set(out, value);
    if (!done) return tl::unexpected(std::move(done).error().at(cat("--", name, " '", value, "'")));
  }
  TRIVET_TRY(check_channels(out));
  return out;
}

PreprocessText preprocess_text(const Preprocess& p) {
  const Preprocess plain;
  PreprocessText out;
  if (p.resize_shorter) out["resize"] = std::to_string(*p.resize_shorter);
  if (p.resize) out["resize"] = size_text(*p.resize);
  if (p.crop) out["crop"] = size_text(*p.crop);
  if (p.interpolation != plain.interpolation)
    out["interpolation"] = interpolation_name(p.interpolation);
  if (p.scale != plain.scale) out["scale"] = real_text(p.scale);
  if (!p.mean.empty()) out["mean"] = reals_text(p.mean);
  if (!p.std.empty()) out["std"] = reals_text(p.std);
  if (p.layout != plain.layout) out["layout"] = name_of(kLayouts, p.layout);
  if (p.channels != plain.channels) out["channels"] = name_of(kChannelOrders, p.channels);
  return out;
}

Result<Image> resize_and_crop(const Preprocess& preprocess, const Image& image) {
  TRIVET_ASSIGN(Image resized, resize_for(preprocess, image));
  return crop_for(preprocess, std::move(resized));
}

Result<Tensor> apply(const Preprocess& preprocess, const Image& image, DType dtype) {
  TRIVET_ASSIGN(const Image ready, resize_and_crop(preprocess, image));
  return normalize(preprocess, ready, dtype);
}

Result<Tensor> normalize(const Preprocess& preprocess, const Image& ready, DType dtype) {
  TRIVET_TRY(check_channels(preprocess));
  const auto channels = static_cast<std::int64_t>(channel_count(preprocess.channels));
  const Shape shape = preprocess.layout == Layout::kNchw
                          ? Shape{1, channels, ready.height, ready.width}
                          : Shape{1, ready.height, ready.width, channels};
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(dtype, shape));
  switch (dtype) {
    case DType::kFloat32: fill<float>(preprocess, ready, out); return out;
    case DType::kFloat16: fill<Float16>(preprocess, ready, out); return out;
    case DType::kUInt8: fill<std::uint8_t>(preprocess, ready, out); return out;
    default:
      return unsupported("a picture becomes float32, float16 or uint8, not ", dtype_name(dtype),
                         "; give the data as .npy");
  }
}

}  // namespace trivet
