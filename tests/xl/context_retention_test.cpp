#include "xl/tools/context_retention.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/support/random_inputs.hpp"
#include "xl/attention.hpp"

namespace segue::xl_context_retention_test {

namespace {

const std::vector<Decline> declines = {Decline::exponential, Decline::power};

// A memory of M full positions, as far as the mask asks.
Memory full_memory(Index M) {
  Config config;
  Memory memory = empty_memory(config, 1, M);
  for (Variable& layer : memory.layers) layer = Variable(Tensor::zeros({1, M, config.width}));
  memory.tokens_read = {M};
  return memory;
}

// The share of a decaying attention that the model's own mask leaves visible, position by position.
std::vector<double> masked_shares(const Decay& decay, Index T, Index M, Index window) {
  const Tensor hidden = attention_mask(visible_keys(T, full_memory(M), window));  // [1, 1, T, K]
  std::vector<double> shares;
  for (Index i = 0; i < T; ++i) {
    double share = 0;
    for (Index j = 0; j < M + T; ++j) {
      if (hidden.at({0, 0, i, j}) == 0) share += decay.at((M + i) - j);
    }
    shares.push_back(share);
  }
  return shares;
}

}  // namespace

TEST_CASE("The shares added up key by key have the mean that the closed form gives") {
  for (const Decline decline : declines) {
    for (const double h : {1e-3, 0.7, 1.0, 15.9, 64.0, 1000.0, 1e6, 1e12}) {
      const Decay decay = {decline, h};
      for (const Segmentation& segmentation :
           {cut_segments(64), sliding_window(64), Segmentation{32, 32}, Segmentation{64, 64}, cut_segments(1),
            Segmentation{7, 100}, cut_segments(5000)}) {
        for (const Index positions : {1, 63, 64, 65, 1000}) {
          CAPTURE(h);
          CAPTURE(segmentation.segment_length);
          CAPTURE(segmentation.memory_length);
          CAPTURE(positions);
          CHECK(std::abs(summed_retention(decay, segmentation, positions) -
                         closed_retention(decay, segmentation, positions)) < 1e-12);
        }
      }
    }
  }
}

TEST_CASE("The mass of all distances is 1, and half of it lies within the half distance") {
  for (const Decline decline : declines) {
    for (const Index h : {1, 3, 64}) {
      const Decay decay = {decline, static_cast<double>(h)};
      double sum = 0;
      for (Index d = 0; d < 1000; ++d) {
        CHECK(std::abs(sum + decay.beyond(d) - 1) < 1e-12);
        CHECK(decay.at(d) > decay.at(d + 1));
        if (d == h) CHECK(std::abs(sum - 0.5) < 1e-12);
        sum += decay.at(d);
      }
      CHECK(decay.beyond(std::numeric_limits<Index>::max()) < 1e-15);
    }
  }
}

TEST_CASE("A position sees what the attention mask of the model leaves visible") {
  for (const Decline decline : declines) {
    const Decay decay = {decline, 5};
    for (const Index T : {1, 4, 9}) {
      for (const Index M : {0, 1, 6}) {
        CHECK(retention_by_position(decay, {T, M}, T) == masked_shares(decay, T, M, 0));
      }
    }
    // same_length, whatever the cut: the window slides.
    CHECK(retention_by_position(decay, sliding_window(6), 4) == masked_shares(decay, 4, 6, 6));
  }
}

TEST_CASE("What the chapter says of windows of 64, 128, 256 and 512 holds") {
  const Decay halving = {Decline::exponential, 64}, long_tail = {Decline::power, 64};
  const std::vector<Index> windows = {64, 128, 256, 512};
  const std::vector<double> kept_halving = {1.0 / 2, 3.0 / 4, 15.0 / 16, 255.0 / 256};
  CHECK(std::abs(summed_retention(halving, cut_segments(64), 1000) - 0.278963) < 1e-6);
  CHECK(std::abs(summed_retention(halving, {64, 64}, 1000) - 0.639481) < 1e-6);
  CHECK(std::abs(summed_retention(long_tail, cut_segments(64), 1000) - 0.307433) < 1e-6);
  const std::vector<double> kept_long_tail = {1.0 / 2, 2.0 / 3, 4.0 / 5, 8.0 / 9};
  for (std::size_t k = 0; k < windows.size(); ++k) {
    const Index W = windows[k];
    CHECK(std::abs(summed_retention(halving, sliding_window(W), 1000) - kept_halving[k]) < 1e-12);
    CHECK(std::abs(summed_retention(long_tail, sliding_window(W), 1000) - kept_long_tail[k]) < 1e-12);
    for (const Decay& decay : {halving, long_tail}) {
      const double cut = summed_retention(decay, cut_segments(W), 1000);
      const double half = summed_retention(decay, {W / 2, W / 2}, 1000);
      const double slid = summed_retention(decay, sliding_window(W), 1000);
      const double whole = summed_retention(decay, {W, W}, 1000);
      CHECK(cut < half);
      CHECK(half < slid);
      CHECK(slid < whole);
      CHECK(whole < summed_retention(decay, sliding_window(2 * W), 1000));
    }
  }
}

TEST_CASE("Cut segments lose most at their first position, a sliding window the same everywhere") {
  const Decay decay = {Decline::exponential, 64};
  const std::vector<double> cut = retention_by_position(decay, cut_segments(8), 20);
  const std::vector<double> slid = retention_by_position(decay, sliding_window(8), 20);
  for (std::size_t t = 0; t < 20; ++t) {
    CHECK(cut[t] == cut[t % 8]);
    CHECK(slid[t] == slid[0]);
    CHECK(cut[t] <= slid[t]);
    if (t % 8 > 0) CHECK(cut[t] > cut[t - 1]);
  }
  CHECK(cut[7] == slid[7]);
  CHECK(cut[0] == decay.at(0));
}

TEST_CASE("With the same keys at most, shorter segments keep more, up to the sliding window") {
  for (const Decline decline : declines) {
    const Decay decay = {decline, 64};
    double last = 0;
    for (Index T = 64; T >= 1; T /= 2) {
      const double kept = closed_retention(decay, {T, 64 - T}, 6400);
      CHECK(kept > last);
      last = kept;
    }
    CHECK(last == closed_retention(decay, sliding_window(64), 6400));
  }
}

TEST_CASE("The answers to the chapter's exercises hold") {
  const Decay halving = {Decline::exponential, 64};
  CHECK(retention_by_position(halving, cut_segments(64), 33)[32] == retention_by_position(halving, {32, 32}, 1)[0]);
  const std::vector<double> kept = {0.283, 0.406, 0.457, 0.481};
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const Index T = 64 >> k;
    CHECK(std::abs(closed_retention(halving, {T, 64 - T}, 64) - kept[k]) < 0.0005);
  }
  CHECK(std::abs(summed_retention({Decline::exponential, 8}, sliding_window(64), 1000) - 0.996) < 0.0005);
  CHECK(std::abs(summed_retention({Decline::exponential, 8}, cut_segments(64), 1000) - 0.824) < 0.0005);
}

TEST_CASE("Extreme half distances keep everything or next to nothing, and stay finite") {
  for (const Decline decline : declines) {
    for (const auto& [h, kept] : {std::pair(5e-324, 1.0), std::pair(1e-300, 1.0), std::pair(1e300, 0.0)}) {
      for (const Index positions : {16, 20}) {
        CHECK(std::abs(summed_retention({decline, h}, {8, 8}, positions) - kept) < 1e-12);
        CHECK(std::abs(closed_retention({decline, h}, {8, 8}, positions) - kept) < 1e-12);
      }
    }
  }
  constexpr Index huge = Index(1) << 24;
  CHECK(closed_retention({Decline::power, 1}, {huge, huge}, huge) == doctest::Approx(1));
}

TEST_CASE("Lengths and half distances without sense are errors that show them") {
  const Decay decay = {Decline::power, 64};
  constexpr Index huge = std::numeric_limits<Index>::max();
  for (const auto& use : {summed_retention, closed_retention}) {
    const auto complaint = [&](const Decay& d, const Segmentation& segmentation, Index positions) {
      return thrown_by<ValueError>([&] { use(d, segmentation, positions, Where::current()); });
    };
    CHECK(holds(complaint(decay, cut_segments(0), 10), "got segment 0"));
    CHECK(holds(complaint(decay, sliding_window(0), 10), "memory -1"));
    CHECK(holds(complaint(decay, cut_segments(4), 0), "positions 0"));
    CHECK(complaint(decay, {huge, 0}, 10) != "");
    CHECK(complaint(decay, {1, huge}, 10) != "");
    CHECK(complaint(decay, {1, 1}, huge) != "");
    for (const double h :
         {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      CHECK(holds(complaint({Decline::exponential, h}, {4, 4}, 10), "half distance"));
  }
}

}  // namespace segue::xl_context_retention_test
