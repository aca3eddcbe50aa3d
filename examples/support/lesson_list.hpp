// All lessons, in the order in which they are read. Whoever adds one adds it here and to the table in README.md; a test
// holds the two together.
#pragma once

#include <string>
#include <vector>

namespace segue {

struct Lesson {
  std::string name;                    // of its program
  std::string question;                // as in the README, `so` where it names code
  std::string page;                    // of the book
  double seconds;                      // of one processor, roughly: those that take long are started first
  std::vector<std::string> arguments;  // "{out}" stands for the folder of all files
  bool alone = false;                  // nothing else may run beside it, since it measures time
  std::string after = "";              // the lesson whose files it reads
};

// Lessons that train use one thread each, since several run side by side and small models gain little from two.
inline const std::vector<std::string> for_drawing = {"out={out}"}, for_training = {"threads=1", "out={out}"};
inline constexpr bool measures_time = true;

inline const std::vector<Lesson> lesson_list = {
    {"first_gradient", "What does backward do, on six nodes one can check by hand?", "docs/03_reverse_mode.md", 1,
     for_drawing},
    {"stop_gradient", "What changes when one of them stops the gradient?", "docs/04_stop_gradient.md", 1, for_drawing},
    {"context_fragmentation", "What does a cut through a text break, and does a memory mend it?",
     "docs/09_context_fragmentation.md", 5, for_training},
    {"train_text", "How many bits per byte does a memory save on a real text, this book or yours (`text=FILE`)?",
     "docs/08_training_loop.md", 22, for_training},
    {"generate",
     "How does a model write on, one byte a step? Run `train_text` first: it saves the model.",
     "docs/15_generation.md",
     1,
     {"checkpoint={out}/train_text.safetensors"},
     false,
     "train_text"},
    {"relative_shift", "What does the shift do, cell by cell, and what does it cost?", "docs/07_relative_shift.md", 1,
     for_drawing, measures_time},
    {"position_encodings", "What do other encodings learn, and where do they fail?", "docs/10_position_encodings.md",
     34, for_training},
    {"memory_tools", "What do 8 bits and computing twice save, and what do they cost?", "docs/11_memory_tools.md", 13,
     for_training, measures_time},
    {"gradient_flow", "Where does a gradient end, and what passes all the same?", "docs/12_gradient_flow.md", 7,
     for_training, measures_time},
    {"context_retention", "How much of a fading attention does each kind of window keep?",
     "docs/13_context_retention.md", 1, for_drawing},
    {"long_document", "Can ten million bytes be read in a few megabytes?", "docs/14_long_documents.md", 5, for_training,
     measures_time},
    {"dialogue", "Does a fact told many turns ago come back right?", "docs/16_dialogue.md", 15, for_training},
    {"evaluate_text",
     "How good is a model, in the numbers that others use? After `train_text`, too.",
     "docs/17_evaluating_text.md",
     9,
     {"checkpoint={out}/train_text.safetensors", "threads=1", "out={out}"},
     measures_time,
     "train_text"},
    {"dependency_gap", "Is a key recalled across 5,000 tokens after training across 200, and what finds it?",
     "docs/19_dependency_gap.md", 23, for_training},
    {"effective_context", "How far back does a model see in theory, and how much of that does it use?",
     "docs/20_effective_context.md", 40, for_training},
    {"evaluation_speed", "How many times as slow is a sliding window as a memory of the same length?",
     "docs/21_evaluation_speed.md", 43, for_training, measures_time},
    {"coherence", "Does a text that a model writes agree with itself, with memory and without?", "docs/22_coherence.md",
     19, for_training},
    {"ablation", "Which part of Transformer-XL does what, and which differences are more than luck?",
     "docs/23_ablation.md", 60, for_training},
    {"training_stability", "How fast may one learn, and does the place of the layer norm matter?",
     "docs/24_training_stability.md", 34, for_training},
    {"matmul_ladder", "How does a matrix product of three loops become a hundred times as fast?",
     "docs/25_from_three_loops.md", 7, for_drawing, measures_time},
    {"cost_growth", "How do time and bytes of a training step grow with each size of a model?",
     "docs/26_cost_growth.md", 20, for_drawing, measures_time},
};

}  // namespace segue
