// attend(): what attend_plain() computes, for a few queries of one head at a time. The scores of such a tile stay in
// the cache and are gone when it is done; backward computes them again from what is much smaller.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tensor/map.hpp"
#include "tensor/math.hpp"
#include "tensor/matmul_kernel.hpp"
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
    16;  // in a tile: the fewer, the fewer hidden keys are scored; the more, the less is copied
constexpr Index products_per_share = 1000000;  // fewer are not worth waking a thread for

// The part of one head in one row of the batch.
struct HeadPart {
  HeadPart(const AttentionInputs& in, Index b, Index h)
      : row(in.H() * in.Dh()), query(b * in.T() * row + h * in.Dh()), key(b * in.K() * row + h * in.Dh()) {}
  Index row;         // from one position to the next
  Index query, key;  // where the head starts in a tensor like q, and in one like k
};

// Works on one head after another, of which it holds one tile of queries.
class AttentionTile {
 public:
  explicit AttentionTile(const AttentionInputs& inputs)
      : in(inputs),
        K(in.K()),
        Dh(in.Dh()),
        most_rows(std::min(query_rows, in.T())),
        block(allocate_storage(most_rows * (3 * K + 4 * Dh) + multiply_buffer_size(K + Dh, K + Dh))) {
    Real* next = block->data;
    for (Real** part : {&weights, &d_scores, &by_distance}) *part = std::exchange(next, next + most_rows * K);
    for (Real** part : {&qu, &qv, &d_qu, &d_qv}) *part = std::exchange(next, next + most_rows * Dh);
    buffer = next;
  }

  // Calls use() for each tile of the head, the last first: that one sees all keys.
  template <class Use>
  void each(Index b, Index h, const Use& use) {
    for (first = (in.T() - 1) / most_rows * most_rows; first >= 0; first -= most_rows) {
      rows = std::min(most_rows, in.T() - first);
      score(b, h);
      use();
    }
  }

  // weights = (q + u) k^T + shift((q + v) r^T), scaled, and -infinity where a key is hidden: no weights yet
  void score(Index b, Index h) {
    const HeadPart part(in, b, h);
    for (Index i = 0; i < rows; ++i) {
      const Real* const q = in.q.data() + part.query + (first + i) * part.row;
      for (Index d = 0; d < Dh; ++d) {
        qu[i * Dh + d] = q[d] + in.u.data()[h * Dh + d];
        qv[i * Dh + d] = q[d] + in.v.data()[h * Dh + d];
      }
    }
    keys = K - in.T() + first + rows;               // the last query of the tile sees no further
    const Index nearest = in.T() - (first + rows);  // column of r_T: the distance K - 1 - nearest is the largest here
    multiply(rows, Dh, keys, {qu, Dh, 1}, {in.k.data() + part.key, 1, part.row}, weights, K, buffer);
    multiply(rows, Dh, K - nearest, {qv, Dh, 1}, {in.r_T.data() + h * Dh * K + nearest, K, 1}, by_distance, K, buffer);
    const Real scale = 1 / std::sqrt(static_cast<Real>(Dh));
    const Real* const hidden = in.hidden.data() + (in.hidden.dim(0) == 1 ? 0 : b * in.T() * K);
    for (Index i = 0; i < rows; ++i) {
      Real* const score = weights + i * K;
      const Real* const position = by_distance + i * K + (rows - 1 - i);  // the relative shift
      const Real* const hides = hidden + (first + i) * K;
      const Index seen = keys - (rows - 1 - i);
      for (Index j = 0; j < seen; ++j) {
        score[j] = hides[j] != 0 ? -std::numeric_limits<Real>::infinity() : (score[j] + position[j]) * scale;
      }
      std::fill(score + seen, score + keys, -std::numeric_limits<Real>::infinity());
    }
  }

  const AttentionInputs& in;
  Index K, Dh, most_rows;
  std::shared_ptr<Storage> block;
  Real *weights, *d_scores, *by_distance;  // [most_rows, K]
  Real *qu, *qv, *d_qu, *d_qv;             // [most_rows, Dh]
  Real* buffer;                            // of multiply
  Index first = 0, rows = 0, keys = 0;     // the tile: queries first .. first + rows - 1 see keys 0 .. keys - 1 at most
};

// Calls use(tile, b, h) for every head of every row, on several threads.
template <class Use>
void for_each_head(const AttentionInputs& in, const Use& use) {
  const Index products = in.T() * in.K() * in.Dh() * 3;
  parallel_for(in.B() * in.H(), products_per_share / products + 1, [&](Index begin, Index end) {
    AttentionTile tile(in);
    for (Index head = begin; head < end; ++head) use(tile, head / in.H(), head % in.H());
  });
}

}  // namespace

// out = softmax(scores) values
struct Attend : Node {
  AttentionInputs in;
  Tensor largest, inverse_sums;  // of each row of scores, and of its exponentials: [B, H, T]

  Tensor forward() {
    Tensor out = Tensor::uninitialized(in.q.shape());
    largest = inverse_sums = Tensor::uninitialized({in.B(), in.H(), in.T()});
    inverse_sums = Tensor::uninitialized(largest.shape());
    if (out.size() == 0) return out;
    Real *const z = out.data_in_place(), *const m = largest.data_in_place(), *const s = inverse_sums.data_in_place();
    for_each_head(in, [&](AttentionTile& tile, Index b, Index h) {
      const HeadPart part(in, b, h);
      tile.each(b, h, [&] {
        for (Index i = 0; i < tile.rows; ++i) {
          Real* const w = tile.weights + i * tile.K;
          const Index row = (b * in.H() + h) * in.T() + tile.first + i;
          const auto get = [w](Index j) { return w[j]; };
          const Real top = m[row] = fold_row(tile.keys, -std::numeric_limits<Real>::infinity(), get, LargerNumber());
          for (Index j = 0; j < tile.keys; ++j) w[j] = math::exp(w[j] - top);
          const Real scale = s[row] = 1 / fold_row(tile.keys, Real(0), get, Plus());
          for (Index j = 0; j < tile.keys; ++j) w[j] *= scale;
        }
        multiply(tile.rows, tile.keys, tile.Dh, {tile.weights, tile.K, 1}, {in.values.data() + part.key, part.row, 1},
                 z + part.query + tile.first * part.row, part.row, tile.buffer);
      });
    });
    return out;
  }

  void backward(const Tensor& dz) override {
    const Tensor d_out = dz.contiguous();
    const Index H = in.H(), K = in.K(), Dh = in.Dh();
    Tensor dq = Tensor::uninitialized(in.q.shape()), dk = Tensor::uninitialized(in.k.shape());
    Tensor d_values = Tensor::uninitialized(in.k.shape());
    Tensor dr = Tensor::uninitialized(in.k.shape());              // of each row of the batch
    Tensor du = Tensor::zeros({in.B(), H, Dh}), dv = du.clone();  // likewise
    Real *const q_out = dq.data_in_place(), *const k_out = dk.data_in_place(), *const r_out = dr.data_in_place();
    Real *const values_out = d_values.data_in_place(), *const u_out = du.data_in_place(),
                *const v_out = dv.data_in_place();
    const Real factor = 1 / std::sqrt(static_cast<Real>(Dh));
    if (dq.size() > 0)
      for_each_head(in, [&](AttentionTile& tile, Index b, Index h) {
        const HeadPart part(in, b, h);
        tile.each(b, h, [&] {
          const Start start = tile.first + tile.rows == in.T() ? Start::from_zero : Start::from_z;
          const Index rows = tile.rows, keys = tile.keys, nearest = in.T() - (tile.first + rows);
          const Real* const d_z = d_out.data() + part.query + tile.first * part.row;
          Real *const w = tile.weights, *const ds = tile.d_scores, *const dp = tile.by_distance;
          multiply(rows, Dh, keys, {d_z, part.row, 1}, {in.values.data() + part.key, 1, part.row}, ds, K, tile.buffer);
          for (Index i = 0; i < rows; ++i) {
            const Index row = (b * H + h) * in.T() + tile.first + i, left = rows - 1 - i;
            const Real top = largest.data()[row], scale = inverse_sums.data()[row];
            Real *const wi = w + i * K, *const dsi = ds + i * K, *const dpi = dp + i * K;
            for (Index j = 0; j < keys; ++j) wi[j] = math::exp(wi[j] - top) * scale;
            const Real dot = fold_row(
                keys, Real(0), [=](Index j) { return wi[j] * dsi[j]; }, Plus());
            for (Index j = 0; j < keys; ++j) dsi[j] = wi[j] * (dsi[j] - dot) * factor;
            std::fill(dpi, dpi + left, Real(0));
            std::copy(dsi, dsi + keys - left, dpi + left);
          }
          multiply(keys, rows, Dh, {w, 1, K}, {d_z, part.row, 1}, values_out + part.key, part.row, tile.buffer, start);
          multiply(keys, rows, Dh, {ds, 1, K}, {tile.qu, Dh, 1}, k_out + part.key, part.row, tile.buffer, start);
          multiply(K - nearest, rows, Dh, {dp, 1, K}, {tile.qv, Dh, 1}, r_out + part.key + nearest * part.row, part.row,
                   tile.buffer, start);
          multiply(rows, keys, Dh, {ds, K, 1}, {in.k.data() + part.key, part.row, 1}, tile.d_qu, Dh, tile.buffer);
          multiply(rows, K - nearest, Dh, {dp, K, 1}, {in.r.data() + h * Dh + nearest * part.row, part.row, 1},
                   tile.d_qv, Dh, tile.buffer);
          for (Index i = 0; i < rows; ++i) {
            for (Index d = 0; d < Dh; ++d) {
              const Real by_u = tile.d_qu[i * Dh + d], by_v = tile.d_qv[i * Dh + d];
              q_out[part.query + (tile.first + i) * part.row + d] = by_u + by_v;
              u_out[(b * H + h) * Dh + d] += by_u;
              v_out[(b * H + h) * Dh + d] += by_v;
            }
          }
        });
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
  op->in = {q.value().contiguous(),
            k.value().contiguous(),
            values.value().contiguous(),
            r.value().contiguous(),
            r.value().transpose(0, 1).contiguous(),
            positions.u.value().contiguous(),
            positions.v.value().contiguous(),
            positions.hidden.contiguous()};
  return record("attend", op, op->forward(), {q, k, values, r, positions.u, positions.v}, Where::current());
}

}  // namespace segue
