#include "evenkeel/route/shell/router.h"

#include <atomic>
#include <limits>
#include <set>
#include <utility>

#include "evenkeel/base/hash.h"
#include "evenkeel/route/shell/detail/latest.h"

namespace evenkeel::route {

class Router::Work : public std::enable_shared_from_this<Work> {
 public:
  using Handler = std::function<void(const std::shared_ptr<const Table>&, const std::vector<ShardId>&)>;

  Work(store::Store& store, const ClusterId& cluster, RouterOptions options)
      : store_(store), keys_(cluster), options_(std::move(options)), table_(std::make_shared<const Table>()) {}

  void start() {
    watch_view();
    watch_live();
    ask();
  }
  void stop() {
    view_watch_.reset();
    live_watch_.reset();
    stopped_ = true;
    for (const Timer timer : {ask_timer_, view_timer_, live_timer_}) store_.loop().cancel(timer);
  }

  std::shared_ptr<const Table> table() const { return table_.get(); }
  std::optional<Picked> pick(const WorkloadId& workload, std::string_view key, Role role) const {
    const std::uint64_t salt = mix64(options_.salt, hash64(key));
    return table_.read([&](const auto& table) { return table->pick(workload, key, role, options_.zone, salt); });
  }
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  std::optional<Duration> age() const {
    const Duration::rep heard = heard_.load(std::memory_order_relaxed);
    if (heard == never) return std::nullopt;
    return store_.loop().now() - Instant(Duration(heard));
  }
  void on_change(Handler handler) { handler_ = std::make_shared<const Handler>(std::move(handler)); }

 private:
  static constexpr Duration::rep never = std::numeric_limits<Duration::rep>::min();

  // Calls a member with the answer's value, unless this one is gone by then.
  template <class Call>
  auto guarded(Call call) {
    return [weak = weak_from_this(), call](auto&&... values) {
      const auto self = weak.lock();
      if (self && !self->stopped_) call(*self, std::forward<decltype(values)>(values)...);
    };
  }

  void watch_view() {
    view_watch_ = store_.watch(keys_.view_prefix(), std::nullopt, guarded([](Work& work, Result<store::Changes> seen) {
                                 if (seen) return work.take_view(*seen);
                                 work.view_timer_ = work.watch_later(seen.error(), [](Work& later) { later.watch_view(); });
                               }));
  }
  void watch_live() {
    live_watch_ = store_.watch(keys_.live_prefix(), std::nullopt, guarded([](Work& work, Result<store::Changes> seen) {
                                 if (seen) return work.take_live(*seen);
                                 work.live_timer_ = work.watch_later(seen.error(), [](Work& later) { later.watch_live(); });
                               }));
  }
  Timer watch_later(const Error& error, void (*again)(Work&)) {
    if (options_.log != nullptr) options_.log->error("the store refuses to be watched; trying again", {{"error", error.message}});
    return store_.loop().post_after(options_.watch_again, guarded([again](Work& work) { again(work); }));
  }

  // An answer says that the store was there when it was asked, or later.
  void ask() {
    store_.get(keys_.controller_epoch(), guarded([sent = store_.loop().now()](Work& work, const Result<store::Read>& answer) {
                 if (answer) work.heard(sent);
               }));
    ask_timer_ = store_.loop().post_after(options_.ask_every, guarded([](Work& work) { work.ask(); }));
  }
  void heard(Instant when) {
    const Duration::rep at = when.time_since_epoch().count();
    if (at > heard_.load(std::memory_order_relaxed)) heard_.store(at, std::memory_order_relaxed);
  }

  void cannot_read(const std::string& key, const Error& error) const {
    if (options_.log == nullptr) return;
    options_.log->warn("a document cannot be read; what was known before counts on", {{"key", key}, {"error", error.message}});
  }

  void take_view(const store::Changes& seen) {
    TableUpdate update;
    std::set<std::pair<WorkloadId, Bucket>> left = seen.fresh ? buckets_ : decltype(buckets_)();
    for (const store::Change& change : seen.changes) {
      const auto key = keys_.parse(change.key);
      if (!key || key->kind != Key::Kind::view) continue;
      const std::pair id(key->workload, key->bucket);
      left.erase(id);
      if (!change.entry) {
        left.insert(id);
        std::erase_if(update.buckets, [&](const ViewBucket& b) { return std::pair(b.workload, b.bucket) == id; });
        continue;
      }
      auto bucket = parse_view(change.entry->value, key->workload, key->bucket, change.key);
      if (!bucket) {
        cannot_read(change.key, bucket.error());
        continue;
      }
      buckets_.insert(id);
      update.buckets.push_back(*std::move(bucket));
    }
    for (const auto& id : left) buckets_.erase(id);
    update.gone.assign(left.begin(), left.end());
    view_read_ = view_read_ || seen.fresh;
    publish(update);
  }

  void take_live(const store::Changes& seen) {
    TableUpdate update;
    std::set<NodeId> left = seen.fresh ? live_ : decltype(live_)();
    for (const store::Change& change : seen.changes) {
      const auto key = keys_.parse(change.key);
      if (!key || key->kind != Key::Kind::live) continue;
      left.erase(key->node);
      if (!change.entry) {
        left.insert(key->node);
        std::erase_if(update.live, [&](const LiveDocument& live) { return live.node == key->node; });
        continue;
      }
      auto live = parse_live(change.entry->value, key->node, change.key);
      if (!live) {
        cannot_read(change.key, live.error());
        continue;
      }
      live_.insert(key->node);
      update.live.push_back(*std::move(live));
    }
    for (const NodeId& node : left) live_.erase(node);
    update.not_live.assign(left.begin(), left.end());
    live_read_ = live_read_ || seen.fresh;
    publish(update);
  }

  void publish(const TableUpdate& update) {
    heard(store_.loop().now());
    const std::shared_ptr<const Table> was = table();
    const auto next = std::make_shared<const Table>(was->with(update));
    const bool changed = !next->shares_all(*was);
    if (changed) table_.set(next);
    const bool becomes_ready = !ready() && view_read_ && live_read_;
    if (becomes_ready) ready_.store(true, std::memory_order_release);
    if (!changed && !becomes_ready) return;
    // The handler may replace itself, or destroy the router.
    if (const auto handler = handler_; handler && *handler) (*handler)(table(), next->changed_since(*was));
  }

  store::Store& store_;
  const Keys keys_;
  const RouterOptions options_;
  detail::Latest<Table> table_;
  std::atomic<bool> ready_ = false;
  std::atomic<Duration::rep> heard_ = never;

  // The rest is the loop's alone.
  std::set<std::pair<WorkloadId, Bucket>> buckets_;  // whose documents the table has: what a fresh list takes away
  std::set<NodeId> live_;
  bool view_read_ = false;
  bool live_read_ = false;
  bool stopped_ = false;
  Timer ask_timer_;
  Timer view_timer_;
  Timer live_timer_;
  std::shared_ptr<const Handler> handler_;
  std::unique_ptr<store::Watching> view_watch_;
  std::unique_ptr<store::Watching> live_watch_;
};

Router::Router(store::Store& store, const ClusterId& cluster, RouterOptions options)
    : work_(std::make_shared<Work>(store, cluster, std::move(options))) {
  work_->start();
}

Router::~Router() { work_->stop(); }

std::shared_ptr<const Table> Router::table() const { return work_->table(); }

std::optional<Picked> Router::pick(const WorkloadId& workload, std::string_view key, Role role) const {
  return work_->pick(workload, key, role);
}

bool Router::ready() const { return work_->ready(); }

std::optional<Duration> Router::age() const { return work_->age(); }

void Router::on_change(std::function<void(const std::shared_ptr<const Table>&, const std::vector<ShardId>&)> handler) {
  work_->on_change(std::move(handler));
}

}  // namespace evenkeel::route
