// What tensors, tokens and shapes look like when printed.
#include "tensor/tools/print.hpp"

#include <algorithm>
#include <limits>

#include "tests/support/tensors.hpp"

namespace segue::tensor_print_test {

TEST_CASE("a tensor prints its shape and then its rows, four digits each") {
  const Tensor x({2, 3}, {1, Real(2.5), -3, Real(0.123456), 1000000, 0});
  CHECK(to_string(x) ==
        "Tensor [2, 3]\n"
        "[[       1,      2.5,       -3],\n"
        " [  0.1235,    1e+06,        0]]");
}

TEST_CASE("deeper tensors nest their brackets") {
  CHECK(to_string(Tensor::arange(4).reshape({2, 1, 2})) ==
        "Tensor [2, 1, 2]\n"
        "[[[       0,        1]],\n"
        " [[       2,        3]]]");
}

TEST_CASE("views print in their own order") {
  const Tensor x = Tensor::arange(6).reshape({2, 3});
  const Tensor views[] = {x.transpose(0, 1), x.narrow(1, 1, 2), x.narrow(0, 1, 1).broadcast_to({4, 3})};
  for (const Tensor& view : views) CHECK(to_string(view) == to_string(view.clone()));
}

TEST_CASE("tensors of rank 0 and tensors without elements print, too") {
  CHECK(to_string(Tensor::scalar(5)) == "Tensor []\n       5");
  CHECK(to_string(Tensor()) == "Tensor [0]\n[]");
  CHECK(to_string(Tensor::zeros({2, 0})) == "Tensor [2, 0]\n[[],\n []]");
  CHECK(to_string(Tensor::zeros({100000, 0})).size() < 200);
}

TEST_CASE("NaN and infinity are named") {
  const Tensor x({3}, {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity(),
                       -std::numeric_limits<Real>::infinity()});
  CHECK(to_string(x) == "Tensor [3]\n[     nan,      inf,     -inf]");
}

TEST_CASE("a tensor of up to 100 elements prints whole") {
  const std::string text = to_string(Tensor::arange(100));
  CHECK(std::count(text.begin(), text.end(), ',') == 99);
  CHECK_FALSE(holds(text, "..."));
}

TEST_CASE("a large tensor shows three elements at either end of its long axes") {
  CHECK(to_string(Tensor::arange(101)) ==
        "Tensor [101]\n[       0,        1,        2, ...,       98,       99,      100]");
  CHECK(to_string(Tensor::arange(2000).reshape({2, 1000})) ==
        "Tensor [2, 1000]\n"
        "[[       0,        1,        2, ...,      997,      998,      999],\n"
        " [    1000,     1001,     1002, ...,     1997,     1998,     1999]]");
  const std::string tall = to_string(Tensor::arange(2000).reshape({1000, 2}));
  CHECK(std::count(tall.begin(), tall.end(), '\n') == 7);
  CHECK(holds(tall, " [       4,        5],\n ...,\n [    1994,     1995]"));
}

TEST_CASE("tokens print like tensors, as whole numbers") {
  CHECK(to_string(Tokens({2, 2}, {1, 20, 300, -100})) == "Tokens [2, 2]\n[[   1,   20],\n [ 300, -100]]");
  CHECK(to_string(Tokens()) == "Tokens [0]\n[]");
}

TEST_CASE("fmt prints shapes, tensors and tokens") {
  CHECK(fmt::format("{}", Shape{2, 3}) == "[2, 3]");
  CHECK(fmt::format("{}", Tensor::scalar(1)) == to_string(Tensor::scalar(1)));
  CHECK(fmt::format("{}", Tokens({1}, {4})) == "Tokens [1]\n[   4]");
}

}  // namespace segue::tensor_print_test
