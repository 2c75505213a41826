// StringSplit: the parts of each string between delimiters, padded with empty strings to the
// longest list, and how many there are.
#include <algorithm>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"

namespace trivet::ops {
namespace {

constexpr std::string_view kWhitespace = " \t\n\v\f\r";

/// At most `most` splits; the rest of the text is the last part.
std::vector<std::string> split_at(std::string_view text, std::string_view delimiter,
                                  std::int64_t most) {
  std::vector<std::string> out;
  for (std::size_t end = text.find(delimiter); end != std::string_view::npos && most-- > 0;
       end = text.find(delimiter)) {
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  out.emplace_back(text);
  return out;
}

/// Runs of whitespace separate, those at the ends are dropped.
std::vector<std::string> split_at_whitespace(std::string_view text, std::int64_t most) {
  std::vector<std::string> out;
  const auto trim_front = [&text] {
    text.remove_prefix(std::min(text.find_first_not_of(kWhitespace), text.size()));
  };
  for (trim_front(); !text.empty(); trim_front()) {
    std::size_t end = text.find_first_of(kWhitespace);
    if (most-- <= 0 || end == std::string_view::npos) end = text.find_last_not_of(kWhitespace) + 1;
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

Result<void> eval_string_split(EvalContext& context) {
  const Tensor& data = context.input(0);
  if (data.dtype() != DType::kString) return invalid_argument("the input must be strings");
  const std::string delimiter = context.attributes().string_or("delimiter", "");
  const std::int64_t given = context.attributes().int_or("maxsplit", -1);
  const std::int64_t most = given < 0 ? std::numeric_limits<std::int64_t>::max() : given;
  std::vector<std::vector<std::string>> parts;
  std::size_t longest = 0;
  for (const std::string& text : data.data<std::string>()) {
    parts.push_back(delimiter.empty() ? split_at_whitespace(text, most)
                                      : split_at(text, delimiter, most));
    longest = std::max(longest, parts.back().size());
  }
  Shape shape = data.shape();
  shape.push_back(static_cast<std::int64_t>(longest));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kString, shape));
  TRIVET_ASSIGN(Tensor counts, context.allocate(1, DType::kInt64, data.shape()));
  const auto texts = out.mutable_data<std::string>();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    counts.mutable_data<std::int64_t>()[i] = static_cast<std::int64_t>(parts[i].size());
    parts[i].resize(longest);
    std::ranges::move(parts[i], texts.begin() + static_cast<std::ptrdiff_t>(i * longest));
  }
  return {};
}

Result<void> infer_string_split(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, DType::kString);
    context.set_output(1, DType::kInt64);
    return {};
  }
  SymbolicShape out = *shape;
  out.push_back(context.fresh_dim());
  context.set_output(0, DType::kString, std::move(out));
  context.set_output(1, DType::kInt64, *shape);
  return {};
}

}  // namespace

OpDefs string_split_ops() {
  return {{.name = "StringSplit",
           .since = 20,
           .outputs = {2, 2},
           .infer = infer_string_split,
           .eval = eval_string_split}};
}

}  // namespace trivet::ops
