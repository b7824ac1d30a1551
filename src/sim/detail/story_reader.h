#pragma once
// From text to a Story: the cluster by its own reader, then line by line. All problems are found in one pass; names are checked against the
// cluster as the lines before have made it.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "evenkeel/base/diagnostic.h"
#include "evenkeel/sim/detail/phrases.h"
#include "evenkeel/sim/story.h"

namespace evenkeel::sim::detail {

class StoryReader {
 public:
  explicit StoryReader(std::string_view where) : problems_(std::string(where)) {}

  Parsed<Story> read(std::string_view text);

 private:
  void read_cluster(std::string_view text);
  void read_line(std::string_view line);
  std::span<const Token> read_time(std::span<const Token> tokens);
  void read_action(std::span<const Token> tokens);
  void read_expectation(const Token& expect, std::span<const Token> tokens);

  // The row that the tokens fit, with its words; nothing after a problem was said.
  struct Sentence {
    std::size_t row = 0;
    Words words;
  };
  std::optional<Sentence> read_sentence(std::span<const Row> rows, std::span<const Token> tokens);
  void read_word(std::string_view item, const Token& token, const Row& row, Words& words);
  NodeId read_node(const Token& token);
  WorkloadId read_workload(const Token& token);
  ShardId read_shard(const Token& token);
  Duration read_duration(const Token& token);
  std::uint64_t read_number(const Token& token, const Row& row);
  std::string read_text(const Token& token);
  // Says what would have fitted.
  void say_mismatch(std::span<const Row> rows, std::span<const Token> tokens);
  void say_unknown(std::span<const Row> rows, std::span<const Token> tokens);

  // What the action makes of the cluster, or what is wrong with its fields.
  void follow_spec(const Action& action, std::span<const Token> tokens);
  void learn_names();

  Place place_of(std::size_t bytes) const;
  Place place_of(const Token& token) const { return place_of(token.at); }
  Place end_of(std::span<const Token> tokens) const;

  Diagnostics problems_;
  Story story_;
  bool sound_ = false;  // the cluster was read, so names can be checked
  Cluster spec_;        // as it is after the lines so far
  std::set<std::string, std::less<>> nodes_;
  std::map<std::string, std::uint32_t, std::less<>> workloads_;  // with their shards; also those that were deleted
  std::uint32_t number_ = 0;                                     // of the line
  std::string_view line_;
  Duration now_ = {};
  bool ended_ = false;
};

}  // namespace evenkeel::sim::detail
