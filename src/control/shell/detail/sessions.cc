#include "evenkeel/control/shell/detail/sessions.h"

#include <utility>

#include "evenkeel/control/shell/detail/touch_beat.h"

namespace evenkeel::control::detail {

void Sessions::watch() {
  beats_ = std::make_unique<store::Beats>(store_, keys_.beat_prefix());
  for (const auto& [node, incarnation] : incarnations_) observe(node);
}

void Sessions::look_away() {
  observers_.clear();
  beats_.reset();
}

void Sessions::observe(const NodeId& node) {
  observers_.erase(node);
  observers_.try_emplace(node, std::make_unique<store::Observer>(*beats_, keys_.beat(node), store::Observer::Mode::end_it,
                                                                 [this](const Result<store::Ended>& ended) {
                                                                   if (!ended) log_(ended.error());
                                                                 }));
}

bool Sessions::is_news(const NodeId& node, const BeatSeen& beat) {
  const bool is_new = !beat.ended && std::exchange(incarnations_[node], beat.incarnation) != beat.incarnation;
  if (is_new && beats_) observe(node);
  const auto [known, is_first] = told_.try_emplace(node, beat);
  return is_first || std::exchange(known->second, beat) != beat;
}

void Sessions::doubt(const store::Changes& changes, Duration pause, const std::function<bool()>& goes_on) {
  incarnations_.clear();
  told_.clear();
  for (const store::Change& change : changes.changes) {
    const auto key = keys_.parse(change.key);
    if (!key || !change.entry) continue;
    const bool of_session = key->kind == Key::Kind::live || key->kind == Key::Kind::member || key->kind == Key::Kind::beat;
    const auto document = of_session ? parse_document(*key, *change.entry) : Result<Document>(fail(Code::invalid, ""));
    if (!document) continue;
    if (const auto* live = std::get_if<LiveDocument>(&*document)) doubted_.insert(live->incarnation);
    if (const auto* beat = std::get_if<BeatSeen>(&*document)) {
      doubted_.insert(beat->incarnation);
      if (!beat->ended) touch_beat(store_, change.key, beat->incarnation, pause, goes_on);
    }
  }
}

}  // namespace evenkeel::control::detail
