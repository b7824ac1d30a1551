#pragma once
// Standing: what keeps a controller from its office though the store answers. Its name may be another process's; the store may take no writes, since
// it is full; and the controllers' epoch may have been written by a newer version, so that nobody who cannot read it may raise it.

#include <optional>
#include <string>

#include "evenkeel/base/result.h"
#include "evenkeel/base/text.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/store/session.h"

namespace evenkeel::control::detail {

class Standing {
 public:
  explicit Standing(std::string beat) : beat_(std::move(beat)) {}

  const std::string& beat() const { return beat_; }  // the key of this one's session

  // Of its session: how the attempts went, and what the watch says about the key.
  void opened(store::Identity identity) {
    identity_ = std::move(identity);
    not_opened_.reset();
  }
  void not_opened(Error why) { not_opened_ = std::move(why); }
  void see_beat(std::optional<store::Entry> entry) { seen_ = std::move(entry); }

  // While it has no session. As the last attempt found; during the first one, as the key says.
  std::optional<Error> trouble_with_name() const {
    if (not_opened_ && not_opened_->code == Code::unavailable) return std::nullopt;
    if (not_opened_) return not_opened_->code == Code::conflict ? not_opened_->in("its name") : not_opened_;
    const auto other = seen_ ? store::parse_session_beat(*seen_) : Result<store::Beat>(fail(Code::not_found, "nobody"));
    if (!other || other->ended || other->identity == identity_) return std::nullopt;
    return Error{Code::conflict,
                 fmt::format("its name: {} is held by {}, which has not ended", beat_, quote(other->identity.str()))};
  }

  // True: it is another trouble than before, or none any more. The watch and who reads overtake each other: what is older says nothing.
  bool judge_epoch(const std::optional<store::Entry>& entry, store::Revision seen) {
    if (seen < judged_) return false;
    judged_ = seen;
    const auto read = entry ? parse_controller_epoch(entry->value, entry->key) : Result<ControllerEpoch>(ControllerEpoch());
    const std::optional<Error> before = std::exchange(epoch_unread_, read ? std::nullopt : std::optional(read.error()));
    return before != epoch_unread_;
  }
  const std::optional<Error>& trouble_with_epoch() const { return epoch_unread_; }
  void forget_revisions() { judged_ = {}; }  // the store was put back

 private:
  const std::string beat_;
  std::optional<Error> not_opened_;
  std::optional<store::Entry> seen_;
  store::Identity identity_;  // of its latest session
  std::optional<Error> epoch_unread_;
  store::Revision judged_;
};

}  // namespace evenkeel::control::detail
