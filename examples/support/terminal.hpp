// What we need to know of the terminal behind stdout or stderr.
#pragma once

#include <cstdio>
#include <string>

namespace segue {

/// True when `stream` is a terminal that understands control sequences.
bool is_terminal(std::FILE* stream);

/// True when text on `stream` should be coloured: a terminal, and NO_COLOR is not set (https://no-color.org).
bool wants_color(std::FILE* stream);

/// Columns of the terminal behind `stream`; 80 where there is none.
int terminal_width(std::FILE* stream);

/// How many columns a UTF-8 text fills, at one per character.
int columns(const std::string& text);

}  // namespace segue
