#include "xl/checkpoint.hpp"

#include <set>
#include <utility>

#include "nn/safetensors.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

const std::string run = "training.";  // names of what belongs to a run and not to the model begin so

SafeTensors model_content(TransformerXL& model) {
  SafeTensors content;
  for (const Parameter& p : parameters(model)) content.tensors[p.name] = p.variable.value();
  content.metadata = to_metadata(model.config);
  return content;
}

Tensor tensor_of(const SafeTensors& content, const std::string& name, const Shape& shape, Where where) {
  const auto found = content.tensors.find(name);
  if (found == content.tensors.end()) fail<FileError>(where, "the checkpoint has no {}", name);
  if (!(found->second.shape() == shape)) {
    fail<FileError>(where, "the checkpoint has {} in shape {}, expected {}", name, found->second.shape(), shape);
  }
  return found->second.contiguous();
}

const Tokens& integers_of(const SafeTensors& content, const std::string& name, const Shape& shape, Where where) {
  const auto found = content.integers.find(run + name);
  if (found == content.integers.end() || !(found->second.shape == shape)) {
    fail<FileError>(where, "the checkpoint has no {} of shape {}, so no run can be taken up from it", run + name,
                    shape);
  }
  return found->second;
}

// The values of all parameters, in their order. Whatever the file holds beside them must belong to a run.
std::vector<Tensor> model_values(const SafeTensors& content, TransformerXL& model, Where where) {
  std::vector<Tensor> values;
  std::set<std::string> names;
  for (const Parameter& p : parameters(model)) {
    values.push_back(tensor_of(content, p.name, p.variable.shape(), where));
    names.insert(p.name);
  }
  for (const auto& [name, tensor] : content.tensors) {
    if (!names.contains(name) && !name.starts_with(run)) fail<FileError>(where, "the model has no parameter {}", name);
  }
  return values;
}

void set_values(TransformerXL& model, const std::vector<Tensor>& values) {
  std::size_t next = 0;
  for (Parameter& p : parameters(model)) p.variable.set_value(values[next++]);
}

std::string layer_name(std::size_t layer) { return run + "memory." + std::to_string(layer); }

}  // namespace

void save_model(const std::filesystem::path& path, TransformerXL& model, Where where) {
  write_safetensors(path, model_content(model), where);
}

TransformerXL load_model(const std::filesystem::path& path, Where where) {
  const SafeTensors content = read_safetensors(path, where);
  Random random(0);
  TransformerXL model(config_from_metadata(content.metadata, where), random, where);
  set_values(model, model_values(content, model, where));
  return model;
}

void save_training(const std::filesystem::path& path, TransformerXL& model, const Adam& optimizer,
                   const TrainingState& state, Index stream_position, Where where) {
  SafeTensors content = model_content(model);
  for (std::size_t k = 0; k < optimizer.parameters.size(); ++k) {
    content.tensors[run + "first_moment." + optimizer.parameters[k].name] = optimizer.first_moment[k];
    content.tensors[run + "second_moment." + optimizer.parameters[k].name] = optimizer.second_moment[k];
  }
  for (std::size_t n = 0; n < state.memory.layers.size(); ++n) {
    content.tensors[layer_name(n)] = state.memory.layers[n].value();
  }
  content.integers[run + "visible"] = Tokens({state.memory.batch()}, state.memory.visible);
  content.integers[run + "counters"] = Tokens({6}, {state.step, optimizer.steps, stream_position, state.memory.limit,
                                                    state.memory.batch(), state.memory.length()});
  content.metadata["random"] = state.random.state();
  write_safetensors(path, content, where);
}

Index load_training(const std::filesystem::path& path, TransformerXL& model, Adam& optimizer, TrainingState& state,
                    Where where) {
  const SafeTensors content = read_safetensors(path, where);
  if (!(config_from_metadata(content.metadata, where) == model.config)) {
    fail<FileError>(where, "{} holds a model of another config", path.string());
  }
  const std::vector<Tensor> values = model_values(content, model, where);
  std::vector<Tensor> first, second;
  for (const Parameter& p : optimizer.parameters) {
    first.push_back(tensor_of(content, run + "first_moment." + p.name, p.variable.shape(), where));
    second.push_back(tensor_of(content, run + "second_moment." + p.name, p.variable.shape(), where));
  }
  const Tokens& counters = integers_of(content, "counters", {6}, where);
  const Index B = counters[4], M = counters[5];
  TrainingState loaded = {counters[0], empty_memory(model.config, B, counters[3], where), state.random};
  for (std::size_t n = 0; n < loaded.memory.layers.size(); ++n) {
    loaded.memory.layers[n] = Variable(tensor_of(content, layer_name(n), {B, M, model.config.width}, where));
  }
  loaded.memory.visible = integers_of(content, "visible", {B}, where).ids;
  const auto random = content.metadata.find("random");
  loaded.random.restore(random == content.metadata.end() ? "" : random->second, where);

  set_values(model, values);
  optimizer.first_moment = std::move(first);
  optimizer.second_moment = std::move(second);
  optimizer.steps = counters[1];
  state = std::move(loaded);
  return counters[2];
}

}  // namespace segue
