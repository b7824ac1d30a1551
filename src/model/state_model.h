#pragma once
// State models: which states a replica may be in, as data.
//
// A model ranks its states, best first, and says how many replicas of a shard may be in each, and which transitions exist. Replicas
// are dealt to states by rank: the best state takes its count, the next takes its count of those left, and so on. Two more states exist
// in every model and are never listed: `error` (any state may fail into it) and `dropped` (the end).
//
//   const StateModel& model = *find_built_in("MasterSlave");         // Helix's names are aliases: leader-follower
//   model.next("offline", "leader")  ->  "follower"                    // the way there, one transition at a time
//   model.states_for(3, 10)          ->  leader, follower, follower    // 3 replicas, 10 nodes
//
// Built in: leader-follower, leader-standby, online-offline, bootstrap, everywhere. A user's own is checked when it is made, so that a
// StateModel that exists is sound: every state can be reached from the initial one, the initial one from every state, names are
// unique, counts make sense. Values; all calls are const and cheap (models have a handful of states).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "evenkeel/model/ids.h"

namespace evenkeel {

// How many replicas of one shard may be in a state.
struct StateCount {
  enum class Kind : std::uint8_t {
    none,      // none wants to stay: a state on the way (offline, bootstrap)
    number,    // at most `number`
    replicas,  // as many as the workload has, or as are left after better states
    nodes,     // one on every node
  };
  Kind kind = Kind::none;
  std::uint32_t number = 0;
  friend bool operator==(const StateCount&, const StateCount&) = default;
};
std::string format(const StateCount& count);

struct State {
  StateId name;
  StateCount count;
  bool data = true;  // a replica in this state has the shard's data (a standby has none)
  friend bool operator==(const State&, const State&) = default;
};

struct StateEdge {
  StateId from;
  StateId to;
  friend bool operator==(const StateEdge&, const StateEdge&) = default;
};

// A model as somebody writes it, not yet checked.
struct StateModelSpec {
  StateModelId name;
  std::vector<State> states;  // best first
  StateId initial;
  std::vector<StateEdge> transitions;
  friend bool operator==(const StateModelSpec&, const StateModelSpec&) = default;
};

class StateModel {
 public:
  // The model, or everything that is wrong with it, each as one sentence.
  static tl::expected<StateModel, std::vector<std::string>> make(StateModelSpec spec);

  const StateModelId& name() const { return spec_.name; }
  const std::vector<State>& states() const { return spec_.states; }
  const StateId& initial() const { return spec_.initial; }
  const std::vector<StateEdge>& transitions() const { return spec_.transitions; }
  const StateModelSpec& spec() const { return spec_; }

  // 0 is the best. Nothing for a state that the model does not list; `error` and `dropped` have no rank.
  std::optional<std::size_t> rank(const StateId& state) const;
  // The best state that one shard may have only a stated number of (leader: 1); nothing if none is bounded by a number.
  std::optional<StateId> bounded() const;
  // Whether replicas in it are where they should be: it has a count.
  bool serves(const StateId& state) const;
  // States with a count in which a replica only waits, and is not asked: below the best one, and without data. A standby's.
  std::vector<StateId> idle() const;
  // The first step of the shortest way; among equally short ways the better state. Nothing if they are the same or there is no way.
  std::optional<StateId> next(const StateId& from, const StateId& to) const;
  // The states that the given number of replicas should be in, best first, by the counts.
  std::vector<StateId> states_for(std::size_t replicas, std::size_t nodes) const;

  friend bool operator==(const StateModel& a, const StateModel& b) { return a.spec_ == b.spec_; }

 private:
  explicit StateModel(StateModelSpec spec);
  std::size_t slot(const StateId& state) const;  // its rank, or that of error or dropped behind the listed ones; else slots

  // Listed states by rank, then error, then dropped.
  std::size_t slots() const { return spec_.states.size() + 2; }

  StateModelSpec spec_;
  std::vector<std::uint8_t> next_;  // [from * slots + to]: the slot of the next state on the way, or slots() if there is none
};

// The two states that every model has beside those it lists.
inline constexpr std::string_view state_error = "error";
inline constexpr std::string_view state_dropped = "dropped";

// The built-in models in the order in which they are documented.
const std::vector<StateModel>& built_in_models();
// By its own name or by Helix's (MasterSlave, LeaderStandby, OnlineOffline, …), in any case; nothing if it is neither.
const StateModel* find_built_in(std::string_view name);
// Every name that find_built_in takes, the models' own first: for suggestions.
std::vector<std::string_view> built_in_names();
// Helix's names of states as ours: MASTER -> leader, SLAVE -> follower, LEADER, STANDBY, ONLINE, OFFLINE, BOOTSTRAP, ERROR, DROPPED.
std::optional<StateId> state_from_helix(std::string_view name);

}  // namespace evenkeel
