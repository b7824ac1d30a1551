#include "evenkeel/node/detail/replica.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace evenkeel::node::detail {
namespace {

// What a closed replica is said to be in before its model is known.
constexpr std::string_view state_unknown = "offline";

// The best state that is not bounded, among those that serve if there are any: where one goes that must not lead.
StateId rest_of(const StateModel& model) {
  for (const State& state : model.states()) {
    if (state.count.kind == StateCount::Kind::replicas || state.count.kind == StateCount::Kind::nodes) return state.name;
  }
  return model.initial();
}

// Nobody tells it anything: no session, or a new one that has not spoken yet.
bool holds(const Replica& replica, const Standing& standing) { return !standing.joined || !replica.told; }

bool is_fenced_by_session(const Replica& replica) { return replica.terms && replica.terms->fencing == Fencing::session; }

bool is_refused(const Replica& replica) { return replica.entry && replica.refused > replica.entry->version.epoch; }

bool has_peer(const ReplicaTarget& entry, const NodeId& node) {
  return std::ranges::find(entry.peers, node, &Peer::node) != entry.peers.end();
}

}  // namespace

std::shared_ptr<const Terms> terms_of(const Target& target) {
  auto terms = std::make_shared<Terms>();
  terms->fencing = target.fencing;
  terms->deadline = target.deadline;
  terms->metadata = target.metadata;
  if (auto model = StateModel::make(target.model)) {
    terms->model = *std::move(model);
  } else {
    terms->why_no_model = fmt::format("the state model cannot be used: {}", fmt::join(model.error(), "; "));
  }
  return terms;
}

const StateModel* model_of(const Replica& replica) {
  return replica.terms && replica.terms->model ? &*replica.terms->model : nullptr;
}

bool is_dropped(const StateId& state) { return state.str() == state_dropped; }

bool is_bounded(const Replica& replica, const StateId& state) {
  const StateModel* model = model_of(replica);
  const auto rank = model == nullptr ? std::nullopt : model->rank(state);
  return rank && model->states()[*rank].count.kind == StateCount::Kind::number;
}

bool changes_bounded(const Replica& replica, const Transition& transition) {
  return is_bounded(replica, transition.from) || is_bounded(replica, transition.to);
}

bool leaves_bounded(const Replica& replica, const Transition& transition) {
  return transition.from != transition.to && is_bounded(replica, transition.from);
}

StateId goal(const Replica& replica, const Standing& standing) {
  const StateModel* model = model_of(replica);
  if (model == nullptr) return replica.state;
  const bool bounded = is_bounded(replica, replica.state);
  if (standing.leaving) {
    // A leader that nobody has relieved leads until the session ends.
    if (is_dropped(replica.state) || (bounded && standing.joined)) return replica.state;
    return model->initial();
  }
  if (holds(replica, standing)) {
    if (bounded && (is_fenced_by_session(replica) || is_refused(replica))) return rest_of(*model);
    // What has begun is finished, unless it would end where nobody may be without a session.
    const bool finishes = replica.run && !(is_bounded(replica, replica.run->transition.to) && is_fenced_by_session(replica));
    return finishes ? replica.run->transition.to : replica.state;
  }
  // A leader that cannot take up what it is told leads no more.
  if (replica.gave_up && bounded && replica.entry->state == replica.state) return rest_of(*model);
  return replica.entry->state;
}

bool differs(const Replica& replica, const Transition& last) {
  const ReplicaTarget& entry = *replica.entry;
  return last.version.epoch != entry.version.epoch || last.peers != entry.peers || last.copy_from != entry.copy_from ||
         last.shards != entry.shards || last.metadata != replica.terms->metadata;
}

std::optional<StateId> next_state(const Replica& replica, const Standing& standing) {
  const StateModel* model = model_of(replica);
  if (model == nullptr) return std::nullopt;
  const StateId to = goal(replica, standing);
  if (to != replica.state) return model->next(replica.state, to);
  if (standing.leaving || holds(replica, standing) || !model->serves(replica.state)) return std::nullopt;
  if (replica.last && !differs(replica, *replica.last)) return std::nullopt;
  return replica.state;
}

bool must_get_out(const Replica& replica, const Standing& standing) {
  const StateId to = goal(replica, standing);
  if (is_bounded(replica, replica.state))
    return to != replica.state || (replica.run && leaves_bounded(replica, replica.run->transition));
  return replica.run && is_bounded(replica, replica.run->transition.to) && to != replica.run->transition.to;
}

bool is_outdated(const Replica& replica, const Standing& standing) {
  const Transition& runs = replica.run->transition;
  const StateId to = goal(replica, standing);
  if (runs.from == runs.to) return to != runs.to || (!holds(replica, standing) && differs(replica, runs));
  if (to != runs.to && model_of(replica)->next(runs.from, to) != runs.to) return true;
  if (standing.leaving || holds(replica, standing)) return false;
  if (is_bounded(replica, runs.to) && runs.version.epoch != replica.entry->version.epoch) return true;
  // Whom it copies from does not hold the shard any more; merely another leader is no reason to begin anew.
  return runs.copy_from && runs.copy_from != replica.entry->copy_from && !has_peer(*replica.entry, *runs.copy_from);
}

Epoch leads_at(const Replica& replica, const Standing& standing) {
  const StateModel* model = model_of(replica);
  const auto lead = model == nullptr || !replica.entry ? std::nullopt : model->bounded();
  if (!lead || replica.entry->state != *lead) return {};
  const Epoch epoch = replica.entry->version.epoch;
  if (is_refused(replica) || replica.seal_wanted > epoch || (replica.sealed && replica.sealed->against > epoch)) return {};
  if (replica.run && replica.run->transition.from != replica.run->transition.to) {
    const Transition& runs = replica.run->transition;
    const bool enters = runs.to == *lead && runs.version.epoch == epoch && !replica.run->stopping;
    return enters && !must_get_out(replica, standing) ? epoch : Epoch();
  }
  if (replica.state != *lead || goal(replica, standing) != *lead) return {};
  const Transition* latest = replica.run && !replica.run->stopping ? &replica.run->transition : nullptr;
  const bool renews = latest != nullptr && latest->version.epoch == epoch;
  return renews || (replica.last && replica.last->version.epoch == epoch) ? epoch : Epoch();
}

bool seal_is_open(const Replica& replica) {
  if (replica.seal_asked) return true;
  if (!replica.seal_wanted || is_dropped(replica.state)) return false;
  return !replica.sealed || replica.sealed->against < *replica.seal_wanted;
}

bool is_nothing(const Replica& replica) { return is_dropped(replica.state) && !replica.run && !replica.seal_asked; }

void take_up(Replica& replica, const ReplicaTarget& entry, std::shared_ptr<const Terms> terms) {
  replica.named = true;
  if (replica.told && entry.version < replica.entry->version) return;
  if (!terms->model && model_of(replica) != nullptr) {  // it stays what it is, by the model that it knows
    replica.error = terms->why_no_model;
    return;
  }
  if (!replica.told || replica.entry->version < entry.version) {
    replica.error.clear();
    replica.tries = 0;
    replica.gave_up = false;
    replica.retry_at = Instant::min();
  }
  replica.told = true;
  replica.entry = entry;
  replica.terms = std::move(terms);
  if (replica.seal_wanted != entry.seal) {
    replica.seal_wanted = entry.seal;
    replica.seal_error.clear();
    replica.seal_tries = 0;
    replica.seal_at = Instant::min();
  }
  if (replica.sealed && replica.sealed->against <= entry.version.epoch) replica.sealed.reset();  // it has served its purpose
  const StateModel* model = model_of(replica);
  if (model == nullptr) {
    replica.error = replica.terms->why_no_model;
    replica.gave_up = true;
  } else if (replica.state.empty()) {
    replica.state = model->initial();
  }
  come_again(replica);
}

void come_again(Replica& replica) {
  if (!is_dropped(replica.state) || !replica.told || is_dropped(replica.entry->state) || model_of(replica) == nullptr) return;
  replica.state = model_of(replica)->initial();
  replica.last.reset();
  replica.sealed.reset();
  replica.data_epoch = {};
  replica.progress = 0;
}

void update_known(Replica& replica, const Standing& standing) {
  if (!replica.told) return;
  const Version& version = replica.entry->version;
  if (!replica.run && replica.state == replica.entry->state && !next_state(replica, standing)) replica.carried = version;
  // Something of an earlier entry runs that goes to, stays in or leaves a bounded state: it may still be there.
  if (replica.run && changes_bounded(replica, replica.run->transition) && replica.run->transition.version != version) return;
  if (!is_bounded(replica, replica.state) || replica.carried == version) replica.known = version;
}

ReplicaReport report_of(const Replica& replica) {
  return {.shard = replica.shard.shard,
          .state = replica.state.empty() ? StateId(std::string(state_unknown)) : replica.state,
          .version = replica.known,
          .last = replica.data_epoch,
          .progress = replica.progress,
          .sealed = replica.sealed,
          .error = replica.error.empty() ? replica.seal_error : replica.error,
          .tries = replica.tries,
          .gave_up = replica.gave_up};
}

}  // namespace evenkeel::node::detail
