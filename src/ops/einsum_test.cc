#include <gtest/gtest.h>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

Tensor numbers(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::from_values<float>(shape, values);
}

Tensor einsum(const std::string& equation, const std::vector<Tensor>& inputs) {
  return OpTest("Einsum").attribute("equation", equation).run(inputs);
}

TEST(Einsum, Equations) {
  EXPECT_EQ(doubles(einsum("ij,jk", {numbers({2, 2}), numbers({2, 2})})),
            (std::vector<double>{2, 3, 6, 11}));
  EXPECT_EQ(doubles(einsum("ij -> ji", {numbers({2, 3})})),
            (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(doubles(einsum("ii->i", {numbers({3, 3})})), (std::vector<double>{0, 4, 8}));
  EXPECT_EQ(doubles(einsum("ii", {numbers({3, 3})})), (std::vector<double>{12}));
  EXPECT_EQ(doubles(einsum("...i,...i->...", {numbers({2, 2}), numbers({2})})),
            (std::vector<double>{1, 3}));
  EXPECT_EQ(doubles(einsum("i,j,k->", {numbers({2}), numbers({3}), numbers({2})})),
            (std::vector<double>{3}));
  EXPECT_EQ(doubles(einsum("ij->i", {numbers({2, 0})})), (std::vector<double>{0, 0}));
}

TEST(Einsum, Refuses) {
  const auto refused = [](const std::string& equation, const std::vector<Tensor>& inputs) {
    return !OpTest("Einsum").attribute("equation", equation).try_run(inputs);
  };
  EXPECT_TRUE(refused("ij,jk->il", {numbers({2, 2}), numbers({2, 2})}));
  EXPECT_TRUE(refused("ij,jk->ii", {numbers({2, 2}), numbers({2, 2})}));
  EXPECT_TRUE(refused("ij,jk", {numbers({2, 2})}));
  EXPECT_TRUE(refused("ij", {numbers({2, 2}), numbers({2, 2})}));
  EXPECT_TRUE(refused("ijk->i", {numbers({2, 2})}));
  EXPECT_TRUE(refused("i.j->i", {numbers({2, 2})}));
  EXPECT_TRUE(refused("ij,jk->ik", {numbers({2, 3}), numbers({2, 2})}));
}

TEST(Einsum, SymbolicShape) {
  OpTest test("Einsum");
  test.attribute("equation", std::string("bhid,bhjd->bhij"));
  const Dim b = Dim::symbol("batch");
  const Dim n = Dim::symbol("seq");
  const auto out = test.infer({OpTest::typed(DType::kFloat32, {b, 8, n, 64}),
                               OpTest::typed(DType::kFloat32, {b, 8, n, 64})});
  EXPECT_EQ(*out.type.shape, (SymbolicShape{b, 8, n, n}));
}

}  // namespace
}  // namespace trivet::ops
