#include "evenkeel/model/state_model.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "evenkeel/base/text.h"

namespace evenkeel {
namespace {

constexpr std::size_t states_max = 32;
constexpr std::size_t transitions_max = states_max * (states_max - 1);

using Reach = std::vector<std::vector<std::size_t>>;  // neighbours by slot

std::size_t slot_of(const StateModelSpec& spec, const StateId& state) {
  const auto found = std::ranges::find(spec.states, state, &State::name);
  if (found != spec.states.end()) return static_cast<std::size_t>(found - spec.states.begin());
  if (state.str() == state_error) return spec.states.size();
  if (state.str() == state_dropped) return spec.states.size() + 1;
  return spec.states.size() + 2;
}

// What the spec lists, and what every model has: all states may fail into error; error can be reset to the initial state or dropped;
// the initial state can be dropped.
Reach edges_of(const StateModelSpec& spec) {
  const std::size_t error = spec.states.size(), dropped = error + 1;
  Reach out(spec.states.size() + 2);
  for (const StateEdge& edge : spec.transitions) out[slot_of(spec, edge.from)].push_back(slot_of(spec, edge.to));
  const std::size_t initial = slot_of(spec, spec.initial);
  out[initial].push_back(dropped);
  out[error].push_back(initial);
  out[error].push_back(dropped);
  for (auto& to : out) {
    std::ranges::sort(to);
    to.erase(std::ranges::unique(to).begin(), to.end());
  }
  return out;
}

// How many transitions it takes from every slot to `to`; slots for "no way".
std::vector<std::size_t> distances_to(const Reach& edges, std::size_t to) {
  std::vector<std::size_t> distance(edges.size(), edges.size());
  distance[to] = 0;
  for (std::size_t round = 0; round < edges.size(); ++round) {
    for (std::size_t from = 0; from < edges.size(); ++from) {
      for (const std::size_t via : edges[from]) distance[from] = std::min(distance[from], distance[via] + 1);
    }
  }
  return distance;
}

void check_states(const StateModelSpec& spec, std::vector<std::string>& wrong) {
  if (spec.states.empty()) wrong.push_back("it has no states");
  bool counted = false, rest_taken = false;
  for (std::size_t i = 0; i < spec.states.size(); ++i) {
    const auto& [name, count, data] = spec.states[i];
    if (const auto why = why_not_a_name(name.str())) wrong.push_back(*why);
    if (name.str() == state_error || name.str() == state_dropped) {
      wrong.push_back(fmt::format("the state {} is in every model and must not be listed", quote(name.str())));
    }
    if (std::ranges::find(spec.states.begin(), spec.states.begin() + static_cast<std::ptrdiff_t>(i), name, &State::name) !=
        spec.states.begin() + static_cast<std::ptrdiff_t>(i)) {
      wrong.push_back(fmt::format("the state {} is listed twice", quote(name.str())));
    }
    if (count.kind == StateCount::Kind::number && count.number == 0) {
      wrong.push_back(fmt::format("the state {} has the count 0; leave the count out for a state on the way", quote(name.str())));
    }
    if (count.kind != StateCount::Kind::none && rest_taken) {
      wrong.push_back(fmt::format("the state {} can never be used: a better one takes all replicas", quote(name.str())));
    }
    counted |= count.kind != StateCount::Kind::none;
    rest_taken |= count.kind == StateCount::Kind::replicas || count.kind == StateCount::Kind::nodes;
  }
  if (!counted && !spec.states.empty()) wrong.push_back("no state has a count, so no replica would ever serve");
}

void check_transitions(const StateModelSpec& spec, std::vector<std::string>& wrong) {
  std::vector<std::string_view> names;
  for (const State& state : spec.states) names.push_back(state.name.str());
  const auto known = [&](const StateId& state, std::string_view where) {
    if (std::ranges::find(names, state.str()) != names.end()) return true;
    const auto near = nearest(state.str(), names);
    wrong.push_back(fmt::format("{} names the unknown state {}{}", where, quote(state.str()),
                                near ? fmt::format("; did you mean {}?", quote(*near)) : std::string()));
    return false;
  };
  bool sound = known(spec.initial, "the initial state");
  for (const StateEdge& edge : spec.transitions) {
    const auto where = fmt::format("the transition {} -> {}", edge.from, edge.to);
    sound &= known(edge.from, where);
    sound &= known(edge.to, where);
    if (edge.from == edge.to) wrong.push_back(where + " leads nowhere");
    if (std::ranges::count(spec.transitions, edge) > 1) wrong.push_back(where + " is listed twice");
  }
  if (!sound || !wrong.empty()) return;  // reachability means nothing on a broken graph
  const auto edges = edges_of(spec);
  const std::size_t initial = slot_of(spec, spec.initial);
  const auto back = distances_to(edges, initial);
  for (std::size_t i = 0; i < spec.states.size(); ++i) {
    const auto state = quote(spec.states[i].name.str());
    if (distances_to(edges, i)[initial] == edges.size())
      wrong.push_back(fmt::format("the state {} cannot be reached from the initial state", state));
    if (back[i] == edges.size()) wrong.push_back(fmt::format("the initial state cannot be reached from the state {}", state));
  }
}

StateModel built_in(std::string name, std::vector<State> states, const std::vector<std::pair<std::string, std::string>>& edges) {
  StateModelSpec spec{
      .name = StateModelId(std::move(name)), .states = std::move(states), .initial = StateId("offline"), .transitions = {}};
  for (const auto& [a, b] : edges) spec.transitions.push_back({StateId(a), StateId(b)});
  auto model = StateModel::make(std::move(spec));
  ensure(model.has_value(), "a built-in state model is sound");
  return *std::move(model);
}

struct Alias {
  std::string_view helix;
  std::string_view ours;
};
constexpr std::array model_aliases = {
    Alias{"MasterSlave", "leader-follower"},  Alias{"LeaderFollower", "leader-follower"},
    Alias{"LeaderStandby", "leader-standby"}, Alias{"CdcLeaderStandby", "leader-standby"},
    Alias{"OnlineOffline", "online-offline"}, Alias{"OnlineOfflineWithBootstrap", "bootstrap"},
    Alias{"StorageSchemata", "everywhere"},   Alias{"STORAGE_DEFAULT_SM_SCHEMATA", "everywhere"},
};
constexpr std::array state_aliases = {
    Alias{"MASTER", "leader"},   Alias{"LEADER", "leader"},   Alias{"SLAVE", "follower"},  Alias{"FOLLOWER", "follower"},
    Alias{"STANDBY", "standby"}, Alias{"ONLINE", "online"},   Alias{"OFFLINE", "offline"}, Alias{"BOOTSTRAP", "bootstrap"},
    Alias{"ERROR", "error"},     Alias{"DROPPED", "dropped"},
};

}  // namespace

std::string format(const StateCount& count) {
  switch (count.kind) {
    case StateCount::Kind::none:
      return "none";
    case StateCount::Kind::number:
      return fmt::format("{}", count.number);
    case StateCount::Kind::replicas:
      return "replicas";
    case StateCount::Kind::nodes:
      break;
  }
  return "nodes";
}

tl::expected<StateModel, std::vector<std::string>> StateModel::make(StateModelSpec spec) {
  std::vector<std::string> wrong;
  if (const auto why = why_not_a_name(spec.name.str())) wrong.push_back(*why);
  if (spec.states.size() > states_max || spec.transitions.size() > transitions_max) {
    wrong.push_back(fmt::format("it has {} states and {} transitions; at most {} and {} are allowed", spec.states.size(),
                                spec.transitions.size(), states_max, transitions_max));
    return tl::unexpected(std::move(wrong));
  }
  check_states(spec, wrong);
  check_transitions(spec, wrong);
  if (!wrong.empty()) return tl::unexpected(std::move(wrong));
  return StateModel(std::move(spec));
}

StateModel::StateModel(StateModelSpec spec)
    : spec_(std::move(spec)), next_(slots() * slots(), static_cast<std::uint8_t>(slots())) {
  const auto edges = edges_of(spec_);
  for (std::size_t to = 0; to < slots(); ++to) {
    const auto distance = distances_to(edges, to);
    for (std::size_t from = 0; from < slots(); ++from) {
      for (const std::size_t via : edges[from]) {  // by rank, so the first of the nearest is the best of them
        if (distance[from] == slots() || distance[via] + 1 != distance[from]) continue;
        next_[from * slots() + to] = static_cast<std::uint8_t>(via);
        break;
      }
    }
  }
}

std::size_t StateModel::slot(const StateId& state) const { return slot_of(spec_, state); }

std::optional<std::size_t> StateModel::rank(const StateId& state) const {
  const std::size_t at = slot(state);
  return at < spec_.states.size() ? std::optional(at) : std::nullopt;
}

std::optional<StateId> StateModel::bounded() const {
  const auto by_number = [](const State& state) { return state.count.kind == StateCount::Kind::number; };
  const auto found = std::ranges::find_if(spec_.states, by_number);
  return found != spec_.states.end() ? std::optional(found->name) : std::nullopt;
}

bool StateModel::serves(const StateId& state) const {
  const auto at = rank(state);
  return at && spec_.states[*at].count.kind != StateCount::Kind::none;
}

std::vector<StateId> StateModel::idle() const {
  std::vector<StateId> found;
  for (const State& state : spec_.states | std::views::drop(1)) {
    if (serves(state.name) && !state.data) found.push_back(state.name);
  }
  return found;
}

std::optional<StateId> StateModel::next(const StateId& from, const StateId& to) const {
  const std::size_t a = slot(from), b = slot(to);
  if (a >= slots() || b >= slots() || a == b) return std::nullopt;
  const std::size_t via = next_[a * slots() + b];
  if (via < spec_.states.size()) return spec_.states[via].name;
  if (via >= slots()) return std::nullopt;
  return StateId(std::string(via == spec_.states.size() ? state_error : state_dropped));
}

std::vector<StateId> StateModel::states_for(std::size_t replicas, std::size_t nodes) const {
  std::vector<StateId> out;
  const auto on_every_node = [](const State& state) { return state.count.kind == StateCount::Kind::nodes; };
  if (std::ranges::any_of(spec_.states, on_every_node)) replicas = nodes;
  for (const State& state : spec_.states) {
    std::size_t wanted = 0;
    switch (state.count.kind) {
      case StateCount::Kind::none:
        break;
      case StateCount::Kind::number:
        wanted = state.count.number;
        break;
      case StateCount::Kind::replicas:
        wanted = replicas;
        break;
      case StateCount::Kind::nodes:
        wanted = nodes;
        break;
    }
    while (wanted-- > 0 && out.size() < replicas) out.push_back(state.name);
  }
  return out;
}

const std::vector<StateModel>& built_in_models() {
  static const auto models = [] {
    const StateCount one{StateCount::Kind::number, 1}, rest{StateCount::Kind::replicas}, all{StateCount::Kind::nodes};
    const State leader{StateId("leader"), one}, follower{StateId("follower"), rest}, standby{StateId("standby"), rest, false};
    const State online{StateId("online"), rest}, online_everywhere{StateId("online"), all};
    const State bootstrap{StateId("bootstrap"), {}}, offline{StateId("offline"), {}},
        empty_offline{StateId("offline"), {}, false};
    return std::vector{
        built_in("leader-follower", {leader, follower, offline},
                 {{"offline", "follower"}, {"follower", "leader"}, {"leader", "follower"}, {"follower", "offline"}}),
        built_in("leader-standby", {leader, standby, empty_offline},
                 {{"offline", "standby"}, {"standby", "leader"}, {"leader", "standby"}, {"standby", "offline"}}),
        built_in("online-offline", {online, offline}, {{"offline", "online"}, {"online", "offline"}}),
        built_in("bootstrap", {online, bootstrap, offline},
                 {{"offline", "bootstrap"}, {"bootstrap", "online"}, {"online", "offline"}, {"bootstrap", "offline"}}),
        built_in("everywhere", {online_everywhere, offline}, {{"offline", "online"}, {"online", "offline"}}),
    };
  }();
  return models;
}

const StateModel* find_built_in(std::string_view name) {
  for (const Alias& alias : model_aliases) {
    if (same_in_any_case(alias.helix, name)) name = alias.ours;
  }
  const auto& models = built_in_models();
  const auto found = std::ranges::find_if(models, [&](const StateModel& m) { return same_in_any_case(m.name().str(), name); });
  return found != models.end() ? &*found : nullptr;
}

std::vector<std::string_view> built_in_names() {
  std::vector<std::string_view> names;
  for (const StateModel& model : built_in_models()) names.push_back(model.name().str());
  for (const Alias& alias : model_aliases) names.push_back(alias.helix);
  return names;
}

std::optional<StateId> state_from_helix(std::string_view name) {
  const auto found = std::ranges::find_if(state_aliases, [&](const Alias& a) { return same_in_any_case(a.helix, name); });
  return found != state_aliases.end() ? std::optional(StateId(std::string(found->ours))) : std::nullopt;
}

}  // namespace evenkeel
