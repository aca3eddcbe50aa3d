#include "xl/tools/checkpoint.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "nn/tools/safetensors.hpp"
#include "tests/support/tiny_models.hpp"

namespace segue::xl_checkpoint_test {

namespace {

namespace fs = std::filesystem;

// A path of its own for each test, gone with it.
struct TemporaryFile {
  TemporaryFile() { fs::remove(path); }
  ~TemporaryFile() { fs::remove(path); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  fs::path path = fs::temp_directory_path() / ("segue_checkpoint_" + std::to_string(::getpid()));
};

Config dropout_config() {
  Config config = tiny_config();
  config.dropout = Real(0.2);
  config.attention_dropout = Real(1) / 3;  // no whole number of millionths
  return config;
}

// All that makes up a run: three segments of four tokens in two streams, which begin anew at steps 4, 7 and 10.
struct Run {
  explicit Run(std::uint64_t seed, const Config& config = dropout_config())
      : model(random_model(config, seed)),
        optimizer(parameters(model)),
        state{0, empty_memory(config, 2, 5), Random(seed)},
        streams(random_tokens(1, 27, 7, 30).ids, 2, 4, Tail::drop) {}

  void train_to(Index step) {
    TrainingOptions options;
    options.steps = step;
    options.learning_rate = [](Index s) { return Real(0.01) / static_cast<Real>(s); };
    options.report = [&](const StepReport& report) { return losses.push_back(report.loss), true; };
    train(
        model, optimizer, state, [&] { return streams.next(); }, options);
  }
  void save(const fs::path& path) { save_training(path, model, optimizer, state, streams.position()); }
  void load(const fs::path& path) { streams.seek(load_training(path, model, optimizer, state)); }

  // Everything, as tensors and text.
  std::vector<Tensor> tensors() {
    std::vector<Tensor> all = parameter_values(model);
    for (const Tensor& moment : optimizer.first_moment) all.push_back(moment.clone());
    for (const Tensor& moment : optimizer.second_moment) all.push_back(moment.clone());
    for (const Variable& layer : state.memory.layers) all.push_back(layer.value());
    return all;
  }
  std::string counters() const {
    std::string text = state.random.state();
    for (const Index n : {state.step, optimizer.steps, streams.position(), state.memory.limit})
      text += "," + std::to_string(n);
    for (const Index n : state.memory.tokens_read) text += "," + std::to_string(n);
    return text;
  }

  TransformerXL model;
  Adam optimizer;
  TrainingState state;
  Streams streams;
  std::vector<double> losses;
};

// Writes `content` with a change, and without waiting for the disk.
void write_changed(const fs::path& path, SafeTensors content, const std::function<void(SafeTensors&)>& change) {
  change(content);
  const std::vector<std::byte> bytes = format_safetensors(content);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("A model comes back bit for bit, in every variant, and computes the same") {
  const TemporaryFile file;
  for (const Config& config : all_variants()) {
    TransformerXL model = random_model(config);
    save_model(file.path, model);
    TransformerXL loaded = load_model(file.path);
    CHECK(loaded.config == config);
    CHECK(same_bits(parameter_values(loaded), parameter_values(model)));
    CHECK((loaded.output_weight.shared_node() == loaded.embedding.table.shared_node()) == config.tie_weights);
    const Tokens tokens = random_tokens(2, 4, 7);
    CHECK(same_bits(logits_in_pieces(loaded, tokens, {4}, 5), logits_in_pieces(model, tokens, {4}, 5)));
  }
}

TEST_CASE("Stop and resume equals never stopping, bit for bit, wherever the stop is") {
  const TemporaryFile file;
  for (const bool same_length : {false, true}) {
    Config config = dropout_config();
    config.same_length = same_length;
    Run whole(1, config);
    whole.train_to(10);
    for (const Index stop : {0, 3, 5, 9}) {
      CAPTURE(stop);
      Run first(1, config);
      first.train_to(stop);
      first.save(file.path);
      Run second(2, config);
      second.train_to(1);  // whatever it did before is forgotten
      second.load(file.path);
      CHECK(same_bits(second.tensors(), first.tensors()));
      CHECK(second.counters() == first.counters());
      second.losses.clear();
      second.train_to(10);
      CHECK(same_bits(second.tensors(), whole.tensors()));
      CHECK(second.counters() == whole.counters());
      CHECK(second.losses == std::vector<double>(whole.losses.begin() + stop, whole.losses.end()));
    }
  }
}

TEST_CASE("Rates come back as the same number, from older files in millionths, and a resume takes either") {
  const TemporaryFile file;
  Config config = tiny_config();
  for (const Real rate :
       {Real(0.9999996), Real(1) / 3, Real(1e-9), Real(0.1), std::nextafter(Real(1), Real(0)), Real(0)}) {
    config.dropout = config.attention_dropout = rate;
    CAPTURE(rate);
    TransformerXL model = random_model(config);
    save_model(file.path, model);
    CHECK(load_model(file.path).config == config);
  }
  Run run(1);
  run.train_to(1);
  run.save(file.path);
  write_changed(file.path, read_safetensors(file.path), [](SafeTensors& c) {
    c.metadata["dropout"] = "200000";
    c.metadata["attention_dropout"] = "333333";
    c.integers.erase("training.without_targets");
    c.integers.erase("training.missed");
  });
  CHECK(load_model(file.path).config.dropout == Real(0.2));
  Run again(2);
  again.load(file.path);
  CHECK(same_bits(again.tensors(), run.tensors()));
  for (const char* wrong : {"x", "0.2x", "", "0,2", "nan", "0.2 ", "1.5", "1000000"}) {
    write_changed(file.path, read_safetensors(file.path), [&](SafeTensors& c) { c.metadata["dropout"] = wrong; });
    CAPTURE(wrong);
    CHECK(holds(thrown_by<FileError>([&] { load_model(file.path); }), "dropout"));
  }
}

TEST_CASE("A resume knows which steps had no targets and which parameters missed theirs") {
  const TemporaryFile file;
  Run run(1), other(2);
  run.train_to(4);
  run.state.without_targets = 3;
  run.optimizer.missed[1] = 2;
  run.save(file.path);
  other.load(file.path);
  CHECK(other.state.without_targets == 3);
  CHECK(other.optimizer.missed == run.optimizer.missed);
  const SafeTensors content = read_safetensors(file.path);
  for (const Index wrong : {Index{-1}, Index{5}}) {
    for (const char* name : {"training.without_targets", "training.missed"}) {
      write_changed(file.path, content, [&](SafeTensors& c) { c.integers[name][0] = wrong; });
      CHECK(holds(thrown_by<FileError>([&] { run.load(file.path); }), name));
    }
  }
}

TEST_CASE("Counts so large that the next token could not be added are an error") {
  const TemporaryFile file;
  Run run(1);
  run.train_to(2);
  run.save(file.path);
  const SafeTensors content = read_safetensors(file.path);
  for (const Index wrong :
       {std::numeric_limits<Index>::max(), std::numeric_limits<Index>::max() - 3, std::numeric_limits<Index>::min()}) {
    CAPTURE(wrong);
    write_changed(file.path, content, [&](SafeTensors& c) { c.integers["training.tokens_read"][1] = wrong; });
    CHECK(holds(thrown_by<FileError>([&] { run.load(file.path); }), "training.tokens_read"));
    for (const Index counter : {0, 1}) {
      write_changed(file.path, content, [&](SafeTensors& c) { c.integers["training.counters"][counter] = wrong; });
      CHECK(holds(thrown_by<FileError>([&] { run.load(file.path); }), "training.counters"));
    }
  }
}

TEST_CASE("A checkpoint knows its vocabulary: another one of equal size beside it is an error that names both files") {
  const TemporaryFile file;
  const fs::path beside = vocabulary_beside(file.path);
  const Vocabulary words({"<unk>", "a", "b", "c", "d", "e", "f"}), others({"<unk>", "b", "a", "c", "d", "e", "f"}),
      fewer({"<unk>", "a"});
  const auto message = [&] { return thrown_by<FileError>([&] { load_words(file.path); }); };
  Run run(1);
  save_training(file.path, run.model, run.optimizer, run.state, 0, &words);
  CHECK(holds(message(), beside.string() + " is missing"));
  save_vocabulary(beside, words);
  CHECK(load_words(file.path)->words == words.words);
  save_vocabulary(beside, others);
  CHECK(holds(message(), beside.string()));
  CHECK(holds(message(), file.path.string()));
  CHECK(holds(message(), fingerprint(others)));
  CHECK(load_model(file.path).config == run.model.config);  // the weights are as good as ever

  save_model(file.path, run.model);  // as older checkpoints: any vocabulary of its size will do
  CHECK(load_words(file.path)->words == others.words);
  save_vocabulary(beside, fewer);
  CHECK(holds(message(), "has 2 words"));
  fs::remove(beside);
  CHECK_FALSE(load_words(file.path).has_value());
}

TEST_CASE("A row that was reset is still hidden after a resume") {
  const TemporaryFile file;
  Run run(1), other(2);
  run.train_to(2);
  run.state.memory = reset_rows(run.state.memory, {1});
  run.save(file.path);
  other.load(file.path);
  CHECK(other.state.memory.tokens_read == run.state.memory.tokens_read);
  CHECK(other.state.memory.tokens_read[1] == 0);
}

TEST_CASE("A model can be loaded from the file of a run, but no run from the file of a model") {
  const TemporaryFile file;
  Run run(1);
  run.train_to(2);
  run.save(file.path);
  TransformerXL loaded = load_model(file.path);
  CHECK(same_bits(parameter_values(loaded), parameter_values(run.model)));
  save_model(file.path, run.model);
  CHECK(holds(thrown_by<FileError>([&] { run.load(file.path); }), "training."));
}

TEST_CASE("A missing, extra or misshapen parameter is an error that names it") {
  const TemporaryFile file;
  TransformerXL model = random_model(tiny_config());
  save_model(file.path, model);
  const SafeTensors content = read_safetensors(file.path);
  const auto error_after = [&](const std::function<void(SafeTensors&)>& change) {
    write_changed(file.path, content, change);
    return thrown_by<FileError>([&] { load_model(file.path); });
  };
  for (const Parameter& p : parameters(model)) {
    CAPTURE(p.name);
    CHECK(holds(error_after([&](SafeTensors& c) { c.tensors.erase(p.name); }), p.name));
    const std::string misshapen = error_after([&](SafeTensors& c) {
      c.tensors[p.name] = Tensor::zeros({p.variable.value().size(), 1, 1});
    });
    CHECK(holds(misshapen, p.name));
    CHECK(holds(misshapen, "expected " + to_string(p.variable.shape())));
  }
  CHECK(holds(error_after([](SafeTensors& c) { c.tensors["w_x"] = Tensor::zeros({1}); }), "w_x"));
  CHECK(holds(error_after([](SafeTensors& c) { c.integers["w_i"] = Tokens({1}); }), "w_i"));
  CHECK(holds(error_after([](SafeTensors& c) {
                c.tensors["output_weight"] = Tensor::zeros({7, 4});
              }),
              "output_weight"));
  CHECK(holds(error_after([](SafeTensors& c) { c.metadata.erase("heads"); }), "heads"));
  CHECK(holds(error_after([](SafeTensors& c) { c.metadata["width"] = "3"; }), "width"));
  CHECK(holds(error_after([](SafeTensors& c) { c.metadata.clear(); }), "does not say"));
}

TEST_CASE("A small file whose metadata claims a giant model is an error before memory is asked for") {
  const TemporaryFile file;
  TransformerXL model = random_model(tiny_config());
  save_model(file.path, model);
  const SafeTensors content = read_safetensors(file.path);
  for (const char* name : {"vocabulary", "layers", "heads", "head_width", "width", "feed_forward_width"}) {
    write_changed(file.path, content, [&](SafeTensors& c) { c.metadata[name] = "1000000000"; });
    CAPTURE(name);
    CHECK_FALSE(thrown_by<FileError>([&] { load_model(file.path); }).empty());
  }
}

TEST_CASE("A run that cannot be taken up leaves model, optimiser and state as they were") {
  const TemporaryFile file;
  Run run(1);
  run.train_to(2);
  const std::vector<Tensor> before = run.tensors();
  const std::string counters = run.counters();
  Run saved(2);
  saved.train_to(4);
  saved.save(file.path);
  const SafeTensors content = read_safetensors(file.path);
  const auto error_after = [&](const std::function<void(SafeTensors&)>& change) {
    write_changed(file.path, content, change);
    const std::string message = thrown_by<FileError>([&] { run.load(file.path); });
    CHECK(same_bits(run.tensors(), before));
    CHECK(run.counters() == counters);
    return message;
  };
  CHECK(holds(error_after([](SafeTensors& c) { c.metadata["clamp_length"] = "9"; }), "another config"));
  CHECK(holds(error_after([](SafeTensors& c) { c.metadata.erase("random"); }), "random"));
  CHECK(holds(error_after([](SafeTensors& c) { c.metadata["random"] = "1 2 x"; }), "random"));
  const std::string last = saved.optimizer.parameters.back().name;
  for (const std::string& name :
       {last, "training.first_moment." + last, "training.second_moment." + last, std::string("training.memory.1")}) {
    CHECK(holds(error_after([&](SafeTensors& c) { c.tensors.erase(name); }), name));
    CHECK(holds(error_after([&](SafeTensors& c) { c.tensors[name] = Tensor::zeros({9, 9}); }), name));
  }
  for (const char* name : {"training.counters", "training.tokens_read"}) {
    CHECK(holds(error_after([&](SafeTensors& c) { c.integers.erase(name); }), name));
    CHECK(holds(error_after([&](SafeTensors& c) { c.integers[name] = Tokens({9}); }), name));
  }
  for (Index k = 0; k < 6; ++k) {  // step, optimiser's steps, position, limit, rows, length
    for (const Index wrong : {Index(-1), Index(1) << 60}) {
      if (wrong > 0 && k < 4) continue;
      CAPTURE(k);
      CAPTURE(wrong);
      CHECK_FALSE(error_after([&](SafeTensors& c) { c.integers["training.counters"][k] = wrong; }).empty());
    }
  }
  CHECK(holds(error_after([](SafeTensors& c) { c.integers["training.tokens_read"][1] = -1; }), "training.tokens_read"));
}

TEST_CASE("A file that is missing, cut off or changed anywhere is an error, never half a model") {
  const TemporaryFile file;
  Run run(1);
  run.train_to(1);
  CHECK_THROWS_AS(run.load(file.path), FileError);
  CHECK_THROWS_AS(load_model(file.path), FileError);
  run.save(file.path);
  const std::string bytes = bytes_of(file.path);
  const std::vector<Tensor> before = run.tensors();
  for (std::size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 97) {
    std::ofstream(file.path, std::ios::binary) << bytes.substr(0, length);
    CHECK_THROWS_AS(run.load(file.path), FileError);
    CHECK_THROWS_AS(load_model(file.path), FileError);
  }
  CHECK(same_bits(run.tensors(), before));
}

TEST_CASE("Saving keeps the old file when the new one cannot be written, and equal runs give equal files") {
  const TemporaryFile file;
  Run run(1), twin(1);
  run.train_to(3);
  twin.train_to(3);
  run.save(file.path);
  const std::string bytes = bytes_of(file.path);
  twin.save(file.path);
  CHECK(bytes_of(file.path) == bytes);
  CHECK_THROWS_AS(run.save(file.path / "below_a_file"), FileError);
  CHECK(bytes_of(file.path) == bytes);
}

}  // namespace segue::xl_checkpoint_test
