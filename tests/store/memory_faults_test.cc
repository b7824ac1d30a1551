// The memory store against a naive model: its state, its past and its changes, and what clients may be told of them under faults.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/store/memory/detail/state.h"
#include "evenkeel/store/memory/memory.h"
#include "tests/story/slow_build.h"

namespace evenkeel::store {
namespace {

// Every state the store was in, by replaying what was committed. Slow and plain.
class Model {
 public:
  using Contents = std::map<std::string, Entry>;

  void commit(const Txn& txn, const Committed& done) {
    Contents next = states_.rbegin()->second;
    for (const Write& write : done.succeeded ? txn.then : txn.otherwise) {
      const bool put = write.kind == Write::Kind::put || write.kind == Write::Kind::put_ephemeral;
      if (put) {
        const Revision created = next.contains(write.key) ? next[write.key].created : done.revision;
        next[write.key] = {write.key, write.value, created, done.revision, write.kind == Write::Kind::put_ephemeral};
      } else if (write.kind == Write::Kind::erase) {
        next.erase(write.key);
      } else {
        std::erase_if(next, [&](const auto& entry) { return entry.first.starts_with(write.key); });
      }
    }
    if (next != states_.rbegin()->second) {
      ASSERT_EQ(done.revision, states_.rbegin()->first.next());
      states_[done.revision] = std::move(next);
    }
    ASSERT_EQ(done.revision, states_.rbegin()->first);
  }

  // Whether all compares hold in the latest state.
  bool holds(const Txn& txn) const {
    for (const Compare& compare : txn.compares) {
      const auto found = states_.rbegin()->second.find(compare.key);
      const bool there = found != states_.rbegin()->second.end();
      if (compare.kind == Compare::Kind::absent && there) return false;
      if (compare.kind == Compare::Kind::present && !there) return false;
      if (compare.kind == Compare::Kind::unchanged && (!there || found->second.modified != compare.modified)) return false;
    }
    return true;
  }

  const Contents& at(Revision revision) const { return states_.at(revision); }
  Revision revision() const { return states_.rbegin()->first; }
  std::vector<Entry> below(Revision revision, const std::string& prefix) const {
    std::vector<Entry> entries;
    for (const auto& [key, entry] : at(revision)) {
      if (key.starts_with(prefix)) entries.push_back(entry);
    }
    return entries;
  }

 private:
  std::map<Revision, Contents> states_{{Revision(1), {}}};
};

const std::vector<std::string> model_keys{"/a/1", "/a/2", "/a/b/3", "/c/4", "/c5"};
const std::vector<std::string> model_prefixes{"/", "/a/", "/a/b/", "/c/", "/none/"};

Txn random_txn(Rng& rng, Revision now) {
  const auto key = [&] { return model_keys[rng.below(model_keys.size())]; };
  Txn txn;
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    const std::uint64_t kind = rng.below(3);
    const Revision guess(std::max<std::int64_t>(1, now.value() - static_cast<std::int64_t>(rng.below(6))));
    txn.compare(kind == 0 ? absent(key()) : kind == 1 ? present(key()) : unchanged(key(), guess));
  }
  for (auto* branch : {&txn.then, &txn.otherwise}) {
    if (rng.below(6) == 0) {
      branch->push_back({Write::Kind::erase_below, model_prefixes[1 + rng.below(3)], {}});
      continue;
    }
    std::set<std::string> used;
    for (std::uint64_t i = rng.below(4); i > 0; --i) {
      const auto kind = static_cast<Write::Kind>(rng.below(3));
      std::string one = key();
      if (!used.insert(one).second) continue;
      branch->push_back({kind, std::move(one), kind == Write::Kind::erase ? "" : std::to_string(rng.below(100))});
    }
  }
  return txn;
}

TEST(MemoryState, IsWhatANaiveModelSays) {
  EXPECT_TRUE(rc::check("a state, its past and its changes are as replayed", [] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    Rng rng(seed);
    Model model;
    memory::State state;
    const auto steps = *rc::gen::inRange(0, 60);
    for (int i = 0; i < steps; ++i) {
      const Txn txn = random_txn(rng, state.revision());
      const bool holds = model.holds(txn);
      const auto done = state.apply(txn, memory::Owner(1));
      if (!done) {
        RC_ASSERT(done.error().code == Code::invalid);  // the revision of an ephemeral key
        continue;
      }
      RC_ASSERT(done->succeeded == holds);
      model.commit(txn, *done);
      RC_ASSERT(state.revision() == model.revision());
    }
    if (rng.below(2) == 0) state.keep(rng.below(20));
    for (Revision at(1); at <= state.revision(); ++at) {
      if (!state.remembers(at)) continue;
      for (const std::string& prefix : model_prefixes) {
        RC_ASSERT(state.list_at(prefix, at) == model.below(at, prefix));
        for (const bool latest : {false, true}) {
          Model::Contents replayed = model.at(at);
          std::erase_if(replayed, [&](const auto& entry) { return !entry.first.starts_with(prefix); });
          std::set<std::string> seen;
          for (const Change& change : state.changes(prefix, at, state.revision(), latest)) {
            RC_ASSERT(seen.insert(change.key).second || !latest);
            if (change.entry)
              replayed[change.key] = *change.entry;
            else
              replayed.erase(change.key);
          }
          std::vector<Entry> entries;
          for (const auto& [key, entry] : replayed) entries.push_back(entry);
          RC_ASSERT(entries == model.below(state.revision(), prefix));
        }
      }
    }
    RC_ASSERT(state.remembers(state.revision()));
    RC_ASSERT(!state.remembers(state.revision().next()));
  }));
}

// Clients that call and watch under faults, and what they may be told.
class Crowd {
 public:
  explicit Crowd(std::uint64_t seed) : rng_(Rng(seed).split("crowd")), world_(loop_, faults(seed)) {
    world_.on_commit([this](const std::string& client, const Txn& txn, const Committed& done) {
      if (done.succeeded != model_.holds(txn)) complain("{} took the wrong branch", client);
      model_.commit(txn, done);
      trace_ += fmt::format("{} {}@{};", client, txn.then.size(), done.revision);
    });
    for (int i = 0; i < 3; ++i)
      clients_.push_back(std::make_unique<Client>(world_.connect(fmt::format("n{}", i)), fmt::format("n{}", i)));
  }

  void run() {
    for (int i = 0; i < 200 && wrong_.empty(); ++i) {
      act(*clients_[rng_.below(clients_.size())]);
      loop_.run_for(rng_.between(0, 30) * 1ms);
    }
    world_.set_faults({});
    world_.resume();
    for (const auto& client : clients_) world_.heal(client->name);
    loop_.run_for(1min);
    check_end();
  }

  const std::string& wrong() const { return wrong_; }
  const std::string& trace() const { return trace_; }
  std::map<std::string, int> happened;

 private:
  struct Watch {
    std::string prefix;
    Model::Contents view;
    Revision revision;
    bool listed = false;
    std::unique_ptr<Watching> watching;
  };
  struct Client {
    Client(std::unique_ptr<Store> connected, std::string id) : store(std::move(connected)), name(std::move(id)) {}
    std::unique_ptr<Store> store;
    std::string name;
    Revision seen;  // by answers
    int pending = 0;
    std::vector<std::unique_ptr<Watch>> watches;
  };

  Faults faults(std::uint64_t seed) {
    const auto some = [&](std::uint64_t most) { return static_cast<std::uint32_t>(rng_.below(2) == 0 ? 0 : rng_.below(most)); };
    return {.seed = seed,
            .delay_min = 0ms,
            .delay_max = rng_.between(0, 60) * 1ms,
            .lost_requests = some(200'000),
            .lost_answers = some(200'000),
            .late_watch = some(300'000),
            .stale_lists = some(800'000),
            .timeout = rng_.between(20, 200) * 1ms,
            .lease = 300ms,
            .history = rng_.below(2) == 0 ? 10'000U : 1 + rng_.below(10)};
  }

  void act(Client& client) {
    const std::uint64_t dice = rng_.below(100);
    if (dice < 45) {
      txn(client);
    } else if (dice < 65) {
      get(client, model_keys[rng_.below(model_keys.size())]);
    } else if (dice < 80) {
      list(client, model_prefixes[rng_.below(model_prefixes.size())]);
    } else if (dice < 90) {
      watch(client);
    } else if (dice < 94) {
      rng_.below(2) == 0 ? world_.cut_off(client.name) : world_.heal(client.name);
    } else if (dice < 96) {
      world_.expire(client.name);
    } else if (dice < 98) {
      rng_.below(2) == 0 ? world_.stop() : world_.resume();
    } else {
      client.store->compact(Revision(rng_.between(1, model_.revision().value())), [](Result<Revision>) {});
    }
  }

  void txn(Client& client) {
    ++client.pending;
    client.store->txn(random_txn(rng_, model_.revision()), [this, &client, begun = model_.revision()](Result<Committed> done) {
      --client.pending;
      ++happened[done ? "txn" : "no txn"];
      if (!done && done.error().code != Code::unknown_outcome && done.error().code != Code::invalid)
        complain("a write ends in {}", done.error().message);
      if (!done) return;
      if (done->revision < begun || done->revision > model_.revision()) complain("a txn is of another time");
      client.seen = std::max(client.seen, done->revision);
    });
  }

  void get(Client& client, const std::string& key) {
    ++client.pending;
    client.store->get(key, [this, &client, key, begun = model_.revision()](Result<Read> read) {
      --client.pending;
      ++happened[read ? "get" : "no get"];
      if (!read) return expect_unavailable(read.error());
      // Linearizable: as it was at some moment between the call and its answer.
      if (read->revision < begun || read->revision > model_.revision()) complain("a read is of another time");
      const auto& then = model_.at(read->revision);
      const auto found = then.find(key);
      if (read->entry != (found == then.end() ? std::nullopt : std::optional(found->second)))
        complain("a read of {} is wrong", key);
      client.seen = std::max(client.seen, read->revision);
    });
  }

  void list(Client& client, const std::string& prefix) {
    ++client.pending;
    client.store->list(prefix, [this, &client, prefix, begun = client.seen](Result<Listing> listing) {
      --client.pending;
      ++happened[listing ? "list" : "no list"];
      if (!listing) return expect_unavailable(listing.error());
      if (listing->revision < begun) complain("a list is older than what its client has seen");
      if (listing->revision < model_.revision()) ++happened["stale list"];
      if (listing->entries != model_.below(listing->revision, prefix)) complain("a list of {} is wrong", prefix);
      client.seen = std::max(client.seen, listing->revision);
    });
  }

  void watch(Client& client) {
    if (client.watches.size() > 2) client.watches.erase(client.watches.begin());
    client.watches.push_back(std::make_unique<Watch>(model_prefixes[rng_.below(model_prefixes.size())]));
    Watch& watch = *client.watches.back();
    std::optional<Revision> after;
    if (rng_.below(2) == 0) {
      after = Revision(rng_.between(1, model_.revision().value()));
      for (const Entry& entry : model_.below(*after, watch.prefix)) watch.view[entry.key] = entry;
      watch.revision = *after;
      watch.listed = true;
    }
    watch.watching = client.store->watch(watch.prefix, after,
                                         [this, &client, &watch](Result<Changes> seen) { on_changes(client, watch, seen); });
  }

  void on_changes(Client& client, Watch& watch, const Result<Changes>& seen) {
    if (!seen) return complain("a watch ends in {}", seen.error().message);
    ++happened[seen->fresh ? "fresh" : "changes"];
    if (!watch.listed && !seen->fresh) complain("a watch begins without a list");
    if (seen->revision < watch.revision) complain("a watch goes back");
    if (seen->fresh) watch.view.clear();
    for (const Change& change : seen->changes) {
      const auto before = watch.view.find(change.key);
      if (change.entry && before != watch.view.end() && before->second.modified >= change.entry->modified)
        complain("changes of {} are out of order", change.key);
      if (change.entry)
        watch.view[change.key] = *change.entry;
      else
        watch.view.erase(change.key);
    }
    watch.listed = true;
    watch.revision = seen->revision;
    client.seen = std::max(client.seen, seen->revision);
    if (entries(watch.view) != model_.below(seen->revision, watch.prefix))
      complain("what is watched below {} is wrong", watch.prefix);
    trace_ += fmt::format("{} {} of {};", watch.prefix, seen->changes.size(), seen->revision);
  }

  void check_end() {
    if (world_.contents().entries != model_.below(model_.revision(), "/")) complain("the contents are wrong");
    for (const auto& client : clients_) {
      if (client->pending != 0) complain("{} calls of {} are not answered", client->pending, client->name);
      for (const auto& watch : client->watches) {
        if (!watch->listed || entries(watch->view) != model_.below(model_.revision(), watch->prefix))
          complain("a watch of {} below {} does not get to the end", client->name, watch->prefix);
      }
    }
  }

  static std::vector<Entry> entries(const Model::Contents& contents) {
    std::vector<Entry> entries;
    for (const auto& [key, entry] : contents) entries.push_back(entry);
    return entries;
  }

  void expect_unavailable(const Error& error) {
    if (error.code != Code::unavailable) complain("a read ends in {}", error.message);
  }

  template <class... Args>
  void complain(fmt::format_string<Args...> message, Args&&... args) {
    if (wrong_.empty()) wrong_ = format(loop_.now()) + ": " + fmt::format(message, std::forward<Args>(args)...);
  }

  Rng rng_;
  VirtualLoop loop_;
  World world_;
  Model model_;
  std::string wrong_;
  std::string trace_;
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST(MemoryFaults, ClientsAreToldNothingThatWasNot) {
  std::map<std::string, int> happened;
  constexpr std::uint64_t seeds = seeds_of(1000);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Crowd crowd(seed);
    crowd.run();
    ASSERT_EQ(crowd.wrong(), "") << "seed " << seed;
    for (const auto& [what, times] : crowd.happened) happened[what] += times;
  }
  for (const char* what : {"txn", "no txn", "get", "no get", "list", "no list", "stale list", "fresh", "changes"})
    EXPECT_GT(happened[what], static_cast<int>(seeds)) << what;
}

TEST(MemoryFaults, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Crowd one(seed), other(seed);
    one.run();
    other.run();
    EXPECT_EQ(one.trace(), other.trace()) << "seed " << seed;
    EXPECT_GT(one.trace().size(), 100U);
  }
}

}  // namespace
}  // namespace evenkeel::store
