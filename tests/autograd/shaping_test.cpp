#include "autograd/shaping.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "autograd/tools/functions.hpp"
#include "tensor/indexing.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_shaping_test {

TEST_CASE("Shaping has the values of the same arrangement of tensors") {
  const Tensor x = random_tensor({2, 3, 4}), y = random_tensor({2, 5, 4}, -1, 1, 8);
  const Tokens ids({2, 2}, {2, 0, 2, 1});
  const Variable a = parameter(x);
  CHECK(same_bits(reshape(a, {6, -1}).value(), x.reshape({6, 4})));
  CHECK(same_bits(permute(a, {2, 0, -2}).value(), x.permute({2, 0, 1})));
  CHECK(same_bits(transpose(a, 0, -1).value(), x.transpose(0, 2)));
  CHECK(same_bits(narrow(a, 1, 1, 2).value(), x.narrow(1, 1, 2)));
  CHECK(same_bits(broadcast_to(a, {5, 2, 3, 4}).value(), x.broadcast_to({5, 2, 3, 4})));
  CHECK(same_bits(concat({a, Variable(y)}, -2).value(), concat({x, y}, 1)));
  CHECK(same_bits(gather(a, ids, 1).value(), gather(x, ids, 1)));
}

TEST_CASE("Shaping has the gradients of central differences") {
  check_gradients([](const std::vector<Variable>& x) { return reshape(x[0], {4, -1}); }, {{2, 3, 4}});
  check_gradients([](const std::vector<Variable>& x) { return reshape(x[0], {}); }, {{1, 1}});
  check_gradients([](const std::vector<Variable>& x) { return permute(x[0], {2, 0, -2}); }, {{2, 3, 4}});
  check_gradients([](const std::vector<Variable>& x) { return transpose(x[0], 0, -1); }, {{2, 3, 4}});
  check_gradients([](const std::vector<Variable>& x) { return narrow(x[0], -2, 1, 2); }, {{2, 3, 4}});
  check_gradients([](const std::vector<Variable>& x) { return narrow(x[0], 0, 2, 0); }, {{2, 3}});
  check_gradients([](const std::vector<Variable>& x) { return broadcast_to(x[0], {2, 3, 4}); }, {{3, 1}});
  check_gradients([](const std::vector<Variable>& x) { return concat({x[0], x[1], x[0]}, -1); }, {{2, 3}, {2, 1}});
  check_gradients([](const std::vector<Variable>& x) { return concat({x[0], x[1]}, 0); }, {{2, 3}, {0, 3}});
  for (const int axis : {0, 1, -1}) {
    const Tokens ids({2, 3}, {1, 0, 1, 1, 0, 1});
    check_gradients([&](const std::vector<Variable>& x) { return gather(x[0], ids, axis); }, {{2, 3, 2}});
    check_gradients([&](const std::vector<Variable>& x) { return gather(x[0], Tokens(Shape{}, {1}), axis); },
                    {{2, 3, 2}});
    check_gradients([&](const std::vector<Variable>& x) { return gather(x[0], Tokens(), axis); }, {{2, 3, 2}});
  }
}

TEST_CASE("An index named twice collects both gradients") {
  const Variable x = parameter(Tensor({1}, {Real(0.1)}));
  backward(gather(x, Tokens({2}, {0, 0})), Tensor({2}, {Real(0.2), Real(0.3)}));
  check_close(x.gradient(), Tensor({1}, {Real(0.5)}));
}

TEST_CASE("Indices of any rank give the gradient of the same indices in a row") {
  const std::vector<Index> ids = {3, 1, 3, 0, 3, 1};
  const Tensor dz = random_tensor({6, 2});
  const Variable matrix = parameter(Tensor::zeros({4, 2})), row = parameter(Tensor::zeros({4, 2}));
  backward(gather(matrix, Tokens({2, 3}, ids)), dz.reshape({2, 3, 2}));
  backward(gather(row, Tokens({6}, ids)), dz);
  CHECK(same_bits(matrix.gradient(), row.gradient()));
}

TEST_CASE("Flattening a transposed variable takes the logical order") {
  const Variable x = parameter(Tensor::arange(4 * 6 * 5).reshape({4, 6, 5}));
  const Variable z = reshape(transpose(x, 1, 2), {-1});
  CHECK(z.value().at({1}) == x.value().at({0, 1, 0}));
  backward(z, Tensor::arange(120));
  CHECK(x.gradient().at({0, 1, 0}) == 1);
  CHECK(x.gradient().at({3, 5, 4}) == 119);
}

TEST_CASE("A scalar can be transposed along the axes 0 and -1 only") {
  const Variable x = parameter(Tensor::scalar(3));
  backward(transpose(x, 0, -1));
  CHECK(x.gradient().item() == 1);
  CHECK_THROWS_AS(transpose(x, 0, 1), RangeError);
}

TEST_CASE("Shaping errors tell the caller's line") {
  const Variable x = parameter(Tensor::zeros({2, 3}));
  std::vector<std::string> messages;
  const auto line = Where::current().line();
  messages.push_back(thrown_by<ShapeError>([&] { reshape(x, {4}); }));
  messages.push_back(thrown_by<RangeError>([&] { permute(x, {0, 2}); }));
  messages.push_back(thrown_by<RangeError>([&] { transpose(x, 0, 2); }));
  messages.push_back(thrown_by<RangeError>([&] { narrow(x, 1, 2, 2); }));
  messages.push_back(thrown_by<ShapeError>([&] { broadcast_to(x, {2, 4}); }));
  messages.push_back(thrown_by<ShapeError>([&] { concat({x, Variable(Tensor::zeros({3, 4}))}, 0); }));
  messages.push_back(thrown_by<RangeError>([&] { gather(x, Tokens({1}, {2})); }));
  for (std::size_t i = 0; i < messages.size(); ++i) {
    CAPTURE(messages[i]);
    CHECK(holds(messages[i], "shaping_test.cpp:" + std::to_string(line + i + 1)));
  }
  CHECK_THROWS_AS(concat(std::vector<Variable>(), 0), ShapeError);
}

}  // namespace segue::autograd_shaping_test
