#include "evenkeel/locks/election.h"

#include <stop_token>
#include <utility>

#include "evenkeel/locks/detail/folder.h"

namespace evenkeel::locks {
namespace {

constexpr Duration pause = 1s;  // after an error that waiting may help, though not soon

bool same(const Election::View& a, const Election::View& b) {
  return a.leading == b.leading && a.guard == b.guard && a.epoch == b.epoch && a.leader == b.leader && a.trouble == b.trouble;
}

}  // namespace

class Election::Work : public std::enable_shared_from_this<Election::Work> {
 public:
  Work(store::Store& store, Locks& locks, std::string path, ElectionOptions options)
      : loop_(store.loop()),
        locks_(locks),
        path_(std::move(path)),
        options_(std::move(options)),
        folder_(std::make_shared<detail::Folder>(store, detail::folder_of(path_))) {}

  void start() {
    folder_->start();
    following_ = folder_->follow(path_, [weak = weak_from_this()](const Result<detail::Folder::Seen>& seen) {
      if (const auto self = weak.lock()) self->on_seen(seen);
    });
    stand();
  }

  void on_change(std::function<void(const View&)> handler) {
    handler_ = std::make_shared<const Handler>(std::move(handler));
    loop_.post([weak = weak_from_this(), handler = handler_] {
      if (const auto self = weak.lock(); self && self->handler_ == handler) (*handler)(self->view_);
    });
  }

  const View& view() const { return view_; }
  bool leading() const { return leading_ && held_->valid(); }

  void stand() {
    if (std::exchange(standing_, true) || asking_ || held_) return;
    asking_ = true;
    // A lock that could not be read may be another by now. If it is not, that is found again soon, and nobody is told anything new.
    if (std::exchange(trouble_, std::nullopt)) after(pause, &Work::show);
    stop_ = std::stop_source();
    AcquireOptions options{.kind = Kind::session, .wait = Duration::max(), .meta = options_.meta, .fair = options_.fair};
    locks_.acquire(path_, std::move(options), stop_.get_token(), [weak = weak_from_this()](Result<std::unique_ptr<Held>> held) {
      if (const auto self = weak.lock()) self->on_answer(std::move(held));
    });
  }

  void resign(store::Answer<void> answer) {
    standing_ = false;
    resigns_.push_back(std::move(answer));
    loop_.cancel(timer_);
    stop_.request_stop();
    if (held_) return leave();
    if (!asking_) tell_resigned({});
  }

  void close() {
    stop_.request_stop();
    leading_ = false;
    losing_.reset();
    held_.reset();
    handler_.reset();
    resigns_.clear();
    following_.reset();
    loop_.cancel(timer_);
  }

 private:
  using Handler = std::function<void(const View&)>;
  using Losing = std::stop_callback<std::function<void()>>;

  void on_answer(Result<std::unique_ptr<Held>> held) {
    asking_ = false;
    if (!held) return on_refused(held.error());
    held_ = *std::move(held);
    if (!standing_) return leave();
    leading_ = true;
    trouble_.reset();
    know(store::Revision(held_->token().value()), held_->token(), options_.meta);
    losing_ = std::make_unique<Losing>(held_->lost(), [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->on_lost();
    });
  }

  void on_refused(const Error& error) {
    if (!resigns_.empty()) tell_resigned({});
    if (!standing_) return;
    standing_ = false;
    if (error.code != Code::cancelled) trouble_ = error;  // else resign() and stand() came close to each other
    show();
    if (error.code == Code::refused) return;
    after(error.code == Code::cancelled ? Duration{} : pause, &Work::stand);
  }

  void after(Duration delay, void (Work::*then)()) {
    loop_.cancel(timer_);
    timer_ = loop_.post_after(delay, [weak = weak_from_this(), then] {
      if (const auto self = weak.lock()) ((*self).*then)();
    });
  }

  // Told at once, inside the step that found it out; what follows from it comes after.
  void on_lost() {
    step_down();
    loop_.post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self || !self->held_ || self->leaving_ || !self->held_->lost().stop_requested()) return;
      self->drop();
      if (std::exchange(self->standing_, false)) self->stand();
    });
  }

  void step_down() {
    leading_ = false;
    show();
  }

  void drop() {
    losing_.reset();
    held_.reset();
    leaving_ = false;
  }

  void leave() {
    if (std::exchange(leaving_, true)) return;
    losing_.reset();
    step_down();
    held_->release([weak = weak_from_this()](Result<> done) {
      const auto self = weak.lock();
      if (!self) return;
      self->drop();
      self->tell_resigned(std::move(done));
      if (std::exchange(self->standing_, false)) self->stand();  // somebody has changed their mind
    });
  }

  void tell_resigned(const Result<>& done) {
    loop_.post([weak = weak_from_this(), done] {
      const auto self = weak.lock();
      if (!self) return;
      for (auto& answer : std::exchange(self->resigns_, {})) answer(done);
    });
  }

  void on_seen(const Result<detail::Folder::Seen>& seen) {
    if (!seen || !seen->entry) return;
    if (const auto record = detail::parse_record(*seen->entry)) know(seen->entry->modified, record->token, record->meta);
  }

  // The watch and what this one knows by itself overtake each other.
  void know(store::Revision modified, Token epoch, const std::string& leader) {
    if (modified >= latest_) {
      latest_ = modified;
      epoch_ = epoch;
      leader_ = leader;
    }
    show();
  }

  void show() {
    View view{.leading = leading_, .guard = {}, .epoch = epoch_, .leader = leader_, .trouble = trouble_};
    if (leading_) {
      view.guard = held_->guard();
      view.epoch = held_->token();
      view.leader = options_.meta;
    }
    if (same(view, view_)) return;
    view_ = std::move(view);
    if (const auto handler = handler_) (*handler)(view_);
  }

  Loop& loop_;
  Locks& locks_;
  std::string path_;
  ElectionOptions options_;
  std::shared_ptr<detail::Folder> folder_;
  std::shared_ptr<detail::Folder::Told> following_;
  std::shared_ptr<const Handler> handler_;
  View view_;
  store::Revision latest_;  // of the lock, as far as is known; and who had it then
  Token epoch_;
  std::string leader_;
  std::optional<Error> trouble_;
  bool standing_ = false;
  bool asking_ = false;   // for the lock
  bool leading_ = false;  // it has it, and was not told that it is lost
  bool leaving_ = false;  // it is giving it back
  std::stop_source stop_;
  std::unique_ptr<Held> held_;
  std::unique_ptr<Losing> losing_;
  std::vector<store::Answer<void>> resigns_;
  Timer timer_;
};

Election::Election(store::Store& store, Locks& locks, std::string path, ElectionOptions options)
    : work_(std::make_shared<Work>(store, locks, std::move(path), std::move(options))) {
  work_->start();
}
Election::~Election() { work_->close(); }

void Election::on_change(std::function<void(const View&)> handler) { work_->on_change(std::move(handler)); }
const Election::View& Election::view() const { return work_->view(); }
bool Election::leading() const { return work_->leading(); }
void Election::resign(store::Answer<void> answer) { work_->resign(std::move(answer)); }
void Election::stand() { work_->stand(); }

}  // namespace evenkeel::locks
