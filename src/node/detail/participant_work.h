#pragma once
// What a Participant does. participant.cc: sessions, joining, inputs and effects; leave.cc: how it goes.

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/node/detail/lead_table.h"
#include "evenkeel/node/detail/report_writer.h"
#include "evenkeel/node/participant.h"
#include "evenkeel/store/session.h"

namespace evenkeel::node {

class Participant::Work : public std::enable_shared_from_this<Participant::Work> {
 public:
  Work(store::Store& store, AsyncHandler& handler, ParticipantOptions options);

  void start();
  void close();
  void end();  // the same, and whoever waits for its leaving is told
  void leave(Duration timeout, store::Answer<void> answer);
  void pulse_now();
  void refused(const ShardId& shard, Epoch by) { feed(Refused{shard, by}); }

  // Any thread.
  bool may_lead(const ShardId& shard, Epoch epoch) const;
  bool is_current() const { return loop_.now() < Instant(Duration(deadline_.load(std::memory_order_acquire))); }
  Incarnation incarnation() const { return Incarnation(incarnation_.load(std::memory_order_acquire)); }

  bool joined() const { return joined_ && is_current(); }
  bool settled() const { return joined() && targets_seen_ && writer_->idle() && reconciler_.settled(); }
  bool ready() const { return settled() && untold_.empty(); }
  std::size_t untold() const { return untold_.size(); }
  std::vector<Reconciler::Replica> replicas() const { return reconciler_.replicas(); }

 private:
  // participant.cc: joining
  void open_session();
  void on_session(Result<std::unique_ptr<store::Session>> session);
  void begin_to_wait();
  void look_why_alone();
  void say_why_alone();
  void read_inventory();
  void read_buckets(std::set<WorkloadId> workloads);
  void wait_to_be_told(const WorkloadDocument& workload);
  void join();
  void write_live();
  void check_live();
  void watch_targets();
  void follow_targets();
  void lose();
  void join_anew();
  void keep_up();

  // participant.cc: inputs and effects
  void on_targets(const Result<store::Changes>& seen);
  void on_target(const store::Change& change);
  void feed(Input input);
  void step(Input input);
  void perform(const Start& start);
  void perform(const Stop& stop);
  void perform(const AskSeal& ask);
  void perform(const Lead& lead) { leads_.set(lead.shard, lead.epoch, lead.fencing); }
  void perform(const Stuck& stuck);
  void write(Report report);
  void pulse();

  // leave.cc
  enum class Stage : std::uint8_t { staying, asking, closing, stepping_down, gone };
  void ask_permit(const std::optional<store::Entry>& there);
  void on_permit(const std::optional<store::Entry>& there);
  void read_permit();
  void look_at_leaving();
  void close_replicas();
  void step_down();
  void say_goodbye();
  std::vector<std::string> unfinished() const;

  // What is called only as long as this exists; with `now`, only as long as the present session does.
  template <class F>
  auto guarded(F f) {
    return [weak = weak_from_this(), f = std::move(f)](auto&&... args) mutable {
      if (const auto self = weak.lock(); self && !self->closed_) f(*self, std::forward<decltype(args)>(args)...);
    };
  }
  template <class F>
  auto guarded_now(F f) {
    return guarded([f = std::move(f), generation = generation_](Work& self, auto&&... args) mutable {
      if (self.session_ && self.generation_ == generation) f(self, std::forward<decltype(args)>(args)...);
    });
  }
  void set_timer(Timer& timer, Instant due, void (Work::*then)());
  void log(Level level, std::string_view message, std::string_view what) const;
  void complain(std::string_view message, const Error& error);  // of what will be tried again; `message` is a literal

  store::Store& store_;
  Loop& loop_;
  AsyncHandler& handler_;
  ParticipantOptions options_;
  Keys keys_;
  Reconciler reconciler_;
  detail::LeadTable leads_;
  std::atomic<Duration::rep> deadline_ = Instant::min().time_since_epoch().count();  // of the session, as last looked at
  std::atomic<std::uint64_t> incarnation_ = 0;

  // Of one session.
  std::unique_ptr<store::Session> session_;
  std::uint64_t generation_ = 0;  // which session this is
  Incarnation next_;              // that it has, or will have
  std::map<WorkloadId, std::uint32_t> buckets_;
  std::set<std::pair<WorkloadId, Bucket>> untold_;  // what is held of workloads that are there, and nothing was said about yet
  std::shared_ptr<detail::ReportWriter> writer_;
  std::optional<store::Listing> reports_before_;
  LiveDocument live_;
  std::string live_text_;         // of it
  bool told_reconciler_ = false;  // it knows of the session
  bool live_written_ = false;
  bool live_writing_ = false;
  bool joined_ = false;
  bool targets_seen_ = false;
  std::set<std::string> targets_;  // keys that were there
  store::Revision seen_;           // up to which they were
  std::unique_ptr<store::Watching> watching_;

  bool waits_ = false;           // for a session
  bool store_answered_ = false;  // when it was looked why
  std::string why_alone_;        // what the last attempt said
  std::deque<Input> inbox_;
  bool stepping_ = false;
  std::map<std::uint64_t, std::stop_source> runs_;
  std::uint32_t urgent_ = 0;  // calls of the handler that are under way and take a moment: seals, leadership, new peers
  std::uint64_t pulses_ = 0;
  std::map<ShardId, Status> pulsed_;

  Stage stage_ = Stage::staying;
  Instant leave_begun_;
  Duration leave_within_ = {};
  bool permit_asked_ = false;
  std::string no_permit_ = "nobody answered";
  std::optional<store::Answer<void>> left_;

  Timer wake_, upkeep_, pulse_, retry_, live_retry_, leave_, permit_, word_;
  std::uint32_t upkeeps_ = 0;
  std::map<std::string_view, Instant> complaints_;  // until when each is not said again
  bool closed_ = false;
};

}  // namespace evenkeel::node
