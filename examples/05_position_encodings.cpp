// experiment
#include <fmt/format.h>
#include <chrono>
#include <cstdlib>
#include "examples/support/training.hpp"
#include "examples/support/lesson.hpp"
#include "xl/rivals/model.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/tools/loss_by_position.hpp"
#include "nn/parameters.hpp"
using namespace segue;
int main(int argc, char** argv) {
  ModelSettings m; Index rows = 96, tsteps = 0, twidth = 32, tbatch = 8; double tlr = 0.006; std::string only = "";
  Index beyond = 1, segs = 6;
  Arguments a("position_encodings", "x");
  add_arguments(a, m);
  a.add("rows", rows, "r", 1); a.add("tsteps", tsteps, "r"); a.add("twidth", twidth, "r"); a.add("tbatch", tbatch, "r"); a.add("tlr", tlr, "r"); a.add("only", only, "r");a.add("beyond", beyond, "r");a.add("segs", segs, "r");
  return run_lesson(a, argc, argv, [&] {
    set_thread_count(static_cast<int>(m.threads));
    const Text text = read_text("");
    for (Encoding e : all_encodings()) {
      if (!only.empty() && only != encoding_name(e)) continue;
      e.rows = rows; e.clamp = true;
      double t0 = static_cast<double>(clock());
      Random random(static_cast<std::uint64_t>(m.seed));
      auto model = make_model(make_config(m, 16, 32), e, random);
      PeriodicCopy task(24, 16, m.batch, 16, segs, random);
      if (m.steps > 1) run_training(encoding_name(e), *model, m, [&] { return task.next(); });
      Random fresh(99);
      Index n = segs * beyond;
      PeriodicCopy test(24, 16, 64, 16, n, fresh);
      auto losses = loss_by_position(*model, [&] { return test.next(); }, n, 32);
      auto place = loss_by_place(losses, 16, 2);
      double mean = 0; for (double x : place) mean += x / 16;
      fmt::print("{:22} {:6} copy {:.3f}  [{:.2f}] {:.1f}s\n", encoding_name(e), parameter_count(parameters(*model)), mean, fmt::join(place, " "), (static_cast<double>(clock()) - t0) / CLOCKS_PER_SEC);
      if (beyond > 1) { for (Index s = 2; s < n; s += 2) { double x = 0; for (Index i = 0; i < 16; ++i) x += losses[static_cast<std::size_t>(s*16+i)]/16; fmt::print(" {:.2f}", x);} fmt::print("\n"); }
      if (tsteps > 0) {
        t0 = static_cast<double>(clock());
        ModelSettings t = m; t.segment_length = 32; t.steps = tsteps; t.width = twidth; t.batch = tbatch; t.learning_rate = tlr;
        Random r2(static_cast<std::uint64_t>(m.seed));
        auto tm = make_model(make_config(t, 256, 64), e, r2);
        Streams streams(text.training, t.batch, 32, Tail::drop);
        run_training(encoding_name(e), *tm, t, [&] { return streams.next(); });
        fmt::print("{:22} text {:.3f} {:.1f}s\n", "", evaluate(*tm, text.held_out, 32, 64, 8).bits(), (static_cast<double>(clock()) - t0) / CLOCKS_PER_SEC);
      }
    }
  });
}
