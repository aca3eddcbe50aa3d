// attend(): attention as docs/05_attention.md has it, in one op. By far the most numbers in it are
// the scores, [B, H, T, K], and nothing needs them all at once. So they are made in tiles, a few
// queries of one head each:
//
//   A = (q + u) k^T + shift((q + v) r^T), and -infinity where a key is hidden
//   w = softmax(A / sqrt(Dh))             out = w values
//
// and a tile is gone once its rows of `out` are known: it never leaves the cache. Backward makes it
// again, from two numbers that forward kept of each query. With d_x for the gradient of x, and
// unshift for the way back of the shift:
//
//   d_w = d_out values^T                  d_A = w (d_w - sum_j w_j d_w_j) / sqrt(Dh)
//   d_values = w^T d_out                  d_k = d_A^T (q + u)          d_r = unshift(d_A)^T (q + v)
//   d_q = d_qu + d_qv                     d_qu = d_A k                 d_qv = unshift(d_A) r
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tensor/kernels/math.hpp"
#include "tensor/kernels/product.hpp"
#include "tensor/map.hpp"
#include "tensor/reduce.hpp"
#include "tensor/rows.hpp"
#include "xl/attention.hpp"

namespace segue {

struct AttentionInputs {
  Tensor q, k, values;  // [B, T, H Dh], [B, K, H Dh], [B, K, H Dh]
  Tensor r, r_T;        // [K, H Dh] and transposed
  Tensor u, v;          // [H, Dh]
  Tensor hidden;        // [B or 1, 1, T, K]

  Index B() const { return q.dim(0); }
  Index T() const { return q.dim(1); }
  Index K() const { return k.dim(1); }
  Index H() const { return u.dim(0); }
  Index Dh() const { return u.dim(1); }
};

namespace {

constexpr Index query_rows =
    16;  // in a tile: with fewer, fewer hidden keys are scored; with more, less is copied
constexpr Index products_per_share = 1000000;  // fewer are not worth waking a thread for
constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();

// A few queries of one head in one row of the batch, and what is computed of them.
struct AttentionTile {
  explicit AttentionTile(const AttentionInputs& inputs)
      : in(inputs),
        K(in.K()),
        Dh(in.Dh()),
        row(in.H() * Dh),
        scale(1 / std::sqrt(static_cast<Real>(Dh))) {
    const Index most_rows = std::min(query_rows, in.T());
    block = allocate_storage(most_rows * (3 * K + 4 * Dh) + 2 * K * Dh +
                             multiply_buffer_size(K + Dh, K + Dh));
    Real* next = block->data;
    for (Real** part : {&w, &d_A, &by_distance}) *part = std::exchange(next, next + most_rows * K);
    for (Real** part : {&qu, &qv, &d_qu, &d_qv}) *part = std::exchange(next, next + most_rows * Dh);
    for (Real** part : {&k_T, &values_T}) *part = std::exchange(next, next + K * Dh);
    buffer = next;
  }

  // The last queries of a head come first, and only these see all keys.
  bool first_of_head() const { return keys == K; }

  // Moves on to the queries from `first` on.
  void place(Index b, Index h, Index first) {
    const Index T = in.T();
    rows = std::min(query_rows, T - first);
    keys = K - T + first + rows;
    column = h * Dh;
    query = (b * T + first) * row + column;
    key = b * K * row + column;
    head = b * in.H() + h;
    number = head * T + first;
    hidden = in.hidden.data() + ((in.hidden.dim(0) == 1 ? 0 : b) * T + first) * K;
  }

  // A / sqrt(Dh), in the place of w. A query that `later` others of the tile follow sees so many
  // keys less, and its scores by distance lie so many columns further right: that is the relative
  // shift.
  void score() {
    const Real *const u = in.u.data() + column, *const v = in.v.data() + column;
    for (Index i = 0; i < rows; ++i) {
      const Real* const q = in.q.data() + query + i * row;
      for (Index d = 0; d < Dh; ++d) {
        qu[i * Dh + d] = q[d] + u[d];
        qv[i * Dh + d] = q[d] + v[d];
      }
    }
    if (first_of_head()) transpose(K, Dh, in.k.data() + key, row, k_T, K);
    multiply(rows, Dh, keys, {qu, Dh, 1}, {k_T, K, 1}, w, K, buffer);
    multiply(rows, Dh, keys, {qv, Dh, 1}, {in.r_T.data() + column * K + (K - keys), K, 1},
             by_distance, K, buffer);
    for (Index i = 0; i < rows; ++i) {
      const Index later = rows - 1 - i, seen = keys - later;
      Real* const A = w + i * K;
      const Real *const position = by_distance + i * K + later, *const hides = hidden + i * K;
      for (Index j = 0; j < seen; ++j)
        A[j] = hides[j] != 0 ? minus_infinity : (A[j] + position[j]) * scale;
      std::fill(A + seen, A + keys, minus_infinity);
    }
  }

  // w, and of each query what it takes to make w again: its largest score and 1 / (sum of the
  // exponentials).
  void softmax(Real* largest, Real* inverse_sums) {
    for (Index i = 0; i < rows; ++i) {
      Real* const wi = w + i * K;
      const auto get = [wi](Index j) { return wi[j]; };
      const Real top = largest[number + i] = fold_row(keys, minus_infinity, get, LargerNumber());
      for (Index j = 0; j < keys; ++j) wi[j] = math::exp(wi[j] - top);
      const Real inverse = inverse_sums[number + i] = 1 / fold_row(keys, Real(0), get, Plus());
      for (Index j = 0; j < keys; ++j) wi[j] *= inverse;
    }
  }
  void softmax_again(const Real* largest, const Real* inverse_sums) {
    for (Index i = 0; i < rows; ++i) {
      Real* const wi = w + i * K;
      const Real top = largest[number + i], inverse = inverse_sums[number + i];
      for (Index j = 0; j < keys; ++j) wi[j] = math::exp(wi[j] - top) * inverse;
    }
  }

  // out = w values
  void read(Real* out) {
    multiply(rows, keys, Dh, {w, K, 1}, {in.values.data() + key, row, 1}, out + query, row, buffer);
  }

  // d_A, and unshift(d_A) in the place of the scores by distance.
  void differentiate(const Real* d_out) {
    if (first_of_head()) transpose(K, Dh, in.values.data() + key, row, values_T, K);
    multiply(rows, Dh, keys, {d_out + query, row, 1}, {values_T, K, 1}, d_A, K, buffer);  // d_w
    for (Index i = 0; i < rows; ++i) {
      const Index later = rows - 1 - i, seen = keys - later;
      const Real* const wi = w + i * K;
      Real *const d = d_A + i * K, *const unshifted = by_distance + i * K;
      const auto product = [wi, d](Index j) { return wi[j] * d[j]; };
      const Real dot = fold_row(keys, Real(0), product, Plus());
      for (Index j = 0; j < keys; ++j) d[j] = wi[j] * (d[j] - dot) * scale;
      std::fill(unshifted, unshifted + later, Real(0));
      std::copy(d, d + seen, unshifted + later);
    }
  }

  // What the tile adds to the gradients of keys, values and distances.
  void add_to_keys(const Real* d_out, Real* d_values, Real* dk, Real* dr) {
    const Start start = first_of_head() ? Start::from_zero : Start::from_z;
    multiply(keys, rows, Dh, {w, 1, K}, {d_out + query, row, 1}, d_values + key, row, buffer,
             start);
    multiply(keys, rows, Dh, {d_A, 1, K}, {qu, Dh, 1}, dk + key, row, buffer, start);
    multiply(keys, rows, Dh, {by_distance, 1, K}, {qv, Dh, 1}, dr + key + (K - keys) * row, row,
             buffer, start);
  }

  // The gradient of the tile's queries, which is added to that of its row's u and v, too.
  void add_to_queries(Real* dq, Real* du, Real* dv) {
    multiply(rows, keys, Dh, {d_A, K, 1}, {in.k.data() + key, row, 1}, d_qu, Dh, buffer);
    multiply(rows, keys, Dh, {by_distance, K, 1}, {in.r.data() + column + (K - keys) * row, row, 1},
             d_qv, Dh, buffer);
    for (Index i = 0; i < rows; ++i) {
      for (Index d = 0; d < Dh; ++d) {
        dq[query + i * row + d] = d_qu[i * Dh + d] + d_qv[i * Dh + d];
        du[head * Dh + d] += d_qu[i * Dh + d];
        dv[head * Dh + d] += d_qv[i * Dh + d];
      }
    }
  }

  const AttentionInputs& in;
  Index K, Dh;
  Index row;  // H Dh: from one position to the next
  Real scale;
  std::shared_ptr<Storage> block;
  Real *w, *d_A, *by_distance;  // [rows, keys], each row with room for K
  Real *qu, *qv, *d_qu, *d_qv;  // [rows, Dh]
  Real *k_T, *values_T;         // of the head: [Dh, K]
  Real* buffer;                 // of multiply
  Index rows = 0;               // queries of the tile
  Index keys =
      0;  // that its last query sees; their distances are the last rows of r, keys - 1 .. 0
  Index query = 0, key = 0;      // where the first ones lie in tensors like q and like k
  Index column = 0;              // where the head lies in such a row, in one of r, and in u and v
  Index head = 0, number = 0;    // its number in [B, H], and the first query's in [B, H, T]
  const Real* hidden = nullptr;  // of the first query
};

// Calls use(tile) for every tile once it is scored, on several threads.
template <class Use>
void for_each_tile(const AttentionInputs& in, const Use& use) {
  const Index T = in.T(), H = in.H(), products = T * in.K() * in.Dh() * 3;
  if (in.q.size() == 0) return;
  parallel_for(in.B() * H, products_per_share / products + 1, [&](Index begin, Index end) {
    AttentionTile tile(in);
    for (Index head = begin; head < end; ++head) {
      for (Index first = (T - 1) / query_rows * query_rows; first >= 0; first -= query_rows) {
        tile.place(head / H, head % H, first);
        tile.score();
        use(tile);
      }
    }
  });
}

}  // namespace

// out = softmax(scores) values
struct Attend : Node {
  AttentionInputs in;
  Tensor largest, inverse_sums;  // of each query's scores, and of their exponentials: [B, H, T]

  Tensor forward() {
    Tensor out = Tensor::uninitialized(in.q.shape());
    largest = Tensor::uninitialized({in.B(), in.H(), in.T()});
    inverse_sums = Tensor::uninitialized(largest.shape());
    Real *const z = out.data_in_place(), *const m = largest.data_in_place(),
                *const s = inverse_sums.data_in_place();
    for_each_tile(in, [&](AttentionTile& tile) {
      tile.softmax(m, s);
      tile.read(z);
    });
    return out;
  }

  void backward(const Tensor& dz) override {
    const Tensor d_out = dz.contiguous();
    const auto fresh =
        in.T() > 0 ? Tensor::uninitialized : Tensor::zeros;  // without a query no tile writes them
    Tensor dq = fresh(in.q.shape(), where), dk = fresh(in.k.shape(), where),
           d_values = fresh(in.k.shape(), where);
    Tensor dr = fresh(in.k.shape(), where);  // of each row of the batch
    Tensor du = Tensor::zeros({in.B(), in.H(), in.Dh()}), dv = du.clone();  // likewise
    Real *const to_q = dq.data_in_place(), *const to_k = dk.data_in_place(),
                *const to_r = dr.data_in_place();
    Real *const to_values = d_values.data_in_place(), *const to_u = du.data_in_place(),
                *const to_v = dv.data_in_place();
    for_each_tile(in, [&](AttentionTile& tile) {
      tile.softmax_again(largest.data(), inverse_sums.data());
      tile.differentiate(d_out.data());
      tile.add_to_keys(d_out.data(), to_values, to_k, to_r);
      tile.add_to_queries(to_q, to_u, to_v);
    });
    accumulate(0, dq);
    accumulate(1, dk);
    accumulate(2, d_values);
    accumulate(3, sum(dr, {0}));
    accumulate(4, sum(du, {0}));
    accumulate(5, sum(dv, {0}));
  }
};

Variable attend(const Variable& q, const Variable& k, const Variable& values, const Variable& r,
                const Positions& positions) {
  auto op = make_node<Attend>();
  const Tensor distances = r.value().contiguous();
  Tensor r_T = Tensor::uninitialized({r.dim(1), r.dim(0)});
  transpose(r.dim(0), r.dim(1), distances.data(), r.dim(1), r_T.data_in_place(), r.dim(0));
  op->in = {q.value().contiguous(),
            k.value().contiguous(),
            values.value().contiguous(),
            distances,
            r_T,
            positions.u.value().contiguous(),
            positions.v.value().contiguous(),
            positions.hidden.contiguous()};
  return record("attend", op, op->forward(), {q, k, values, r, positions.u, positions.v},
                Where::current());
}

}  // namespace segue
