#pragma once
// Short chains: moves whose point is what they make possible.

#include "evenkeel/place/detail/board.h"
#include "evenkeel/place/detail/finder.h"

namespace evenkeel::place::detail {

// Nothing can take the replica now. If another one's move would free the room that it needs, that one is moved in this round, and the
// replica finds its place in the next.
enum class Room : std::uint8_t { none, made, waits };  // waits: a limit on moves holds the other one back
Room make_room(Board& board, Finder& finder, std::uint32_t replica);

// Another replica than this one leads: one that may, on a live node, where leadership costs least. If somebody must, then also one that
// should not or has no room for it. False: there is none.
bool pass_leadership(Board& board, std::uint32_t group, std::uint32_t except, bool must);

// Whoever took over from a lost leader and had to leave hands on to one that is still where it was.
void keep_leader(Board& board, std::uint32_t replica);
void keep_leaders(Board& board);
// Whether any replica took over from a lost leader.
bool any_heir(const Board& board);

}  // namespace evenkeel::place::detail
