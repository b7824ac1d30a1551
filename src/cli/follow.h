#pragma once
// Following what a controller carries out after a command has asked for it, until it is done: --wait and --within. How far it is is shown (progress.h); that
// nobody controls the cluster is said; a store that does not answer is waited for a while.

#include <functional>
#include <string>
#include <vector>

#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/cli/progress.h"

namespace evenkeel::cli {

struct WaitOptions {
  bool wait = false;
  Duration within = {};  // 0: as long as it takes
};
// `until`: "nothing is left on it".
void add_wait(CLI::App& command, WaitOptions& options, const std::string& until);
// Throws CLI::ValidationError if they contradict each other.
void check(const WaitOptions& options);

struct Stage {
  Part part;
  std::string words;          // how far it is
  std::string left = {};      // what is still to be done: "2 replicas are still on n3"
  std::string finished = {};  // not empty: it is done, and this is said
};

struct Followed {
  KindList kinds;    // that are read
  std::string name;  // "the draining"
  // How far it is. An error: it does not come to its end, or nobody can tell.
  std::function<Result<Stage>(const OpenCluster&, const control::Snapshot&)> look;
  // Asked at first, and when it has stood still for a while: a heading, and lines of what is in its way and what to do. Empty: it may go on.
  std::function<std::vector<std::string>(const control::Snapshot&)> in_its_way;
};

// What keeps everything still, in that form, with a heading; empty: nothing.
std::vector<std::string> standstill_of(const control::Snapshot& seen, const std::string& heading);

// Shows how far it is until it is done; for how long at most: 0, as long as it takes. The session knows how it ended.
void follow(Session& session, const Outside& outside, OpenCluster& cluster, Interrupt& interrupt, const Followed& followed,
            Duration within);

// Reads the documents of these kinds, decides, makes the change; and with --wait follows it. What was written is printed at the end.
void operate_and_follow(Session& session, const ClusterReach& reach, const ChangeOptions& options, const WaitOptions& wait,
                        const std::function<Result<control::Changes>(const control::Snapshot&)>& decide,
                        const std::string& question, const Followed& followed);

}  // namespace evenkeel::cli
