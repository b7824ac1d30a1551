#pragma once
// Sessions of nodes, as the store shows them: which are new, which this controller watches for standing still, and, once a store was put back to an
// older state, which are not believed until they are over.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "evenkeel/control/shell/documents.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/store/session.h"

namespace evenkeel::control::detail {

class Sessions {
 public:
  Sessions(store::Store& store, const Keys& keys, std::function<void(const Error&)> log)
      : store_(store), keys_(keys), log_(std::move(log)) {}

  // From now on a session that stands still is ended by us; that it is over is then seen like everything else.
  void watch();
  void look_away();

  // Whether a beat says anything new; that it beats is its observer's to see.
  bool is_news(const NodeId& node, const BeatSeen& beat);
  void gone(const NodeId& node) { told_.erase(node); }

  // The store was put back, and shows these. What nodes have done since is known to them alone. They notice it as well, and join anew, as long as their
  // beats are touched: every `pause`, while `goes_on` says so.
  void doubt(const store::Changes& changes, Duration pause, const std::function<bool()>& goes_on);
  bool doubts(Incarnation incarnation) const { return doubted_.contains(incarnation); }

 private:
  void observe(const NodeId& node);

  store::Store& store_;
  const Keys& keys_;
  std::function<void(const Error&)> log_;
  std::unique_ptr<store::Beats> beats_;
  std::map<NodeId, Incarnation> incarnations_;
  std::unordered_map<NodeId, BeatSeen> told_;
  std::set<Incarnation> doubted_;
  std::map<NodeId, std::unique_ptr<store::Observer>> observers_;
};

}  // namespace evenkeel::control::detail
