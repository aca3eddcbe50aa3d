// Counting ticks modulo m. Ticks and pauses come at random; now and then the count so far is shown,
// and at every tick or pause it is asked for. No single token holds the answer: all since the count
// was last shown must be added up.
//
// It shows an honest limit of attention. A counter is a state: the count before and one token give
// the next count, for ever. A model of N layers hands a state on at most N times, so it must add up
// many tokens in one look, and where it has learned that for some distance it need not know it for
// twice as much. Where no shown count is among the tokens that can influence it, it can only guess.
#pragma once

#include "tensor/random.hpp"
#include "xl/tasks/task_rows.hpp"

namespace segue {

/// The first token shows the count, then follow `stretch` ticks and pauses, then it is shown again,
/// and so on. Ticks and pauses are equally likely, and so are all counts to begin with.
struct Counting {
  Index modulus = 2;   // m: a token 0 .. m-1 shows that count; m is a pause, m + 1 a tick: V = m
                       // + 2. 2 is parity
  Index stretch = 15;  // ticks and pauses from one shown count to the next
};

/// Rows to train on, as TaskRows says. The target of a tick or a pause is the count after it, as
/// the token that would show it; a shown count has none. Throws ValueError for a number below 1 or
/// beyond all use.
TaskRows counting_rows(const Counting& task, Index B, Index T, Index segments, Random& random,
                       Where where = Where::current());

/// The lowest mean loss over the targets, in nats, for whoever sees the asked token and `reach`
/// before it: 0 at most `reach` tokens behind a shown count, ln m farther away, where one guess in
/// m is right by chance: ticks and pauses alone tell how the count has changed, but any count may
/// have been there before. Throws ValueError as above, and for a reach below 0.
double counting_best_loss(const Counting& task, Index reach, Where where = Where::current());

}  // namespace segue
