#include "autograd/arithmetic.hpp"
#include "autograd/backward.hpp"
#include "autograd/relu.hpp"
#include "autograd/softmax.hpp"
#include "autograd/tools/functions.hpp"
#include "nn/kernels/linear_relu.hpp"
#include "nn/layer_norm.hpp"
#include "nn/loss.hpp"
#include "tensor/random.hpp"
#include "tests/benchmarks/case.hpp"

namespace segue {
namespace {

Variable random_parameter(const Shape& shape, std::uint64_t seed) {
  return parameter(Random(seed).normal(shape, 0, 1));
}

// f of parameters of the given shapes, and back from a gradient of ones.
Case op(const std::string& name, const std::vector<Shape>& shapes,
        const std::function<Variable(const std::vector<Variable>&)>& f) {
  Case both_ways;
  both_ways.name = name;
  both_ways.prepare = [shapes, f] {
    std::vector<Variable> inputs;
    for (const Shape& shape : shapes) inputs.push_back(random_parameter(shape, 1 + inputs.size()));
    const Tensor dz = Tensor::full(f(inputs).shape(), 1);
    return [inputs, f, dz]() mutable {
      for (Variable& x : inputs) x.clear_gradient();
      backward(f(inputs), dz);
    };
  };
  return both_ways;
}

// The time of a node is measured on a long chain of them, z = x y y y .., with a gradient for both factors.
Case scalar_node() {
  constexpr int nodes = 10000;
  Case chain;
  chain.name = "scalar_node";
  chain.parts = nodes;
  chain.prepare = [] {
    Variable x = parameter(Tensor::scalar(1)), y = parameter(Tensor::scalar(1));
    return [x, y]() mutable {
      x.clear_gradient();
      y.clear_gradient();
      Variable z = x;
      for (int node = 0; node < nodes; ++node) z = mul(z, y);
      backward(z);
    };
  };
  return chain;
}

}  // namespace

std::vector<Case> op_cases() {
  const ModelSize& medium = model_sizes()[2];
  const Config& c = medium.config;
  const Index B = medium.B, T = c.segment_length, K = c.memory_length + T;
  const Index D = c.width, H = c.heads, F = c.feed_forward_width, V = c.vocabulary;
  const Tokens targets({B, T}, std::vector<Index>(static_cast<std::size_t>(B * T), V / 2));
  using Variables = std::vector<Variable>;
  return {
      scalar_node(),
      op("elementwise_add", {{B, T, F}, {F}}, [](const Variables& x) { return add(x[0], x[1]); }),
      op("elementwise_mul", {{B, T, F}, {B, T, F}}, [](const Variables& x) { return mul(x[0], x[1]); }),
      op("elementwise_relu", {{B, T, F}}, [](const Variables& x) { return relu(x[0]); }),
      op("elementwise_exp", {{B, T, F}}, [](const Variables& x) { return exp(x[0]); }),
      op("linear_relu", {{B, T, D}, {D, F}, {F}}, [](const Variables& x) { return linear_relu(x[0], x[1], x[2]); }),
      op("softmax", {{B, H, T, K}}, [](const Variables& x) { return softmax(x[0]); }),
      op("layer_norm", {{B, T, D}, {D}, {D}}, [](const Variables& x) { return layer_norm(x[0], x[1], x[2]); }),
      op("cross_entropy", {{B, T, V}}, [targets](const Variables& x) { return cross_entropy(x[0], targets); }),
  };
}

}  // namespace segue
