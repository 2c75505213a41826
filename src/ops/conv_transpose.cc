// ConvTranspose: the adjoint of Conv, with output_padding and output_shape.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/convolution.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

struct Settings {
  Window window;
  Shape output_padding;
  Shape output_shape;  ///< empty where it follows from the rest
  std::int64_t groups = 1;
};

Result<Shape> read_list(const Attributes& attributes, std::string_view name, std::size_t rank) {
  const Shape out = attributes.ints(name);
  if (out.empty()) return out;
  if (out.size() != rank) {
    return invalid_model(name, " has ", out.size(), " entries, expected ", rank);
  }
  for (const std::int64_t value : out) {
    if (value < 0) return invalid_model(name, " holds ", value, ", expected at least 0");
  }
  return out;
}

Result<Settings> read_settings(const Attributes& attributes, std::size_t rank,
                               std::span<const std::int64_t> kernel) {
  Settings settings;
  TRIVET_ASSIGN(settings.groups, read_groups(attributes));
  TRIVET_ASSIGN(settings.window, read_window(attributes, rank, kernel));
  TRIVET_ASSIGN(settings.output_padding, read_list(attributes, "output_padding", rank));
  if (settings.output_padding.empty()) settings.output_padding.assign(rank, 0);
  TRIVET_ASSIGN(settings.output_shape, read_list(attributes, "output_shape", rank));
  return settings;
}

bool is_same(AutoPad pad) { return pad == AutoPad::kSameUpper || pad == AutoPad::kSameLower; }

/// Output positions that some input reaches, with output_padding, before padding is taken away.
Dim reach(const Settings& settings, std::size_t axis, const Dim& in) {
  return Dim(settings.window.strides[axis]) * (in - Dim(1)) + Dim(settings.output_padding[axis]) +
         Dim(settings.window.extent(axis));
}

Result<Dim> output_size(const Settings& settings, std::size_t axis, const Dim& in) {
  const Window& window = settings.window;
  if (!settings.output_shape.empty()) return Dim(settings.output_shape[axis]);
  if (is_same(window.auto_pad)) return in * Dim(window.strides[axis]);
  const Dim out = reach(settings, axis, in) - Dim(window.pads_begin[axis] + window.pads_end[axis]);
  if (out.is_constant() && out.value() < 0) {
    return invalid_argument("pads of spatial axis ", axis, " exceed the output by ", -out.value());
  }
  return out;
}

/// Sets pads_begin where it follows from the size of the output.
Result<Shape> resolve(Settings& settings, const Shape& in) {
  Window& window = settings.window;
  Shape out;
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    TRIVET_ASSIGN(const Dim size, output_size(settings, axis, Dim(in[axis])));
    const Dim total = reach(settings, axis, Dim(in[axis])) - size;
    if (!size.is_constant() || !total.is_constant()) {
      return invalid_argument("spatial axis ", axis, " is too long");
    }
    out.push_back(size.value());
    if (settings.output_shape.empty() && !is_same(window.auto_pad)) continue;
    const std::int64_t padding = std::max<std::int64_t>(0, total.value());
    const bool upper = window.auto_pad == AutoPad::kSameUpper;
    window.pads_begin[axis] = upper ? padding / 2 : padding - padding / 2;
  }
  return out;
}

Result<void> infer_conv_transpose(InferContext& context) {
  const SymbolicShape* x = context.shape(0);
  const SymbolicShape* w = context.shape(1);
  if (x == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  if (x->size() < 3 || (w != nullptr && w->size() != x->size())) {
    return invalid_argument("input of shape ", shape_to_string(*x),
                            "; input and weight need the same rank, at least 3");
  }
  SymbolicShape out(x->size(), Dim::unknown());
  out[0] = (*x)[0];
  TRIVET_ASSIGN(const std::int64_t groups, read_groups(context.attributes()));
  if (w != nullptr) out[1] = (*w)[1] * Dim(groups);
  std::optional<Shape> kernel;
  if (w != nullptr) kernel = constant_shape({w->begin() + 2, w->end()});
  if (kernel || context.attributes().has("kernel_shape")) {
    TRIVET_ASSIGN(const Settings settings,
                  read_settings(context.attributes(), x->size() - 2, kernel ? *kernel : Shape{}));
    for (std::size_t axis = 0; axis + 2 < x->size(); ++axis) {
      TRIVET_ASSIGN(out[axis + 2], output_size(settings, axis, (*x)[axis + 2]));
    }
  }
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

/// y += the adjoint of the convolution with w, applied to x. `rows` has the output in the role of a
/// convolution's input. `sizes`: batch, groups, channels of a group in and out.
struct Sizes {
  std::int64_t batch, groups, in_channels, out_channels, in, out;
};

template <class T>
void scatter(const WindowRows& rows, const Sizes& s, const T* x, const T* w, T* y) {
  const std::int64_t step = rows.in_step();
  for (std::int64_t image = 0; image < s.batch * s.groups; ++image) {
    const std::int64_t group = image % s.groups;
    for (std::int64_t c = 0; c < s.in_channels; ++c) {
      const T* input = x + (image * s.in_channels + c) * s.in;
      for (std::int64_t m = 0; m < s.out_channels; ++m) {
        T* plane = y + (image * s.out_channels + m) * s.out;
        const T* kernel = w + ((group * s.in_channels + c) * s.out_channels + m) * rows.positions();
        for (std::int64_t k = 0; k < rows.positions(); ++k) {
          const T weight = kernel[k];
          rows.for_each(k, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
            if (step == 1) return add_scaled_row(weight, input + from, plane + to, count);
            for (std::int64_t i = 0; i < count; ++i) {
              plane[to + i * step] += weight * input[from + i];
            }
          });
        }
      }
    }
  }
}

template <class T>
void run(const WindowRows& rows, const Sizes& s, const Tensor& x, const Tensor& w,
         const Tensor& bias, Tensor& y) {
  T* out = y.mutable_data<T>().data();
  const std::int64_t channels = s.groups * s.out_channels;
  for (std::int64_t plane = 0; plane < s.batch * channels; ++plane) {
    const T value =
        bias.defined() ? bias.data<T>()[static_cast<std::size_t>(plane % channels)] : T{};
    std::fill(out + plane * s.out, out + (plane + 1) * s.out, value);
  }
  scatter(rows, s, x.data<T>().data(), w.data<T>().data(), out);
}

Result<void> eval_conv_transpose(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {1, 2}));
  const Shape& xs = context.input(0).shape();
  const Shape& ws = context.input(1).shape();
  const DType dtype = context.input(0).dtype();
  TRIVET_ASSIGN(const DType compute, float_compute_type(dtype));
  if (xs.size() < 3 || xs.size() != ws.size() || xs[1] != ws[0]) {
    return invalid_argument("input of shape ", shape_to_string(xs), " and weight of shape ",
                            shape_to_string(ws),
                            "; expected N x C x sizes and C x (M / group) x kernel");
  }
  const Shape in(xs.begin() + 2, xs.end());
  const Shape kernel(ws.begin() + 2, ws.end());
  TRIVET_ASSIGN(Settings settings, read_settings(context.attributes(), in.size(), kernel));
  if (ws[0] % settings.groups != 0) {
    return invalid_argument(ws[0], " channels do not divide into ", settings.groups, " groups");
  }
  TRIVET_ASSIGN(const Shape out, resolve(settings, in));
  Shape shape = {xs[0], ws[1] * settings.groups};
  shape.insert(shape.end(), out.begin(), out.end());
  Tensor bias;
  if (context.has_input(2)) {
    TRIVET_TRY(check_shape(context.input(2), {shape[1]}, "the bias"));
    TRIVET_ASSIGN(bias, converted(context.input(2), compute));
  }
  TRIVET_ASSIGN(const Tensor x, converted(context.input(0), compute));
  TRIVET_ASSIGN(const Tensor w, converted(context.input(1), compute));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, compute, shape));
  const WindowRows rows(settings.window, out, in);
  const Sizes sizes = {xs[0], settings.groups,   ws[0] / settings.groups,
                       ws[1], element_count(in), element_count(out)};
  if (compute == DType::kFloat64) {
    run<double>(rows, sizes, x, w, bias, y);
  } else {
    run<float>(rows, sizes, x, w, bias, y);
  }
  return finish_output(context, 0, dtype, y);
}

Dim macs_conv_transpose(const InferContext& context) {
  const SymbolicShape* x = context.shape(0);
  const SymbolicShape* w = context.shape(1);
  if (x == nullptr || w == nullptr || w->empty()) return Dim::unknown();
  return element_count(*x) * element_count(SymbolicShape(w->begin() + 1, w->end()));
}

}  // namespace

OpDefs conv_transpose_ops() {
  return {{.name = "ConvTranspose",
           .inputs = {2, 3},
           .infer = infer_conv_transpose,
           .eval = eval_conv_transpose,
           .macs = macs_conv_transpose}};
}

}  // namespace trivet::ops
