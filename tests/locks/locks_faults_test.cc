// Locks under faults: thousands of seeds, each a few hosts with clocks of their own on a network that delays, loses and cuts off.
//
// Checked at every step: no two hosts have a valid() lock of one path, each by its own clock when its code runs (a lock that an operator broke
// aside); tokens grow; a write guarded by a lock passes only while that acquisition is the latest; nobody takes or empties a lock whose
// holder is not over; who waits in the fair queue gets it when it is the first there. When the faults have stopped: no lock stays behind that nobody knows of, and locks of the dead are taken over in time.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <list>
#include <optional>

#include "tests/locks/ledger.h"
#include "tests/store/life.h"
#include "tests/story/slow_build.h"

namespace evenkeel::locks {
namespace {

constexpr std::uint64_t seeds = seeds_of(1500);
constexpr int hosts_count = 4;
const std::vector<std::string> paths = {"/locks/a", "/locks/b"};

// What happened over all seeds: a test in which nothing goes wrong proves nothing.
struct Totals {
  std::uint64_t acquired = 0, refused = 0, renewed = 0, not_renewed = 0, lost = 0, released = 0, stopped = 0, doubted = 0;
  std::uint64_t takeovers = 0, guarded = 0, fenced = 0, breaks = 0, turns = 0, swept = 0;
};

struct Mine {
  std::unique_ptr<Held> held;
  Kind kind;
  std::unique_ptr<std::stop_callback<std::function<void()>>> losing;
};

struct Host : store::HostBase {
  using HostBase::HostBase;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<store::Session> session;
  std::unique_ptr<Locks> session_locks;
  std::unique_ptr<Locks> locks;
  std::list<Mine> mine;
  std::vector<std::stop_source> stops;
  bool opening = false;
};

class Life final : public store::LifeBase<Host> {
 public:
  Life(std::uint64_t seed, Totals& totals)
      : LifeBase(seed, "locks", hosts_count),
        totals_(totals),
        operator_store_(world_.connect("operator")),
        operator_(*operator_store_, nullptr) {
    for (const std::string& path : paths) ledger_.follow(path);
    world_.on_commit([this](const std::string& client, const store::Txn& txn, const store::Committed& done) {
      if (const std::string wrong = ledger_.on_commit(client, txn, done); !wrong.empty()) complain("{}", wrong);
    });
    for (const auto& host : hosts_) start(*host);
  }

  std::string run() {
    for (int action = 0; action < 150 && good(); ++action) {
      run_for(Duration(rng_.between(0, ttl_.count() / 3)));
      act(some_host());
    }
    if (good()) stop_faults(ttl_ * 3);
    if (good()) check_nothing_left();
    if (good()) check_dead_are_replaced();
    totals_.takeovers += ledger_.takeovers;
    totals_.guarded += ledger_.guarded;
    totals_.breaks += ledger_.breaks;
    totals_.turns += ledger_.turns;
    totals_.swept += ledger_.swept;
    return wrong();
  }

 private:
  void start(Host& host) {
    host.store = world_.connect(host.name, host.loop);
    host.locks = std::make_unique<Locks>(*host.store, nullptr);
    host.opening = false;
    open(host);
  }

  void open(Host& host) {
    if (host.opening) return;
    host.opening = true;
    std::erase_if(host.mine, [](const Mine& mine) { return mine.kind == Kind::session; });
    host.session_locks.reset();
    host.session.reset();
    store::Session::open(*host.store, {.key = "/beats/" + host.name, .ttl = ttl_}, Duration::max(),
                         [this, &host](Result<std::unique_ptr<store::Session>> session) {
                           host.opening = false;
                           if (!session) return complain("{} has no session: {}", host.name, session.error().message);
                           host.session = *std::move(session);
                           host.session_locks = std::make_unique<Locks>(*host.store, host.session.get());
                         });
  }

  // The process dies, and another starts.
  void crash(Host& host) {
    host.mine.clear();
    host.session_locks.reset();
    host.locks.reset();
    host.session.reset();
    host.stops.clear();
    host.store.reset();
    host.loop.go_on();
    start(host);
  }

  void acquire(Host& host, const std::string& path, AcquireOptions options) {
    Locks* locks = options.kind == Kind::session ? host.session_locks.get() : host.locks.get();
    if (locks == nullptr) return;
    host.stops.emplace_back();
    locks->acquire(path, options, host.stops.back().get_token(),
                   [this, &host, path, kind = options.kind](Result<std::unique_ptr<Held>> held) {
                     if (held) return on_held(host, path, kind, *std::move(held));
                     ++(held.error().code == Code::cancelled ? totals_.stopped : totals_.refused);
                     if (held.error().code == Code::unknown_outcome) ++totals_.doubted;
                   });
  }

  void on_held(Host& host, const std::string& path, Kind kind, std::unique_ptr<Held> held) {
    ++totals_.acquired;
    if (!held->valid()) complain("{} was acquired by {}, and is not valid", path, host.name);
    Token& latest = handed_out_[path];
    // One that was broken before its taker heard of it may come late: its guard fails.
    if (held->token() <= latest && !ledger_.broken(path, held->token()))
      complain("{} was handed out with token {} after {}", path, held->token(), latest);
    latest = std::max(latest, held->token());
    auto losing = std::make_unique<std::stop_callback<std::function<void()>>>(held->lost(), [this, raw = held.get()] {
      ++totals_.lost;
      if (raw->valid()) complain("{} is lost, and valid", raw->path());
    });
    host.mine.push_back({std::move(held), kind, std::move(losing)});
  }

  AcquireOptions some_options() {
    const Duration margins[] = {1ns, ttl_ / 100, Duration{}, ttl_ / 2};
    const Duration waits[] = {Duration{}, ttl_ / 2, ttl_ * 3, Duration::max()};
    return {.kind = rng_.below(2) == 0 ? Kind::session : Kind::expiring,
            .ttl = ttl_,
            .wait = waits[rng_.below(4)],
            .meta = "run",
            .fair = rng_.below(3) == 0,
            .margin = margins[rng_.below(4)]};
  }

  // Rather one that is still good.
  Mine* some_lock(Host& host) {
    if (host.mine.empty()) return nullptr;
    for (Mine& mine : host.mine) {
      if (mine.held->valid() && rng_.below(4) != 0) return &mine;
    }
    return &*std::next(host.mine.begin(), static_cast<std::ptrdiff_t>(rng_.below(host.mine.size())));
  }

  void renew(Mine& mine) {
    const Instant before = mine.held->deadline();
    mine.held->renew([this, before, raw = mine.held.get()](Result<Instant> deadline) {
      ++(deadline ? totals_.renewed : totals_.not_renewed);
      if (deadline && *deadline < before) complain("a renewal of {} moved its deadline back", raw->path());
      if (!deadline && raw->valid())
        complain("{} could not be renewed ({}), and is valid", raw->path(), deadline.error().message);
    });
  }

  void release(Host& host, Mine& mine) {
    mine.held->release([this, &host, raw = mine.held.get()](Result<>) {
      ++totals_.released;
      std::erase_if(host.mine, [&](const Mine& one) { return one.held.get() == raw; });
    });
    if (mine.held->valid()) complain("{} is being released, and valid", mine.held->path());
  }

  void write_guarded(Host& host, const Held& held) {
    store::Txn txn;
    txn.compare(held.guard()).put(Ledger::data_key(held.path()), fmt::to_string(held.token().value()));
    host.store->txn(std::move(txn), [this](Result<store::Committed> done) {
      if (done && !done->succeeded) ++totals_.fenced;
    });
  }

  void act(Host& host) {
    const std::uint64_t dice = rng_.below(100);
    if (host.loop.paused() && dice < 74) return;  // it does nothing
    Mine* mine = some_lock(host);
    if (dice < 28) {
      acquire(host, paths[rng_.below(paths.size())], some_options());
    } else if (dice < 38) {
      if (mine != nullptr) renew(*mine);
    } else if (dice < 46) {
      if (mine != nullptr) release(host, *mine);
    } else if (dice < 48) {  // a session's lock that is dropped stays as long as the session does
      if (mine != nullptr && mine->kind == Kind::expiring)
        std::erase_if(host.mine, [&](const Mine& one) { return &one == mine; });
    } else if (dice < 62) {
      if (mine != nullptr) write_guarded(host, *mine->held);
    } else if (dice < 66) {
      if (!host.stops.empty()) host.stops[rng_.below(host.stops.size())].request_stop();
    } else if (dice < 70) {
      if (host.session && !host.session->valid()) open(host);
    } else if (dice < 74) {
      crash(host);
    } else if (dice < 83) {
      pause(host);
    } else if (dice < 93) {
      cut_or_heal(host);
    } else if (dice < 96) {
      stop_store_for_a_while();
    } else if (dice < 98) {
      operator_.break_lock(paths[rng_.below(paths.size())], [](Result<LockState>) {});
    }
  }

  void check() override {
    std::map<std::string, std::pair<std::string, Token>> valid;
    for (const auto& host : hosts_) {
      if (host->loop.paused()) continue;
      for (const Mine& mine : host->mine) {
        const Held& held = *mine.held;
        if (!held.valid() || ledger_.broken(held.path(), held.token())) continue;
        const auto [other, fresh] = valid.emplace(held.path(), std::pair(host->name, held.token()));
        if (!fresh) {
          complain("{} is held by {} with token {} and by {} with token {}", held.path(), other->second.first,
                   other->second.second, host->name, held.token());
        }
        if (held.token() < ledger_.lock(held.path()).record.token)
          complain("{} on {} is valid with token {}, and {} was given", held.path(), host->name, held.token(),
                   ledger_.lock(held.path()).record.token);
      }
    }
  }

  // All give back what they have and wait for nothing more. What stands then is of the dead, or expired; a lock of a living session that
  // nobody knows of would stand for ever.
  void check_nothing_left() {
    for (int round = 0; round < 2; ++round) {  // what was handed out as it was stopped is given back in the second
      for (const auto& host : hosts_) {
        for (auto& stop : host->stops) stop.request_stop();
        for (Mine& mine : host->mine) release(*host, mine);
      }
      run_for(ttl_ * 2);
    }
    acquire_all(*hosts_[0]);
    if (hosts_[0]->mine.size() != paths.size() && good())
      complain("{} of {} locks were free: one was left behind by {}", hosts_[0]->mine.size(), paths.size(), holders());
  }

  // All processes die at once. One that starts anew gets the locks of the dead, in time.
  void check_dead_are_replaced() {
    for (const auto& host : hosts_) crash(*host);
    acquire_all(*hosts_[1]);
    if (hosts_[1]->mine.size() != paths.size() && good())
      complain("{} of {} locks of the dead were taken over in time from {}", hosts_[1]->mine.size(), paths.size(), holders());
  }

  std::string holders() const {
    std::string text;
    for (const std::string& path : paths) {
      const Ledger::Lock& lock = ledger_.lock(path);
      text += fmt::format(" {} {} token {} {}", path, lock.client, lock.record.token,
                          lock.record.held() ? format(lock.record) : "free");
    }
    return text;
  }

  void acquire_all(Host& host) {
    const Duration within = takeover_max(20);
    for (const std::string& path : paths) acquire(host, path, {.ttl = ttl_, .wait = within, .meta = "last"});
    run_for(within);
  }

  Totals& totals_;
  Ledger ledger_;
  std::map<std::string, Token> handed_out_;
  std::unique_ptr<store::Store> operator_store_;
  Locks operator_;
};

TEST(LocksFaults, NoTwoTrustOneLock) {
  Totals totals;
  if (!store::on_seeds(seeds, [&](std::uint64_t seed) { return Life(seed, totals).run(); })) return;
  EXPECT_GT(totals.acquired, seeds * 4);
  EXPECT_GT(totals.refused, seeds);
  EXPECT_GT(totals.renewed, seeds / 2);
  EXPECT_GT(totals.not_renewed, seeds / 10);
  EXPECT_GT(totals.lost, seeds);
  EXPECT_GT(totals.released, seeds);
  EXPECT_GT(totals.stopped, seeds / 10);
  EXPECT_GT(totals.doubted, seeds / 50);
  EXPECT_GT(totals.takeovers, seeds);
  EXPECT_GT(totals.guarded, seeds);
  EXPECT_GT(totals.fenced, seeds / 10);
  EXPECT_GT(totals.breaks, seeds / 10);
  EXPECT_GT(totals.turns, seeds / 10);
  EXPECT_GT(totals.swept, seeds / 20);
}

}  // namespace
}  // namespace evenkeel::locks
