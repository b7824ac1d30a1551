// Stores side by side: our server, etcd and ZooKeeper, each a process of its own on the same disk, driven by the same client program.
// One JSON line a case and backend; `ratio` is against etcd in the same run (above 1: more per second, or less time).
//
//   build/bench/store [--backends embedded,etcd,zookeeper] [--seconds 3] [--watchers 1000] [--keys 1000000] [--folder /var/tmp]
//
//   put        clients that each wait for their durable put before the next one; 1 and 64 of them
//   batch      one client, a hundred puts in a txn
//   beat       64 sessions that renew as fast as they are answered: a put that compares
//   fan_out    one write, and when the last and the middle of many watchers have seen it
//   restart    our server and etcd on a folder with so many keys: from the start of the process to the first answer

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "evenkeel/base/real_loop.h"
#include "evenkeel/store/backends/open.h"
#include "tests/store/backends/servers.h"

namespace {

using namespace evenkeel;
using namespace evenkeel::store;
using SteadyTime = std::chrono::steady_clock;

double since(SteadyTime::time_point start) { return std::chrono::duration<double>(SteadyTime::now() - start).count(); }

struct Options {
  std::vector<std::string> backends = {"etcd", "embedded", "zookeeper"};
  double seconds = 3;
  std::uint32_t watchers = 1000;
  std::uint32_t keys = 1'000'000;
  std::string folder = "/var/tmp";  // on the disk that is to be measured
};

std::unique_ptr<test::ProcessServers> start(const std::string& backend) {
  if (backend == "embedded") return std::make_unique<test::EvenkeelServer>();
  if (backend == "etcd") {
    // Room for the keys of `restart`, and for batches.
    return std::make_unique<test::EtcdCluster>(1, std::vector<std::string>{"--quota-backend-bytes=8589934592"});
  }
  if (backend == "zookeeper") return std::make_unique<test::ZooKeeperCluster>(1);
  throw std::runtime_error("no backend " + backend + "; there are embedded, etcd and zookeeper");
}

// Clients with connections of their own, on one loop and thread.
class Clients {
 public:
  Clients(const std::string& url, std::size_t count) : thread_([this] { loop_.run(); }) {
    on_loop([&] {
      for (std::size_t i = 0; i < count; ++i) {
        auto store = open(loop_, url, {});
        if (!store) throw std::runtime_error(store.error().message);
        stores_.push_back(*std::move(store));
      }
    });
  }
  ~Clients() {
    on_loop([&] { stores_.clear(); });
    loop_.stop();
  }

  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop_.post([&] {
      try {
        work();
        done.set_value();
      } catch (...) {
        done.set_exception(std::current_exception());
      }
    });
    done.get_future().get();
  }
  std::size_t size() const { return stores_.size(); }
  Store& operator[](std::size_t i) { return *stores_[i]; }
  Loop& loop() { return loop_; }

 private:
  RealLoop loop_;
  std::vector<std::unique_ptr<Store>> stores_;
  std::jthread thread_;
};

// Every client goes on with its next txn as soon as the last is answered, until the time is up. Per second, in answers.
class Closed {
 public:
  using Next = std::function<Txn(std::size_t client, std::uint64_t number, Revision last)>;

  Closed(Clients& clients, Next next) : clients_(clients), next_(std::move(next)), last_(clients.size()) {}

  double run(double seconds) {
    warm_up();
    const auto begin = SteadyTime::now();
    until_ = begin + std::chrono::duration_cast<SteadyTime::duration>(std::chrono::duration<double>(seconds));
    answered_ = 0;
    std::promise<void> done;
    done_ = &done;
    clients_.on_loop([&] {
      open_ = clients_.size();
      for (std::size_t i = 0; i < clients_.size(); ++i) go_on(i);
    });
    done.get_future().get();
    return static_cast<double>(answered_) / since(begin);
  }

 private:
  // One txn of each client: connections are there.
  void warm_up() {
    until_ = SteadyTime::now();
    std::promise<void> done;
    done_ = &done;
    clients_.on_loop([&] {
      open_ = clients_.size();
      for (std::size_t i = 0; i < clients_.size(); ++i) go_on(i);
    });
    done.get_future().get();
  }

  void go_on(std::size_t client) {
    clients_[client].txn(next_(client, number_++, last_[client]), [this, client](Result<Committed> done) {
      if (!done) {
        ensure(failures_++ < 10, fmt::format("a bench's txn fails: {}", done.error().message));
      } else {
        ++answered_;
        last_[client] = done->revision;
      }
      if (SteadyTime::now() < until_) return go_on(client);
      if (--open_ == 0) done_->set_value();
    });
  }

  Clients& clients_;
  Next next_;
  std::vector<Revision> last_;
  SteadyTime::time_point until_;
  std::uint64_t number_ = 0, answered_ = 0, failures_ = 0;
  std::size_t open_ = 0;
  std::promise<void>* done_ = nullptr;
};

// Figures by case, so that each has its ratio to etcd's.
class Report {
 public:
  // `more`: larger is better.
  void add(const std::string& backend, const std::string& name, const std::string& unit, double value, bool more) {
    if (backend == "etcd") etcd_[name] = value;
    const auto peer = etcd_.find(name);
    const std::string ratio =
        peer == etcd_.end() ? "null" : fmt::format("{:.2f}", more ? value / peer->second : peer->second / value);
    fmt::print("{}\n", fmt::format(R"({{"bench":"store","case":"{}","backend":"{}","{}":{:.4g},"ratio":{}}})", name, backend,
                                   unit, value, ratio));
    std::fflush(stdout);
  }

 private:
  std::map<std::string, double> etcd_;
};

Txn put_of(std::size_t client, std::uint64_t number) {
  Txn txn;
  txn.put(fmt::format("/bench/put/{}/{}", client, number % 1000), std::string(128, 'x'));
  return txn;
}

void measure_puts(const std::string& backend, const std::string& url, const Options& options, Report& report) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{64}}) {
    Clients clients(url, count);
    Closed closed(clients, [](std::size_t client, std::uint64_t number, Revision) { return put_of(client, number); });
    report.add(backend, fmt::format("put_{}", count), "per_second", closed.run(options.seconds), true);
  }
  Clients one(url, 1);
  Closed batch(one, [](std::size_t, std::uint64_t number, Revision) {
    Txn txn;
    for (int i = 0; i < 100; ++i)
      txn.put(fmt::format("/bench/batch/{}", (number * 100 + static_cast<std::uint64_t>(i)) % 1000), std::string(128, 'x'));
    return txn;
  });
  report.add(backend, "batch", "puts_per_second", 100 * batch.run(options.seconds), true);
  Clients holders(url, 64);
  Closed beat(holders, [](std::size_t client, std::uint64_t, Revision last) {
    const std::string key = fmt::format("/bench/beats/{}", client);
    Txn txn;
    if (last.value() > 0) txn.compare(unchanged(key, last));
    txn.put(key, R"({"format":1,"identity":"0123456789abcdef","count":7,"ttl":"10s","ended":false})");
    return txn;
  });
  report.add(backend, "beat_64", "per_second", beat.run(options.seconds), true);
}

// One writer; all watchers on eight clients of their own. The time from before the write is sent.
void measure_fan_out(const std::string& backend, const std::string& url, const Options& options, Report& report) {
  Clients clients(url, 9);
  constexpr int rounds = 50;
  std::vector<std::unique_ptr<Watching>> watchings;
  std::uint32_t seen = 0;
  SteadyTime::time_point sent;
  std::vector<double> middle, last;
  std::promise<void> fresh;
  std::promise<void>* all = &fresh;
  clients.on_loop([&] {
    sent = SteadyTime::now();
    for (std::uint32_t i = 0; i < options.watchers; ++i) {
      watchings.push_back(clients[1 + i % 8].watch("/bench/fan/", {}, [&](Result<Changes> changes) {
        ensure(changes.has_value(), "a watch goes on");
        ++seen;
        if (seen == (options.watchers + 1) / 2) middle.push_back(since(sent));
        if (seen == options.watchers) last.push_back(since(sent)), all->set_value();
      }));
    }
  });
  fresh.get_future().get();  // the lists with which watches begin
  for (int round = 1; round <= rounds; ++round) {
    std::promise<void> done;
    clients.on_loop([&] {
      all = &done;
      seen = 0;
      sent = SteadyTime::now();
      clients[0].put("/bench/fan/key", fmt::format("{}", round),
                     [](Result<Committed> put) { ensure(put.has_value(), "a put is done"); });
    });
    done.get_future().get();
  }
  clients.on_loop([&] { watchings.clear(); });
  const auto median = [](std::vector<double> values) {
    values.erase(values.begin());
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return 1e3 * values[values.size() / 2];
  };
  report.add(backend, fmt::format("fan_out_{}_middle", options.watchers), "milliseconds", median(middle), false);
  report.add(backend, fmt::format("fan_out_{}_last", options.watchers), "milliseconds", median(last), false);
}

void fill(const std::string& url, std::uint32_t keys) {
  Clients clients(url, 8);
  std::uint32_t next = 0;
  std::size_t open_calls = clients.size();
  std::promise<void> done;
  std::function<void(std::size_t)> go_on = [&](std::size_t client) {
    if (next >= keys) {
      if (--open_calls == 0) done.set_value();
      return;
    }
    Txn txn;
    for (std::size_t i = 0; i < operations_max && next < keys; ++i, ++next)
      txn.put(fmt::format("/bench/keys/{:08}", next), std::string(64, 'x'));
    clients[client].txn(std::move(txn), [&, client](Result<Committed> put) {
      ensure(put.has_value(), "keys can be filled in");
      go_on(client);
    });
  };
  clients.on_loop([&] {
    for (std::size_t i = 0; i < clients.size(); ++i) go_on(i);
  });
  done.get_future().get();
}

void measure_restart(const std::string& backend, test::ProcessServers& server, const Options& options, Report& report) {
  fill(server.url(), options.keys);
  server.kill(0);
  const auto begin = SteadyTime::now();
  server.restart(0);
  server.wait_ready();
  report.add(backend, fmt::format("restart_{}_keys", options.keys), "seconds", since(begin), false);
}

void measure(const std::string& backend, const Options& options, Report& report) {
  const auto server = start(backend);
  measure_puts(backend, server->url(), options, report);
  measure_fan_out(backend, server->url(), options, report);
  if (backend != "zookeeper" && options.keys > 0) measure_restart(backend, *server, options, report);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Stores side by side");
  app.add_option("--backends", options.backends, "embedded, etcd, zookeeper")->delimiter(',');
  app.add_option("--seconds", options.seconds, "of each case");
  app.add_option("--watchers", options.watchers, "of fan_out")->check(CLI::PositiveNumber);
  app.add_option("--keys", options.keys, "of restart; 0: leave it out");
  app.add_option("--folder", options.folder, "where the servers keep their data: on the disk that is to be measured");
  CLI11_PARSE(app, argc, argv);
  ::setenv("TMPDIR", options.folder.c_str(), 1);
  Report report;
  try {
    for (const std::string& backend : options.backends) measure(backend, options, report);
  } catch (const std::exception& error) {
    fmt::print(stderr, "store: {}\n", error.what());
    return 1;
  }
}
