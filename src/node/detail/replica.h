#pragma once
// One replica, as the reconciler knows it, and what follows from that: where it goes, what is next, whether it leads, what it says.
//
// Everything here is a function of the replica and of how the node stands; the reconciler changes replicas and keeps time.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "evenkeel/model/exchange.h"
#include "evenkeel/model/state_model.h"
#include "evenkeel/node/handler.h"

namespace evenkeel::node::detail {

// What the entries of one target document share.
struct Terms {
  std::optional<StateModel> model;
  std::string why_no_model;
  Fencing fencing = Fencing::session;
  Duration deadline = {};  // 0: none
  std::string metadata;
};
std::shared_ptr<const Terms> terms_of(const Target& target);

// How the node stands.
struct Standing {
  bool joined = false;   // it has a session
  bool leaving = false;  // it obeys nobody any more
};

// A transition that was started and has not answered.
struct Run {
  std::uint64_t id = 0;
  Transition transition;
  Turn turn = Turn::slow;
  bool stopping = false;
  bool superseded = false;  // stopped because something newer came: that is no failure
  bool overdue = false;
};

struct Replica {
  ShardId shard;
  Bucket bucket;
  std::shared_ptr<const Terms> terms;  // null: it was told nothing since this process began
  std::optional<ReplicaTarget> entry;  // the latest that was taken up
  bool told = false;                   // in this incarnation
  bool named = false;                  // in the latest document of its bucket
  StateId state;                       // empty: the initial one of a model that is not known yet
  std::optional<Transition> last;      // that was done
  Version carried;                     // of the latest entry that its handler has carried out, or that asks nothing of it
  Version known;                       // what is reported
  Epoch data_epoch;                    // of the leader whose data it has taken last
  std::uint64_t progress = 0;
  std::optional<Run> run;
  bool waiting = false;  // for its turn among the slow ones

  std::string error;
  std::uint32_t tries = 0;
  bool gave_up = false;
  Instant retry_at = Instant::min();

  std::optional<Epoch> seal_wanted;
  std::optional<Epoch> seal_asked;  // of the handler, not answered
  std::optional<Sealed> sealed;
  std::string seal_error;
  std::uint32_t seal_tries = 0;
  Instant seal_at = Instant::min();

  Epoch refused;  // a peer refuses what is older

  Epoch lead;                          // what the shell was told last; 0: it does not
  Fencing fencing = Fencing::session;  // the same, if it leads
  Instant out_by = Instant::max();
  bool stuck = false;            // that was said
  Instant due = Instant::max();  // when the reconciler looks at it again
  bool unsettled = false;
};

const StateModel* model_of(const Replica& replica);
bool is_dropped(const StateId& state);
bool is_bounded(const Replica& replica, const StateId& state);
// It changes who is in a bounded state.
bool changes_bounded(const Replica& replica, const Transition& transition);
bool leaves_bounded(const Replica& replica, const Transition& transition);

// Where it is to go now; its own state if nowhere.
StateId goal(const Replica& replica, const Standing& standing);
// It was told something else than what its handler was told last: peers, epoch, whom to copy from.
bool differs(const Replica& replica, const Transition& last);
// The next state on its way; its own if only what its handler should know has changed; nothing if there is nothing to do, or no way.
std::optional<StateId> next_state(const Replica& replica, const Standing& standing);
// It is, or may be in a moment, in a bounded state that it must leave.
bool must_get_out(const Replica& replica, const Standing& standing);
// What runs is not on the way any more.
bool is_outdated(const Replica& replica, const Standing& standing);
// The epoch at which it may lead; 0: it may not.
Epoch leads_at(const Replica& replica, const Standing& standing);
// A seal that its handler is still to be asked for, or to answer.
bool seal_is_open(const Replica& replica);
// Dropped, and its handler is not busy with it: only its report is left.
bool is_nothing(const Replica& replica);

// Changes.
void take_up(Replica& replica, const ReplicaTarget& entry, std::shared_ptr<const Terms> terms);
// What was dropped and is wanted again begins anew, from nothing.
void come_again(Replica& replica);
// Brings up to date what it says about the entries that it has taken up.
void update_known(Replica& replica, const Standing& standing);

ReplicaReport report_of(const Replica& replica);

}  // namespace evenkeel::node::detail
