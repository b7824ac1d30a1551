// Uses something compiled of each library and of what they are linked with, so that a missing dependency shows.
#include <fmt/format.h>

#include <evenkeel/base/hash.h>
#include <evenkeel/base/log.h>
#include <evenkeel/broker/metrics.h>
#include <evenkeel/broker/shell/rpc/remote.h>
#include <evenkeel/broker/shell/rpc/service.h>
#include <evenkeel/locks/locks.h>
#include <evenkeel/model/cluster_file.h>
#include <evenkeel/node/node.h>
#include <evenkeel/place/allocator.h>
#include <evenkeel/place/place.h>
#include <evenkeel/store/backends/open.h>
#include <evenkeel/store/blocking.h>

// A broker, its service, and a client of it that gets a grant.
bool broker_works() {
  using namespace evenkeel;
  const auto broker = broker::Broker::from_config(broker::default_config());
  if (!broker) return false;
  const auto service = broker::Service::start(*broker, {.listen = "127.0.0.1:0"});
  if (!service) return false;
  const auto client = broker::connect_client((*service)->address(), "consumer");
  if (!client) return false;
  const auto grant = (*client)->acquire({.type = "transaction", .need = {.cpu = 1}}, 60s);
  return grant && !broker::format_metrics((*broker)->observe().status).empty();
}

// A plan for a workload, and an allocator that finds the same cluster room for it.
bool place_works(evenkeel::Cluster cluster) {
  using namespace evenkeel;
  const Workload workload{.name = WorkloadId("w"), .shards = 6, .replicas = 2};
  place::Allocator allocator(cluster);
  auto reserved = allocator.allocate(workload);
  cluster.workloads.push_back(workload);
  return reserved && reserved->rows().size() == 6 && place::plan(cluster, {}).refused.empty();
}

// A folder opened as a store, and a lock in it that is taken. URLs of all other kinds open too; nothing is connected yet.
bool store_works(const std::string& folder) {
  using namespace evenkeel;
  for (const char* url : {"memory:", "etcd://127.0.0.1:1/c", "zk://127.0.0.1:1/c"}) {
    if (!store::Blocking::open([&](Loop& loop) { return store::open(loop, url, {}); })) return false;
  }
  const auto blocking = store::Blocking::open([&](Loop& loop) { return store::open(loop, "embedded:" + folder, {}); });
  if (!blocking) return false;
  const auto token = (*blocking)->run<locks::Token>([](store::Store& store, store::Answer<locks::Token> answer) {
    auto locks = std::make_shared<locks::Locks>(store, nullptr);
    locks->acquire("/c/lock", {}, {}, [locks, answer = std::move(answer)](Result<std::unique_ptr<locks::Held>> held) mutable {
      answer(held.map([](const auto& mine) { return mine->token(); }));
    });
  });
  return token && token->value() > 0 && (*blocking)->get("/c/lock");
}

// A node that joins, with nothing to do, and leaves.
bool node_works() {
  using namespace evenkeel;
  struct Idle final : node::ShardHandler {
    Result<> transition(const node::Transition&, std::stop_token) override { return {}; }
    Sealed seal(const ShardId&, Epoch epoch) override { return {epoch, {}, 0}; }
    node::Status report(const ShardId&) override { return {}; }
  } handler;
  const auto node = node::Node::join({.store = "memory:", .cluster = ClusterId("c"), .name = NodeId("n1")}, handler);
  return node && (*node)->ready(60s) && (*node)->is_current();
}

int main(int, char** arguments) {
  const auto cluster = evenkeel::parse_cluster("cluster: small\nnodes:\n  - name: n[1-3]\n", "small.yaml");
  if (!cluster) {
    fmt::print(stderr, "{}\n", cluster.error().format());
    return 1;
  }
  const std::string text = evenkeel::format_cluster(*cluster, evenkeel::Syntax::yaml);
  evenkeel::Log::to_stderr({}).info("read",
                                    {{"nodes", cluster->nodes.size()}, {"hash", fmt::format("{:x}", evenkeel::hash64(text))}});
  return cluster->nodes.size() == 3 && broker_works() && place_works(*cluster) && node_works() &&
                 store_works(std::string(arguments[0]) + ".data")
             ? 0
             : 1;
}
