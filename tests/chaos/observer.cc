// A client that only looks: a router, and the ends of nodes' sessions, each with the time at which this process knew. For bench/failover.py.
//
//   observer --store URL --cluster NAME
//
//   r TIME SHARD EPOCH LEADER     the router knows so; `-`: nobody leads
//   s TIME NODE                   the end of that node's session is proved and written down
//
// Times as in ledger.cc. It ends with its standard output.

#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "evenkeel/model/documents.h"
#include "evenkeel/route/shell/router.h"
#include "evenkeel/store/backends/open.h"
#include "evenkeel/store/blocking.h"
#include "tests/chaos/clock.h"

namespace evenkeel {
namespace {

void say(const std::string& lines) {
  std::fputs(lines.c_str(), stdout);
  std::fflush(stdout);
}

void say_routes(const route::Table& table, const std::vector<ShardId>& changed) {
  const std::int64_t at = now();
  std::string lines;
  for (const ShardId& shard : changed)
    if (const ShardView* view = table.find(shard))
      lines += fmt::format("r {} {} {} {}\n", at, shard.shard, view->version.epoch, view->leader ? view->leader->str() : "-");
  say(lines);
}

void say_ends(const Keys& keys, const store::Changes& changes) {
  const std::int64_t at = now();
  for (const store::Change& change : changes.changes) {
    const std::string text = change.entry ? change.entry->value : "";
    const std::size_t ended = text.find("\"ended\"");
    if (ended != std::string::npos && text.find("true", ended) < text.find_first_of(",}", ended))
      say(fmt::format("s {} {}\n", at, change.key.substr(keys.beat(NodeId("n")).size() - 1)));
  }
}

int run(std::map<std::string, std::string> flags) {
  const ClusterId cluster(flags["cluster"]);
  const Keys keys(cluster);
  const auto store = store::Blocking::open([&](Loop& loop) { return store::open(loop, flags["store"], {}); });
  if (!store) return fmt::print(stderr, "observer: {}\n", store.error().message), 1;
  std::unique_ptr<route::Router> router;
  std::unique_ptr<store::Watching> watching;
  (void)(*store)->run<bool>([&](store::Store& on, store::Answer<bool> answer) {
    router = std::make_unique<route::Router>(on, cluster);
    router->on_change([](const auto& table, const std::vector<ShardId>& changed) { say_routes(*table, changed); });
    const std::string prefix = keys.beat(NodeId("n"));
    watching = on.watch(prefix.substr(0, prefix.size() - 1), {}, [&](const Result<store::Changes>& changes) {
      if (changes) say_ends(keys, *changes);
    });
    answer(true);
  });
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  int signal = 0;
  sigwait(&signals, &signal);
  (void)(*store)->run<bool>([&](store::Store&, store::Answer<bool> answer) {
    router.reset();
    watching.reset();
    answer(true);
  });
  return 0;
}

}  // namespace
}  // namespace evenkeel

int main(int count, char** arguments) {
  std::map<std::string, std::string> flags{{"store", ""}, {"cluster", "default"}};
  for (int i = 1; i + 1 < count; i += 2) {
    const auto flag = flags.find(std::string(arguments[i]).substr(2));
    if (flag == flags.end()) return fmt::print(stderr, "observer: what is {}?\n", arguments[i]), 2;
    flag->second = arguments[i + 1];
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return evenkeel::run(std::move(flags));
}
