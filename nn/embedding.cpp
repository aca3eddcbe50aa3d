#include "nn/embedding.hpp"

#include <cmath>

#include "autograd/shaping.hpp"

namespace segue {

Embedding::Embedding(Index vocabulary, Index width, Random& random)
    : table(
          parameter(random.normal({vocabulary, width}, 0, 1 / std::sqrt(static_cast<Real>(width))),
                    "embedding")) {}

Variable Embedding::operator()(const Tokens& tokens, Where where) const {
  return gather(table, tokens, 0, where);
}

void Embedding::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "table", table);
}

}  // namespace segue
