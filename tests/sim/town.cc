#include "tests/sim/town.h"

namespace evenkeel::sim::test {

std::vector<Peer> peers(const std::vector<std::string>& nodes, const std::string& state) {
  std::vector<Peer> out;
  for (const std::string& node : nodes) out.push_back({NodeId(node), StateId(state)});
  return out;
}

Town::Town(std::uint64_t seed)
    : rng(seed),
      network(loop, rng.split("network"), 2ms),
      services(network, ledger, {},
               {.facts = [this](const WorkloadId&) { return facts; }, .load = [](const ShardId&, bool) { return Amounts{}; }}) {}

Service& Town::start(const std::string& node) {
  Host& host = hosts[node];
  if (host.disk.id.empty()) host.disk.id = DataId("d-" + node);
  host.may_lead.clear();
  host.service = std::make_unique<Service>(services, ServiceOptions{.node = NodeId(node),
                                                                    .loop = &loop,
                                                                    .disk = &host.disk,
                                                                    .knobs = &host.knobs,
                                                                    .rng = rng.split(node).split(rng.next())});
  host.service->set_may_lead([&host](const ShardId& asked, Epoch epoch) {
    const auto found = host.may_lead.find(asked);
    return found != host.may_lead.end() && found->second == epoch;
  });
  return *host.service;
}

std::shared_ptr<Ending> Town::begin(const std::string& node, const Told& told, std::stop_token stop) {
  auto ending = std::make_shared<Ending>();
  node::Transition transition{.shard = shard,
                              .from = StateId(told.from),
                              .to = StateId(told.to),
                              .final = StateId(told.to),
                              .version = told.version,
                              .reason = told.reason,
                              .peers = told.peers};
  if (!told.copy_from.empty()) transition.copy_from = NodeId(told.copy_from);
  service(node).transition(std::move(transition), node::Turn::slow, std::move(stop), [this, ending](Result<> result) {
    ending->result = std::move(result);
    ending->at = loop.now();
  });
  return ending;
}

Result<> Town::tell(const std::string& node, const Told& told) {
  const auto ending = begin(node, told);
  const Instant end = later(loop.now(), 1min);
  while (!ending->result && loop.now() < end) loop.run_for(1ms);
  return ending->result.value_or(fail(Code::unavailable, "not done within a minute"));
}

std::optional<Sealed> Town::seal(const std::string& node, std::uint64_t epoch) {
  auto sealed = std::make_shared<std::optional<Sealed>>();
  service(node).seal(shard, Epoch(epoch), [sealed](Result<Sealed> result) { *sealed = *result; });
  loop.run_for(1ms);
  return *sealed;
}

void Town::lead(const std::string& node, std::uint64_t epoch, const std::vector<std::string>& others, const std::string& from) {
  hosts.at(node).may_lead[shard] = Epoch(epoch);
  ensure(tell(node, {.from = from, .to = "leader", .version = {Epoch(epoch), {}}, .peers = peers(others)}).has_value(),
         "it leads");
}

void Town::step_down(const std::string& node, std::uint64_t epoch) {
  hosts.at(node).may_lead.clear();
  ensure(tell(node, {.from = "leader", .to = "follower", .version = {Epoch(epoch), Change(1)}}).has_value(), "it steps down");
}

void Town::found(std::uint32_t nodes) {
  std::vector<std::string> others;
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    const std::string node = "n" + std::to_string(i);
    start(node);
    ensure(tell(node, {.from = "offline", .to = "follower", .reason = Reason::first}).has_value(), "it opens");
    if (i > 1) others.push_back(node);
  }
  lead("n1", 1, others);
  for (const std::string& node : others)
    ensure(tell(node, {.from = "follower", .to = "follower", .version = {Epoch(1), {}}, .copy_from = "n1"}).has_value(),
           "it follows");
  loop.run_for(10ms);
}

std::shared_ptr<std::optional<WriteAnswer>> Town::write(const std::string& node) {
  auto heard = std::make_shared<std::optional<WriteAnswer>>();
  services.write("clients", NodeId(node), shard, [heard](WriteAnswer answer) { *heard = answer; });
  return heard;
}

}  // namespace evenkeel::sim::test
