#pragma once
// The rules and goals, one file each; terms.cc lists them.

#include <memory>

#include "evenkeel/place/engine.h"

namespace evenkeel::place::detail {

inline constexpr std::string_view barred_words = "the shard is barred from it";

using Made = std::unique_ptr<Term>;  // null: the problem has no data for it

// Rules.
Made make_frozen(const Problem& problem);
Made make_able(const Problem& problem);
Made make_barred(const Problem& problem);
Made make_limits(const Problem& problem);
Made make_distinct(const Problem& problem);
Made make_hard_spread(const Problem& problem);
Made make_dependency(const Problem& problem);

// Goals.
Made make_soft_spread(const Problem& problem);
Made make_affinity(const Problem& problem);
Made make_avoid(const Problem& problem);
Made make_soft_limits(const Problem& problem);
Made make_level(const Problem& problem);
Made make_family_level(const Problem& problem);
Made make_leader_level(const Problem& problem);
Made make_free_pairs(const Problem& problem);
Made make_moves(const Problem& problem);
Made make_most_moved(const Problem& problem);

}  // namespace evenkeel::place::detail
