#include <memory>

#include "tests/benchmarks/case.hpp"
#include "xl/model.hpp"
#include "xl/tools/generation.hpp"
#include "xl/tools/memory_cache.hpp"

namespace segue {
namespace {

const Config& small_config() { return model_sizes()[1].config; }

std::shared_ptr<const TransformerXL> small_model() {
  Random random(1);
  return std::make_shared<const TransformerXL>(small_config(), random);
}

std::vector<Index> random_text(Index length) {
  Random random(2);
  std::vector<Index> text(static_cast<std::size_t>(length));
  for (Index& id : text) id = random.below(small_config().vocabulary);
  return text;
}

// One segment of evaluation, after others, with the memory that the paper's largest model has on enwik8.
Case evaluate_segment() {
  constexpr Index M = 3800, T = 64;
  Case segment;
  segment.name = "evaluate_memory_3800";
  segment.tokens = T;
  segment.prepare = [] {
    const auto model = small_model();
    const auto reader = reading_model(*model);
    Memory memory = empty_memory(reader->config, 1, M);
    for (Variable& layer : memory.layers) layer = Variable(Random(3).normal({1, M, reader->config.width}, 0, 1));
    memory.tokens_read = {M};
    const Tokens tokens({1, T}, random_text(T));
    return [model, reader, memory, tokens]() mutable {
      const NoGradientGuard no_gradient;
      memory = (*reader)(tokens, memory, Mode::evaluate()).memory;
    };
  };
  return segment;
}

Case generate_token() {
  constexpr Index M = 256;
  struct Writer {
    std::shared_ptr<const TransformerXL> model;
    Generator generator;
    Random random;
  };
  Case token;
  token.name = "generate_token";
  token.tokens = 1;
  token.prepare = [] {
    const auto model = small_model();
    const auto writer = std::make_shared<Writer>(Writer{model, Generator(*model, Index(M)), Random(4)});
    writer->generator.read(random_text(M));  // so that the memory is full
    return [writer] { writer->generator.next(Sampling(), writer->random); };
  };
  return token;
}

}  // namespace

std::vector<Case> inference_cases() { return {evaluate_segment(), generate_token()}; }

}  // namespace segue
