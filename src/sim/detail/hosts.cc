// Processes: how they begin and end, what they send to each other, what is cut.

#include <algorithm>
#include <utility>

#include "evenkeel/sim/detail/work.h"

namespace evenkeel::sim {
namespace {

constexpr Duration clocks_apart = 1h;
constexpr std::int64_t clocks_off_ppm = 50;
constexpr Duration supervisor = 5s;  // starts a process again that ended itself

}  // namespace

HostClock Simulation::Work::draw_clock(std::string_view name) const {
  Rng rng = Rng(options_.seed).split("clocks").split(name);
  return {Duration(rng.between(0, Duration(clocks_apart).count())), rng.between(-clocks_off_ppm, clocks_off_ppm)};
}

// 1. Nodes.

NodeHost& Simulation::Work::add_host(Node node) {
  const NodeId name = node.name;
  NodeHost& host = hosts_[name];
  host.spec = std::move(node);
  host.clock = draw_clock(name.str());
  host.disk = new_disk(host);
  network_->join_group(name.str(), "nodes");
  return host;
}

std::shared_ptr<Disk> Simulation::Work::new_disk(NodeHost& host) {
  auto disk = std::make_shared<Disk>();
  Rng rng = Rng(options_.seed).split("disks").split(host.spec.name.str()).split(++host.disks);
  disk->id = DataId(fmt::format("{:016x}", rng.next()));
  return disk;
}

node::ParticipantOptions Simulation::Work::participant_options(NodeHost& host, NodeProcess& process) {
  const Node& spec = host.spec;
  const NodeId name = spec.name;
  const Duration ttl = options_.cluster.settings.control.session_ttl;
  node::ParticipantOptions options{.node = {.cluster = options_.cluster.name,
                                            .name = name,
                                            .address = fmt::format("{}:9000", name),
                                            .zone = spec.zone,
                                            .labels = spec.labels,
                                            .taints = spec.taints,
                                            .cores = spec.cores,
                                            .capacity = spec.capacity,
                                            .used = spec.used,
                                            .power = spec.power,
                                            .session_ttl = ttl},
                                   .data = process.disk->id,
                                   .owns_data = true,
                                   .rng = Rng(options_.seed).split("incarnations").split(name.str()).split(host.starts),
                                   .version = "sim",
                                   .broken = options_.broken_nodes};
  options.node.log = &*node_log_;
  if (options_.pulses) {
    options.send_pulse = [this, &process](const Pulse& pulse) { send_pulse(process, pulse); };
    options.pulse_all = [this, &process] { return must_pulse_all(process); };
  }
  options.on_stuck = [this, name, weak = std::weak_ptr(process.token)](const node::Stuck& stuck) {
    say(name.str(), fmt::format("ends itself: {} {}", format(stuck.shard), stuck.what));
    loop_.post([this, name, weak] {
      NodeHost& owner = hosts_.at(name);
      const auto token = weak.lock();
      if (!token) return;
      for (NodeProcess* one : processes(owner)) {
        if (one->token != token) continue;
        owner.ended_twins += one != owner.main.get() ? 1 : 0;
        kill(owner, one);
        if (owner.leaves && !owner.main) owner.killed = owner.left = true;
        owner.restarts = !owner.main && !owner.killed;
        break;
      }
      loop_.post_after(supervisor, [this, name] {
        NodeHost& again = hosts_.at(name);
        if (!again.main && !again.killed) start(again);
      });
    });
  };
  return options;
}

std::unique_ptr<NodeProcess> Simulation::Work::start_process(NodeHost& host, std::shared_ptr<Disk> disk) {
  const NodeId& name = host.spec.name;
  ++host.starts;
  auto process = std::make_unique<NodeProcess>();
  process->disk = std::move(disk);
  process->loop = std::make_unique<HostLoop>(loop_, host.clock);
  process->store = world_->connect(name.str(), *process->loop);
  process->service = std::make_unique<Service>(
      *services_, ServiceOptions{.node = name,
                                 .loop = process->loop.get(),
                                 .disk = process->disk.get(),
                                 .knobs = &host.knobs,
                                 .rng = Rng(options_.seed).split("services").split(name.str()).split(host.starts)});
  process->participant =
      std::make_unique<node::Participant>(*process->store, *process->service, participant_options(host, *process));
  node::Participant* participant = process->participant.get();
  process->service->set_may_lead(
      [participant](const ShardId& shard, Epoch epoch) { return participant->may_lead(shard, epoch); });
  process->service->set_refused([participant](const ShardId& shard, Epoch by) { participant->refused(shard, by); });
  process->service->set_current([participant] { return participant->is_current(); });
  return process;
}

void Simulation::Work::start(NodeHost& host) {
  host.leaves = host.left = host.killed = host.restarts = false;
  host.main = start_process(host, host.disk);
}

std::vector<NodeProcess*> Simulation::Work::processes(NodeHost& host) const {
  std::vector<NodeProcess*> all;
  if (host.main) all.push_back(host.main.get());
  for (const auto& twin : host.twins) all.push_back(twin.get());
  return all;
}

void Simulation::Work::kill(NodeHost& host, NodeProcess* process) {
  if (host.main.get() == process) {
    host.main.reset();
  } else {
    std::erase_if(host.twins, [&](const auto& twin) { return twin.get() == process; });
  }
  if (processes(host).empty()) seen_.set_silent(host.spec.name, true, elapsed());
  break_pulse(host.spec.name);
}

// 2. Pulses.

// A connection says whether all that was sent before has been heard. Of a new session the first ones may come before the controller knows of it.
bool Simulation::Work::must_pulse_all(const NodeProcess& process) const {
  constexpr std::uint64_t first_ones = 3;
  const ControllerHost* host = active_host();
  if (host == nullptr) return false;  // it hears nothing, and all of it later
  return process.pulses < first_ones || process.heard != process.pulses || process.heard_by != host->process->controller->epoch();
}

void Simulation::Work::send_pulse(NodeProcess& process, const Pulse& pulse) {
  const Duration every = options_.cluster.settings.control.session_ttl / 3;
  std::shared_ptr<const Pulse> sent;
  ++process.pulses;
  for (ControllerHost& host : controllers_) {
    if (!host.process || !host.process->controller->active()) continue;
    if (!sent) sent = std::make_shared<const Pulse>(pulse);
    control::Controller* controller = host.process->controller.get();
    network_->send(pulse.node.str(), {.host = host.name, .loop = host.process->loop.get(), .alive = host.process->token},
                   [controller, sent, every, &process, number = process.pulses, alive = std::weak_ptr(process.token)] {
                     if (!controller->active()) return;
                     controller->pulse(*sent, every);
                     if (alive.expired() || controller->epoch() < process.heard_by) return;
                     process.heard_by = controller->epoch();
                     process.heard = number;
                   });
  }
}

// A process that ends closes its connections.
void Simulation::Work::break_pulse(const NodeId& node) {
  if (!options_.pulses) return;
  for (ControllerHost& host : controllers_) {
    if (!host.process || !host.process->controller->active()) continue;
    control::Controller* controller = host.process->controller.get();
    network_->send(node.str(), {.host = host.name, .loop = host.process->loop.get(), .alive = host.process->token},
                   [controller, node] { controller->pulse_broken(node); });
  }
}

// 3. Controllers.

void Simulation::Work::start_controller(ControllerHost& host) {
  auto process = std::make_unique<ControllerProcess>();
  process->loop = std::make_unique<HostLoop>(loop_, host.clock);
  process->store = world_->connect(host.name, *process->loop);
  process->controller = std::make_unique<control::Controller>(
      *process->store, control::ControllerOptions{.cluster = options_.cluster.name,
                                                  .name = host.name,
                                                  .session_ttl = options_.cluster.settings.control.controller_ttl,
                                                  .names = Rng(options_.seed).split(host.name).split(++host.starts),
                                                  .machine = {.broken = options_.broken}});
  process->controller->on_event([this, name = host.name](const control::Event& event) { say(name, describe(event)); });
  host.process = std::move(process);
}

void Simulation::Work::kill_controller(ControllerHost& host) { host.process.reset(); }

std::string Simulation::Work::describe(const control::Event& event) {
  std::string text;
  if (event.shard) text += format(*event.shard) + " ";
  if (event.node) text += event.node->str() + " ";
  if (event.kind == control::Event::Kind::maintenance) text += "maintenance ";
  return text + event.text;
}

// 4. Cuts.

void Simulation::Work::cut_store(const std::string& client, Duration time) {
  const Instant until = later(loop_.now(), time);
  Instant& end = store_cut_until_[client];
  end = std::max(end, until);
  world_->cut_off(client);
  loop_.post_at(until, [this, client] {
    if (loop_.now() >= store_cut_until_[client]) world_->heal(client);
  });
}

void Simulation::Work::cut_network(const std::string& host, Duration time) {
  network_->cut(host);
  loop_.post_after(time, [this, host] { network_->heal(host); });
}

void Simulation::Work::cut_network(const std::string& one, const std::string& other, Duration time) {
  network_->cut(one, other);
  loop_.post_after(time, [this, one, other] { network_->heal(one, other); });
}

}  // namespace evenkeel::sim
