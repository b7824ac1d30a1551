// Sessions under faults: thousands of seeds, each a few hosts with clocks of their own on a network that delays, loses and cuts off.
//
// Checked after every step: no session is valid, by its own host's clock, once its end was committed; no two of one key are valid; nobody takes a
// key over that was not ended. At the end, when the faults have stopped: the dead are ended, and sessions can be opened, in time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "evenkeel/store/detail/beat.h"
#include "evenkeel/store/session.h"
#include "tests/store/life.h"
#include "tests/story/slow_build.h"

namespace evenkeel::store {
namespace {

constexpr std::uint64_t seeds = seeds_of(2000);
constexpr int hosts = 4;
constexpr int keys = 2;

// What happened over all seeds: a test in which nothing goes wrong proves nothing.
struct Totals {
  std::uint64_t opened = 0, refused = 0, ended_by_others = 0, ended_by_holder = 0, lost = 0, over = 0, late = 0;
};

struct Host : HostBase {
  using HostBase::HostBase;
  std::unique_ptr<Store> store;
  std::unique_ptr<Beats> beats;
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<std::unique_ptr<Observer>> observers;
  bool opening = false;
};

class Life final : public LifeBase<Host> {
 public:
  Life(std::uint64_t seed, Totals& totals) : LifeBase(seed, "run", hosts), totals_(totals) {
    world_.on_commit([this](const std::string& client, const Txn& txn, const Committed& done) { on_commit(client, txn, done); });
    for (const auto& host : hosts_) start(*host);
  }

  std::string run() {
    for (int action = 0; action < 150 && good(); ++action) {
      run_for(Duration(rng_.between(0, ttl_.count() / 3)));
      act(some_host());
    }
    if (good()) stop_faults(ttl_ * 8);
    if (good()) check_liveness();
    return wrong();
  }

 private:
  void start(Host& host) {
    host.store = world_.connect(host.name, host.loop);
    host.beats = std::make_unique<Beats>(*host.store, "/beats/");
    host.opening = false;
  }

  // The process dies, and another starts.
  void crash(Host& host) {
    host.sessions.clear();
    host.observers.clear();
    host.beats.reset();
    host.store.reset();
    host.loop.go_on();
    start(host);
  }

  std::string some_key() { return fmt::format("/beats/{}", rng_.below(keys)); }

  void open(Host& host, const std::string& key, Duration wait) {
    host.opening = true;
    const Duration margins[] = {1ns, ttl_ / 100, Duration{}, ttl_ / 5};
    SessionOptions options{
        .key = key, .ttl = ttl_, .margin = margins[rng_.below(4)], .identity = Identity(fmt::format("i{}", ++identities_))};
    Session::open(*host.store, std::move(options), wait, [this, &host](Result<std::unique_ptr<Session>> opened) {
      host.opening = false;
      ++(opened ? totals_.opened : totals_.refused);
      if (!opened) return;
      if (!(*opened)->valid()) complain("{} was opened, and is not valid", (*opened)->identity());
      (*opened)->on_event([this, &host, session = opened->get()](Session::Event event) {
        if (event != Session::Event::lost) return;
        ++totals_.lost;
        if (session->valid()) complain("{} is lost, and valid", session->identity());
        std::erase_if(host.sessions, [&](const auto& one) { return one.get() == session; });
      });
      host.sessions.push_back(*std::move(opened));
    });
  }

  void observe(Host& host, const std::string& key) {
    const auto mode = rng_.below(3) == 0 ? Observer::Mode::only_watch : Observer::Mode::end_it;
    const auto over = [this](Result<Ended> ended) {
      ++totals_.over;
      if (!ended) return complain("an observer fails: {}", ended.error().message);
      if (!ended->identity.empty() && !ended_.contains(ended->identity))
        complain("an observer takes {} for over, and nobody has ended it", ended->identity);
    };
    if (host.observers.size() > 4) host.observers.clear();
    if (rng_.below(2) == 0)
      host.observers.push_back(std::make_unique<Observer>(*host.store, key, mode, over));
    else
      host.observers.push_back(std::make_unique<Observer>(*host.beats, key, mode, over));
  }

  void act(Host& host) {
    const std::uint64_t dice = rng_.below(100);
    if (host.loop.paused() && dice < 60) return;  // it does nothing
    if (dice < 30) {
      if (!host.opening) open(host, some_key(), rng_.below(2) == 0 ? Duration{} : ttl_ * 2);
    } else if (dice < 50) {
      observe(host, some_key());
    } else if (dice < 55) {
      if (!host.sessions.empty()) host.sessions.front()->end([](Result<Revision>) {});
    } else if (dice < 60) {
      if (!host.sessions.empty()) host.sessions.erase(host.sessions.begin());
    } else if (dice < 65) {
      crash(host);
    } else if (dice < 75) {
      pause(host);
    } else if (dice < 85) {
      cut_or_heal(host);
    } else if (dice < 88) {
      stop_store_for_a_while();
    }
  }

  void on_commit(const std::string& client, const Txn& txn, const Committed& done) {
    for (const Write& write : done.succeeded ? txn.then : txn.otherwise) {
      const auto beat = detail::parse_beat(Entry{.key = write.key, .value = write.value});
      if (!beat) return complain("{} wrote what is no beat: {}", client, write.value);
      Beat& before = beats_[write.key];
      if (!before.identity.empty() && before.identity != beat->identity && !before.ended)
        complain("{} took {} over for {} while {} was not ended", client, write.key, beat->identity, before.identity);
      if (before.identity == beat->identity && before.ended) complain("{} beats after its end", beat->identity);
      if (before.identity != beat->identity && ended_.contains(beat->identity)) complain("{} is back", beat->identity);
      if (beat->ended) {
        ended_.insert(beat->identity);
        ++(beat->count > before.count ? totals_.ended_by_holder : totals_.ended_by_others);
      }
      before = *beat;
    }
  }

  void check() override {
    std::map<std::string, Identity> valid;
    for (const auto& host : hosts_) {
      if (host->loop.paused()) continue;
      for (const auto& session : host->sessions) {
        if (!session->valid()) {
          invalid_.insert(session->identity());
          continue;
        }
        if (invalid_.contains(session->identity())) complain("{} is valid again", session->identity());
        if (ended_.contains(session->identity())) complain("{} is ended, and valid on {}", session->identity(), host->name);
        const auto [other, fresh] = valid.emplace(session->key(), session->identity());
        if (!fresh) complain("{} and {} are both valid", other->second, session->identity());
      }
    }
  }

  // All processes but the last die at once. It ends their sessions and opens its own, in time.
  void check_liveness() {
    for (const auto& host : hosts_) crash(*host);
    Host& last = *hosts_.back();
    // The dying's last writes may arrive up to a delay later; then a look, the standstill, an end and a take.
    const Duration bound = takeover_max(10);
    std::set<Identity> dead;
    for (const auto& [key, beat] : beats_) {
      if (!beat.ended) dead.insert(beat.identity);
    }
    for (int i = 0; i < keys; ++i) {
      const std::string key = fmt::format("/beats/{}", i);
      last.observers.push_back(std::make_unique<Observer>(
          *last.store, key, Observer::Mode::end_it, [this](Result<Ended> ended) { proved_.insert(ended.value().identity); }));
      open(last, key, bound);
    }
    run_for(bound);
    if (!good()) return;
    for (const Identity& one : dead) {
      if (!proved_.contains(one)) complain("the end of {} was not proved in time", one);
    }
    if (last.sessions.size() != keys) complain("{} of {} sessions were opened in time", last.sessions.size(), keys);
    run_for(ttl_ * 5);
    if (last.sessions.size() != keys) complain("without faults a session was lost");
  }

  Totals& totals_;
  std::uint64_t identities_ = 0;
  std::map<std::string, Beat> beats_;
  std::set<Identity> ended_;
  std::set<Identity> invalid_;  // once is for ever
  std::set<Identity> proved_;
};

TEST(SessionFaults, NobodyTrustsASessionThatIsEnded) {
  Totals totals;
  if (!on_seeds(seeds, [&](std::uint64_t seed) { return Life(seed, totals).run(); })) return;
  EXPECT_GT(totals.opened, seeds * 2);
  EXPECT_GT(totals.refused, seeds);
  EXPECT_GT(totals.ended_by_others, seeds);
  EXPECT_GT(totals.ended_by_holder, seeds / 10);
  EXPECT_GT(totals.lost, seeds);
  EXPECT_GT(totals.over, seeds);
  RecordProperty("opened", std::to_string(totals.opened));
}

}  // namespace
}  // namespace evenkeel::store
