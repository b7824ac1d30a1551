#pragma once
// Spans: which watchers a change of a key concerns. Single keys and prefixes, which nearly all are, are found by hash; others one by one.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "evenkeel/store/backends/embedded/detail/index.h"

namespace evenkeel::store::embedded::detail {

struct Watcher;

// The watchers of one span, and, while changes are sorted to them, which of the changes are in it.
struct SpanWatchers {
  Span span;
  std::vector<Watcher*> watchers;
  std::vector<std::uint32_t> matched;
};

class Spans {
 public:
  SpanWatchers& add(const Span& span, Watcher* watcher);
  void remove(SpanWatchers& from, Watcher* watcher);
  // Calls for each span that has the key.
  template <class F>
  void find(const std::string& key, F&& use) {
    if (const auto found = keys_.find(key); found != keys_.end()) use(*found->second);
    for (const auto& [length, count] : lengths_) {
      if (length > key.size()) break;
      if (const auto found = prefixes_.find(key.substr(0, length)); found != prefixes_.end()) use(*found->second);
    }
    for (auto& other : others_)
      if (contains(other->span, key)) use(*other);
  }

 private:
  using Map = std::unordered_map<std::string, std::unique_ptr<SpanWatchers>>;
  Map keys_;
  Map prefixes_;
  std::map<std::size_t, std::size_t> lengths_;  // of the prefixes, and how many have each
  std::vector<std::unique_ptr<SpanWatchers>> others_;
};

}  // namespace evenkeel::store::embedded::detail
