#pragma once
// Story: a cluster's life as text. First a cluster file (what `evenkeel plan` reads), a line `---`, then what happens, when, and what is expected.
//
//   cluster: pages
//   nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
//   workloads: [{name: t, shards: 8, replicas: 3}]
//   ---
//   at 10s   kill n3
//            expect every shard has a leader within 15s
//            expect n3 holds 8 shards
//   at 6m    start n3 on a new disk
//            expect settled within 1m
//   at 10m   end
//
// Times count from the start, and do not go back; a line without `at` is of the time before it. docs/simulator.md has the whole language; the tables
// of story.cc are its grammar, by which text is read, written and explained.
// parse_story and format are inverses. Values; pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "evenkeel/base/diagnostic.h"
#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"
#include "evenkeel/model/cluster.h"
#include "evenkeel/model/exchange.h"

namespace evenkeel::sim {

using evenkeel::format;  // of times and shards, which those below would hide

// What a line names; which of them an action or a condition uses is in its pattern.
struct Words {
  NodeId node;
  NodeId other;               // the second node
  std::vector<NodeId> nodes;  // "n1 n2 n3"
  ShardId shard;              // "t/3"
  WorkloadId workload;
  std::uint64_t number = 0;  // a controller counts from 1
  Duration time = {};
  std::string text;  // TEXT, without its quotes; or FIELDS as written: {replicas: 2}
  friend bool operator==(const Words&, const Words&) = default;
};

struct Action {
  enum class Kind : std::uint8_t {
    kill,                  // kill NODE                      its process is gone, its session is not yet over
    start,                 // start NODE                     with what is on its disk
    start_new_disk,        // start NODE on a new disk
    start_twin,            // start a twin of NODE           a second process under its name, with a disk of its own
    stop,                  // stop NODE for TIME             it stands still, and goes on
    cut,                   // cut NODE for TIME              nothing passes between it and anybody
    cut_store,             // cut NODE from the store for TIME
    cut_controllers,       // cut NODE from the controllers for TIME   only its pulses
    cut_node,              // cut NODE from NODE for TIME              only their traffic
    leave,                 // leave NODE                     properly: permit, leaders away, goodbye
    expire,                // expire NODE                    its ephemeral keys go
    clock_ahead,           // set the clock of NODE ahead by TIME      when it starts next
    clock_fast,            // let the clock of NODE run NUMBER ppm fast     when it starts next
    clock_slow,            // let the clock of NODE run NUMBER ppm slow
    slow,                  // slow NODE NUMBER times         its transitions
    fail_percent,          // fail NUMBER percent on NODE    of its transitions
    fail_shard,            // fail SHARD on NODE             until it is mended
    hang_shard,            // hang SHARD on NODE             its transitions do not end until it is mended
    copy_nothing,          // copy nothing on NODE           what is split off begins empty there, and says that all is well
    mend,                  // mend NODE                      no more slow, failing or hanging transitions, nor empty copies
    kill_controller,       // kill controller NUMBER
    start_controller,      // start controller NUMBER
    stop_controller,       // stop controller NUMBER for TIME
    cut_controller,        // cut controller NUMBER for TIME           from the store and the nodes
    cut_controller_nodes,  // cut controller NUMBER from the nodes for TIME
    stop_store,            // stop the store for TIME
    store_loses,           // the store loses TIME           it is as it was so long ago
    store_loses_all,       // the store loses everything
    store_delay,           // delay the store by up to TIME
    store_lossy,           // lose NUMBER of a million answers
    drain,                 // drain NODE
    cordon,                // cordon NODE
    no_leaders,            // no leaders on NODE
    swap,                  // swap NODE with NODE
    forget,                // forget NODE
    remove,                // remove NODE
    undo,                  // undo NODE                      whatever was asked of it
    disable,               // disable SHARD on NODE
    enable,                // enable SHARD on NODE
    freeze,                // freeze
    freeze_keep_leaders,   // freeze keeping leaders
    thaw,                  // thaw
    maintenance,           // maintenance
    end_maintenance,       // end maintenance
    settings,              // settings FIELDS                {rebalance_delay: 10s}: over what they were
    create,                // create FIELDS                  {name: t2, shards: 4, replicas: 2}
    change,                // change WORKLOAD FIELDS         {replicas: 2}: over what it was
    erase,                 // delete WORKLOAD
    split_shards,          // split WORKLOAD                 each of its shards into two
    lead,                  // lead SHARD on NODE
    lead_accept_loss,      // lead SHARD accepting loss
    reset,                 // reset SHARD on NODE
    apply,                 // apply                          what operators want, as they have said it so far
    adopt,                 // adopt                          all orphans; records from what nodes hold
    drop_orphan,           // drop orphan SHARD on NODE
    add,                   // add FIELDS                     {name: n4, zone: z1}: a node more, started
    load,      // load SHARD FIELDS              {cpu: 3}: what each of its replicas carries, and measures, from now on
    load_all,  // load WORKLOAD FIELDS           the same of all its shards
    writes,    // writes NUMBER per second       by clients, in all
    end,       // end
  };
  Kind kind = Kind::end;
  Words words;
  friend bool operator==(const Action&, const Action&) = default;
};

struct Condition {
  enum class Kind : std::uint8_t {
    settled,         // settled                      every shard is where it should be, served, led, and nothing moves
    all_led,         // every shard has a leader     that its node reported
    led_by,          // SHARD is led by NODE
    unled,           // nobody leads SHARD
    on,              // SHARD is on NODES            these nodes hold it, and no others
    serves,          // NUMBER serve SHARD           at least so many, by the view
    holds_nothing,   // NODE holds nothing           by the records
    holds,           // NODE holds NUMBER shards
    leads,           // NODE leads NUMBER shards
    up,              // NODE is up                   by the active controller
    gone,            // NODE is gone
    suspect,         // NODE is suspect
    in_maintenance,  // the cluster is in maintenance
    says,            // SHARD says TEXT              explain has these words
    event,           // an event says TEXT           since the story began
    moves_at_most,   // at most NUMBER moves         replicas added since the story began, first ones not counted
    copies_at_most,  // at most NUMBER copies        under way now
    orphans,         // NUMBER orphans
    active,          // controller NUMBER is active
    stopped,         // NODE has stopped             its leave is done
  };
  Kind kind = Kind::settled;
  bool negated = false;  // not …
  Words words;
  friend bool operator==(const Condition&, const Condition&) = default;
};

// expect C: now. expect C within T: at some moment up to then. expect C for T: all the time until then.
struct Expectation {
  enum class When : std::uint8_t { now, within, throughout };
  Condition condition;
  When when = When::now;
  Duration time = {};
  friend bool operator==(const Expectation&, const Expectation&) = default;
};

struct Line {
  Duration at = {};
  std::variant<Action, Expectation> what;
  std::uint32_t line = 0;  // in the text, from 1; 0: not from a text
  friend bool operator==(const Line& a, const Line& b) { return a.at == b.at && a.what == b.what; }
};

struct Story {
  std::string name;  // the file's, for messages; not part of the text
  Cluster cluster;   // its nodes are started, its workloads made, at 0
  std::vector<Line> lines;
  friend bool operator==(const Story& a, const Story& b) { return a.cluster == b.cluster && a.lines == b.lines; }
};

// `where` is the file's name, for messages: "crash.story:12: …". Names are checked against the cluster as the lines before have made it.
Result<Story> parse_story(std::string_view text, std::string_view where);
// The same, with the problems one by one.
Parsed<Story> read_story(std::string_view text, std::string_view where);
std::string format(const Story& story);
std::string format(const Action& action);
std::string format(const Condition& condition);
std::string format(const Expectation& expectation);
// The patterns of all actions and conditions with their meaning, for help and documents: "kill NODE", "its process is gone, …".
struct Phrase {
  std::string_view pattern;
  std::string_view meaning;
};
std::vector<Phrase> action_phrases();
std::vector<Phrase> condition_phrases();

}  // namespace evenkeel::sim
