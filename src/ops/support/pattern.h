// What the recognition of patterns asks of a graph: which node makes a value, which number it is,
// and whether nodes can go because nobody else reads what they compute.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/readers.h"
#include "ops/support/inference.h"

namespace trivet {

class PatternView {
 public:
  /// `inference` is of `graph`. Both must outlive the view.
  PatternView(const Graph& graph, const Inference& inference)
      : graph_(graph), inference_(inference), readers_(graph) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Readers& readers() const { return readers_; }
  [[nodiscard]] const Node& node(NodeId id) const { return graph_.node(id); }

  /// The node that computes the value; kNoNode for inputs and constants.
  [[nodiscard]] NodeId maker(ValueId value) const;
  /// As maker(), where its operator is `type` of ai.onnx; kNoNode otherwise.
  [[nodiscard]] NodeId maker(ValueId value, std::string_view type) const;

  [[nodiscard]] DType dtype(ValueId value) const { return inference_[value].type.dtype; }
  /// Null while the rank is not known.
  [[nodiscard]] const SymbolicShape* shape(ValueId value) const;
  /// The value itself, where it follows from the graph; null otherwise.
  [[nodiscard]] const Tensor* constant(ValueId value) const;
  /// The element of a constant float of one element.
  [[nodiscard]] std::optional<double> number(ValueId value) const;
  /// All elements of a constant of integers.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(ValueId value) const;

  /// Whether the two have as many axes, of known number.
  [[nodiscard]] bool same_rank(ValueId a, ValueId b) const;
  [[nodiscard]] bool same_shape(ValueId a, ValueId b) const;

  /// Whether what `nodes` compute beside the result of `last`, one of them, is read by them alone.
  [[nodiscard]] bool is_closed(std::span<const NodeId> nodes, NodeId last) const;

  /// Whether `y`, computed by `nodes` element by element from `x` and numbers, has the shape of
  /// `x`: a number may be written with axes of size 1, and more of them than `x` has.
  [[nodiscard]] bool keeps_shape(std::span<const NodeId> nodes, ValueId x, ValueId y) const;

  /// How far, relatively, a constant of this value's type may lie from the number that is meant:
  /// exporters write six digits at least, and up to three constants are rounded to the type.
  [[nodiscard]] double tolerance(ValueId value) const;

 private:
  const Graph& graph_;
  const Inference& inference_;
  Readers readers_;
};

/// A product as Mul, Div and Neg write it, in whatever order: number · factors / divisors.
struct Product {
  double number = 1;
  std::vector<ValueId> factors;
  std::vector<ValueId> divisors;
  std::vector<NodeId> nodes;
};
/// A product that others read as well is a factor. Without factors where `last` is none of the
/// three operators.
[[nodiscard]] Product product_at(const PatternView& view, NodeId last);

/// c[0] + c[1]·x + c[2]·x² + c[3]·x³, and the nodes that compute it.
struct Polynomial {
  std::array<double, 4> c = {};
  std::vector<NodeId> nodes;

  /// Whether each coefficient is within `tolerance` of what is expected, relatively.
  [[nodiscard]] bool is_near(const std::array<double, 4>& expected, double tolerance) const;
};
/// What Add, Sub, Mul, Div, Neg and Pow make of `x` and of numbers on the way to `value`; nothing
/// where another operator, another value or a higher power takes part.
[[nodiscard]] std::optional<Polynomial> polynomial_of(const PatternView& view, ValueId value,
                                                      ValueId x);

/// The value under the arithmetic with numbers that leads to `value`; `value` where there is none.
[[nodiscard]] ValueId under_numbers(const PatternView& view, ValueId value);

[[nodiscard]] bool is_near(double number, double expected, double tolerance);

/// Puts the nodes of one part of a pattern to those of another, each once.
void join_nodes(std::vector<NodeId>& to, const std::vector<NodeId>& from);

}  // namespace trivet
