#include "evenkeel/store/backends/zookeeper/detail/decide.h"

#include <algorithm>
#include <set>

#include "evenkeel/store/backends/zookeeper/detail/paths.h"

namespace evenkeel::store::zookeeper {
namespace {

// The branch that is taken, and the compare that alone decided it, if it is `otherwise`.
struct Chosen {
  const std::vector<Write>* writes = nullptr;
  const Compare* failing = nullptr;
};

bool holds(const Compare& compare, const Seen& seen) {
  const bool present = seen.exists && seen.content.kind == NodeKind::value;
  switch (compare.kind) {
    case Compare::Kind::absent:
      return !present;
    case Compare::Kind::present:
      return present;
    case Compare::Kind::unchanged:
      return present && seen.content.modified == compare.modified;
  }
  return false;
}

Result<Chosen> choose(const Txn& txn, const View& view) {
  Chosen chosen{&txn.then, nullptr};
  for (const Compare& compare : txn.compares) {
    const Seen& seen = view.at(path_of(view.root, compare.key));
    if (compare.kind == Compare::Kind::unchanged && seen.exists && seen.stat.ephemeral)
      return fail(Code::invalid, "{} is ephemeral, and on ZooKeeper such a key is only compared by absent or present",
                  compare.key);
    if (!chosen.failing && !holds(compare, seen)) chosen = {&txn.otherwise, &compare};
  }
  return chosen;
}

// The nodes of a view below one of them.
template <class Visit>
void each_below(const View& view, const std::string& top, Visit visit) {
  const std::string from = top == "/" ? top : top + "/";
  for (auto it = view.nodes.upper_bound(from); it != view.nodes.end() && it->first.starts_with(from); ++it)
    if (it->second.exists) visit(it->first, it->second);
}

class Decider {
 public:
  explicit Decider(const View& view) : view_(view), root_(root_path(view.root)) {}

  Result<Decision> decide(const Txn& txn, const Chosen& chosen) {
    if (chosen.failing) {
      rely_on(path_of(view_.root, chosen.failing->key));
    } else {
      for (const Compare& compare : txn.compares) rely_on(path_of(view_.root, compare.key));
    }
    if (auto good = take_writes(*chosen.writes); !good) return fail(good.error());
    settle_emptied();
    Decision decision{.succeeded = chosen.failing == nullptr, .revision = {}, .operations = {}};
    for (const std::string& path : relied_) decision.revision = std::max(decision.revision, view_.at(path).as_of);
    if (relied_.empty()) decision.revision = view_.at(root_).as_of;
    if (targets_.empty() && !root_emptied_ && relied_.size() <= 1) return decision;  // one read, which was so when it was read
    decision.operations = operations();
    if (const std::size_t bytes = bytes_of(decision.operations); bytes > request_bytes_max)
      return fail(Code::too_large, "the txn would be one request of {} bytes to ZooKeeper, which takes {}: cut it into several",
                  bytes, request_bytes_max);
    return decision;
  }

 private:
  // How a node is to be afterwards.
  struct Target {
    enum class Kind : std::uint8_t { gone, folder, tombstone, value, ephemeral, kept };
    Kind kind = Kind::gone;
    const std::string* value = nullptr;  // what is put
  };
  using Kind = Target::Kind;

  void rely_on(std::string path) { relied_.insert(std::move(path)); }
  void aim(const std::string& path, Kind kind, const std::string* value = nullptr) { targets_[path] = {kind, value}; }

  // Erasures first, so that what is put finds the place as it will be.
  Result<> take_writes(const std::vector<Write>& writes) {
    for (const Write& write : writes) {
      if (write.kind == Write::Kind::erase) erase(path_of(view_.root, write.key));
      if (write.kind == Write::Kind::erase_below) erase_below(path_of_prefix(view_.root, write.key));
    }
    for (const Write& write : writes) {
      const std::string path = path_of(view_.root, write.key);
      if (write.kind == Write::Kind::put) aim(path, Kind::value, &write.value);
      if (write.kind != Write::Kind::put_ephemeral) continue;
      if (auto good = clear_below(path, write.key); !good) return good;
      aim(path, Kind::ephemeral, &write.value);
    }
    for (const Write& write : writes) {
      if (write.kind != Write::Kind::put && write.kind != Write::Kind::put_ephemeral) continue;
      if (auto good = make_parents(write.key); !good) return good;
    }
    return {};
  }

  void erase(const std::string& path) {
    const Seen& seen = view_.at(path);
    if (!seen.exists || seen.content.kind != NodeKind::value) return rely_on(path);
    aim(path, seen.stat.ephemeral ? Kind::gone : Kind::tombstone);
  }

  void erase_below(const std::string& top) {
    const Seen& seen = view_.at(top);
    rely_on(top);
    if (!seen.exists || seen.stat.ephemeral) return;
    if (top == root_) {
      root_emptied_ = seen.stat.children > 0;
    } else {
      emptied_.insert(top);
    }
    each_below(view_, top, [&](const std::string& path, const Seen&) { aim(path, Kind::gone); });
  }

  // An ephemeral node has no children: what is below must be erased before, or be nothing but traces, which go.
  Result<> clear_below(const std::string& path, const std::string& key) {
    Result<> result;
    each_below(view_, path, [&](const std::string& below, const Seen& seen) {
      const auto target = targets_.find(below);
      const bool gone = target != targets_.end() && (target->second.kind == Kind::gone || target->second.kind == Kind::tombstone);
      if (seen.content.kind == NodeKind::value && !gone)
        result =
            fail(Code::refused, "{} cannot be ephemeral: there is {} below it, and ZooKeeper has nothing below ephemeral keys",
                 key, key_of(view_.root, below).value_or(below));
      aim(below, Kind::gone);
    });
    return result;
  }

  Result<> make_parents(const std::string& key) {
    for (const std::string& path : ancestors_of(path_of(view_.root, key))) {
      const auto target = targets_.find(path);
      const Seen& seen = view_.at(path);
      const bool ephemeral =
          target == targets_.end() ? seen.exists && seen.stat.ephemeral : target->second.kind == Kind::ephemeral;
      if (ephemeral)
        return fail(Code::refused, "{} cannot be put: {} is ephemeral, and ZooKeeper has nothing below ephemeral keys", key,
                    key_of(view_.root, path).value_or(path));
      const bool missing = target == targets_.end() ? !seen.exists : target->second.kind == Kind::gone;
      if (missing) aim(path, Kind::folder);
    }
    return {};
  }

  // Prefixes below which all was erased, together with something else or with children: their own nodes are removed, which fails unless
  // they are empty by then, and are made again where they are keys.
  void settle_emptied() {
    const bool alone = targets_.empty() && relied_.size() <= 1;
    for (const std::string& top : emptied_) {
      const Seen& seen = view_.at(top);
      if (alone && seen.stat.children == 0) return emptied_.clear();
      const auto target = targets_.find(top);
      if (target == targets_.end())
        aim(top, seen.content.kind == NodeKind::value ? Kind::kept : Kind::gone);
      else if (target->second.kind == Kind::tombstone)
        target->second.kind = Kind::gone;
    }
  }

  bool made_anew(const std::string& path, const Target& target) const {
    const Seen& seen = view_.at(path);
    return !seen.exists || seen.stat.ephemeral || target.kind == Kind::ephemeral || target.kind == Kind::gone ||
           emptied_.contains(path);
  }

  std::string data(const std::string& path, const Target& target) const {
    if (target.kind == Kind::folder) return folder_data();
    if (target.kind == Kind::tombstone) return tombstone_data();
    const Seen& seen = view_.at(path);
    const NodeContent& content = seen.content;
    if (target.kind == Kind::kept) return moved_data(content.value, content.created, content.modified);
    const bool was_key = seen.exists && content.kind == NodeKind::value;
    if (made_anew(path, target)) return was_key ? since_data(*target.value, content.created) : plain_data(*target.value);
    if (!was_key) return born_data(*target.value);
    return content.created == Revision(seen.stat.created) ? plain_data(*target.value)
                                                          : since_data(*target.value, content.created);
  }

  std::vector<Operation> operations() {
    add_root();
    add_guards();
    add_removals();
    add_the_rest();
    if (!told_) add_probe_in_place_of_a_removed_one();
    return std::move(operations_);
  }

  void add(Operation::Kind kind, const std::string& path, std::string bytes, std::int32_t version) {
    operations_.push_back({kind, path, std::move(bytes), version});
    told_ |= kind == Operation::Kind::set;
  }

  // Makes a node that is missing here and removes it again; what is set in between tells the multi's revision.
  void add_probe(const std::string& path) {
    add(Operation::Kind::create, path, {}, 0);
    if (!told_) add(Operation::Kind::set, path, {}, 0);
    add(Operation::Kind::remove, path, {}, -1);
  }

  void add_guards() {
    std::set<std::string> guarded;
    for (const std::string& path : relied_) {
      if (path == root_ && view_.at(path).exists) continue;  // it has an operation of its own
      const std::string guard = guard_of(path);
      if (targets_.contains(guard) || !guarded.insert(guard).second) continue;  // what is written there compares already
      const Seen& seen = view_.at(guard);
      if (!seen.exists)
        add_probe(guard);
      else
        add(Operation::Kind::check, guard, {}, seen.stat.version);
    }
  }

  // The node whose state says how the key is: its own; if that is missing, the topmost that is; or an ephemeral one, which has no children.
  std::string guard_of(const std::string& path) const {
    for (const std::string& above : ancestors_of(path)) {
      const Seen& seen = view_.at(above);
      if (!seen.exists || seen.stat.ephemeral) return above;
    }
    return path;
  }

  void add_removals() {
    for (auto it = targets_.rbegin(); it != targets_.rend(); ++it) {  // children come after their parents in the order of bytes
      const auto& [path, target] = *it;
      const Seen& seen = view_.at(path);
      if (!seen.exists || !made_anew(path, target)) continue;
      add(Operation::Kind::remove, path, {}, seen.stat.version);
    }
  }

  void add_the_rest() {
    for (const auto& [path, target] : targets_) {
      if (target.kind == Kind::gone) continue;
      const bool anew = made_anew(path, target);
      if (target.kind == Kind::ephemeral) {
        if (!told_) add_probe(path);
        add(Operation::Kind::create_ephemeral, path, data(path, target), 0);
      } else {
        if (anew) add(Operation::Kind::create, path, {}, 0);
        add(Operation::Kind::set, path, data(path, target), anew ? 0 : view_.at(path).stat.version);
      }
    }
  }

  // Rules 1 and 4.
  bool root_moves() const {
    return root_emptied_ || std::ranges::any_of(targets_, [&](const auto& it) {
             const auto& [path, target] = it;
             const Seen& seen = view_.at(path);
             const bool anew = made_anew(path, target);
             return (anew && seen.exists && !seen.stat.ephemeral) ||
                    (anew && target.kind != Kind::gone && parent_of(path) == root_);
           });
  }

  void add_root() {
    const Seen& root = view_.at(root_);
    if (!root.exists) return;  // it is made, or is missing like all that is asked for
    if (root_moves())
      add(Operation::Kind::set, root_, root.data, root.stat.version);
    else
      add(Operation::Kind::check, root_, {}, root.stat.version);
  }

  // Only ephemeral nodes were removed, or nothing was.
  void add_probe_in_place_of_a_removed_one() {
    const auto removed = std::ranges::find(operations_, Operation::Kind::remove, &Operation::kind);
    if (removed != operations_.end()) add_probe(std::string(removed->path));
  }

  const View& view_;
  const std::string root_;
  std::set<std::string> relied_;           // whose state as read the decision rests on
  std::map<std::string, Target> targets_;  // what is written
  std::set<std::string> emptied_;          // nodes, not the root, below which nothing may be left
  bool root_emptied_ = false;
  bool told_ = false;  // there is a set
  std::vector<Operation> operations_;
};

void add_path(Wanted& wanted, std::set<std::string>& stats, std::set<std::string>& nodes, std::string path) {
  for (std::string& above : ancestors_of(path)) {
    if (stats.insert(above).second) wanted.stats.push_back(std::move(above));
  }
  if (nodes.insert(path).second) wanted.nodes.push_back(std::move(path));
}

}  // namespace

const Seen& View::at(const std::string& path) const {
  static const Seen missing;
  const auto it = nodes.find(path);
  return it == nodes.end() ? missing : it->second;
}

Wanted wanted(const Txn& txn, const std::string& root) {
  Wanted wanted;
  std::set<std::string> stats;
  std::set<std::string> nodes;
  add_path(wanted, stats, nodes, root_path(root));
  for (const Compare& compare : txn.compares) add_path(wanted, stats, nodes, path_of(root, compare.key));
  for (const auto* writes : {&txn.then, &txn.otherwise}) {
    for (const Write& write : *writes) {
      const bool prefix = write.kind == Write::Kind::erase_below;
      add_path(wanted, stats, nodes, prefix ? path_of_prefix(root, write.key) : path_of(root, write.key));
    }
  }
  std::erase_if(wanted.stats, [&](const std::string& path) { return nodes.contains(path); });
  std::ranges::sort(wanted.nodes);
  return wanted;
}

Result<std::vector<std::string>> wanted_subtrees(const Txn& txn, const View& view) {
  const auto chosen = choose(txn, view);
  if (!chosen) return fail(chosen.error());
  std::vector<std::string> tops;
  for (const Write& write : *chosen->writes) {
    const bool prefix = write.kind == Write::Kind::erase_below;
    if (!prefix && write.kind != Write::Kind::put_ephemeral) continue;
    std::string top = prefix ? path_of_prefix(view.root, write.key) : path_of(view.root, write.key);
    if (view.at(top).exists && view.at(top).stat.children > 0) tops.push_back(std::move(top));
  }
  return tops;
}

Result<Decision> decide(const Txn& txn, const View& view) {
  const auto chosen = choose(txn, view);
  if (!chosen) return fail(chosen.error());
  return Decider(view).decide(txn, *chosen);
}

std::size_t bytes_of(const std::vector<Operation>& operations) {
  std::size_t bytes = 64;
  for (const Operation& operation : operations) bytes += 80 + operation.path.size() + operation.data.size();
  return bytes;
}

}  // namespace evenkeel::store::zookeeper
