// RegexFullMatch: whether a pattern matches the whole of each string. The specification asks for
// RE2's syntax; this is ECMAScript's, which agrees with it but for flags, Unicode classes and named
// groups.
#include <algorithm>
#include <regex>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"

namespace trivet::ops {
namespace {

/// libstdc++ recurses once per level of a pattern, and would once per character of the text unless
/// it is told to follow all alternatives at once.
constexpr std::size_t kMostPattern = 4096;
constexpr std::ptrdiff_t kMostGroups = 200;
#ifdef __GLIBCXX__
constexpr auto kSyntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kSyntax = std::regex::ECMAScript;
#endif

Result<void> eval_regex_full_match(EvalContext& context) {
  const Tensor& data = context.input(0);
  if (data.dtype() != DType::kString) return invalid_argument("the input must be strings");
  const std::string pattern = context.attributes().string_or("pattern", "");
  if (pattern.size() > kMostPattern || std::ranges::count(pattern, '(') > kMostGroups) {
    return unsupported("a pattern of ", pattern.size(), " characters; at most ", kMostPattern,
                       " and ", kMostGroups, " groups are taken");
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kBool, data.shape()));
  try {  // the standard library reports a bad pattern by throwing
    const std::regex regex(pattern, kSyntax);
    std::ranges::transform(
        data.data<std::string>(), out.mutable_data<bool>().begin(),
        [&regex](const std::string& text) { return std::regex_match(text, regex); });
  } catch (const std::regex_error&) {
    return invalid_model("attribute 'pattern' is '", pattern,
                         "', which is not a regular expression that can be read");
  }
  return {};
}

Result<void> infer_regex_full_match(InferContext& context) {
  if (const SymbolicShape* shape = context.shape(0)) {
    context.set_output(0, DType::kBool, *shape);
  } else {
    context.set_output(0, DType::kBool);
  }
  return {};
}

}  // namespace

OpDefs regex_full_match_ops() {
  return {{.name = "RegexFullMatch",
           .since = 20,
           .infer = infer_regex_full_match,
           .eval = eval_regex_full_match}};
}

}  // namespace trivet::ops
