#include <fmt/format.h>

#include <algorithm>

#include "tensor/matmul.hpp"
#include "tensor/random.hpp"
#include "tests/benchmarks/case.hpp"

namespace segue {
namespace {

// z = x y for so many matrices; one or none of x and y is the transposed view of a tensor.
struct Product {
  Index matrices, rows, depth, columns;
  char x_layout = 'n', y_layout = 'n';
};

std::string name_of(const Product& p) {
  const std::string layout = p.x_layout == 'n' && p.y_layout == 'n' ? "" : fmt::format("_{}{}", p.x_layout, p.y_layout);
  const std::string matrices = p.matrices == 1 ? "" : fmt::format("{}x", p.matrices);
  return fmt::format("matmul_{}{}x{}x{}{}", matrices, p.rows, p.depth, p.columns, layout);
}

// A product z = x y of the forward pass and the two of its backward pass, dx = dz y^T and dy = x^T dz. With a y that is
// read transposed, as y^T, these are dx = dz y and dy = dz^T x.
void add_with_gradients(std::vector<Product>& products, const Product& p) {
  products.push_back(p);
  if (p.y_layout == 'n') {
    products.push_back({p.matrices, p.rows, p.columns, p.depth, 'n', 't'});
    products.push_back({p.matrices, p.depth, p.rows, p.columns, 't', 'n'});
  } else {
    products.push_back({p.matrices, p.rows, p.columns, p.depth, 'n', 'n'});
    products.push_back({p.matrices, p.columns, p.rows, p.depth, 't', 'n'});
  }
}

std::vector<Product> products_of(const ModelSize& size) {
  const Config& c = size.config;
  const Index B = size.B, T = c.segment_length, K = c.memory_length + T;
  const Index D = c.width, H = c.heads, Dh = c.head_width, F = c.feed_forward_width;
  std::vector<Product> products;
  add_with_gradients(products, {1, B * T, D, H * Dh});        // q
  add_with_gradients(products, {1, B * K, D, H * Dh});        // k, values
  add_with_gradients(products, {1, K, D, H * Dh});            // r
  add_with_gradients(products, {B * H, T, Dh, K, 'n', 't'});  // (a) + (c), (b) + (d)
  add_with_gradients(products, {B * H, T, K, Dh});            // weighted values
  add_with_gradients(products, {1, B * T, H * Dh, D});        // output
  add_with_gradients(products, {1, B * T, D, F});             // feed-forward
  add_with_gradients(products, {1, B * T, F, D});
  add_with_gradients(products, {1, B * T, D, c.vocabulary, 'n', 't'});  // logits, by the tied embedding
  return products;
}

Tensor random_factor(Index matrices, Index rows, Index columns, char layout, std::uint64_t seed) {
  if (layout == 't') return random_factor(matrices, columns, rows, 'n', seed).transpose(-1, -2);
  const Shape shape = matrices == 1 ? Shape{rows, columns} : Shape{matrices, rows, columns};
  return Random(seed).uniform(shape, -1, 1);
}

Case case_of(const Product& p) {
  Case product;
  product.name = name_of(p);
  product.products = static_cast<double>(p.matrices * p.rows * p.depth * p.columns);
  product.prepare = [p] {
    const Tensor x = random_factor(p.matrices, p.rows, p.depth, p.x_layout, 1);
    const Tensor y = random_factor(p.matrices, p.depth, p.columns, p.y_layout, 2);
    return [x, y] { matmul(x, y); };
  };
  return product;
}

}  // namespace

std::vector<Case> matmul_cases() {
  std::vector<Product> products;
  for (const Index n : {256, 512, 1024}) products.push_back({1, n, n, n});
  for (const ModelSize& size : model_sizes()) {
    for (const Product& p : products_of(size)) products.push_back(p);
  }
  std::vector<Case> cases;
  for (const Product& p : products) {
    const std::string name = name_of(p);
    if (std::none_of(cases.begin(), cases.end(), [&](const Case& c) { return c.name == name; }))
      cases.push_back(case_of(p));
  }
  return cases;
}

}  // namespace segue
