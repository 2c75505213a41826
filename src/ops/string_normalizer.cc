// StringNormalizer: removes stop words and changes the case of the words that stay. Case is that of
// the ASCII letters; other characters are left as they are.
#include <algorithm>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"

namespace trivet::ops {
namespace {

std::string changed(std::string text, bool upper) {
  for (char& c : text) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

Result<void> check_rank(std::size_t rank, bool one_row) {
  if (rank == 1 || (rank == 2 && one_row)) return {};
  return invalid_argument("the input must have the shape [C] or [1, C]");
}

Result<void> eval_string_normalizer(EvalContext& context) {
  const Tensor& data = context.input(0);
  if (data.dtype() != DType::kString) return invalid_argument("the input must be strings");
  TRIVET_TRY(check_rank(data.shape().size(), data.rank() == 2 && data.dim(0) == 1));
  const std::string action = context.attributes().string_or("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    return invalid_model("attribute 'case_change_action' is '", action,
                         "'; it must be NONE, LOWER or UPPER");
  }
  const bool case_sensitive = context.attributes().int_or("is_case_sensitive", 0) != 0;
  const auto compared = [case_sensitive](const std::string& text) {
    return case_sensitive ? text : changed(text, false);
  };
  std::vector<std::string> stopwords = context.attributes().strings("stopwords");
  for (std::string& word : stopwords) word = compared(word);
  std::vector<std::string> kept;
  for (const std::string& text : data.data<std::string>()) {
    if (std::ranges::find(stopwords, compared(text)) != stopwords.end()) continue;
    kept.push_back(action == "NONE" ? text : changed(text, action == "UPPER"));
  }
  if (kept.empty()) kept.emplace_back();
  Shape shape = data.shape();
  shape.back() = static_cast<std::int64_t>(kept.size());
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kString, shape));
  std::ranges::move(kept, out.mutable_data<std::string>().begin());
  return {};
}

Result<void> infer_string_normalizer(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, DType::kString);
    return {};
  }
  TRIVET_TRY(check_rank(shape->size(), true));
  SymbolicShape out = *shape;
  out.back() = context.fresh_dim();
  context.set_output(0, DType::kString, std::move(out));
  return {};
}

}  // namespace

OpDefs string_normalizer_ops() {
  return {{.name = "StringNormalizer",
           .since = 10,
           .infer = infer_string_normalizer,
           .eval = eval_string_normalizer}};
}

}  // namespace trivet::ops
