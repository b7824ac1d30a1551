#include "evenkeel/locks/detail/inspection.h"

#include <algorithm>
#include <map>
#include <utility>

namespace evenkeel::locks::detail {

using store::Answer;
using store::Entry;

LockState state_of(const std::string& path, const Record& record, const std::optional<Entry>& beat, std::vector<Entry> queue) {
  LockState state{.path = path,
                  .held = record.held(),
                  .owner = record.owner,
                  .meta = record.meta,
                  .token = record.token,
                  .kind = record.kind,
                  .ttl = record.ttl};
  const auto renewal = beat ? parse_beat(*beat) : Result<Beat>(fail(Code::not_found, "it is not there"));
  if (renewal && renewal->identity == record.identity) {
    state.renewed = beat->modified;
    state.held = state.held && !renewal->ended;
  } else if (beat && record.kind == Kind::session) {
    state.held = false;
  }
  std::ranges::sort(queue, {}, &Entry::created);
  for (const Entry& entry : queue) {
    const auto waiting = parse_beat(entry);
    if (waiting && !waiting->ended) state.waiting.push_back(waiting->meta.empty() ? waiting->identity : waiting->meta);
  }
  return state;
}

namespace {

// ------------------------------------------------------------------------------------------------------------- show, list

// The locks among some entries, and what belongs to them, which may be elsewhere.
class Listing : public std::enable_shared_from_this<Listing> {
 public:
  Listing(std::shared_ptr<Common> common, Answer<std::vector<LockState>> answer)
      : common_(std::move(common)), answer_(std::move(answer)) {}

  void start(std::vector<Entry> entries) {
    for (Entry& entry : entries) {
      const std::string folder = folder_of(entry.key);
      if (folder.ends_with(".queue/"))
        queues_[folder].push_back(std::move(entry));
      else
        others_.push_back(std::move(entry));
    }
    for (const Entry& entry : others_) {
      const auto record = parse_record(entry);
      if (!record) {
        beats_.emplace(entry.key, entry);
      } else {
        records_.emplace(entry.key, *record);
      }
    }
    for (const auto& [path, record] : records_) {
      if (record.held() && !beats_.contains(record.beat)) missing_.push_back(record.beat);
    }
    next();
  }

 private:
  void next() {
    while (!missing_.empty() && beats_.contains(missing_.back())) missing_.pop_back();
    if (missing_.empty()) return finish();
    common_->store().get(missing_.back(), [self = shared_from_this(), key = missing_.back()](Result<store::Read> read) {
      if (!read) return self->answer_(fail(std::move(read).error()));
      self->beats_.emplace(key, read->entry);
      self->next();
    });
  }

  void finish() {
    std::vector<LockState> states;
    for (const auto& [path, record] : records_) {
      const auto beat = beats_.find(record.beat);
      states.push_back(state_of(path, record, beat == beats_.end() ? std::nullopt : beat->second, queues_[queue_prefix(path)]));
    }
    answer_(std::move(states));
  }

  std::shared_ptr<Common> common_;
  Answer<std::vector<LockState>> answer_;
  std::vector<Entry> others_;
  std::map<std::string, Record> records_;
  std::map<std::string, std::optional<Entry>> beats_;
  std::map<std::string, std::vector<Entry>> queues_;
  std::vector<std::string> missing_;
};

// ------------------------------------------------------------------------------------------------------------- break

class Breaking : public std::enable_shared_from_this<Breaking> {
 public:
  Breaking(std::shared_ptr<Common> common, std::string path, Answer<LockState> answer)
      : common_(std::move(common)), path_(std::move(path)), answer_(std::move(answer)) {}

  void look() {
    common_->store().get(path_, [self = shared_from_this()](Result<store::Read> read) { self->on_read(std::move(read)); });
  }

 private:
  static constexpr int attempts_max = 8;

  void on_read(Result<store::Read> read) {
    if (!read) return answer_(fail(std::move(read).error()));
    const auto record = parse_record(read->entry);
    if (!record) return answer_(fail(record.error()));
    if (!broken_) broken_ = *record;
    // Whoever was to lose it has lost it, by this or by somebody else's doing.
    if (!record->held() || record->token != broken_->token) return answer_(state_of(path_, *broken_, {}, {}));
    if (++attempts_ > attempts_max) return answer_(fail(trouble_.in(fmt::format("breaking {}", path_))));
    common_->store().txn(empty_lock(path_, read->entry->modified, *record),
                         [self = shared_from_this()](Result<store::Committed> done) {
                           if (done && done->succeeded) return self->answer_(state_of(self->path_, *self->broken_, {}, {}));
                           if (!done && !may_pass(done.error().code)) return self->answer_(fail(std::move(done).error()));
                           if (!done) self->trouble_ = std::move(done).error();
                           self->look();
                         });
  }

  std::shared_ptr<Common> common_;
  std::string path_;
  Answer<LockState> answer_;
  std::optional<Record> broken_;  // as it was at the first look
  int attempts_ = 0;
  Error trouble_{Code::conflict, "it changes too quickly"};
};

}  // namespace

void show(std::shared_ptr<Common> common, const std::string& path, Answer<LockState> answer) {
  store::Store& store = common->store();
  store.get(path, [common = std::move(common), path, answer = std::move(answer)](Result<store::Read> read) mutable {
    if (!read) return answer(fail(std::move(read).error()));
    if (const auto record = parse_record(read->entry); !record) return answer(fail(record.error()));
    common->store().list(queue_prefix(path), [common, path, entry = read->entry,
                                              answer = std::move(answer)](Result<store::Listing> queue) mutable {
      if (!queue) return answer(fail(std::move(queue).error()));
      if (!entry) return answer(state_of(path, {}, {}, std::move(queue->entries)));
      std::vector<Entry> entries = std::move(queue->entries);
      entries.push_back(*entry);
      std::make_shared<Listing>(common, [answer = std::move(answer)](Result<std::vector<LockState>> states) mutable {
        answer(std::move(states).map([](std::vector<LockState>&& one) { return std::move(one.front()); }));
      })->start(std::move(entries));
    });
  });
}

void list(std::shared_ptr<Common> common, const std::string& prefix, Answer<std::vector<LockState>> answer) {
  store::Store& store = common->store();
  store.list(prefix, [common = std::move(common), answer = std::move(answer)](Result<store::Listing> listing) mutable {
    if (!listing) return answer(fail(std::move(listing).error()));
    std::make_shared<Listing>(common, std::move(answer))->start(std::move(listing->entries));
  });
}

void break_lock(std::shared_ptr<Common> common, const std::string& path, Answer<LockState> answer) {
  std::make_shared<Breaking>(std::move(common), path, std::move(answer))->look();
}

}  // namespace evenkeel::locks::detail
