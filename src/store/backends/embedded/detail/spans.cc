#include "evenkeel/store/backends/embedded/detail/spans.h"

#include <algorithm>

namespace evenkeel::store::embedded::detail {
namespace {

// Whether the span is all keys that begin with span.key: its end is the key with one added to its last byte.
bool is_prefix(const Span& span) {
  if (span.key.empty() || span.end.size() != span.key.size() || is_open(span)) return false;
  const auto last = static_cast<unsigned char>(span.key.back());
  return last != 0xff && static_cast<unsigned char>(span.end.back()) == last + 1 &&
         std::equal(span.key.begin(), span.key.end() - 1, span.end.begin());
}

}  // namespace

SpanWatchers& Spans::add(const Span& span, Watcher* watcher) {
  if (span.end.empty() || is_prefix(span)) {
    auto& place = (span.end.empty() ? keys_ : prefixes_)[span.key];
    if (!place) {
      place = std::make_unique<SpanWatchers>(SpanWatchers{span, {}, {}});
      if (!span.end.empty()) ++lengths_[span.key.size()];
    }
    place->watchers.push_back(watcher);
    return *place;
  }
  const auto same = std::ranges::find_if(
      others_, [&](const auto& other) { return other->span.key == span.key && other->span.end == span.end; });
  auto& place = same != others_.end() ? *same : others_.emplace_back(std::make_unique<SpanWatchers>(SpanWatchers{span, {}, {}}));
  place->watchers.push_back(watcher);
  return *place;
}

void Spans::remove(SpanWatchers& from, Watcher* watcher) {
  std::erase(from.watchers, watcher);
  if (!from.watchers.empty()) return;
  if (from.span.end.empty()) {
    keys_.erase(std::string(from.span.key));
  } else if (is_prefix(from.span)) {
    const auto length = lengths_.find(from.span.key.size());
    if (--length->second == 0) lengths_.erase(length);
    prefixes_.erase(std::string(from.span.key));
  } else {
    std::erase_if(others_, [&](const auto& other) { return other.get() == &from; });
  }
}

}  // namespace evenkeel::store::embedded::detail
