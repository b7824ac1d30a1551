#include "evenkeel/agent/shell/handler.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace evenkeel::agent {
namespace {

constexpr Duration usual_within = 10s;       // of what must be quick
constexpr Duration complaint_every = 1min;   // of one kind
constexpr std::size_t complaints_max = 100;  // kinds that are remembered
constexpr std::uint32_t doublings_max = 6;  // of the pause after a report that failed, which begins with twice as long as it took

// Requests a stop when any of two does.
class EitherStop {
 public:
  EitherStop(const std::stop_token& a, const std::stop_token& b)
      : on_a_(a, [this] { source_.request_stop(); }), on_b_(b, [this] { source_.request_stop(); }) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> on_a_, on_b_;
};

}  // namespace

Handler::Handler(Asker& asker, Who who, HandlerOptions options) : asker_(asker), who_(std::move(who)), options_(options) {
  if (options_.report_every) reports_ = std::jthread([this](const std::stop_token& stop) { keep_reporting(stop); });
}

void Handler::stop() {
  ending_.request_stop();
  reports_.request_stop();
  if (reports_.joinable()) reports_.join();
}

Duration Handler::short_within() const { return options_.within.value_or(usual_within); }

Result<std::string> Handler::ask(const Question& question, Duration within, const std::stop_token& stop) {
  const EitherStop either(stop, ending_.get_token());
  const Instant begun = clock_.now();
  auto answer = asker_.ask(question, {.within = within, .grace = options_.grace}, either.token());
  if (options_.log == nullptr) return answer;
  if (answer) {
    options_.log->debug("done", {{"what", question.about}, {"took", clock_.now() - begun}});
  } else {
    complain(question.about, answer.error(), clock_.now() - begun);
  }
  return answer;
}

// What fails in the same way again and again, as a hook that is away does for each shard, is said once, and then each minute.
void Handler::complain(const std::string& what, const Error& error, Duration took) {
  std::uint64_t unsaid = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (complaints_.size() >= complaints_max) complaints_.clear();
    auto [known, is_new] = complaints_.try_emplace(error.message);
    if (!is_new && clock_.now() < known->second.quiet_until) return void(++known->second.unsaid);
    unsaid = std::exchange(known->second.unsaid, 0);
    known->second.quiet_until = clock_.now() + complaint_every;
  }
  if (unsaid == 0) return options_.log->warn("failed", {{"what", what}, {"why", error.message}, {"took", took}});
  options_.log->warn("failed", {{"what", what}, {"why", error.message}, {"took", took}, {"as often before", unsaid}});
}

Result<std::vector<node::Held>> Handler::take_inventory() {
  const auto answer = ask(ask_inventory(who_, short_within()), short_within(), options_.interrupted);
  if (!answer) return fail(answer.error().in("inventory"));
  auto held = parse_inventory(*answer);
  if (!held) return fail(std::move(held).error().in("inventory"));
  return options_.report_every ? *std::move(held) : without_progress(*std::move(held));
}

Result<> Handler::try_inventory() {
  const auto held = take_inventory();
  return held ? Result<>() : fail(held.error());
}

std::vector<node::Held> Handler::inventory() {
  auto held = take_inventory();
  if (!held) throw std::runtime_error(held.error().message);
  const std::scoped_lock lock(mutex_);
  for (const node::Held& each : *held)
    known_[each.shard] = {.status = {.last = each.last, .progress = each.progress}, .is_new = false};
  return *std::move(held);
}

Result<> Handler::transition(const node::Transition& transition, std::stop_token stop) {
  const auto done = ask_and_report(transition, begin(transition.shard), stop);
  const std::scoped_lock lock(mutex_);
  const auto known = known_.find(transition.shard);
  known->second.runs = false;
  if (done) known->second.is_new = false;
  if (known->second.is_new || (done && transition.to.str() == state_dropped)) known_.erase(known);
  return done;
}

Result<> Handler::ask_and_report(const node::Transition& transition, std::uint64_t turn, const std::stop_token& stop) {
  // The library asks it to stop when it is overdue; a step-down it does not stop, but ends the process.
  const auto left = [&] { return transition.deadline == Instant::max() ? Duration::max() : transition.deadline - clock_.now(); };
  const Duration within = options_.within.value_or(Duration::max());
  const Duration told = std::min(within, left());
  const auto answer =
      ask(ask_transition(who_, transition, told == Duration::max() ? std::nullopt : std::optional(told)), within, stop);
  if (!answer) return fail(answer.error());
  if (!options_.report_every || transition.to.str() == state_dropped) return {};
  const auto reported = take_report(transition.shard, turn, std::min(short_within(), std::max(left(), Duration{})));
  if (!reported) return fail(reported.error().in("it is done, but its report failed"));
  return {};
}

std::uint64_t Handler::begin(const ShardId& shard) {
  const std::scoped_lock lock(mutex_);
  Known& known = known_[shard];
  known.runs = true;
  return known.turn = ++turns_;
}

Sealed Handler::seal(const ShardId& shard, Epoch epoch) {
  const auto answer = ask(ask_seal(who_, shard, epoch, short_within()), short_within(), {});
  if (!answer) throw std::runtime_error(answer.error().message);
  const auto sealed = parse_sealed(*answer, epoch);
  if (!sealed) throw std::runtime_error(sealed.error().message);
  return *sealed;
}

node::Status Handler::report(const ShardId& shard) {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(shard);
  return found == known_.end() ? node::Status{} : found->second.status;
}

// One that fails leaves what was said before.
Result<> Handler::take_report(const ShardId& shard, std::uint64_t turn, Duration within) {
  const auto answer = ask(ask_report(who_, shard, within), within, {});
  if (!answer) return fail(answer.error());
  auto status = parse_status(*answer);
  if (!status) return fail(std::move(status).error());
  const std::scoped_lock lock(mutex_);
  if (const auto found = known_.find(shard); found != known_.end() && found->second.turn == turn) {
    found->second.status = *std::move(status);
    found->second.failures = 0;
    found->second.quiet_until = Instant::min();
  }
  return {};
}

void Handler::keep_reporting(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      ends_.wait_for(lock, stop, *options_.report_every, [] { return false; });
    }
    for (const Asked& asked : next_round()) {
      if (stop.stop_requested()) return;
      if (!take_turn(asked) && asked.failed) break;
    }
  }
}

// All that answer; then those that failed, the one that has been left alone for longest first, until one fails again. So the others wait for one, however many
// hang, and where all failed for one reason they are all asked as soon as it is gone.
std::vector<Handler::Asked> Handler::next_round() {
  const std::scoped_lock lock(mutex_);
  std::vector<Asked> round;
  for (const auto& [shard, known] : known_)
    if (!known.runs && clock_.now() >= known.quiet_until)
      round.push_back({shard, known.turn, known.failures > 0, known.quiet_until});
  std::ranges::stable_sort(round, {}, [](const Asked& asked) { return std::pair(asked.failed, asked.since); });
  return round;
}

// The others wait meanwhile: one that hangs would take most of the time if it were asked each time.
bool Handler::take_turn(const Asked& asked) {
  const auto& [shard, turn, failed, since] = asked;
  const Instant begun = clock_.now();
  const auto taken = take_report(shard, turn, short_within());
  if (!taken && taken.error().code == Code::invalid && options_.log != nullptr)  // other failures are logged where it is asked
    options_.log->warn("a report is overlooked", {{"shard", format(shard)}, {"why", taken.error().message}});
  if (taken) return true;
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(shard);
  if (found == known_.end() || found->second.turn != turn) return false;
  Known& known = found->second;
  known.failures = std::min(known.failures + 1, doublings_max);
  known.quiet_until = clock_.now() + (clock_.now() - begun) * (1U << known.failures);
  return false;
}

}  // namespace evenkeel::agent
