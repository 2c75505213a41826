// Random graphs run by the cpu provider, whole path, and by the reference. parity_*_test.cc have a
// generator for each family of operators.
//
// Each case has a seed of its own, and the seeds of a test count from 0. A failure prints the
// command that runs its case alone. TRIVET_PARITY_CASES is the number of cases of each test,
// TRIVET_PARITY_SEED the only seed to run; with TRIVET_PARITY_TRACE each case is printed before it
// runs, for those that end the program.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace trivet::cpu {

/// A value of a graph in the making, and the shape that it has when the case runs. Without an id it
/// stands for an omitted input.
struct Operand {
  ValueId id = kNoValue;
  Shape shape = {};

  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
};

/// What a generator draws from and adds to: a graph, and the inputs to run it with.
class ParityCase {
 public:
  static constexpr int kOpset = 24;

  explicit ParityCase(std::uint64_t seed);

  /// From `low` to `high`, both included.
  std::int64_t integer(std::int64_t low, std::int64_t high);
  float real(float low, float high);
  bool coin() { return one_in(2); }
  bool one_in(std::int64_t n) { return integer(1, n) == 1; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[integer(0, static_cast<std::int64_t>(values.size()) - 1)];
  }
  /// A number of channels, columns or rows: small, or about where vectors and tiles end.
  std::int64_t extent(std::int64_t most);
  /// Two to four axes, and elements enough for several threads.
  Shape large_shape();
  /// So many sizes from 1 to `most`.
  Shape shape(std::int64_t rank, std::int64_t most);
  /// The axes 0 to rank - 1 in any order.
  std::vector<std::int64_t> permutation(std::size_t rank);
  /// Some axes of `rank`, at least one, ascending; now and then counted from the end.
  std::vector<std::int64_t> axes(std::size_t rank);

  /// A graph's input; its sizes, or its rank, may not be declared.
  Operand input(const Shape& shape, float low = -1, float high = 1);
  Operand constant(const Shape& shape, float low = -1, float high = 1);
  /// Either of the two.
  Operand operand(const Shape& shape, float low = -1, float high = 1);
  Operand constant(Tensor values);
  /// What factors may be at most, so that sums of so many products stay of the order of one.
  static float bound(std::int64_t terms);
  /// Factors within that bound, most often constant.
  Operand weights(const Shape& shape, std::int64_t terms);
  Operand number(float value, Shape shape = {});
  Operand ints(const std::vector<std::int64_t>& values);

  Operand node(const std::string& type, const std::vector<Operand>& inputs, Shape shape,
               std::vector<Attribute> attributes = {}, int opset = kOpset);
  /// A node with several outputs.
  std::vector<Operand> nodes(const std::string& type, const std::vector<Operand>& inputs,
                             const std::vector<Shape>& shapes,
                             std::vector<Attribute> attributes = {}, int opset = kOpset);
  Operand unary(const std::string& type, const Operand& x, std::vector<Attribute> attributes = {});
  /// Of operands that broadcast.
  Operand binary(const std::string& type, const Operand& a, const Operand& b);
  Operand transposed(const Operand& x, const std::vector<std::int64_t>& perm);
  /// One of the activations that the provider knows, as exporters write them, or another one.
  Operand activation(const Operand& x);

  void output(const Operand& value) { builder_.add_output(value.id); }
  /// The value is an output too now and then, which keeps it from being fused away.
  void sometimes_output(const Operand& value) {
    if (one_in(20)) output(value);
  }

  Result<Graph> finish() { return builder_.finish(); }
  [[nodiscard]] const std::vector<Tensor>& inputs() const { return inputs_; }

 private:
  enum class Declared : std::uint8_t { kSizes, kBatch, kRank, kNothing };

  Tensor numbers(const Shape& shape, float low, float high);
  [[nodiscard]] ValueType declared_type(const Shape& shape) const;
  std::string name(const std::string& stem) { return cat(stem, "_", named_++); }

  std::mt19937_64 random_;
  Declared declared_;
  GraphBuilder builder_{"case"};
  std::vector<Tensor> inputs_;
  int named_ = 0;
};

/// The shape that two operands broadcast to.
[[nodiscard]] Shape broadcast_shape(const Shape& a, const Shape& b);

/// The nodes with their attributes and the shapes of what they read.
[[nodiscard]] std::string describe(const Graph& graph, const std::vector<Tensor>& inputs);

using Generator = void (*)(ParityCase& graph);

/// Runs `cases` cases of the generator, or as many as TRIVET_PARITY_CASES says: cpu with one thread
/// and with several, twice each, must agree with the reference within 1e-4 of the output's largest
/// magnitude (or of 0.01, where that is larger), and with itself bit for bit. Cases that both
/// providers refuse may be one in ten.
void expect_parity(Generator generator, int cases);

}  // namespace trivet::cpu
