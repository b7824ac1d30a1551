// Two kinds of work share a node: the broker in a program of one file. Link it with Evenkeel::broker.
//
// Three uploads and three compactions want to run on 4 cpu, and no more than two compactions at a time. Each runs on a thread of its own, as
// it would in a service, and takes what it needs from the broker first.

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <evenkeel/broker/metrics.h>
#include <evenkeel/broker/shell/broker.h>
#include <evenkeel/broker/shell/client.h>

using namespace evenkeel;
using namespace evenkeel::broker;

// A config as people write it. Every config has queue_default and the type unknown, for tasks of types it does not know.
constexpr std::string_view config = R"(
queues:
  - {name: queue_default, weight: 10}
  - {name: compactions, weight: 100, limit: {cpu: 2}}
tasks:
  - {name: unknown, queue_name: queue_default, default_duration: 1s}
  - {name: compaction, queue_name: compactions, default_duration: 50ms}
  - {name: upload, queue_name: queue_default, default_duration: 20ms}
resource_limit: {cpu: 4, memory: 1073741824}
)";

void work(Client& client, const std::string& type, int number, std::chrono::milliseconds takes) {
  auto grant =
      client.acquire({.name = type + std::to_string(number), .type = type, .need = {.cpu = 1, .memory = 256 << 20}}, 10s);
  if (!grant) {
    std::printf("%s %d did not run: %s\n", type.c_str(), number, grant.error().message.c_str());
    return;
  }
  std::printf("%s %d runs\n", type.c_str(), number);
  std::this_thread::sleep_for(takes);  // stands for the work
  std::printf("%s %d is done\n", type.c_str(), number);
}  // the grant gives itself back here

int main() {
  auto broker = Broker::from_text(config, "examples/broker.cc");
  if (!broker) {
    std::fprintf(stderr, "%s\n", broker.error().message.c_str());
    return 2;
  }
  const auto client = (*broker)->client("example");
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i <= 3; ++i) {
      threads.emplace_back([&, i] { work(*client, "compaction", i, std::chrono::milliseconds(50)); });
      threads.emplace_back([&, i] { work(*client, "upload", i, std::chrono::milliseconds(20)); });
    }
  }
  std::printf("\n%s", format_metrics((*broker)->observe().status).c_str());
}
