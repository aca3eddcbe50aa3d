// A graph as a picture for a book: a box for each node, inputs to the left of their users.
#pragma once

#include <filesystem>
#include <string>

#include "autograd/variable.hpp"

namespace segue {

/// The graph that z holds, as SVG. A box shows how its node was made, its value and, where backward left one, its
/// gradient; for more than one element their shape. A stop-gradient is a dashed box behind a wall, with a dashed line
/// from the node it cut, or from the name of that node where z does not hold it. `description` is a sentence for
/// readers who cannot see the picture. Throws ValueError for more than 64 nodes.
std::string graph_as_svg(const Variable& z, const std::string& title, const std::string& description,
                         Where where = Where::current());

/// Writes that picture. Throws FileError, and ValueError like graph_as_svg.
void write_graph_svg(const std::filesystem::path& path, const Variable& z, const std::string& title,
                     const std::string& description, Where where = Where::current());

}  // namespace segue
