// Where gradients go: into which parameters, and how far back along a text; and how far back a text
// has influence.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "xl/model.hpp"

namespace segue {

struct ParameterNorm {
  std::string name;
  Index size;   // numbers in the parameter
  double norm;  // Euclidean norm of its gradient
};
/// One for each parameter, in their order; 0 where no gradient has arrived.
std::vector<ParameterNorm> gradient_norms(const std::vector<Parameter>& parameters);

/// A text of L tokens to be read, and the one that follows it. It is read in segments of T tokens,
/// counted from its end: the last one is whole, so that its last token has all of T in sight; the
/// first one may be shorter.
struct Reading {
  Tokens text;           // [B, L + 1]
  Index segment_length;  // T
  Index memory_length;   // M

  Index length() const { return text.shape[1] - 1; }
};

/// The prediction behind the last token, [B, V]. Throws ShapeError unless the text is [B, L + 1]
/// with L >= 1; ValueError for a segment length below 1; what the model throws.
Variable last_logits(const LanguageModel& model, const Reading& reading,
                     Where where = Where::current());

/// The loss of that prediction, [B], in nats. Throws as last_logits, and RangeError for a target
/// outside the vocabulary.
Variable last_losses(const Variable& last_logits, const Reading& reading,
                     Where where = Where::current());

/// The gradient of the last loss with respect to the state at each distance. Element d is the norm
/// of d loss / d h for the state h [D] that `layer` reads of the token d places before the last
/// one, the mean over the B rows; L elements, in nats per unit of h. The state is taken where it is
/// made: what the memory hands on is this state or, behind a stop-gradient, a number. So a gradient
/// counts every path that backward takes from the loss to that token, and is exactly 0 where there
/// is none. Layer 0 reads the embedded tokens. The gradients of the parameters grow by what this
/// backward gives them. Throws RangeError for a layer that is not there, and as last_logits.
std::vector<double> gradient_by_distance(const TransformerXL& model, const Reading& reading,
                                         Index layer = 0, Where where = Where::current());

/// What an exchanged token does to the last prediction, gradient or not. Element d: when the token
/// d places back becomes the next one of the vocabulary; the mean over the B rows; L elements.
struct Influence {
  std::vector<double> logits;  // Euclidean norm of their change
  std::vector<double> loss;    // its absolute change, in nats; small ones drown in rounding before
                               // those of the logits
};
/// Exactly 0 where no path leads from a token to the prediction. Reads the text L + 1 times;
/// `report`, which may be empty, hears of each distance done, and false ends the measuring there.
/// Throws ValueError for a vocabulary of one token, and as last_logits.
Influence influence_by_distance(const LanguageModel& model, const Reading& reading,
                                const std::function<bool(Index done)>& report = nullptr,
                                Where where = Where::current());

}  // namespace segue
