// What the ZooKeeper client decides, without a ZooKeeper: encodings, and txns against a small tree with ZooKeeper's rules and a plain map
// with the store's.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "evenkeel/base/rng.h"
#include "evenkeel/store/backends/zookeeper/detail/decide.h"
#include "evenkeel/store/backends/zookeeper/detail/four_letters.h"
#include "evenkeel/store/backends/zookeeper/detail/memory.h"
#include "evenkeel/store/backends/zookeeper/detail/paths.h"

namespace evenkeel::store::zookeeper {
namespace {

TEST(ZooKeeperPaths, KeysComeBack) {
  for (const std::string key :
       {"/a", "/a/b", "/a%b", "/%25", "/é", "/\xc2\x85", "/\xee\x80\x80", "/\xf0\x9f\x98\x80", "/\xef\xbf\xbf/x"}) {
    for (const std::string root : {"", "/r", "/r/s"}) {
      const std::string path = path_of(root, key);
      EXPECT_EQ(key_of(root, path), key) << path;
      EXPECT_EQ(path_of_prefix(root, key + "/"), path);
    }
  }
  EXPECT_EQ(path_of("/r", "/a%😀"), "/r/a%25%F0%9F%98%80");
  EXPECT_EQ(path_of("", "/schlüssel/鍵"), "/schlüssel/鍵");
  EXPECT_EQ(path_of_prefix("", "/"), "/");
  EXPECT_EQ(path_of_prefix("/r", "/"), "/r");
}

TEST(ZooKeeperPaths, OthersNamesAreNoKeys) {
  for (const char* path : {"/r", "/rr/a", "/a", "/r/50%", "/r/%zz", "/r/%41", "/r/%0a", "/r/%2f", "/r/%2F", "/r/zookeeper"})
    EXPECT_EQ(key_of("/r", path), std::nullopt) << path;
}

TEST(ZooKeeperPaths, KnowWhatIsAbove) {
  EXPECT_EQ(ancestors_of("/a/b/c"), (std::vector<std::string>{"/a", "/a/b"}));
  EXPECT_TRUE(ancestors_of("/a").empty());
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_TRUE(is_below("/a/b", "/a"));
  EXPECT_FALSE(is_below("/ab", "/a"));
  EXPECT_TRUE(is_below("/a", "/"));
}

constexpr NodeStat stat{.created = 5, .modified = 9, .children_changed = 5, .version = 3};

NodeContent content(const std::string& data) { return parse_node(data, stat).value(); }

RC_GTEST_PROP(ZooKeeperNodeData, ValuesComeBack, (const std::string& random)) {
  for (const std::string& value : {random, folder_data() + random, tombstone_data(), born_data(random), std::string()}) {
    RC_ASSERT(content(plain_data(value)) == (NodeContent{NodeKind::value, value, Revision(5), Revision(9)}));
    RC_ASSERT(content(born_data(value)) == (NodeContent{NodeKind::value, value, Revision(9), Revision(9)}));
    RC_ASSERT(content(since_data(value, Revision(7))) == (NodeContent{NodeKind::value, value, Revision(7), Revision(9)}));
    RC_ASSERT(content(moved_data(value, Revision(1), Revision(2))) ==
              (NodeContent{NodeKind::value, value, Revision(1), Revision(2)}));
  }
}

TEST(ZooKeeperNodeData, PlainValuesAreStoredAsTheyAre) {
  EXPECT_EQ(plain_data("{\"a\":1}"), "{\"a\":1}");
  EXPECT_EQ(content(folder_data()).kind, NodeKind::folder);
  EXPECT_EQ(content(tombstone_data()).kind, NodeKind::tombstone);
}

TEST(ZooKeeperNodeData, WhatItDoesNotKnowIsRefused) {
  const std::string mark = folder_data().substr(0, 9);
  for (const char* rest : {"", " ", " folders", " born", " since\n", " since x\n", " since 5 modified\n",
                           " since 5 modified 6 7\n", " since 99999999999999999999\n", " later 1\nvalue"})
    EXPECT_EQ(parse_node(mark + rest, stat).error().code, Code::invalid) << rest;
}

TEST(ZooKeeperSrvr, IsRead) {
  const Member member =
      parse_srvr("Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2022\nLatency: 0\nMode: leader\nNode count: 5\n");
  EXPECT_EQ(member.version, "3.8.0");
  EXPECT_EQ(member.mode, "leader");
  EXPECT_EQ(parse_srvr("srvr is not executed because it is not in the whitelist.\n").version, "");
  EXPECT_EQ(parse_srvr("This ZooKeeper instance is not currently serving requests\n").mode, "");
}

TEST(ZooKeeperSrvr, ThatAStoreWentBackIsForMostToSay) {
  const auto member = [](std::string mode, std::int64_t newest) { return Member{"3.8.0", std::move(mode), Revision(newest)}; };
  const Revision known(100);
  EXPECT_EQ(went_back({member("leader", 40), member("follower", 39), member("follower", 40)}, 3, known), Revision(40));
  EXPECT_EQ(went_back({member("follower", 40), member("leader", 40)}, 3, known), Revision(40));
  EXPECT_EQ(went_back({member("standalone", 0)}, 1, known), Revision(0));
  EXPECT_EQ(went_back({member("leader", 100), member("follower", 40)}, 3, known), std::nullopt) << "it lags";
  EXPECT_EQ(went_back({member("leader", 40), member("follower", 101)}, 3, known), std::nullopt) << "it led once";
  EXPECT_EQ(went_back({member("leader", 40)}, 3, known), std::nullopt) << "what do the others say?";
  EXPECT_EQ(went_back({member("leader", 40), member("", 0)}, 3, known), std::nullopt) << "one does not serve";
  EXPECT_EQ(went_back({member("follower", 40), member("follower", 40)}, 3, known), std::nullopt) << "nobody leads";
}

// A tree with the rules of ZooKeeper that a multi meets.
class Tree {
 public:
  struct Node {
    std::string data;
    NodeStat stat;
    int owner = 0;
  };

  Tree() { nodes_["/"] = {}; }

  // All or nothing; the zxid if all.
  std::optional<std::int64_t> multi(const std::vector<Operation>& operations, int session) {
    Tree trial = *this;
    ++trial.zxid_;
    for (const Operation& operation : operations) {
      if (!trial.apply(operation, session)) return std::nullopt;
    }
    *this = std::move(trial);
    return zxid_;
  }

  void expire(int session) {
    ++zxid_;
    for (auto it = nodes_.begin(); it != nodes_.end();) {
      if (it->second.owner == session && session != 0) {
        child_changed(it->first, -1);
        it = nodes_.erase(it);
      } else {
        ++it;
      }
    }
  }

  Seen see(const std::string& path, bool with_data) const {
    const auto it = nodes_.find(path);
    if (it == nodes_.end()) return {.exists = false, .as_of = Revision(zxid_)};
    Seen seen{.exists = true, .stat = it->second.stat, .content = {}, .data = it->second.data, .as_of = Revision(zxid_)};
    if (with_data) seen.content = parse_node(it->second.data, it->second.stat).value();
    return seen;
  }

  const std::map<std::string, Node>& nodes() const { return nodes_; }
  std::int64_t zxid() const { return zxid_; }

 private:
  void child_changed(const std::string& path, int by) {
    NodeStat& parent = nodes_.at(parent_of(path)).stat;
    parent.children += by;
    parent.children_changed = zxid_;
  }

  bool apply(const Operation& operation, int session) {
    using Kind = Operation::Kind;
    const auto it = nodes_.find(operation.path);
    if (operation.kind == Kind::create || operation.kind == Kind::create_ephemeral) {
      const auto parent = nodes_.find(parent_of(operation.path));
      if (it != nodes_.end() || parent == nodes_.end() || parent->second.stat.ephemeral) return false;
      const bool ephemeral = operation.kind == Kind::create_ephemeral;
      nodes_[operation.path] = {operation.data, {zxid_, zxid_, zxid_, 0, 0, ephemeral}, ephemeral ? session : 0};
      child_changed(operation.path, 1);
      return true;
    }
    if (it == nodes_.end() || (operation.version != -1 && operation.version != it->second.stat.version)) return false;
    if (operation.kind == Kind::set) {
      it->second.data = operation.data;
      it->second.stat.modified = zxid_;
      ++it->second.stat.version;
    }
    if (operation.kind == Kind::remove) {
      if (it->second.stat.children > 0) return false;
      child_changed(operation.path, -1);
      nodes_.erase(it);
    }
    return true;
  }

  std::map<std::string, Node> nodes_;
  std::int64_t zxid_ = 100;
};

// The store as it is meant.
struct Model {
  std::map<std::string, Entry> entries;
  std::map<std::string, int> owners;

  bool holds(const Txn& txn) const {
    return std::ranges::all_of(txn.compares, [&](const Compare& compare) {
      const auto it = entries.find(compare.key);
      if (compare.kind == Compare::Kind::absent) return it == entries.end();
      return it != entries.end() && (compare.kind == Compare::Kind::present || it->second.modified == compare.modified);
    });
  }
  void erase(const std::string& key) {
    entries.erase(key);
    owners.erase(key);
  }
  bool apply(const Txn& txn, Revision revision, int session) {
    const bool then = holds(txn);
    for (const Write& write : then ? txn.then : txn.otherwise) {
      if (write.kind == Write::Kind::erase) erase(write.key);
      if (write.kind == Write::Kind::erase_below) {
        const auto copy = entries;
        for (const auto& [key, entry] : copy) {
          if (key.starts_with(write.key)) erase(key);
        }
      }
    }
    for (const Write& write : then ? txn.then : txn.otherwise) {
      if (write.kind != Write::Kind::put && write.kind != Write::Kind::put_ephemeral) continue;
      const bool ephemeral = write.kind == Write::Kind::put_ephemeral;
      const auto it = entries.find(write.key);
      const Revision created = it == entries.end() ? revision : it->second.created;
      entries.insert_or_assign(write.key, Entry{write.key, write.value, created, revision, ephemeral});
      owners[write.key] = ephemeral ? session : 0;
    }
    return then;
  }
  void expire(int session) {
    const auto copy = owners;
    for (const auto& [key, owner] : copy) {
      if (owner == session) erase(key);
    }
  }
};

class Trial {
 public:
  Trial(std::uint64_t seed, std::string root) : rng_(seed), root_(std::move(root)) {}

  void step() {
    const std::uint64_t dice = rng_.below(20);
    if (dice == 0) return expire();
    if (dice == 1) return sweep();
    if (dice < 8) return race();
    commit_now(random_txn(), 1 + static_cast<int>(rng_.below(2)));
  }

  void check() const {
    std::map<std::string, Entry> found;
    for (const auto& [path, node] : tree_.nodes()) {
      const auto key = key_of(root_, path);
      if (!key) continue;
      const auto content = parse_node(node.data, node.stat).value();
      if (content.kind == NodeKind::value)
        found[*key] = {*key, content.value, content.created, content.modified, node.stat.ephemeral};
      RC_ASSERT(node.stat.ephemeral == (node.stat.version == 0));  // rule 2
    }
    std::map<std::string, Entry> expected = model_.entries;
    for (auto& [key, entry] : expected) {
      const auto it = found.find(key);
      // Rule 2's exception: what was put in place of an ephemeral key that had gone and come again meanwhile.
      if (it != found.end() && once_ephemeral_.contains(key) && it->second.created < entry.created)
        entry.created = it->second.created;
    }
    RC_ASSERT(found == expected);
  }

 private:
  struct Planned {
    Txn txn;
    Model before;  // as of some moment of the reading
    Result<Decision> decision;
  };

  std::string random_key() {
    static constexpr const char* keys[] = {"/a", "/a/b", "/a/b/c", "/a/d", "/e", "/f/g"};
    return keys[rng_.below(std::size(keys))];
  }

  Compare random_compare() {
    const std::string key = random_key();
    const auto it = model_.entries.find(key);
    if (rng_.chance(1, 3) && it != model_.entries.end() && !it->second.ephemeral)
      return unchanged(key, Revision(it->second.modified.value() - static_cast<std::int64_t>(rng_.below(4) / 3)));
    return rng_.chance(1, 2) ? absent(key) : present(key);
  }

  std::vector<Write> random_writes() {
    std::vector<Write> writes;
    for (std::uint64_t left = rng_.below(4); left > 0; --left) {
      const auto kind = static_cast<Write::Kind>(rng_.below(4));
      std::string key = random_key();
      if (kind == Write::Kind::erase_below) key = rng_.chance(1, 6) ? "/" : key + "/";
      const bool valued = kind == Write::Kind::put || kind == Write::Kind::put_ephemeral;
      writes.push_back({kind, std::move(key), valued ? fmt::format("v{}", rng_.below(1000)) : ""});
    }
    return writes;
  }

  Txn random_txn() {
    while (true) {
      Txn txn;
      for (std::uint64_t left = rng_.below(3); left > 0; --left) txn.compares.push_back(random_compare());
      txn.then = random_writes();
      txn.otherwise = random_writes();
      if (check_txn(txn)) return txn;
    }
  }

  // Node by node; `between` runs before each of them.
  View read(
      const Txn& txn, const std::function<void()>& between = [] {}) const {
    View view{.root = root_, .nodes = {}};
    const Wanted paths = wanted(txn, root_);
    for (const std::string& path : paths.stats) between(), view.nodes[path] = tree_.see(path, false);
    for (const std::string& path : paths.nodes) between(), view.nodes[path] = tree_.see(path, path != root_path(root_));
    return view;
  }

  void read_subtrees(const Txn& txn, View& view) const {
    const auto tops = wanted_subtrees(txn, view);
    const Wanted paths = wanted(txn, root_);
    for (const std::string& top : tops ? *tops : std::vector<std::string>{}) {
      for (const auto& [path, node] : tree_.nodes()) {
        if (is_below(path, top) && std::ranges::find(paths.nodes, path) == paths.nodes.end())
          view.nodes[path] = tree_.see(path, true);
      }
    }
  }

  // An answer without a write is of a moment while it was read.
  void finish(const Txn& txn, const View& view, const Result<Decision>& decision, int session,
              const std::vector<Model>& moments) {
    if (!decision) return check_refusal(txn, decision.error(), moments);
    if (decision->operations.empty()) {
      RC_ASSERT(std::ranges::any_of(moments, [&](Model moment) {
        const Model before = moment;
        return moment.apply(txn, Revision(-1), session) == decision->succeeded && moment.entries == before.entries;
      }));
      return;
    }
    const auto zxid = tree_.multi(decision->operations, session);
    RC_ASSERT(zxid.has_value() || moments.size() > 1);  // alone, it always passes
    if (!zxid) return;
    if (session == 1) memory_.learn(view, wanted(txn, root_), decision->operations, *zxid);
    const Model before = model_;
    if (moments.size() > 1) {
      for (const Model& moment : moments) {
        for (const auto& [key, entry] : moment.entries) {
          if (entry.ephemeral) once_ephemeral_.insert(key);
        }
      }
    }
    RC_ASSERT(model_.apply(txn, Revision(*zxid), session) == decision->succeeded);
    const bool told =
        std::ranges::any_of(decision->operations, [](const Operation& o) { return o.kind == Operation::Kind::set; });
    RC_ASSERT(told || model_.entries == before.entries);
    check();
  }

  static void check_refusal(const Txn& txn, const Error& error, const std::vector<Model>& moments) {
    if (error.code == Code::invalid) {
      RC_ASSERT(
          std::ranges::any_of(txn.compares, [](const Compare& compare) { return compare.kind == Compare::Kind::unchanged; }));
      return;
    }
    RC_ASSERT(error.code == Code::refused);
    const bool puts = std::ranges::any_of(txn.then, [](const Write& w) { return w.kind == Write::Kind::put_ephemeral; }) ||
                      std::ranges::any_of(txn.otherwise, [](const Write& w) { return w.kind == Write::Kind::put_ephemeral; });
    RC_ASSERT(puts || std::ranges::any_of(moments, [](const Model& moment) {
                return std::ranges::any_of(moment.entries, [](const auto& it) { return it.second.ephemeral; });
              }));
  }

  // As far as all is known by what was done before; whatever others have done since.
  bool commit_from_memory(const Txn& txn, int session) {
    const auto view = memory_.recall(txn, wanted(txn, root_), root_);
    if (!view) return false;
    const auto decision = decide(txn, *view);
    if (!decision || !decision->succeeded) return false;
    const auto zxid = tree_.multi(decision->operations, session);
    if (!zxid) return false;
    memory_.learn(*view, wanted(txn, root_), decision->operations, *zxid);
    RC_ASSERT(model_.apply(txn, Revision(*zxid), session));
    check();
    return true;
  }

  void commit_now(const Txn& txn, int session) {
    if (session == 1 && commit_from_memory(txn, session)) return;
    View view = read(txn);
    read_subtrees(txn, view);
    finish(txn, view, decide(txn, view), session, {model_});
  }

  void meanwhile(std::vector<Model>& moments) {
    for (std::uint64_t left = rng_.below(4); left > 0; --left) {
      const std::uint64_t dice = rng_.below(6);
      if (dice == 0)
        expire();
      else if (dice == 1)
        sweep();
      else
        commit_now(random_txn(), 2);
      moments.push_back(model_);
    }
  }

  void race() {
    const Txn txn = random_txn();
    std::vector<Model> moments{model_};
    View view = read(txn, [&] {
      if (rng_.chance(1, 4)) meanwhile(moments);
    });
    meanwhile(moments);
    read_subtrees(txn, view);
    const auto decision = decide(txn, view);
    meanwhile(moments);
    moments.push_back(model_);
    finish(txn, view, decision, 1, moments);
  }

  void expire() {
    const int session = 1 + static_cast<int>(rng_.below(2));
    tree_.expire(session);
    model_.expire(session);
  }

  void sweep() {
    const std::string root = root_path(root_);
    const Seen seen = tree_.see(root, false);
    if (!seen.exists) return;
    for (const auto& [path, node] : tree_.nodes()) {
      if (!is_below(path, root) || node.stat.children > 0 || parse_node(node.data, node.stat)->kind == NodeKind::value) continue;
      if (rng_.chance(1, 2)) continue;
      RC_ASSERT(tree_
                    .multi({{Operation::Kind::set, root, seen.data, seen.stat.version},
                            {Operation::Kind::remove, path, {}, node.stat.version}},
                           0)
                    .has_value());
      return;
    }
  }

  Rng rng_;
  std::string root_;
  Tree tree_;
  Model model_;
  std::set<std::string> once_ephemeral_;  // when a txn raced with others
  Memory memory_;                         // of session 1's client
};

RC_GTEST_PROP(ZooKeeperDecide, IsTheStoreAsItIsMeantUnderRaces, (std::uint64_t seed, bool below)) {
  Trial trial(seed, below ? "/r/s" : "");
  for (int i = 0; i < 60; ++i) trial.step();
  trial.check();
}

View view_of(const Tree& tree, const Txn& txn) {
  View view{.root = "/r", .nodes = {}};
  const Wanted paths = wanted(txn, "/r");
  for (const std::string& path : paths.stats) view.nodes[path] = tree.see(path, false);
  for (const std::string& path : paths.nodes) view.nodes[path] = tree.see(path, path != "/r");
  return view;
}

std::string texts(const std::vector<Operation>& operations) {
  std::string text;
  for (const Operation& operation : operations) {
    static constexpr const char* names[] = {"check", "create", "create ephemeral", "set", "remove"};
    text += fmt::format("{} {} {}\n", names[static_cast<int>(operation.kind)], operation.path, operation.version);
  }
  return text;
}

Tree tree_with_root() {
  Tree tree;
  tree.multi({{Operation::Kind::create, "/r", {}, 0}, {Operation::Kind::set, "/r", folder_data(), 0}}, 0);
  return tree;
}

// What a txn comes to when all that it names is known; nothing: it is not.
std::string from_memory(const Memory& memory, const Txn& txn) {
  const auto view = memory.recall(txn, wanted(txn, "/r"), "/r");
  return view ? texts(decide(txn, *view)->operations) : "";
}

void commit(Tree& tree, Memory& memory, const Txn& txn) {
  const View view = view_of(tree, txn);
  const auto decision = decide(txn, view);
  memory.learn(view, wanted(txn, "/r"), decision->operations, tree.multi(decision->operations, 1).value());
}

Txn put(const std::string& key) {
  Txn txn;
  txn.put(key, "1");
  return txn;
}

TEST(ZooKeeperMemory, KnowsWhatItsTxnsHaveShown) {
  Tree tree = tree_with_root();
  Memory memory;
  memory.use(1);
  EXPECT_EQ(from_memory(memory, put("/a/b")), "");
  commit(tree, memory, put("/a/b"));
  EXPECT_EQ(from_memory(memory, put("/a/b")), "check /r 2\nset /r/a/b 1\n");
  EXPECT_EQ(from_memory(memory, put("/a/c")), "") << "it was not looked for";
  Txn erase;
  erase.erase("/a/b");
  EXPECT_EQ(from_memory(memory, erase), "") << "only puts";
  commit(tree, memory, put("/a/b/c"));
  EXPECT_EQ(from_memory(memory, put("/a/b")), "check /r 2\nset /r/a/b 1\n")
      << "it was only looked for, and its data is known from before";
  memory.use(2);
  EXPECT_EQ(from_memory(memory, put("/a/b")), "") << "another connection";
}

TEST(ZooKeeperMemory, ForgetsAllOfAnOlderRoot) {
  Tree tree = tree_with_root();
  Memory memory;
  commit(tree, memory, put("/a"));
  commit(tree, memory, put("/b"));
  ASSERT_TRUE(tree.multi({{Operation::Kind::set, "/r", folder_data(), 3}, {Operation::Kind::remove, "/r/a", {}, 1}}, 2));
  commit(tree, memory, put("/b"));
  EXPECT_EQ(from_memory(memory, put("/b")), "check /r 4\nset /r/b 2\n");
  EXPECT_EQ(from_memory(memory, put("/a")), "") << "it may have been made anew, and have the same version";
}

TEST(ZooKeeperDecide, MakesTheWayToTheFirstKey) {
  Txn txn;
  txn.put("/a/b", "1");
  EXPECT_EQ(texts(decide(txn, view_of(Tree(), txn))->operations),
            "create /r 0\nset /r 0\ncreate /r/a 0\nset /r/a 0\ncreate /r/a/b 0\nset /r/a/b 0\n");
}

TEST(ZooKeeperDecide, GuardsWhatIsMissingWithoutATrace) {
  Tree tree = tree_with_root();
  Txn txn;
  txn.compare(absent("/x/y")).compare(absent("/x/z")).put_ephemeral("/e", "1");
  const auto decision = decide(txn, view_of(tree, txn));
  EXPECT_EQ(texts(decision->operations), "set /r 1\ncreate /r/x 0\nremove /r/x -1\ncreate ephemeral /r/e 0\n");
  ASSERT_TRUE(tree.multi(decision->operations, 1));
  EXPECT_FALSE(tree.nodes().contains("/r/x"));
  txn = {};
  txn.erase("/e");
  EXPECT_EQ(texts(decide(txn, view_of(tree, txn))->operations),
            "check /r 2\nremove /r/e 0\ncreate /r/e 0\nset /r/e 0\nremove /r/e -1\n");
}

TEST(ZooKeeperDecide, OneReadNeedsNoWrite) {
  const Tree tree = tree_with_root();
  for (Txn txn : {Txn{{absent("/a")}, {}, {}}, Txn{{present("/a"), absent("/b")}, {{Write::Kind::put, "/c", "1"}}, {}}}) {
    const auto decision = decide(txn, view_of(tree, txn));
    ASSERT_TRUE(decision);
    EXPECT_TRUE(decision->operations.empty());
    EXPECT_EQ(decision->revision, Revision(tree.zxid()));
  }
  const Txn two{{absent("/a"), absent("/b")}, {}, {}};
  EXPECT_EQ(texts(decide(two, view_of(tree, two))->operations),
            "check /r 1\ncreate /r/a 0\nset /r/a 0\nremove /r/a -1\ncreate /r/b 0\nremove /r/b -1\n");
}

TEST(ZooKeeperDecide, SaysWhatZooKeeperCannot) {
  Tree tree = tree_with_root();
  Txn txn;
  txn.put_ephemeral("/e", "1");
  ASSERT_TRUE(tree.multi(decide(txn, view_of(tree, txn))->operations, 1));
  txn = {};
  txn.put("/e/below", "1");
  EXPECT_EQ(decide(txn, view_of(tree, txn)).error().message,
            "/e/below cannot be put: /e is ephemeral, and ZooKeeper has nothing below ephemeral keys");
  txn = {};
  txn.compare(unchanged("/e", Revision(5)));
  EXPECT_EQ(decide(txn, view_of(tree, txn)).error().code, Code::invalid);
  txn = {};
  txn.put_ephemeral("/f", "1").put("/f/g", "1");
  EXPECT_EQ(decide(txn, view_of(tree, txn)).error().code, Code::refused);
  txn = {};
  for (int i = 0; i < 128; ++i) txn.put(fmt::format("/{}{}", std::string(1000, 'k'), i), std::string(6500, 'v'));
  ASSERT_TRUE(check_txn(txn));
  EXPECT_EQ(decide(txn, view_of(tree, txn)).error().code, Code::too_large);
}

}  // namespace
}  // namespace evenkeel::store::zookeeper
