// attend() in one op. By far the most numbers in attention are the scores, [B, H, T, K], and
// nothing needs them all at once. So they are made in tiles, a few queries of one head each:
//
//   A = ((q + u) k^T + shift((q + v) r^T)) / sqrt(Dh), and -infinity where a key is hidden
//   w = softmax(A)                                     out = w values
//
// and a tile is gone once its rows of `out` are known: it never leaves the cache. Most hidden keys
// are never scored at all: a tile ends with the last key that its last query sees. Backward makes
// the tile again, from two numbers that forward kept of each query. With d_x for the gradient of x,
// and unshift for the way back of the shift:
//
//   d_w = d_out values^T                  d_A = w (d_w - sum_j w_j d_w_j) / sqrt(Dh)
//   d_values = w^T d_out                  d_k = d_A^T (q + u)          d_r = unshift(d_A)^T (q + v)
//   d_q = d_qu + d_qv                     d_qu = d_A k                 d_qv = unshift(d_A) r
//
// The order of every sum is that of the single ops: over keys, queries and positions upwards, and
// row by row as fold_row has it for a row of all K keys.
#include "xl/kernels/tiled_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tensor/elementwise.hpp"
#include "tensor/kernels/math.hpp"
#include "tensor/kernels/product.hpp"
#include "tensor/kernels/rows.hpp"
#include "tensor/map.hpp"
#include "tensor/reduce.hpp"

namespace segue {
struct TileInputs {
  Tensor q, k, values;  // [B, T, H Dh], [B, K, H Dh], [B, K, H Dh]
  Tensor r, r_T;        // [K, H Dh] and transposed
  Tensor u, v;          // [H, Dh]
  VisibleKeys visible;

  Index B() const { return q.dim(0); }
  Index T() const { return q.dim(1); }
  Index K() const { return k.dim(1); }
  Index H() const { return u.dim(0); }
  Index Dh() const { return u.dim(1); }
};

namespace {

// Queries in a tile: with fewer, fewer hidden keys are scored; with more, less is copied.
constexpr Index query_rows = 16;
constexpr Index products_per_share = 1000000;  // fewer are not worth waking a thread for
constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();

bool row_is_finite(const Real* x, Index n) {
  Real sum = 0;
  for (Index i = 0; i < n; ++i) sum += 0 * x[i];  // NaN where x is not finite
  return sum == 0;
}

// A few queries of one head in one row of the batch, and what is computed of them.
struct AttentionTile {
  explicit AttentionTile(const TileInputs& inputs)
      : in(inputs),
        K(in.K()),
        Dh(in.Dh()),
        row(in.H() * Dh),
        scale(1 / std::sqrt(static_cast<Real>(Dh))) {
    const Index most_rows = std::min(query_rows, in.T());
    block = allocate_storage(most_rows * (3 * K + 2 * Dh) + 2 * K * Dh +
                             multiply_buffer_size(K + Dh, K + Dh));
    Real* next = block->data;
    for (Real** part : {&w, &d_A, &by_distance}) *part = std::exchange(next, next + most_rows * K);
    for (Real** part : {&qu, &qv}) *part = std::exchange(next, next + most_rows * Dh);
    for (Real** part : {&k_T, &values_T}) *part = std::exchange(next, next + K * Dh);
    buffer = next;
  }

  // Moves on to the queries from `first_query` on, of head h in row b.
  void place(Index b, Index h, Index first_query) {
    const Index T = in.T();
    batch_row = b;
    first = first_query;
    rows = std::min(query_rows, T - first);
    keys = K - T + first + rows;
    column = h * Dh;
    query = (b * T + first) * row + column;
    key = b * K * row + column;
    number = (b * in.H() + h) * T + first;
  }

  // A, in the place of w. A query that `later` others of the tile follow sees so many keys less,
  // and its scores by distance lie so many columns further right: that is the relative shift.
  void score() {
    add_biases();
    if (first == 0) transpose(K, Dh, in.k.data() + key, row, k_T, K);
    const Real* const r_T = in.r_T.data() + column * K + (K - keys);
    multiply(rows, Dh, keys, {qu, Dh, 1}, {k_T, K, 1}, w, K, buffer);
    multiply(rows, Dh, keys, {qv, Dh, 1}, {r_T, K, 1}, by_distance, K, buffer);
    for (Index i = 0; i < rows; ++i) {
      const Index later = rows - 1 - i;
      const Index seen = keys - later;
      const Index start = in.visible.first_key(batch_row, first + i);
      Real* const A = w + i * K;
      const Real* const position = by_distance + i * K + later;
      std::fill(A, A + start, minus_infinity);
      for (Index j = start; j < seen; ++j) A[j] = (A[j] + position[j]) * scale;
      std::fill(A + seen, A + keys, minus_infinity);
    }
  }

  // qu = q + u, qv = q + v
  void add_biases() {
    const Real* const u = in.u.data() + column;
    const Real* const v = in.v.data() + column;
    for (Index i = 0; i < rows; ++i) {
      const Real* const q = in.q.data() + query + i * row;
      for (Index d = 0; d < Dh; ++d) {
        qu[i * Dh + d] = q[d] + u[d];
        qv[i * Dh + d] = q[d] + v[d];
      }
    }
  }

  // w, and of each query what it takes to make w again: its largest score and 1 / (sum of the
  // exponentials). Both are [B, H, T].
  void softmax(Real* largest, Real* inverse_sums) {
    for (Index i = 0; i < rows; ++i) {
      Real* const wi = w + i * K;
      const auto get = [wi](Index j) { return wi[j]; };
      const Real top = fold_start(K, keys, minus_infinity, get, LargerNumber());
      for (Index j = 0; j < keys; ++j) wi[j] = math::exp(wi[j] - top);
      const Real inverse = 1 / fold_start(K, keys, Real(0), get, Plus());
      for (Index j = 0; j < keys; ++j) wi[j] *= inverse;
      largest[number + i] = top;
      inverse_sums[number + i] = inverse;
    }
  }
  void softmax_again(const Real* largest, const Real* inverse_sums) {
    for (Index i = 0; i < rows; ++i) {
      Real* const wi = w + i * K;
      const Real top = largest[number + i];
      const Real inverse = inverse_sums[number + i];
      for (Index j = 0; j < keys; ++j) wi[j] = math::exp(wi[j] - top) * inverse;
    }
  }

  // out = w values, out [B, T, H Dh]. A product makes NaN of weight 0 times infinity; such rows are
  // summed once more, over the keys that have a weight.
  void read(Real* out) {
    const Real* const values = in.values.data() + key;
    multiply(rows, keys, Dh, {w, K, 1}, {values, row, 1}, out + query, row, buffer);
    for (Index i = 0; i < rows; ++i) {
      Real* const z = out + query + i * row;
      if (row_is_finite(z, Dh)) continue;
      std::fill(z, z + Dh, Real(0));
      for (Index j = 0; j < keys; ++j) {
        const Real weight = w[i * K + j];
        for (Index d = 0; weight != 0 && d < Dh; ++d) z[d] += weight * values[j * row + d];
      }
    }
  }

  // d_A, and unshift(d_A) in the place of the scores by distance. d_out: [B, T, H Dh]
  void differentiate(const Real* d_out) {
    if (first == 0) transpose(K, Dh, in.values.data() + key, row, values_T, K);
    multiply(rows, Dh, keys, {d_out + query, row, 1}, {values_T, K, 1}, d_A, K, buffer);  // d_w
    for (Index i = 0; i < rows; ++i) {
      const Index later = rows - 1 - i;
      const Index seen = keys - later;
      const Real* const wi = w + i * K;
      Real* const d = d_A + i * K;
      Real* const unshifted = by_distance + i * K;
      const auto product = [wi, d](Index j) { return wi[j] * d[j]; };
      const Real dot = fold_start(K, keys, Real(0), product, Plus());
      for (Index j = 0; j < keys; ++j) d[j] = wi[j] * (d[j] - dot) * scale;
      std::fill(unshifted, unshifted + later, Real(0));
      std::copy(d, d + seen, unshifted + later);
    }
  }

  // Adds what the tile gives to the gradients of keys, values and distances, each [B, K, H Dh].
  void add_to_keys(const Real* d_out, Real* d_values, Real* dk, Real* dr) {
    const Real* const dz = d_out + query;
    Real* const dr_seen = dr + key + (K - keys) * row;
    multiply(keys, rows, Dh, {w, 1, K}, {dz, row, 1}, d_values + key, row, buffer, Start::from_z);
    multiply(keys, rows, Dh, {d_A, 1, K}, {qu, Dh, 1}, dk + key, row, buffer, Start::from_z);
    multiply(keys, rows, Dh, {by_distance, 1, K}, {qv, Dh, 1}, dr_seen, row, buffer, Start::from_z);
  }

  // The gradients of q + u and q + v, each [B, T, H Dh].
  void write_queries(Real* d_qu, Real* d_qv) {
    const Real* const r = in.r.data() + column + (K - keys) * row;
    const Real* const k = in.k.data() + key;
    multiply(rows, keys, Dh, {d_A, K, 1}, {k, row, 1}, d_qu + query, row, buffer);
    multiply(rows, keys, Dh, {by_distance, K, 1}, {r, row, 1}, d_qv + query, row, buffer);
  }

  const TileInputs& in;
  Index K, Dh;
  Index row;  // H Dh: from one position to the next
  Real scale;
  std::shared_ptr<Storage> block;
  Real *w, *d_A, *by_distance;  // [rows, keys], each row with room for K
  Real *qu, *qv;                // [rows, Dh]
  Real *k_T, *values_T;         // of the head: [Dh, K]
  Real* buffer;                 // of multiply
  Index batch_row = 0;
  Index first = 0;  // query of the tile, in the segment
  Index rows = 0;   // queries of the tile
  Index keys =
      0;  // that its last query sees; their distances are the last rows of r, keys - 1 .. 0
  Index query = 0;   // where the first one lies in tensors like q
  Index key = 0;     // where the head's first key lies in tensors like k
  Index column = 0;  // where the head lies in a row of those, in one of r, and in u and v
  Index number = 0;  // of the first query in [B, H, T]
};

// Calls use(tile) for every tile once it is scored, the heads on several threads, the tiles of a
// head one after the other.
template <class Use>
void for_each_tile(const TileInputs& in, const Use& use) {
  const Index T = in.T();
  const Index H = in.H();
  if (in.q.size() == 0) return;
  const Index grain = products_per_share / (T * in.K() * in.Dh() * 3) + 1;
  parallel_for(in.B() * H, grain, [&](Index begin, Index end) {
    AttentionTile tile(in);
    for (Index head = begin; head < end; ++head) {
      for (Index first = 0; first < T; first += query_rows) {
        tile.place(head / H, head % H, first);
        tile.score();
        use(tile);
      }
    }
  });
}

}  // namespace

// out = softmax(scores) values
struct AttendInTiles : Node {
  TileInputs in;
  Saved q{this}, k{this}, values{this}, r{this}, u{this}, v{this};  // those of `in`
  Tensor largest, inverse_sums;  // of each query's scores, and of their exponentials: [B, H, T]

  Tensor forward() {
    Tensor out = Tensor::uninitialized(in.q.shape());
    largest = Tensor::uninitialized({in.B(), in.H(), in.T()});
    inverse_sums = Tensor::uninitialized(largest.shape());
    Real* const z = out.data_in_place();
    Real* const m = largest.data_in_place();
    Real* const s = inverse_sums.data_in_place();
    for_each_tile(in, [&](AttentionTile& tile) {
      tile.softmax(m, s);
      tile.read(z);
    });
    return out;
  }

  void backward(const Tensor& dz) override {
    const Tensor d_out = dz.contiguous();
    Tensor d_qu = Tensor::uninitialized(in.q.shape());
    Tensor d_qv = Tensor::uninitialized(in.q.shape());
    Tensor dk = Tensor::zeros(in.k.shape());
    Tensor d_values = Tensor::zeros(in.k.shape());
    Tensor dr = Tensor::zeros(in.k.shape());  // of each row of the batch
    Real* const to_qu = d_qu.data_in_place();
    Real* const to_qv = d_qv.data_in_place();
    Real* const to_k = dk.data_in_place();
    Real* const to_values = d_values.data_in_place();
    Real* const to_r = dr.data_in_place();
    for_each_tile(in, [&](AttentionTile& tile) {
      tile.softmax_again(largest.data(), inverse_sums.data());
      tile.differentiate(d_out.data());
      tile.add_to_keys(d_out.data(), to_values, to_k, to_r);
      tile.write_queries(to_qu, to_qv);
    });
    const Shape biases = {in.H() * in.Dh()};
    accumulate(0, add(d_qu, d_qv));
    accumulate(1, dk);
    accumulate(2, d_values);
    accumulate(3, sum(dr, {0}));
    accumulate(4, sum_to(d_qu, biases).reshape(in.u.shape()));
    accumulate(5, sum_to(d_qv, biases).reshape(in.v.shape()));
  }
};

Variable attend_in_tiles(const Variable& q, const KeysValues& context, const Variable& r,
                         const Pass& pass) {
  auto op = make_node<AttendInTiles>();
  const auto& [k, values] = context;
  const Tensor distances = r.value().contiguous();
  Tensor r_T = Tensor::uninitialized({r.dim(1), r.dim(0)});
  transpose(r.dim(0), r.dim(1), distances.data(), r.dim(1), r_T.data_in_place(), r.dim(0));
  op->in = {q.value().contiguous(),
            k.value().contiguous(),
            values.value().contiguous(),
            distances,
            r_T,
            pass.u.value().contiguous(),
            pass.v.value().contiguous(),
            pass.visible};
  op->q = op->in.q;
  op->k = op->in.k;
  op->values = op->in.values;
  op->r = op->in.r;
  op->u = op->in.u;
  op->v = op->in.v;
  return record("attend", op, op->forward(), {q, k, values, r, pass.u, pass.v}, Where::current());
}

}  // namespace segue
