#include "evenkeel/store/backends/zookeeper/detail/tracker.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>

#include "evenkeel/store/backends/zookeeper/detail/paths.h"
#include "evenkeel/store/backends/zookeeper/detail/walk.h"

namespace evenkeel::store::zookeeper {
namespace {

constexpr Duration retry_after = 10ms;
constexpr Duration patience = 100ms;  // so long a picture may stay unsettled before what is there is told

}  // namespace

Tracker::Tracker(Context& context, const std::string& prefix, std::optional<Revision> after, OnChanges on_changes)
    : connection_(context.connection),
      loop_(context.loop),
      root_(context.root),
      top_(path_of_prefix(context.root, prefix)),
      on_trace_(context.on_trace),
      after_(after),
      on_changes_(std::move(on_changes)),
      revision_(after.value_or(Revision{})) {}

Tracker::~Tracker() { close(); }

void Tracker::begin() {
  const auto connection = connection_.lock();
  connection->add(*this);
  if (connection->ready()) start_over();
}

void Tracker::close() {
  closed_ = true;
  if (const auto connection = connection_.lock()) connection->remove(*this);
}

void Tracker::on_ready() {
  if (round_ == 0) return start_over();
  for (const auto& [want, path] : std::exchange(lost_, {})) ask(want, path);
}

void Tracker::ask_lost_ones_soon() {
  loop_.post_after(retry_after, [weak = weak_from_this(), round = round_] {
    const auto alive = weak.lock();
    if (alive && !alive->closed_ && alive->round_ == round) alive->on_ready();
  });
}

// The picture is of no use, since its watches are gone; what was told stays told until the fresh list.
void Tracker::on_expired() {
  round_ = 0;
  after_.reset();
}

void Tracker::start_over() {
  round_ = ++serials_;
  nodes_.clear();
  touched_.clear();
  lost_.clear();
  under_way_ = 0;
  told_first_ = false;
  root_stat_.reset();
  unsettled_since_ = loop_.now();
  if (const auto connection = connection_.lock()) before_ = connection->known();
  ask(Want::top, top_);
}

// The top's read is preceded by a sync: a list is never older than what was written before.
void Tracker::ask(Want want, const std::string& path) {
  const auto connection = connection_.lock();
  if (!connection || closed_) return;
  const auto node = nodes_.find(path);
  if (node == nodes_.end() && (want == Want::data || want == Want::children)) return;
  const std::uint64_t serial = node == nodes_.end() ? 0 : node->second.serial;
  auto on_reply = [weak = weak_from_this(), round = round_, want, path, serial](Reply reply) {
    const auto alive = weak.lock();
    if (alive && !alive->closed_ && alive->round_ == round) alive->take(want, path, serial, std::move(reply));
  };
  if (under_way_++ == 0 && lost_.empty() && touched_.empty()) unsettled_since_ = loop_.now();
  switch (want) {
    case Want::top:
      connection->sync([](const Reply&) {});
      return connection->stat(path, Connection::Watch::yes, std::move(on_reply));
    case Want::root:
      return connection->stat(path, Connection::Watch::no, std::move(on_reply));
    case Want::data:
      node->second.reading = true;
      return connection->read(path, Connection::Watch::yes, std::move(on_reply));
    case Want::children:
      node->second.listing = true;
      return connection->children(path, Connection::Watch::yes, std::move(on_reply));
  }
}

void Tracker::on_node(const std::string& path, Event event) {
  if (closed_ || round_ == 0) return;
  if (path == top_ && event == Event::data) return ask(Want::top, top_);
  const auto it = nodes_.find(path);
  if (it == nodes_.end()) return;
  Node& node = it->second;
  if (event == Event::data) {
    if (node.reading)
      node.read_again = true;
    else
      ask(Want::data, path);
  } else {
    if (node.listing)
      node.list_again = true;
    else
      ask(Want::children, path);
  }
}

void Tracker::take(Want want, const std::string& path, std::uint64_t serial, Reply reply) {
  --under_way_;
  const auto it = nodes_.find(path);
  const bool of_node = want == Want::data || want == Want::children;
  if (passes(reply.code)) {
    if (!of_node || (it != nodes_.end() && it->second.serial == serial)) lost_.insert({want, path});
    const auto connection = connection_.lock();
    if (connection && connection->ready()) ask_lost_ones_soon();
    return;
  }
  if (reply.code != ZOK && reply.code != ZNONODE) return end(error_of(reply.code, path));
  if (want == Want::top) take_top(reply);
  if (want == Want::root) root_stat_ = reply.stat;
  if (of_node && it != nodes_.end() && it->second.serial == serial) {
    if (want == Want::data)
      take_data(path, it->second, reply);
    else
      take_children(path, it->second, reply);
  }
  if (!closed_) tell_if_due();
}

void Tracker::take_top(const Reply& reply) {
  if (reply.code == ZNONODE) return drop(top_);
  Node& top = nodes_[top_];
  if (top.serial == 0) {
    top.serial = ++serials_;
    top.read = true;
  }
  top.stat = reply.stat;
  top.listed |= reply.stat.ephemeral;
  if (!reply.stat.ephemeral && !top.listing) ask(Want::children, top_);
}

void Tracker::take_data(const std::string& path, Node& node, const Reply& reply) {
  node.reading = false;
  if (reply.code == ZNONODE) return drop(path);  // the parent's watch tells if it comes again
  auto content = parse_node(reply.data, reply.stat);
  if (!content) return end(content.error().in(path));
  node.read = true;
  node.stat = reply.stat;
  node.content = *std::move(content);
  touched_.insert(path);
  if (node.content.kind != NodeKind::value && reply.stat.children == 0 && on_trace_) on_trace_({path, reply.stat.modified});
  if (node.stat.ephemeral) {
    node.listed = true;
  } else if (!node.listed && !node.listing) {
    ask(Want::children, path);
  }
  if (std::exchange(node.read_again, false)) ask(Want::data, path);
}

void Tracker::take_children(const std::string& path, Node& node, const Reply& reply) {
  node.listing = false;
  if (reply.code == ZNONODE) return drop(path);
  node.listed = true;
  node.stat.children_changed = reply.stat.children_changed;
  if (std::exchange(node.list_again, false)) ask(Want::children, path);
  std::set<std::string> children;
  for (const std::string& name : reply.children) {
    if (std::string child = child_of(path, name); !is_zookeepers(child)) children.insert(std::move(child));
  }
  std::vector<std::string> gone;
  const std::string from = child_of(path, "");
  for (auto it = nodes_.upper_bound(from); it != nodes_.end() && it->first.starts_with(from); ++it) {
    if (parent_of(it->first) == path && !children.contains(it->first)) gone.push_back(it->first);
  }
  for (const std::string& child : gone) drop(child);
  for (const std::string& child : children) {
    if (nodes_.contains(child)) continue;
    nodes_[child].serial = ++serials_;
    ask(Want::data, child);
  }
}

void Tracker::drop(const std::string& path) {
  drop_below(path);
  nodes_.erase(path);
  touched_.insert(path);
  root_stat_.reset();
}

void Tracker::drop_below(const std::string& path) {
  const std::string from = child_of(path, "");
  auto it = nodes_.upper_bound(from);
  while (it != nodes_.end() && it->first.starts_with(from)) {
    touched_.insert(it->first);
    it = nodes_.erase(it);
  }
}

void Tracker::end(Error error) {
  const auto alive = shared_from_this();
  close();
  on_changes_(fail(std::move(error)));
}

bool Tracker::complete() const {
  return std::ranges::all_of(nodes_, [](const auto& it) { return it.second.read && it.second.listed; });
}

// A removal may have left no tombstone.
bool Tracker::must_be_fresh(const NodeStat& root) const {
  const std::int64_t after = after_->value();
  return root.created == 0 || root.modified > after ||
         std::ranges::any_of(nodes_, [&](const auto& it) { return it.second.stat.children_changed > after; });
}

void Tracker::tell_if_due() {
  const auto connection = connection_.lock();
  if (!connection) return;
  const bool now = settled();
  if (!now && loop_.now() - unsettled_since_ < patience) return;
  if (told_first_) return tell_changes(now ? std::max(revision_, connection->known()) : revision_);
  if (!now && !complete()) {
    unsettled_since_ = loop_.now();  // looking through all nodes is not for every answer
    return;
  }
  const Revision revision = now ? connection->known() : before_;
  if (!after_) return tell_first(true, revision);
  if (!root_stat_) return ask(Want::root, root_path(root_));
  if (must_be_fresh(*root_stat_)) return tell_first(true, revision);
  tell_first(false, revision);
}

std::optional<Entry> Tracker::entry_at(const std::string& path, const std::string& key) const {
  const auto it = nodes_.find(path);
  if (path == top_ || it == nodes_.end() || !it->second.read || it->second.content.kind != NodeKind::value) return std::nullopt;
  const NodeContent& content = it->second.content;
  return Entry{key, content.value, content.created, content.modified, it->second.stat.ephemeral};
}

void Tracker::tell_first(bool fresh, Revision revision) {
  told_first_ = true;
  touched_.clear();
  told_.clear();
  Changes changes{.fresh = fresh, .changes = {}, .revision = std::max(revision_, revision)};
  for (const auto& [path, node] : nodes_) {
    auto key = path == top_ ? std::nullopt : key_of(root_, path);
    if (!key) continue;
    auto entry = entry_at(path, *key);
    const bool later = !after_ || node.content.modified > *after_;
    const bool erased = node.content.kind == NodeKind::tombstone;
    if (entry) told_.emplace(*key, *entry);
    if (fresh ? entry.has_value() : later && (entry || erased)) changes.changes.push_back({*std::move(key), std::move(entry)});
  }
  if (fresh) {
    std::ranges::sort(changes.changes, {}, &Change::key);
  } else {
    const auto modified = [&](const Change& change) { return nodes_.at(path_of(root_, change.key)).content.modified; };
    std::ranges::stable_sort(changes.changes, {}, modified);
    if (changes.changes.empty()) return;
  }
  tell(std::move(changes));
}

void Tracker::tell_changes(Revision revision) {
  unsettled_since_ = loop_.now();
  Changes changes{.fresh = false, .changes = {}, .revision = revision};
  std::map<std::string, Revision> when;
  for (const std::string& path : std::exchange(touched_, {})) {
    const auto key = path == top_ ? std::nullopt : key_of(root_, path);
    if (!key) continue;
    auto entry = entry_at(path, *key);
    const auto before = told_.find(*key);
    if (entry ? before != told_.end() && before->second == *entry : before == told_.end()) continue;
    const auto node = nodes_.find(path);
    when[*key] = node == nodes_.end() ? revision : node->second.content.modified;
    if (entry)
      told_.insert_or_assign(*key, *entry);
    else
      told_.erase(before);
    changes.changes.push_back({*key, std::move(entry)});
  }
  std::ranges::stable_sort(changes.changes, {}, [&](const Change& change) { return when.at(change.key); });
  if (!changes.changes.empty()) tell(std::move(changes));
}

void Tracker::tell(Changes changes) {
  const auto alive = shared_from_this();
  revision_ = changes.revision;
  on_changes_(std::move(changes));
}

}  // namespace evenkeel::store::zookeeper
