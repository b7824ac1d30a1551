// Real servers that are killed, paused and restarted under clients that go on. What the clients were told must be what an honest store
// could have said (history.h), a watch must end with what is there, and a session is held by one at a time.

#include <fmt/format.h>

#include <set>
#include <thread>

#include "evenkeel/base/rng.h"
#include "tests/store/backends/conformance.h"
#include "tests/store/backends/conformance_rivals.h"
#include "tests/store/history.h"

namespace evenkeel::test {
namespace {

using store::Change;

constexpr int faults_clients = 4;
constexpr int group_keys = 6;                    // of a group
constexpr std::uint64_t group_operations = 400;  // after which all go on to new keys: histories stay short enough to be checked
constexpr store::OpenOptions impatient{.timeout = 2s};

// Many clients at work, and the record of it.
class Workload {
 public:
  Workload(const Servers& servers, std::uint64_t seed) : url_(servers.url("/faults")), seed_(seed) {
    watching_client_ = open_url(url_, impatient);
    watcher_ = std::make_unique<Watcher>(*watching_client_, "/", std::nullopt, [this](const Changes& seen) { record(seen); });
    for (int i = 0; i < faults_clients; ++i) threads_.emplace_back([this, i](const std::stop_token& stop) { run(i, stop); });
  }

  // Waits until so many more operations have been answered well, or with any answer.
  void wait_good(std::uint64_t more) { wait_more(good_, more); }
  void wait_any(std::uint64_t more) { wait_more(any_, more); }

  // Ends it, looks at what is left, and checks all that was said.
  void finish() {
    threads_.clear();
    const auto client = open_url(url_, impatient);
    for (std::uint64_t group = 0; group <= any_ / group_operations; ++group) {
      for (int i = 0; i < group_keys; ++i) read(*client, faults_clients, key(group, i));
    }
    const auto left = contents(*client, "/");  // not older than those reads
    watcher_->wait("what a list says in the end", [&](const auto& state) { return state == left; });
    const auto operations = history_.operations();
    EXPECT_EQ(check(operations), "");
    std::map<Operation::Outcome, int> outcomes;
    for (const Operation& one : operations) ++outcomes[one.outcome];
    testing::Test::RecordProperty("operations", static_cast<int>(operations.size()));
    testing::Test::RecordProperty("unknown", outcomes[Operation::Outcome::unknown]);
    EXPECT_GT(outcomes[Operation::Outcome::done], 200);
  }

 private:
  static std::string key(std::uint64_t group, int number) { return fmt::format("/{}/{}", group, number); }

  void wait_more(const std::atomic<std::uint64_t>& count, std::uint64_t more) {
    const std::uint64_t goal = count + more;
    wait_until("progress", 2 * patience, [&] { return count >= goal; });
  }

  void run(int me, const std::stop_token& stop) {
    try {
      const auto client = open_url(url_, impatient);
      Rng rng = Rng(seed_).split(static_cast<std::uint64_t>(me));
      std::map<std::string, Revision> known;  // of keys, as this client last saw them; 0: absent
      for (std::uint64_t i = 0; !stop.stop_requested(); ++i) step(*client, me, i, rng, known);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }

  void step(Client& client, int me, std::uint64_t i, Rng& rng, std::map<std::string, Revision>& known) {
    const std::string one = key(any_ / group_operations, static_cast<int>(rng.below(group_keys)));
    const std::string value = fmt::format("{}.{}", me, i);
    const std::uint64_t dice = rng.below(20);
    if (dice < 7) {
      const auto seen = read(client, me, one);
      if (seen) known[one] = seen->entry ? seen->entry->modified : Revision();
    } else if (dice < 8) {
      list(client, me, one.substr(0, one.rfind('/') + 1));
    } else if (dice < 11) {
      write(client, me, {.key = one, .value = value}, known);
    } else if (dice < 18) {
      write(client, me, {.key = one, .value = value, .expected = known[one]}, known);
    } else if (dice < 19) {
      write(client, me, {.key = one, .expected = known[one] == Revision() ? std::nullopt : std::optional(known[one])}, known);
    } else {
      write(client, me, {.key = one}, known);
    }
  }

  template <class T>
  void count(const Result<T>& result) {
    if (result) ++good_;
    ++any_;
  }

  std::optional<Read> read(Client& client, int me, const std::string& one) {
    const auto ticket = history_.call({.client = me, .key = one, .kind = Operation::Kind::read}, clock_.now());
    const auto result = client.get(one);
    count(result);
    if (!result) {
      EXPECT_TRUE(failed(result, Code::unavailable)) << "a read";
      return std::nullopt;
    }
    history_.seen(ticket, result->entry, clock_.now());
    return *result;
  }

  void list(Client& client, int me, const std::string& prefix) {
    std::map<std::string, History::Ticket> tickets;
    for (int i = 0; i < group_keys; ++i) {
      const std::string one = prefix + fmt::format("{}", i);
      tickets[one] = history_.call({.client = me, .key = one, .kind = Operation::Kind::weak_read}, clock_.now());
    }
    const auto result = client.list(prefix);
    const Instant now = clock_.now();
    count(result);
    if (!result) {
      EXPECT_TRUE(failed(result, Code::unavailable)) << "a list";
      return;
    }
    std::map<std::string, Entry> found;
    for (const Entry& entry : result->entries) found.emplace(entry.key, entry);
    for (const auto& [one, ticket] : tickets)
      history_.seen(ticket, found.contains(one) ? std::optional(found.at(one)) : std::nullopt, now);
  }

  void write(Client& client, int me, Operation operation, std::map<std::string, Revision>& known) {
    operation.client = me;
    operation.kind = Operation::Kind::write;
    Txn txn;
    if (operation.expected) {
      const bool none = *operation.expected == Revision();
      txn.compare(none ? store::absent(operation.key) : store::unchanged(operation.key, *operation.expected));
    }
    if (operation.value) txn.put(operation.key, *operation.value);
    if (!operation.value) txn.erase(operation.key);
    const auto ticket = history_.call(operation, clock_.now());
    const auto result = client.txn(std::move(txn));
    count(result);
    if (result && result->succeeded) {
      history_.done(ticket, result->revision, clock_.now());
      known[operation.key] = operation.value ? result->revision : Revision();
    } else if (result) {
      history_.refused(ticket, clock_.now());
      EXPECT_TRUE(operation.expected) << "refused, without a compare";
    } else if (result.error().code == Code::unavailable || result.error().code == Code::conflict) {  // conflict: too many others
      history_.not_done(ticket, clock_.now());
    } else {
      EXPECT_TRUE(failed(result, Code::unknown_outcome)) << "a write";
    }
  }

  // On the watching client's loop. What a watch says is a weak read of a client of its own.
  void record(const Changes& seen) {
    const Instant now = clock_.now();
    const auto note = [&](const std::string& one, const std::optional<Entry>& entry) {
      history_.seen(history_.call({.client = faults_clients + 1, .key = one, .kind = Operation::Kind::weak_read}, now), entry,
                    now);
      if (entry) watched_.insert(one);
      if (!entry) watched_.erase(one);
    };
    std::set<std::string> gone = seen.fresh ? watched_ : std::set<std::string>();
    for (const Change& change : seen.changes) gone.erase(change.key);
    for (const std::string& one : gone) note(one, std::nullopt);
    for (const Change& change : seen.changes) note(change.key, change.entry);
  }

  std::string url_;
  std::uint64_t seed_;
  BootClock clock_;
  History history_;
  std::atomic<std::uint64_t> good_ = 0, any_ = 0;
  std::set<std::string> watched_;
  std::unique_ptr<Client> watching_client_;
  std::unique_ptr<Watcher> watcher_;
  std::vector<std::jthread> threads_;
};

// What happens to servers, while a workload runs; all are well again afterwards.
struct Fault {
  const char* name;
  void (*make)(Servers& servers, Workload& workload, Rng& rng);
};

void kill_leader(Servers& servers, Workload& workload, Rng&) {
  const std::size_t leader = servers.leader();
  servers.kill(leader);
  if (servers.size() > 1) {
    servers.leader();  // another one
    workload.wait_good(50);
  } else {
    workload.wait_any(faults_clients);
  }
  servers.restart(leader);
}

void kill_follower(Servers& servers, Workload& workload, Rng&) {
  const std::size_t other = (servers.leader() + 1) % servers.size();
  servers.kill(other);
  workload.wait_any(50);
  servers.restart(other);
}

void pause_leader(Servers& servers, Workload& workload, Rng&) {
  const std::size_t leader = servers.leader();
  servers.pause(leader);
  if (servers.size() > 1) {
    servers.leader();
    workload.wait_good(50);
  } else {
    workload.wait_any(faults_clients);
  }
  servers.resume(leader);
}

void kill_all(Servers& servers, Workload& workload, Rng&) {
  for (std::size_t i = 0; i < servers.size(); ++i) servers.kill(i);
  workload.wait_any(faults_clients);
  for (std::size_t i = 0; i < servers.size(); ++i) servers.restart(i);
}

// A majority stands still, and goes on with all that was on its way.
void pause_majority(Servers& servers, Workload& workload, Rng& rng) {
  const std::size_t first = rng.below(servers.size());
  for (std::size_t i = 0; i < servers.size() / 2 + 1; ++i) servers.pause((first + i) % servers.size());
  workload.wait_any(faults_clients);
  for (std::size_t i = 0; i < servers.size(); ++i) servers.resume(i);
}

constexpr Fault single_faults[] = {{"kill", kill_leader}, {"pause", pause_leader}, {"kill again", kill_leader}};
constexpr Fault cluster_faults[] = {{"kill the leader", kill_leader},
                                    {"pause the leader", pause_leader},
                                    {"kill a follower", kill_follower},
                                    {"pause a majority", pause_majority},
                                    {"kill all", kill_all}};

struct Row {
  const char* name;
  std::unique_ptr<Servers> (*start)();
  std::span<const Fault> faults;
};

class Faults : public testing::TestWithParam<Row> {};

TEST_P(Faults, NoPromiseIsBroken) {
  const auto servers = GetParam().start();
  const auto seed = static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE(fmt::format("--gtest_random_seed={}", seed));
  Rng rng = Rng(seed).split("faults");
  Workload workload(*servers, seed);
  Rivals rivals(servers->url("/rivals"));
  workload.wait_good(100);
  for (const Fault& fault : GetParam().faults) {
    SCOPED_TRACE(fault.name);
    fault.make(*servers, workload, rng);
    servers->wait_ready();
    workload.wait_good(100);
  }
  workload.finish();
  rivals.finish();
}

INSTANTIATE_TEST_SUITE_P(Servers, Faults,
                         testing::Values(Row{"served", start<EvenkeelServer>, single_faults},
                                         Row{"etcd1", start<EtcdCluster, 1>, single_faults},
                                         Row{"etcd3", start<EtcdCluster, 3>, cluster_faults},
                                         Row{"zookeeper1", start<ZooKeeperCluster, 1>, single_faults},
                                         Row{"zookeeper3", start<ZooKeeperCluster, 3>, cluster_faults}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace evenkeel::test
