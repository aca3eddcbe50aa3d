// Ctrl-C as a question a loop can ask, so that a lesson ends cleanly and keeps what was done.
#pragma once

namespace segue {

/// From now on the first Ctrl-C only makes interrupted() true; the second ends the program at once.
void catch_interrupts();

/// Whether Ctrl-C was pressed.
bool interrupted();

}  // namespace segue
