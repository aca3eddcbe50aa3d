// What the benchmark measures.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "xl/config.hpp"

namespace segue {

struct Case {
  std::string name;
  double tokens = 0;    // that one call reads or writes; 0 where there are none
  double products = 0;  // multiply-adds that one call needs; 0 where they are not what counts
  double parts = 1;     // of which one call does so many; times are those of one part
  std::function<std::function<void()>()> prepare;  // makes all that a call needs, and gives the call
};

/// A model of the size `name`: post-norm, tied embeddings and no dropout, as Config has them.
struct ModelSize {
  std::string name;
  Config config;
  Index B;
};
const std::vector<ModelSize>& model_sizes();

/// Training steps on each of the sizes: forward, backward, clipping, Adam, memory handed on.
std::vector<Case> training_cases();
/// Squares, and every product of matrices in those steps, each shape once: matmul_ROWSxDEPTHxCOLUMNS, with the number
/// of matrices in front where there are several, _nt where the second is a transposed view (as x y^T), _tn where the
/// first is.
std::vector<Case> matmul_cases();
/// Reading with a long memory, writing token by token.
std::vector<Case> inference_cases();
/// Single ops forward and backward, at sizes of the medium model, and a node as small as can be.
std::vector<Case> op_cases();

/// All of them.
std::vector<Case> all_cases();
/// Those whose name contains one of the words of a comma list; all for an empty one. Throws ArgumentError for none.
std::vector<Case> cases_with(const std::string& filter);

}  // namespace segue
