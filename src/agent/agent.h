#pragma once
// agent: makes a node of a program in any language. Each time the node library has something to be done, the agent asks it of a command or of
// an HTTP hook, as JSON, and reads the answer.
//
//   asked        when                                        what a good answer says
//   inventory    once, before the node joins                 {"shards": [{"shard": "w/3", "epoch": 4, …}]}; nothing: there is no data here
//   transition   a replica goes from one state to another    nothing
//   seal         older epochs are to be refused from now on  {"epoch": 4, "progress": 17}
//   report       now and then, if that is wanted             {"epoch": 4, "progress": 17, "lag": 0, "load": {"cpu": 0.5}}
//
//   const Question question = ask_transition(who, transition, 30s);
//   const Ended ended = …;                                // question.text on its standard input, question.variables in its environment
//   const Result<std::string> answer = answer_of(ended);  // its own words if it failed
//
// A command has done it if its exit status is 0, a hook if its status is 2xx. Everything else has failed, with the last lines of standard error or
// the first of the body as the words that operators read.
//
// This header is pure: what is sent, and how an answer is read. shell/ runs commands, calls hooks, and is the node's handler.
// Cost: linear in the texts. Answers are bounded (answer_bytes_max), and so is what is kept of a flood of words (words_bytes_max).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"
#include "evenkeel/node/handler.h"

namespace evenkeel::agent {

constexpr std::size_t words_bytes_max = 4 << 10;   // of standard error: the last ones
constexpr std::size_t answer_bytes_max = 8 << 20;  // an inventory of 100 000 shards

// 1. What is asked.

// The node that asks; in every question.
struct Who {
  NodeId node;
  ClusterId cluster;
  std::string store;  // URL
  std::string data;   // folder; empty: none
  std::string agent;  // URL under which the agent says whether somebody may lead; empty: nowhere
};

struct Question {
  std::string about;                                           // for logs and errors: "seal t1/3"
  std::string text;                                            // JSON
  std::vector<std::pair<std::string, std::string>> variables;  // the same for who does not want to parse JSON: EVENKEEL_SHARD, …
};

// `left`: how long it may take; nothing: as long as it likes.
Question ask_transition(const Who& who, const node::Transition& transition, std::optional<Duration> left);
Question ask_seal(const Who& who, const ShardId& shard, Epoch epoch, std::optional<Duration> left);
Question ask_report(const Who& who, const ShardId& shard, std::optional<Duration> left);
Question ask_inventory(const Who& who, std::optional<Duration> left);

// 2. How it ended.

// The end of a flood of words: the last words_bytes_max bytes, and how many there were before.
class Tail {
 public:
  void add(std::string_view bytes);
  std::string text() const;  // starts with a whole character
  std::uint64_t cut() const { return seen_ - kept_.size(); }

 private:
  std::string kept_;
  std::uint64_t seen_ = 0;
};

struct Ended {
  enum class By : std::uint8_t {
    itself,   // with `status`, or by a signal of that number
    overdue,  // it was ended after `within`
    stopped,  // it was ended since nobody wants it any more
  };
  By by = By::itself;
  int status = 0;
  bool killed = false;
  Duration within = {};
  std::string out;  // of its standard output at most answer_bytes_max
  bool out_cut = false;
  Tail words;  // of its standard error
};

// What was answered, or why that is no answer.
Result<std::string> answer_of(const Ended& ended);
Result<std::string> answer_of_hook(int status, std::string_view body, bool body_cut);

// The last three lines that say something, in one, without control characters, of at most 400 bytes.
std::string last_words(std::string_view text);

// 3. What an answer says. Code::invalid names what is wrong.

Result<Sealed> parse_sealed(std::string_view text, Epoch against);
Result<node::Status> parse_status(std::string_view text);
Result<std::vector<node::Held>> parse_inventory(std::string_view text);

// Where no reports are asked for, nothing may be said of progress at the join either: of two replicas the one that spoke would be ahead.
std::vector<node::Held> without_progress(std::vector<node::Held> held);

// 4. Where a hook is.

struct HookUrl {
  std::string origin;  // http://host:port
  std::string path;
  friend bool operator==(const HookUrl&, const HookUrl&) = default;
};
Result<HookUrl> parse_hook(std::string_view text);

// The shard and the epoch of `/may_lead/WORKLOAD/SHARD?epoch=E`.
struct MayLead {
  ShardId shard;
  Epoch epoch;
  friend bool operator==(const MayLead&, const MayLead&) = default;
};
Result<MayLead> parse_may_lead(std::string_view path, std::string_view epoch);

}  // namespace evenkeel::agent
