#pragma once
// A cluster for tests of the daemon: a store in a folder that any thread's clients share, daemons and real nodes on loopback.

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "evenkeel/base/document.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/node/node.h"
#include "evenkeel/serve/daemon.h"
#include "evenkeel/store/backends/embedded/engine.h"
#include "evenkeel/store/backends/embedded/local.h"
#include "evenkeel/store/blocking.h"
#include "tests/store/backends/processes.h"

namespace evenkeel::serve {

inline constexpr Duration patience = 60s;  // for what happens soon

// A store that refuses while `down`, and does not answer a read while `mute`. What it watches goes on.
class Unsteady final : public store::Store {
 public:
  using Flag = std::shared_ptr<const std::atomic<bool>>;
  using Count = std::shared_ptr<std::atomic<std::size_t>>;
  Unsteady(std::unique_ptr<store::Store> inner, Flag down, Flag mute, Count refusals)
      : Store(inner->loop()),
        inner_(std::move(inner)),
        down_(std::move(down)),
        mute_(std::move(mute)),
        refusals_(std::move(refusals)) {}

 protected:
  void do_get(std::string key, store::Answer<store::Read> answer) override {
    if (*mute_) return;
    *down_ ? refuse(std::move(answer)) : inner_->get(std::move(key), std::move(answer));
  }
  void do_list(std::string prefix, store::Answer<store::Listing> answer) override {
    *down_ ? refuse(std::move(answer)) : inner_->list(std::move(prefix), std::move(answer));
  }
  void do_txn(store::Txn txn, store::Answer<store::Committed> answer) override {
    *down_ ? refuse(std::move(answer)) : inner_->txn(std::move(txn), std::move(answer));
  }
  std::unique_ptr<store::Watching> do_watch(std::string prefix, std::optional<store::Revision> after,
                                            store::OnChanges on_changes) override {
    return inner_->watch(std::move(prefix), after, std::move(on_changes));
  }
  void do_status(store::Answer<store::Status> answer) override { inner_->status(std::move(answer)); }
  void do_compact(store::Revision before, store::Answer<store::Revision> answer) override {
    inner_->compact(before, std::move(answer));
  }

 private:
  template <class T>
  void refuse(store::Answer<T> answer) {
    ++*refusals_;
    loop().post([answer = std::move(answer)]() mutable { answer(fail(Code::unavailable, "it is down")); });
  }

  std::unique_ptr<store::Store> inner_;
  Flag down_, mute_;
  Count refusals_;
};

// Takes part in everything, and keeps what it is told.
class Holding final : public node::ShardHandler {
 public:
  Result<> transition(const node::Transition& transition, std::stop_token) override {
    const std::lock_guard lock(mutex_);
    last_[transition.shard] = transition.version.epoch;
    return {};
  }
  Sealed seal(const ShardId& shard, Epoch epoch) override {
    const std::lock_guard lock(mutex_);
    return {epoch, last_[shard], progress};
  }
  node::Status report(const ShardId& shard) override {
    const std::lock_guard lock(mutex_);
    return {.last = last_[shard], .progress = progress};
  }

  std::atomic<std::uint64_t> progress = 1;

 private:
  std::mutex mutex_;
  std::map<ShardId, Epoch> last_;
};

struct Got {
  int status = 0;
  std::string body;
  std::string type;
};
inline Got get(const std::string& address, const std::string& path) {
  httplib::Client client("http://" + address);
  client.set_read_timeout(60);
  const auto got = client.Get(path);
  if (!got) return {};
  return {got->status, got->body, got->get_header_value("Content-Type")};
}

// A field of a JSON map, as text: "joined/0/node" is a way through maps and lists. Nothing there: "".
inline std::string field(const std::string& json, std::string_view way) {
  const auto document = Document::parse(json, "answer.json");
  if (!document) return "not JSON: " + json;
  std::optional<Value> at = document->root();
  while (at && !way.empty()) {
    const std::string_view word = way.substr(0, way.find('/'));
    way.remove_prefix(std::min(way.size(), word.size() + 1));
    std::optional<Value> next;
    std::size_t number = 0;
    for (const auto [key, value] : at->pairs()) {
      if (key.text() == word) next = value;
    }
    for (const Value item : at->items()) {
      if (std::to_string(number++) == word) next = item;
    }
    at = next;
  }
  if (!at) return "";
  return at->is_scalar()                   ? std::string(at->text())
         : at->kind() == Value::Kind::null ? "null"
                                           : fmt::format("{} items", at->size());
}

class Town {
 public:
  Town() {
    auto engine = store::embedded::Engine::open(folder_.path() + "/store", {.synchronous = false});
    EXPECT_TRUE(engine) << engine.error().message;
    engine_ = *std::move(engine);
    mine_ = store::Blocking::open([this](Loop& loop) { return open(loop); }).value();
    ConfigDocument config;
    config.settings.control.controller_ttl = 2s;
    put(keys.config(), format(config));
  }

  void put(const std::string& key, const std::string& value) {
    const auto done = mine_->put(key, value);
    EXPECT_TRUE(done) << done.error().message;
  }
  std::string read(const std::string& key) {
    const auto read = mine_->get(key);
    return read && read->entry ? read->entry->value : "";
  }
  void create(const std::string& workload, std::uint32_t shards, std::uint32_t replicas) {
    WorkloadDocument document{.spec = {.name = WorkloadId(workload), .shards = shards, .replicas = replicas}};
    document.buckets = buckets_for(shards);
    put(keys.workload(WorkloadId(workload)), format(document));
  }
  Result<std::unique_ptr<store::Store>> open(Loop& loop) const {
    return std::make_unique<Unsteady>(store::embedded::make_local(loop, engine_, 10s), down, mute, refusals);
  }

  DaemonOptions daemon_options(const std::string& name) {
    return {.cluster = cluster, .name = name, .open_store = [this](Loop& loop) { return open(loop); }, .http = "127.0.0.1:0"};
  }
  std::unique_ptr<Daemon> start(const std::string& name) {
    auto daemon = Daemon::start(daemon_options(name));
    EXPECT_TRUE(daemon) << daemon.error().message;
    return *std::move(daemon);
  }
  std::unique_ptr<node::Node> join(const std::string& name, node::ShardHandler& handler, Duration session_ttl = 30s) {
    auto node = node::Node::join({.open_store = [this](Loop& loop) { return open(loop); },
                                  .cluster = cluster,
                                  .name = NodeId(name),
                                  .address = "127.0.0.1:1",
                                  .session_ttl = session_ttl,
                                  .on_stuck = node::OnStuck::report},
                                 handler);
    EXPECT_TRUE(node) << node.error().message;
    return *std::move(node);
  }

  store::embedded::EngineStatus store_status() const { return engine_->status(); }

  const ClusterId cluster{"c1"};
  const Keys keys{cluster};
  const std::shared_ptr<std::atomic<bool>> down = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<std::atomic<bool>> mute = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<std::atomic<std::size_t>> refusals = std::make_shared<std::atomic<std::size_t>>(0);

 private:
  test::TempFolder folder_{test::TempFolder::Where::memory};
  std::shared_ptr<store::embedded::Engine> engine_;
  std::unique_ptr<store::Blocking> mine_;
};

// Asks again until the field says so.
inline void wait_for(const Daemon& daemon, const std::string& path, const std::string& way, const std::string& value) {
  test::wait_until(
      fmt::format("{} {} = {}", path, way, value), patience, [&] { return field(get(daemon.http(), path).body, way) == value; },
      [&] { return get(daemon.http(), path).body; });
}

// The value of a metric, without labels or with them as they are written.
inline std::string metric(const Daemon& daemon, const std::string& name) {
  const std::string text = "\n" + get(daemon.http(), "/metrics").body;
  const auto at = text.find("\n" + name + " ");
  if (at == std::string::npos) return "";
  const auto begin = at + name.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace evenkeel::serve
