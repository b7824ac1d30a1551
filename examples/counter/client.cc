// A client of the counters: asks the leader of a shard, whom the routes name, and tries again where certainly nothing was done.
//
//   counter client add SHARD N        SHARD as demo/7
//   counter client value [SHARD]      as its leader knows it; without a shard the sum of all
//   counter client load               adds one to each shard, round and round, until it is interrupted, and says each second how that goes

#include <atomic>
#include <optional>
#include <thread>

#include "counter.h"

#include <evenkeel/base/text.h>

namespace counter {
namespace {

struct Answer {
  int status = not_the_leader;
  std::string text = "nobody leads";
};

// Asks the leader, once. A connection that was not made did nothing; one that broke may have.
Answer ask(const Routes& routes, const ShardId& shard, std::optional<std::uint64_t> by) {
  const auto leader = routes.table()->pick(shard, route::Role::leader);
  if (!leader) return {};
  auto client = connect(leader->address);
  const auto got = by ? client.Post(fmt::format("/add/{}?by={}", format(shard), *by), "", "text/plain")
                      : client.Get("/value/" + format(shard));
  if (got) return {got->status, got->body.substr(0, got->body.find('\n'))};
  if (got.error() == httplib::Error::Connection || !by) return {not_the_leader, leader->node.str() + " cannot be reached"};
  return {unknown, "the connection to " + leader->node.str() + " broke"};
}

// The same until somebody has answered, or patience is over.
Answer ask_patiently(const Routes& routes, const ShardId& shard, std::optional<std::uint64_t> by) {
  Answer answer;
  for (int tries = 0; tries < 600 && (answer = ask(routes, shard, by)).status == not_the_leader; ++tries)
    std::this_thread::sleep_for(50ms);
  return answer;
}

std::vector<ShardId> all_shards(const Routes& routes) {
  std::vector<ShardId> all;
  const auto table = routes.table();
  for (const WorkloadId& workload : table->workloads())
    for (std::uint32_t i = 0; i < table->shards(workload); ++i) all.push_back({workload, ShardIndex(i)});
  return all;
}

// Each writer has its own shards, so that those who wait for a leader hold up few.
class Writers {
 public:
  explicit Writers(const Routes& routes) : routes_(routes) {
    for (std::size_t i = 0; i < count; ++i)
      threads_[i] = std::jthread([this, i](const std::stop_token& stop) { write(i, stop); });
  }
  std::string tally() const {
    std::size_t refused = 0;
    for (const auto& each : refused_) refused += each;
    return fmt::format("{} adds acknowledged, {} neither done nor failed; {} shards took none lately\n", acknowledged_.load(),
                       open_.load(), refused);
  }
  void stop() {
    for (std::jthread& thread : threads_) thread.request_stop();
    for (std::jthread& thread : threads_) thread.join();
  }

 private:
  void write(std::size_t own, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const std::vector<ShardId> shards = all_shards(routes_);
      std::size_t refused = 0;
      for (std::size_t i = own; i < shards.size() && !stop.stop_requested(); i += count) {
        const int status = ask(routes_, shards[i], 1).status;
        acknowledged_ += status == done ? 1 : 0;
        open_ += status == unknown ? 1 : 0;
        refused += status == done ? 0 : 1;
      }
      refused_[own] = refused;
      std::this_thread::sleep_for(50ms);  // it shows something, and measures nothing: the machine need not be busy
    }
  }

  static constexpr std::size_t count = 6;
  const Routes& routes_;
  std::atomic<std::uint64_t> acknowledged_ = 0, open_ = 0;
  std::array<std::atomic<std::size_t>, count> refused_ = {};  // in the latest round of each
  std::array<std::jthread, count> threads_;                   // the last, so the first to go
};

int load(const Routes& routes, const sigset_t& signals) {
  Writers writers(routes);
  const timespec pause{.tv_sec = 1, .tv_nsec = 0};
  const auto say = [&] {
    fmt::print("{}", writers.tally());
    std::fflush(stdout);
  };
  while (sigtimedwait(&signals, nullptr, &pause) < 0) say();
  writers.stop();
  say();
  return 0;
}

int sum(const Routes& routes) {
  std::uint64_t sum = 0;
  for (const ShardId& shard : all_shards(routes)) {
    const Answer answer = ask_patiently(routes, shard, std::nullopt);
    if (answer.status != done) return fail_with({Code::unavailable, format(shard) + ": " + answer.text});
    sum += parse_unsigned(answer.text).value_or(0);
  }
  fmt::print("{}\n", sum);
  return 0;
}

}  // namespace

int run_client(const std::vector<std::string>& words, Flags flags, const sigset_t& signals) {
  const auto routes = Routes::open(flags["store"], ClusterId(flags["cluster"]));
  if (!routes) return fail_with(routes.error());
  for (int tries = 0; tries < 200 && !(*routes)->ready(); ++tries) std::this_thread::sleep_for(50ms);
  if (!(*routes)->ready()) return fail_with({Code::unavailable, flags["store"] + " does not answer"});
  const std::string& verb = words[0];
  if (verb == "load" && words.size() == 1) return load(**routes, signals);
  if (verb == "value" && words.size() == 1) return sum(**routes);
  const bool adds = verb == "add" && words.size() == 3;
  if (!adds && (verb != "value" || words.size() != 2)) return usage();
  const auto shard = parse_shard_id(words[1]);
  if (!shard) return fail_with(shard.error());
  const auto by = adds ? parse_unsigned(words[2]) : Result<std::uint64_t>(0);
  if (!by) return fail_with(by.error());
  const Answer answer = ask_patiently(**routes, *shard, adds ? std::optional(*by) : std::nullopt);
  if (answer.status == done) return fmt::print("{}\n", answer.text), 0;
  return fail_with(
      {Code::unavailable, answer.text + (answer.status == unknown ? "; neither done nor failed: read the value" : "")});
}

}  // namespace counter
