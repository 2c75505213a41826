// TfIdfVectorizer: counts how often the n-grams of a pool occur in a sequence, also with gaps.
#include <algorithm>
#include <map>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"

namespace trivet::ops {
namespace {

using Gram = std::vector<std::int64_t>;

/// The n-grams of the pool. Words are numbered, so that everything else compares integers.
class Pool {
 public:
  static Result<Pool> of(const Attributes& attributes) {
    Pool out;
    Gram items = attributes.ints("pool_int64s");
    out.strings_ = attributes.has("pool_strings");
    for (const std::string& word : attributes.strings("pool_strings")) {
      items.push_back(
          out.words_.emplace(word, static_cast<std::int64_t>(out.words_.size())).first->second);
    }
    out.least = attributes.int_or("min_gram_length", 1);
    out.most = attributes.int_or("max_gram_length", 1);
    out.skips = attributes.int_or("max_skip_count", 0);
    out.columns = attributes.ints("ngram_indexes");
    constexpr std::int64_t kMostColumns = std::int64_t{1} << 30;
    for (const std::int64_t column : out.columns) {
      if (column < 0 || column > kMostColumns)
        return invalid_model("attribute 'ngram_indexes' has ", column);
      out.width = std::max(out.width, column + 1);
    }
    if (out.width == 0 || out.least < 1 || out.most < out.least || out.skips < 0) {
      return invalid_model(
          "attributes 'ngram_indexes', 'min_gram_length', 'max_gram_length' or 'max_skip_count' "
          "are missing or out of range");
    }
    TRIVET_TRY(out.add_grams(items, attributes.ints("ngram_counts")));
    return out;
  }

  /// Number of the gram in the pool; nothing when it is not there, or is of a length that is not
  /// asked for.
  [[nodiscard]] std::optional<std::size_t> find(const Gram& gram) const {
    const auto place = grams_.find(gram);
    return place == grams_.end() ? std::nullopt : std::optional(place->second);
  }

  /// The elements as the numbers that the pool knows; −1 for a word that is not in it.
  [[nodiscard]] Result<Gram> numbers(const Tensor& tensor) const {
    if (!strings_ && is_integer(tensor.dtype())) return elements_as_int64(tensor);
    if (!strings_ || tensor.dtype() != DType::kString) {
      return invalid_argument("the pool has ", strings_ ? "strings" : "integers", ", the input ",
                              dtype_name(tensor.dtype()));
    }
    Gram out;
    for (const std::string& word : tensor.data<std::string>()) {
      const auto place = words_.find(word);
      out.push_back(place == words_.end() ? -1 : place->second);
    }
    return out;
  }

  std::int64_t least = 1;
  std::int64_t most = 1;
  std::int64_t skips = 0;
  std::int64_t width = 0;             ///< of the output
  std::vector<std::int64_t> columns;  ///< of each gram, in the output

 private:
  /// `starts` says where the grams of length 1, 2, … begin among the items.
  Result<void> add_grams(const Gram& items, const std::vector<std::int64_t>& starts) {
    std::size_t number = 0;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      const auto size = static_cast<std::int64_t>(items.size());
      const std::int64_t end = k + 1 < starts.size() ? starts[k + 1] : size;
      const auto length = static_cast<std::int64_t>(k) + 1;
      if (starts[k] < 0 || end < starts[k] || end > size || (end - starts[k]) % length != 0) {
        return invalid_model("attribute 'ngram_counts' does not fit a pool of ", size, " items");
      }
      for (std::int64_t at = starts[k]; at < end; at += length, ++number) {
        if (number >= columns.size())
          return invalid_model("attribute 'ngram_indexes' is shorter than the pool");
        if (length >= least && length <= most)
          grams_[Gram(items.begin() + at, items.begin() + at + length)] = number;
      }
    }
    return {};
  }

  std::map<Gram, std::size_t> grams_;
  std::map<std::string, std::int64_t> words_;
  bool strings_ = false;
};

/// Counts into one row. Grams of one item are counted once, the others for every gap up to the
/// limit.
void count_grams(const Pool& pool, std::span<const std::int64_t> items, float* counts) {
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t gaps = std::min(pool.skips + 1, std::max<std::int64_t>(size, 1));
  for (std::int64_t distance = 1; distance <= gaps; ++distance) {
    for (std::int64_t start = 0; start < size; ++start) {
      Gram gram;
      for (std::int64_t at = start; at < size && static_cast<std::int64_t>(gram.size()) < pool.most;
           at += distance) {
        gram.push_back(items[static_cast<std::size_t>(at)]);
        if (distance > 1 && gram.size() == 1) continue;
        if (const auto found = pool.find(gram)) counts[pool.columns[*found]] += 1.0F;
      }
    }
  }
}

Result<void> apply_weights(const Attributes& attributes, const Pool& pool,
                           std::span<float> counts) {
  const std::string mode = attributes.string_or("mode", "");
  const auto weights = attributes.floats("weights");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    return invalid_model("attribute 'mode' is '", mode, "'; it must be TF, IDF or TFIDF");
  }
  if (mode != "TF" && !weights.empty() && static_cast<std::int64_t>(weights.size()) < pool.width) {
    return invalid_model("attribute 'weights' has ", weights.size(), " elements for ", pool.width,
                         " columns");
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (mode == "IDF") counts[i] = std::min(counts[i], 1.0F);
    if (mode != "TF" && !weights.empty())
      counts[i] *= weights[i % static_cast<std::size_t>(pool.width)];
  }
  return {};
}

Result<void> eval_tf_idf_vectorizer(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const Pool pool, Pool::of(context.attributes()));
  if (data.rank() > 2) return invalid_argument("the input must have the shape [C] or [N, C]");
  TRIVET_ASSIGN(const Gram items, pool.numbers(data));
  const std::int64_t rows = data.rank() == 2 ? data.dim(0) : 1;
  const Shape shape = data.rank() == 2 ? Shape{rows, pool.width} : Shape{pool.width};
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kFloat32, shape));
  const auto counts = out.mutable_data<float>();
  std::ranges::fill(counts, 0.0F);
  const std::size_t length = rows == 0 ? 0 : items.size() / static_cast<std::size_t>(rows);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    count_grams(pool, std::span(items).subspan(row * length, length),
                counts.data() + row * static_cast<std::size_t>(pool.width));
  }
  return apply_weights(context.attributes(), pool, counts);
}

Result<void> infer_tf_idf_vectorizer(InferContext& context) {
  TRIVET_ASSIGN(const Pool pool, Pool::of(context.attributes()));
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, DType::kFloat32);
  } else if (shape->size() == 2) {
    context.set_output(0, DType::kFloat32, {(*shape)[0], Dim(pool.width)});
  } else {
    context.set_output(0, DType::kFloat32, {Dim(pool.width)});
  }
  return {};
}

}  // namespace

OpDefs tf_idf_vectorizer_ops() {
  return {{.name = "TfIdfVectorizer",
           .since = 9,
           .infer = infer_tf_idf_vectorizer,
           .eval = eval_tf_idf_vectorizer}};
}

}  // namespace trivet::ops
