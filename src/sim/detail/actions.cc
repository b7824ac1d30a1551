// What happens to a cluster: each action of a story.

#include <algorithm>
#include <utility>

#include "evenkeel/sim/detail/work.h"
#include "evenkeel/sim/edit.h"

namespace evenkeel::sim {
namespace {

using Kind = Action::Kind;

constexpr Duration leave_within = 10min;

}  // namespace

Result<NodeHost*> Simulation::Work::host(const NodeId& node) {
  const auto found = hosts_.find(node);
  if (found == hosts_.end()) return fail(Code::not_found, "there is no node {}", node);
  return &found->second;
}

Result<ControllerHost*> Simulation::Work::controller(std::uint64_t number) {
  if (number == 0 || number > controllers_.size()) return fail(Code::not_found, "there is no controller {}", number);
  return &controllers_[number - 1];
}

// Long because each kind is named once, so that the compiler says which one is missing.
Result<> Simulation::Work::perform(const Action& action) {
  say("story", format(action));
  tell_checkers(action);
  switch (action.kind) {
    case Kind::kill:
    case Kind::start:
    case Kind::start_new_disk:
    case Kind::start_twin:
    case Kind::stop:
    case Kind::cut:
    case Kind::cut_store:
    case Kind::cut_controllers:
    case Kind::cut_node:
    case Kind::leave:
    case Kind::expire:
      return perform_on_node(action);
    case Kind::clock_ahead:
    case Kind::clock_fast:
    case Kind::clock_slow:
    case Kind::slow:
    case Kind::fail_percent:
    case Kind::fail_shard:
    case Kind::hang_shard:
    case Kind::copy_nothing:
    case Kind::mend:
      return perform_on_service(action);
    case Kind::kill_controller:
    case Kind::start_controller:
    case Kind::stop_controller:
    case Kind::cut_controller:
    case Kind::cut_controller_nodes:
      return perform_on_controller(action);
    case Kind::stop_store:
    case Kind::store_loses:
    case Kind::store_loses_all:
    case Kind::store_delay:
    case Kind::store_lossy:
      return perform_on_store(action);
    case Kind::drain:
    case Kind::cordon:
    case Kind::no_leaders:
    case Kind::swap:
    case Kind::forget:
    case Kind::remove:
    case Kind::undo:
    case Kind::disable:
    case Kind::enable:
      return edit_node(action);
    case Kind::freeze:
    case Kind::freeze_keep_leaders:
    case Kind::thaw:
    case Kind::maintenance:
    case Kind::end_maintenance:
      return edit_config(action);
    case Kind::lead:
    case Kind::lead_accept_loss:
    case Kind::reset:
    case Kind::drop_orphan:
      return edit_order(action);
    case Kind::apply:
      operator_->edit_again();
      return {};
    case Kind::adopt:
      return adopt_orphans();
    case Kind::settings:
    case Kind::create:
    case Kind::change:
    case Kind::erase:
    case Kind::split_shards:
    case Kind::add:
      return edit_spec(action);
    case Kind::load:
    case Kind::load_all:
      return set_load(action);
    case Kind::writes:
      clients_->set_rate(static_cast<std::uint32_t>(action.words.number));
      return {};
    case Kind::end:
      return {};
  }
  return fail(Code::invalid, "no such action");
}

// What a controller is expected to have noticed begins anew when it, or the store, was not well.
void Simulation::Work::tell_checkers(const Action& action) {
  if (!checkers_) return;
  switch (action.kind) {
    case Kind::stop_controller:
    case Kind::cut_controller:
    case Kind::stop_store:
      loop_.post_after(action.words.time, [this] { checkers_->disturbed(); });
      [[fallthrough]];
    case Kind::store_delay:
    case Kind::store_lossy:
      checkers_->disturbed();
      return;
    default:
      return;
  }
}

// 1. Nodes.

Result<> Simulation::Work::start_node(NodeHost& host, bool on_a_new_disk) {
  if (host.main) return fail(Code::refused, "{} runs", host.spec.name);
  if (on_a_new_disk) host.disk = new_disk(host);
  start(host);
  return {};
}

Result<> Simulation::Work::leave(NodeHost& host) {
  if (!host.main && host.restarts) {
    host.restarts = false;
    host.killed = host.left = true;
    return {};
  }
  if (!host.main) return fail(Code::refused, "{} does not run", host.spec.name);
  host.leaves = true;
  const NodeId name = host.spec.name;
  const auto token = std::weak_ptr(host.main->token);
  host.main->participant->leave(leave_within, [this, name, token](const Result<>& left) {
    say(name.str(), left ? "has left" : fmt::format("has left: {}", left.error().message));
    loop_.post([this, name, token] {
      NodeHost& owner = hosts_.at(name);
      if (!owner.main || owner.main->token != token.lock()) return;
      owner.killed = owner.left = true;
      kill(owner, owner.main.get());
    });
  });
  return {};
}

Result<> Simulation::Work::perform_on_node(const Action& action) {
  const auto found = host(action.words.node);
  if (!found) return fail(found.error());
  NodeHost& owner = **found;
  const std::string name = owner.spec.name.str();
  const Duration time = action.words.time;
  const auto running = processes(owner);
  switch (action.kind) {
    case Kind::kill:
      if (running.empty() && !owner.restarts && owner.ended_twins == 0) return fail(Code::refused, "{} does not run", name);
      owner.killed = true;
      if (std::exchange(owner.restarts, false)) return {};  // it is not started again
      if (running.empty()) {
        --owner.ended_twins;
      } else {
        kill(owner, running.front());
      }
      return {};
    case Kind::start:
      return start_node(owner, false);
    case Kind::start_new_disk:
      return start_node(owner, true);
    case Kind::start_twin:
      owner.twins.push_back(start_process(owner, new_disk(owner)));
      return {};
    case Kind::stop:
      if (running.empty() && !owner.restarts) return fail(Code::refused, "{} does not run", name);
      for (NodeProcess* process : running) process->loop->stand_still(time);
      seen_.set_silent(owner.spec.name, true, elapsed());
      loop_.post_after(time, [this, node = owner.spec.name] {
        const NodeHost& again = hosts_.at(node);
        if (again.main && !again.main->loop->stands_still()) seen_.set_silent(node, false, elapsed());
      });
      return {};
    case Kind::cut:
      cut_store(name, time);
      cut_network(name, time);
      return {};
    case Kind::cut_store:
      cut_store(name, time);
      return {};
    case Kind::cut_controllers:
      cut_network(name, "controllers", time);
      return {};
    case Kind::cut_node:
      if (const auto other = host(action.words.other); !other) return fail(other.error());
      cut_network(name, action.words.other.str(), time);
      return {};
    case Kind::leave:
      return leave(owner);
    default:
      world_->expire(name);
      return {};
  }
}

Result<> Simulation::Work::perform_on_service(const Action& action) {
  const auto found = host(action.words.node);
  if (!found) return fail(found.error());
  NodeHost& owner = **found;
  switch (action.kind) {
    case Kind::clock_ahead:
      owner.clock.offset += action.words.time;
      return {};
    case Kind::clock_fast:
    case Kind::clock_slow:
      if (action.words.number >= 500'000) return fail(Code::invalid, "a clock that is {} ppm off is none", action.words.number);
      owner.clock.ppm = static_cast<std::int64_t>(action.words.number) * (action.kind == Kind::clock_fast ? 1 : -1);
      return {};
    case Kind::slow:
      owner.knobs.slow = action.words.number;
      return {};
    case Kind::fail_percent:
      owner.knobs.fail_percent = static_cast<std::uint32_t>(action.words.number);
      return {};
    case Kind::fail_shard:
      owner.knobs.failing.insert(action.words.shard);
      return {};
    case Kind::hang_shard:
      owner.knobs.hanging.insert(action.words.shard);
      return {};
    case Kind::copy_nothing:
      owner.knobs.copies_nothing = true;
      return {};
    default:
      owner.knobs = {};
      return {};
  }
}

// What replicas carry in truth; the spec does not know of it.
Result<> Simulation::Work::set_load(const Action& action) {
  auto load = parse_load(action.words.text);
  if (!load) return fail(load.error());
  const bool one = action.kind == Kind::load;
  const ShardId& shard = action.words.shard;
  const WorkloadId& workload = one ? shard.workload : action.words.workload;
  const auto found = std::ranges::find(spec_.workloads, workload, &Workload::name);
  if (found == spec_.workloads.end()) return fail(Code::not_found, "there is no workload {}", workload);
  if (one && shard.shard.value() >= found->shards) return fail(Code::not_found, "there is no shard {}", format(shard));
  if (one) {
    loads_[workload].shards[shard.shard] = *std::move(load);
  } else {
    loads_[workload] = Loads{.all = *std::move(load), .shards = {}};
  }
  services_->measure(workload);
  return {};
}

Amounts Simulation::Work::load_of(const ShardId& shard, bool leads) const {
  const auto known = loads_.find(shard.workload);
  if (known == loads_.end()) return {};
  const auto own = known->second.shards.find(shard.shard);
  Amounts load = own != known->second.shards.end() ? own->second : known->second.all;
  const auto spec = std::ranges::find(spec_.workloads, shard.workload, &Workload::name);
  if (load.empty() || !leads || spec == spec_.workloads.end()) return load;
  for (auto& [resource, amount] : load) {
    const auto more = spec->leader_load.find(resource);
    if (more != spec->leader_load.end()) amount += more->second;
  }
  return load;
}

// 2. Controllers and the store.

Result<> Simulation::Work::perform_on_controller(const Action& action) {
  const auto found = controller(action.words.number);
  if (!found) return fail(found.error());
  ControllerHost& owner = **found;
  const Duration time = action.words.time;
  const bool starts = action.kind == Kind::start_controller;
  const bool cuts = action.kind == Kind::cut_controller || action.kind == Kind::cut_controller_nodes;
  if (starts && owner.process) return fail(Code::refused, "{} runs", owner.name);
  if (!starts && !cuts && !owner.process) return fail(Code::refused, "{} does not run", owner.name);
  switch (action.kind) {
    case Kind::kill_controller:
      kill_controller(owner);
      return {};
    case Kind::start_controller:
      start_controller(owner);
      return {};
    case Kind::stop_controller:
      owner.process->loop->stand_still(time);
      return {};
    case Kind::cut_controller:
      cut_store(owner.name, time);
      cut_network(owner.name, time);
      return {};
    default:
      cut_network(owner.name, "nodes", time);
      return {};
  }
}

// What is not known is not the store's latest: the first moment that is, counts.
Result<> Simulation::Work::lose(Duration time) {
  const Duration then = elapsed() - time;
  for (auto known = revisions_.rbegin(); known != revisions_.rend(); ++known) {
    if (known->at > then) continue;
    if (const auto done = world_->put_back(known->revision); !done) return done;
    std::erase_if(revisions_, [&](const Known& one) { return one.revision > known->revision; });
    return after_loss();
  }
  return fail(Code::refused, "the store does not remember how it was {} ago", format(time));
}

Result<> Simulation::Work::after_loss() {
  seen_.take(world_->contents(), elapsed());
  if (checkers_) checkers_->store_was_put_back(world_->contents());
  return {};
}

Result<> Simulation::Work::perform_on_store(const Action& action) {
  const Duration time = action.words.time;
  switch (action.kind) {
    case Kind::stop_store:
      world_->stop();
      loop_.post_after(time, [this, stop = ++stops_] {
        if (stop == stops_) world_->resume();
      });
      return {};
    case Kind::store_loses:
      return lose(time);
    case Kind::store_loses_all:
      world_->lose_everything();
      revisions_.clear();
      return after_loss();
    case Kind::store_delay:
      options_.store.delay_max = time;
      world_->set_faults(options_.store);
      return {};
    default:
      options_.store.lost_requests = options_.store.lost_answers = static_cast<std::uint32_t>(action.words.number / 2);
      world_->set_faults(options_.store);
      return {};
  }
}

}  // namespace evenkeel::sim
