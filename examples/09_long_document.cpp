// A document of any length becomes one state a byte, in constant memory.
//
// The text is read piece by piece and never held as a whole. Each piece goes through the model after a memory of the
// one before, and what comes out is the last layer's state of each byte. The lesson shows that the cut changes nothing
// while memory covers the text, and that the ten-millionth byte needs no more room than the first.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numbers>
#include <vector>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "examples/support/bytes.hpp"
#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/resident.hpp"
#include "examples/support/training.hpp"
#include "nn/loss.hpp"
#include "nn/tools/safetensors.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/indexing.hpp"
#include "tensor/storage.hpp"
#include "tensor/tools/functions.hpp"
#include "tensor/tools/print.hpp"
#include "xl/tools/document_encoder.hpp"

using namespace segue;

namespace {

constexpr Index piece_length = 2048;    // bytes read at a time
constexpr Index passage_length = 64;    // bytes of a surprising passage
constexpr Index most_states = 1 << 24;  // numbers that are kept for a file of states

struct Settings {
  ModelSettings model = {.segment_length = 64};  // of random weights
  std::string text = "", checkpoint = "", states = "", out = "out";
  Index size = 0, memory_length = -1;
};

// A text that is read piece by piece.
struct Document {
  std::string name;
  Index size;
  std::function<std::vector<Index>(Index most)> next;  // up to so many bytes; none at the end
};

Document the_book(Index size) {
  Text text = read_text("");
  text.training.insert(text.training.end(), text.held_out.begin(), text.held_out.end());
  return {"the book, again and again", size, [book = text.training, at = std::size_t{0}](Index most) mutable {
            std::vector<Index> piece;
            for (; static_cast<Index>(piece.size()) < most; at = (at + 1) % book.size()) piece.push_back(book[at]);
            return piece;
          }};
}

Document open_document(const Settings& s) {
  if (s.text.empty()) return the_book(s.size > 0 ? s.size : 1'000'000);
  std::error_code error;
  const auto file = std::make_shared<std::ifstream>(s.text, std::ios::binary);
  if (!*file || !std::filesystem::is_regular_file(s.text, error)) {
    throw FileError(fmt::format("cannot read the file {}", s.text));
  }
  const Index held = static_cast<Index>(std::filesystem::file_size(s.text));
  return {s.text, s.size > 0 ? std::min(s.size, held) : held, [file](Index most) {
            std::string piece(static_cast<std::size_t>(most), '\0');
            file->read(piece.data(), most);
            piece.resize(static_cast<std::size_t>(file->gcount()));
            return to_bytes(piece);
          }};
}

TransformerXL open_model(const Settings& s) {
  if (!s.checkpoint.empty()) return load_byte_model(s.checkpoint);
  Random random(static_cast<std::uint64_t>(s.model.seed));
  return TransformerXL(make_config(s.model, 256, s.model.segment_length), random);
}

Tokens one_row(const std::vector<Index>& bytes) { return Tokens({1, static_cast<Index>(bytes.size())}, bytes); }

// The largest difference between the states of one pass over the bytes and those of segments of `chunk` bytes with a
// memory of M.
double largest_difference(const TransformerXL& model, const std::vector<Index>& bytes, Index chunk, Index M) {
  const Index n = static_cast<Index>(bytes.size());
  TransformerXL other = model.clone();
  other.config.segment_length = n;
  const Tensor whole = DocumentEncoder(other, 1, n).read(one_row(bytes));
  other.config.segment_length = chunk;
  const Tensor difference = sub(whole, DocumentEncoder(other, 1, M).read(one_row(bytes))).reshape({-1});
  return std::sqrt(static_cast<double>(max(mul(difference, difference), {0}).item()));
}

void compare_with_one_pass(const TransformerXL& model, const std::vector<Index>& bytes) {
  constexpr Index chunk = 50;
  const Index n = static_cast<Index>(bytes.size());
  if (n <= 2 * chunk) return;  // a memory of one chunk covers them, too
  fmt::print("\nThe first {} bytes again, in chunks of {}. Largest difference to the states of one pass over them:\n",
             n, chunk);
  fmt::print("  memory M = {:<4} covers them  {:.1e}\n", n, largest_difference(model, bytes, chunk, n));
  fmt::print("  memory M = {:<4} does not     {:.1e}\n", chunk, largest_difference(model, bytes, chunk, chunk));
}

// What the states are good for here: the state of a byte predicts the next one, so they tell which passage of the
// document surprises the model most.
struct Surprise {
  Variable before;  // the state before the next piece, [1, 1, D]; none at first
  double nats = 0, worst_nats = 0;
  Index bytes = 0, worst_at = 0;
  std::string worst;

  void read(const TransformerXL& model, const Tensor& states, const std::vector<Index>& piece) {
    const NoGradientGuard no_gradient;
    const Index T = static_cast<Index>(piece.size());
    const Variable h(states);
    const bool begins = bytes == 0;  // nothing predicts the first byte of all
    const Variable earlier = begins ? narrow(h, 1, 0, T - 1) : concat({before, narrow(h, 1, 0, T - 1)}, 1);
    const Variable logits = matmul(earlier, transpose(model.output_weight, 0, 1)) + model.output_bias;  // [1, T, V]
    const std::vector<Index> targets(piece.begin() + (begins ? 1 : 0), piece.end());
    std::vector<Real> losses = cross_entropy(logits, one_row(targets)).value().to_vector();
    if (begins) losses.insert(losses.begin(), 0);
    for (std::size_t first = 0; first < losses.size(); first += passage_length) {
      const std::size_t last = std::min(first + passage_length, losses.size());
      double sum = 0;
      for (std::size_t t = first; t < last; ++t) sum += static_cast<double>(losses[t]);
      nats += sum;
      if (last == first + passage_length && sum > worst_nats) {
        worst_nats = sum;
        worst_at = bytes + static_cast<Index>(first);
        worst.clear();
        PrintableText text;
        for (std::size_t t = first; t < last; ++t) worst += text.next(piece[t] == '\n' ? ' ' : piece[t]);
      }
    }
    before = narrow(h, 1, T - 1, 1);
    bytes += T;
  }

  void tell(const std::string& checkpoint) const {
    const auto bits = [](double sum, Index count) { return sum / std::numbers::ln2 / static_cast<double>(count); };
    if (bytes < passage_length) return;
    fmt::print("  To {} the text costs {:.3f} bits per byte. Its most surprising {} bytes cost {:.3f}, at byte {}:\n",
               checkpoint, bits(nats, bytes - 1), passage_length, bits(worst_nats, passage_length), worst_at);
    fmt::print("  \"{}\"\n", worst);
  }
};

// What one reading of the document leaves.
struct Reading {
  Index bytes = 0;
  double seconds = 0, resident = 0;  // most bytes above the model
  std::size_t tensors = 0;           // most bytes in tensors above the model
  std::vector<double> x, y;          // million bytes read, MiB above the model
  std::vector<Tensor> states;        // only where they are to be kept
  std::vector<Index> kept;           // the bytes they belong to
  Surprise surprise;
};

Reading read_document(const Settings& s, const Document& document, const TransformerXL& model, Index M, Index base) {
  constexpr double MiB = 1 << 20;
  Reading r;
  DocumentEncoder encoder(model, 1, M);
  Progress progress("reading", document.size);
  const std::size_t base_tensors = tensor_bytes();
  reset_peak_tensor_bytes();
  const auto start = std::chrono::steady_clock::now();
  const Index interval = std::max<Index>(document.size / 50, 1);
  while (r.bytes < document.size && !interrupted()) {
    const std::vector<Index> piece = document.next(std::min(piece_length, document.size - r.bytes));
    if (piece.empty()) break;                            // the file has become shorter
    const Tensor states = encoder.read(one_row(piece));  // [1, T, D]
    if (!s.checkpoint.empty()) r.surprise.read(model, states, piece);
    if (!s.states.empty()) {
      r.states.push_back(states.reshape({-1, model.config.width}));
      r.kept.insert(r.kept.end(), piece.begin(), piece.end());
    }
    const Index before = r.bytes / interval;
    r.bytes += static_cast<Index>(piece.size());
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    progress.update(r.bytes, fmt::format("{:.0f} bytes per second", static_cast<double>(r.bytes) / r.seconds));
    if (r.bytes / interval == before && r.bytes < document.size) continue;
    r.resident = static_cast<double>(peak_resident_bytes() - base);
    r.x.push_back(static_cast<double>(r.bytes) / 1e6);
    r.y.push_back(r.resident / MiB);
  }
  r.tensors = peak_tensor_bytes() - base_tensors;
  return r;
}

void save_states(const std::string& path, const Reading& reading, Index D) {
  SafeTensors content;
  content.tensors["states"] = reading.states.empty() ? Tensor::zeros({0, D}) : concat(reading.states, 0);  // [T, D]
  content.integers["bytes"] = Tokens({static_cast<Index>(reading.kept.size())}, reading.kept);
  write_safetensors(path, content);
  fmt::print("  The states {} and their bytes are in {}.\n", to_string(content.tensors["states"].shape()), path);
}

// "1.5 MiB".
std::string in_units(double bytes) {
  const std::vector<std::string> units = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, bytes < 100 && unit > 0 ? 1 : 0, units[unit]);
}

void report(const Settings& s, const Reading& r, const Config& c) {
  const double n = static_cast<double>(r.bytes);
  fmt::print("  {} bytes in {:.1f} s, {:.0f} a second.\n", r.bytes, r.seconds, r.bytes > 0 ? n / r.seconds : 0);
  fmt::print("  Above the model it took at most {}, tensors {} of it.\n", in_units(r.resident),
             in_units(static_cast<double>(r.tensors)));
  fmt::print("  In one pass over all of it the scores of one layer alone would take {}.\n",
             in_units(static_cast<double>(c.heads) * n * n * sizeof(Real)));
  if (s.checkpoint.empty()) {
    fmt::print(
        "  (With checkpoint=out/train_text.safetensors, which train_text writes, it also says what surprises it.)\n");
  }
  r.surprise.tell(s.checkpoint);
  if (!s.states.empty()) save_states(s.states, r, c.width);
}

void draw(const Settings& s, const Reading& reading) {
  if (reading.x.size() < 2) return;
  Chart chart;
  chart.title = "Memory for a long document";
  chart.description = "Most bytes resident above the model against bytes read: a flat line.";
  chart.x = {"read", "million bytes"};
  chart.y = {"most resident above the model", "MiB"};
  chart.series = {{"measured", reading.x, reading.y}};
  chart.references = {{"the model alone", 0}};
  fmt::print("\n");
  print(chart);
  Table table({"million_bytes", "peak_resident_mib"});
  for (std::size_t k = 0; k < reading.x.size(); ++k) table.add_row({reading.x[k], reading.y[k]});
  write_csv(s.out + "/long_document.csv", table);
  write_svg(s.out + "/long_document.svg", chart);
  fmt::print("\nThe picture is in {0}/long_document.svg, the numbers are in {0}/long_document.csv.\n", s.out);
}

void tell(const Settings& s) {
  make_folder(s.out);
  if (!s.states.empty()) make_folder(std::filesystem::absolute(s.states).parent_path());
  set_thread_count(static_cast<int>(s.model.threads));
  TransformerXL model = open_model(s);
  const Index base = resident_bytes();  // now, before anything is allocated beside the model
  const Config& c = model.config;
  const Document document = open_document(s);
  if (!s.states.empty() && document.size > most_states / c.width) {
    throw ArgumentError(fmt::format("states: expected a text of at most {} bytes to keep the states of, got {}",
                                    most_states / c.width, document.size));
  }
  const Index M = s.memory_length < 0 ? c.memory_length : s.memory_length;
  fmt::print("A model of {} weights{}, {} layers, D = {}, reads in segments of T = {} with a memory of M = {}.\n\n",
             parameter_count(parameters(model)), s.checkpoint.empty() ? ", random ones" : "", c.layers, c.width,
             c.segment_length, M);
  fmt::print("Reading {}, {} bytes:\n", document.name, document.size);
  std::fflush(stdout);
  const Reading reading = read_document(s, document, model, M, base);
  report(s, reading, c);
  if (!interrupted()) compare_with_one_pass(model, open_document(s).next(std::min<Index>(document.size, 512)));
  draw(s, reading);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments(
      "long_document",
      "Reads a document of any length into one state a byte, and shows that this takes constant memory.");
  arguments.add("text", s.text, "file to read; empty for the project's own book, again and again");
  arguments.add("size", s.size, "bytes to read at most; 0 is all of a file, a million of the book", 0);
  arguments.add("checkpoint", s.checkpoint, "a model of bytes; empty for random weights");
  arguments.add("states", s.states, "file for the states of a short text; empty for none");
  arguments.add("memory_length", s.memory_length, "memory M in bytes; -1 is that of the training, or T", -1, 65536);
  arguments.add("segment_length", s.model.segment_length, "segment length T of random weights", 1, 65536);
  arguments.add("layers", s.model.layers, "layers N of random weights", 1, 64);
  arguments.add("heads", s.model.heads, "heads H of random weights", 1, 64);
  arguments.add("width", s.model.width, "width D of random weights, a multiple of 2 heads", 2, 4096);
  arguments.add("seed", s.model.seed, "seed of random weights", 0);
  arguments.add("threads", s.model.threads, "threads", 1, 256);
  arguments.add("out", s.out, "folder for the picture and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
