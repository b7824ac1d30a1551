#pragma once
// What the commands that work on a cluster's documents have in common: which cluster, what they read of it, and how a change is shown, asked
// about and written.
//
//   Options: add_cluster_reach, add_change_options
//   operate(session, options.reach, options.change, node_kinds(), [&](const control::Snapshot& seen) { return control::operate(seen, …); });
//
// or, for who has more to do in between:
//   auto cluster = open_cluster(session, *outside, options.reach);
//   const auto seen = cluster->read(node_kinds());                                      // documents, and the revisions at which they were read
//   change(session, *outside, *cluster, control::operate(*seen, …), options.change);    // compares those revisions
//
// What is written was decided by control/operate.h; nothing is decided here.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evenkeel/base/clock.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/control/operate.h"
#include "evenkeel/model/controller_address.h"

namespace evenkeel::cli {

inline constexpr std::string_view default_cluster = "default";

struct ClusterReach {
  StoreReach store;
  std::string cluster;
  std::string said_by;  // settled: who has named the cluster, if not a flag: "EVENKEEL_CLUSTER", "context pages"; empty: nobody
};
// --cluster, and all that reaches a store.
void add_cluster_reach(CLI::App& command, Session& session, ClusterReach& reach);
// With all that counts (store_access.h); nothing after the session was told what is wrong with contexts. Throws CLI::ValidationError if the cluster's is no
// name.
std::optional<ClusterReach> settle(Session& session, const Outside& outside, ClusterReach reach, InUse in_use = InUse::counts);

// Everything about nodes; who is there and may stop, and nothing about shards; about workloads and shards; and all of them, as a plan needs it.
// In this order they are read: permits before who is there, so that of a node whose permit has ended since it is back it is also seen that it is back.
using KindList = std::vector<Key::Kind>;
const KindList& node_kinds();
const KindList& permit_kinds();
const KindList& workload_kinds();
const KindList& all_kinds();

// Who acts, as the election of controllers shows it.
struct ControllerSeen {
  bool active = false;
  ControllerAddress address = {};  // of who is, or was last
  friend bool operator==(const ControllerSeen&, const ControllerSeen&) = default;
};

class OpenCluster {
 public:
  OpenCluster(Session& session, std::unique_ptr<store::Blocking> store, ClusterId name, std::string url)
      : session_(session), store_(std::move(store)), name_(std::move(name)), url_(std::move(url)) {}

  const ClusterId& name() const { return name_; }
  const std::string& url() const { return url_; }
  // The documents of these kinds. What cannot be read is said once, and left out.
  Result<control::Snapshot> look(const KindList& kinds);
  // The same; a store that does not answer is asked for a while, unless it is interrupted.
  Result<control::Snapshot> look_patiently(const KindList& kinds, Interrupt& interrupt);
  // As `look`; a cluster of which nothing is there, and that nobody controls, is not found.
  Result<control::Snapshot> look_existing(const KindList& kinds);
  // The same two, or nothing after the session was told why not.
  std::optional<control::Snapshot> read(const KindList& kinds);
  std::optional<control::Snapshot> read_existing(const KindList& kinds);
  // Tells the session what came of a look.
  void failed(const Error& error);

  // Who acts. One that died without a word is believed at the first look; who looks again and again sees its beat stand still.
  Result<ControllerSeen> look_at_controller();
  // The same, for who waits for something that only a controller does: that there is none is said once, and that there is one again.
  // May be called often.
  void look_after_controller();

  // What is wrong with a document of this kind, of those that were read last; nothing if all of them were readable.
  std::optional<Error> unreadable(Key::Kind kind) const;
  // As it was read last; empty: there was none.
  std::string text_of(const Key& key) const;
  // Code::refused if something newer than this program has written what this is about.
  Result<> check(const control::Changes& changes) const;
  // A txn for each document, in their order, comparing what was read; orders go together.
  Result<store::Revision> commit(const control::Changes& changes);

 private:
  Result<> take(const Keys& keys, const store::Entry& entry, control::Snapshot& seen);
  std::string key_of(const Key& key) const;

  Session& session_;
  std::unique_ptr<store::Blocking> store_;
  ClusterId name_;
  std::string url_;
  std::map<std::string, store::Entry> read_;
  std::map<std::string, Error> unreadable_;  // of the last read
  bool missing_ = false;                     // nothing was there at the last look
  const BootClock clock_;
  std::optional<std::pair<store::Revision, Instant>> beat_;  // of the controller: its latest, and since when it is
  Instant controller_due_;                                   // when it is looked after again
  bool said_idle_ = false;
};

// The cluster, or null after the session was told why not.
std::unique_ptr<OpenCluster> open_cluster(Session& session, Outside& outside, const ClusterReach& reach);

struct ChangeOptions {
  bool dry_run = false;
  bool yes = false;
  Output output = Output::table;
};
// --dry-run and -o; and --yes, where a change is asked about.
void add_change_options(CLI::App& command, Session& session, ChangeOptions& options, bool asks);

// Shows a change, asks `question` if there is one, writes it, and prints what was written, or keeps that in `later` for who has more to do first. False:
// it was refused, or nothing was written for another reason, and the session knows.
bool change(Session& session, Outside& outside, OpenCluster& cluster, const Result<control::Changes>& changes,
            const ChangeOptions& options, const std::string& question = "", std::string* later = nullptr);

// Reads the documents of these kinds, decides, and makes the change.
void operate(Session& session, const ClusterReach& reach, const ChangeOptions& options, const KindList& kinds,
             const std::function<Result<control::Changes>(const control::Snapshot&)>& decide, const std::string& question = "");

// True: the question was answered by yes; else the session knows.
bool agreed(Session& session, Outside& outside, const std::string& question);

// What a document is called: "node/n1", "workload/t1", "shard/t1/9", "permit/n1", "cluster/pages".
std::string name_of(const ClusterId& cluster, const Key& key);
// What becomes of a document, line by line: "- " goes, "+ " comes; lines that stay only beside those.
std::string diff_of(const std::string& before, const std::string& after);

void add_watch(CLI::App& command, bool& watch);
// `look` gives what is to be printed. With `watch` it is printed again each time it is another, until interrupted; a store that does not answer any more is
// waited for then, as long as it takes.
void show(Session& session, const ClusterReach& reach, bool watch, const std::function<Result<std::string>(OpenCluster&)>& look);

}  // namespace evenkeel::cli
