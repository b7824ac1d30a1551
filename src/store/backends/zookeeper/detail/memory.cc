#include "evenkeel/store/backends/zookeeper/detail/memory.h"

#include <algorithm>
#include <utility>

#include "evenkeel/store/backends/zookeeper/detail/paths.h"

namespace evenkeel::store::zookeeper {
namespace {

NodeContent without_value(const NodeContent& content) { return {content.kind, {}, content.created, content.modified}; }

}  // namespace

void Memory::use(std::uint64_t connection) {
  if (std::exchange(connection_, connection) != connection) nodes_.clear();
}

std::optional<View> Memory::recall(const Txn& txn, const Wanted& wanted, const std::string& root) const {
  if (txn.then.empty() || !std::ranges::all_of(txn.then, [](const Write& write) { return write.kind == Write::Kind::put; }))
    return std::nullopt;
  View view{.root = root, .nodes = {}};
  const auto add = [&](const std::vector<std::string>& paths, bool with_data) {
    return std::ranges::all_of(paths, [&](const std::string& path) {
      const auto known = nodes_.find(path);
      if (known == nodes_.end() || (with_data && !known->second.with_data)) return false;
      view.nodes.emplace(path, known->second.seen);
      return true;
    });
  };
  if (!add(wanted.stats, false) || !add(wanted.nodes, true)) return std::nullopt;
  return view;
}

// What was only looked for says nothing about the data, and takes nothing from what is known of it.
void Memory::learn(const std::string& path, const Seen& seen, bool with_data) {
  if (!seen.exists || seen.stat.ephemeral) {
    nodes_.erase(path);
    return;
  }
  Known& known = nodes_[path];
  if (!with_data && known.with_data && known.seen.stat.version == seen.stat.version) return;
  known = {{seen.exists, seen.stat, without_value(seen.content), seen.data, seen.as_of}, with_data};
}

void Memory::learn(const View& view, const Wanted& wanted, const std::vector<Operation>& operations, std::int64_t zxid) {
  // The root's version is another one: some nodes may have been removed, and made anew, since they were seen.
  const std::string root = root_path(view.root);
  const auto before = nodes_.find(root);
  const bool removed = before == nodes_.end() || before->second.seen.stat.version != view.at(root).stat.version;
  if (removed || nodes_.size() + view.nodes.size() > nodes_max) nodes_.clear();
  for (const auto& [path, seen] : view.nodes) learn(path, seen, std::ranges::find(wanted.stats, path) == wanted.stats.end());
  using Kind = Operation::Kind;
  for (const Operation& operation : operations) {
    if (operation.kind == Kind::remove || operation.kind == Kind::create_ephemeral) nodes_.erase(operation.path);
    if (operation.kind == Kind::create) nodes_[operation.path].seen = {.exists = true, .stat = {.created = zxid}};
    const auto found = nodes_.find(operation.path);
    if (operation.kind != Kind::set || found == nodes_.end()) continue;
    Seen& seen = found->second.seen;
    found->second.with_data = true;
    ++seen.stat.version;
    seen.stat.modified = zxid;
    if (operation.path == root) {
      seen.data = operation.data;
    } else if (const auto content = parse_node(operation.data, seen.stat)) {
      seen.content = without_value(*content);
    }
  }
}

}  // namespace evenkeel::store::zookeeper
