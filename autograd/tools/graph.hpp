// The graph made visible: as an indented tree for the terminal, and as DOT for Graphviz.
#pragma once

#include <string>

#include "autograd/variable.hpp"

namespace segue {

/// One line for each node, inputs indented under their user; a node met again is only referred to
/// by its number. At most `most` lines. A stop-gradient shows what it cut.
std::string graph_as_tree(const Variable& z, std::size_t most = 200);

/// The same graph in the DOT language, at most `most` nodes; stop-gradients are dashed.
std::string graph_as_dot(const Variable& z, std::size_t most = 200);

/// How many nodes z holds alive, itself included.
std::size_t graph_size(const Variable& z);

}  // namespace segue
