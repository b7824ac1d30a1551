#include "evenkeel/serve/daemon.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <deque>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "evenkeel/base/address.h"
#include "evenkeel/base/real_loop.h"
#include "evenkeel/control/shell/controller.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/serve/detail/question.h"
#include "evenkeel/serve/detail/routes.h"
#include "evenkeel/serve/planner.h"

namespace evenkeel::serve {
namespace {

constexpr Duration look_every = 100ms;  // whether the store answers, and the office is still ours

std::string host_name() {
  std::array<char, 256> name = {};
  if (::gethostname(name.data(), name.size() - 1) != 0 || why_not_a_name(name.data())) return "host";
  return name.data();
}

Result<> check(const DaemonOptions& options) {
  if (const auto why = why_not_a_name(options.cluster.str())) return fail(Code::invalid, "cluster: {}", *why);
  if (!options.name.empty()) {
    if (const auto why = why_not_a_name(options.name)) return fail(Code::invalid, "name: {}", *why);
  }
  return {};
}

Duration in_seconds(Duration duration) { return std::chrono::floor<std::chrono::seconds>(duration); }

bool is_for_people(control::Event::Kind kind) {
  using Kind = control::Event::Kind;
  return kind != Kind::leader && kind != Kind::seal && kind != Kind::replica;  // a shard's own are thousands
}

}  // namespace

class Daemon::Work final : public PulseSink {
 public:
  explicit Work(DaemonOptions options) : options_(std::move(options)) {}
  ~Work() override { end(); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  Result<> start();
  void stop(Duration within);

  const ControllerAddress& self() const { return watched_.self; }
  bool ready() {
    return asked([](const detail::Watched& watched) { return !watched.why_not_ready(); });
  }
  bool active() {
    return asked([](const detail::Watched& watched) { return watched.controller != nullptr && watched.controller->active(); });
  }

 private:
  // Runs something on the loop, and waits for it.
  template <class F>
  auto on_loop(F work) {
    std::promise<decltype(work())> promise;
    loop_.post([&] { promise.set_value(work()); });
    return promise.get_future().get();
  }
  bool ask(std::function<void(const detail::Watched&)> question) {
    return detail::ask(loop_, options_.ask_wait, [this, question = std::move(question)] {
      question(watched_);
      return true;
    });
  }
  bool asked(bool (*question)(const detail::Watched&)) {
    const auto answer = std::make_shared<bool>(false);
    return ask([=](const detail::Watched& watched) { *answer = question(watched); }) && *answer;
  }

  Result<> open_store();
  Result<Duration> read_ttl();
  Result<> listen();
  void begin(Duration session_ttl);
  void look();
  void compact();
  void tell(const control::Event& event);
  void end();

  // Pulses, on the loop.
  Verdict pulse(const Pulse& pulse, Duration every) override;
  void broken(const NodeId& node) override {
    if (controller_ && controller_->active()) controller_->pulse_broken(node);
  }

  void log(Level level, std::string_view message, Fields fields = {}) const {
    if (options_.log != nullptr) options_.log->write(level, message, fields);
  }

  const DaemonOptions options_;
  RealLoop loop_;
  // The loop's.
  detail::Watched watched_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<control::Controller> controller_;
  ControllerEpoch office_;  // that the connections of nodes are of; 0: none
  bool was_active_ = false;
  std::optional<Instant> out_of_touch_;  // since when
  Instant said_;                         // that it is,
  std::string said_why_;                 // and why
  Timer timer_, compact_timer_;
  std::deque<std::pair<Instant, store::Revision>> history_;  // when the store was where

  std::unique_ptr<PlannerThread> planner_;
  std::unique_ptr<PulseServer> pulses_;
  std::unique_ptr<HttpServer> http_;
  std::jthread thread_;
};

Result<> Daemon::Work::start() {
  thread_ = std::jthread([this] { loop_.run(); });
  // First, so that it can be asked how it is while the store does not answer.
  if (auto listening = listen(); !listening) return listening;
  if (auto opened = open_store(); !opened) return opened;
  const auto ttl = read_ttl();
  if (!ttl) return fail(ttl.error());
  on_loop([&] { return begin(*ttl), true; });
  return {};
}

Result<> Daemon::Work::open_store() {
  return on_loop([&]() -> Result<> {
    auto opened = options_.open_store(loop_);
    if (!opened) return fail(std::move(opened).error().in("store"));
    store_ = *std::move(opened);
    return {};
  });
}

// The first question to the store. One that refuses us does so for good; one that does not answer is waited for.
Result<Duration> Daemon::Work::read_ttl() {
  const Duration otherwise = control::ControllerOptions().session_ttl;
  const Keys keys(options_.cluster);
  auto promise = std::make_shared<std::promise<Result<store::Read>>>();
  auto future = promise->get_future();
  loop_.post([this, promise, key = keys.config()] {
    store_->get(key, [promise](Result<store::Read> read) { promise->set_value(std::move(read)); });
  });
  if (future.wait_for(options_.read_wait) != std::future_status::ready) return otherwise;
  const auto read = future.get();
  if (!read && (read.error().code == Code::denied || read.error().code == Code::invalid)) return fail(read.error().in("store"));
  if (!read || !read->entry) return otherwise;
  const auto config = parse_config(read->entry->value, read->entry->key);
  return config ? config->settings.control.controller_ttl : otherwise;  // the controller says what is wrong with it
}

Result<> Daemon::Work::listen() {
  auto pulses = PulseServer::start(loop_, *this, {.listen = options_.pulse, .cluster = options_.cluster});
  if (!pulses) return fail(std::move(pulses).error().in("pulse"));
  pulses_ = *std::move(pulses);
  auto http =
      HttpServer::start(detail::routes([this](auto question) { return ask(std::move(question)); }), {.listen = options_.http});
  if (!http) return fail(std::move(http).error().in("http"));
  http_ = *std::move(http);
  ControllerAddress self{options_.name, http_->address(), pulses_->address()};
  if (options_.name.empty()) self.name = fmt::format("{}:{}", host_name(), parse_address(self.http).value().port);
  on_loop([&] { return watched_.self = std::move(self), true; });
  return {};
}

void Daemon::Work::begin(Duration session_ttl) {
  planner_ = std::make_unique<PlannerThread>(loop_, [this](Duration took) { watched_.counted.plans.add(took); });
  control::ControllerOptions options{.cluster = options_.cluster,
                                     .name = watched_.self.name,
                                     .http = watched_.self.http,
                                     .pulse = watched_.self.pulse,
                                     .session_ttl = session_ttl,
                                     .planner = planner_->planner(),
                                     .log = options_.log};
  options.on_step = [this](Duration took) { watched_.counted.steps.add(took); };
  options.on_commit = [this](Duration took, control::Answered::Outcome outcome) {
    using Outcome = control::Answered::Outcome;
    Counted& counted = watched_.counted;
    counted.commits.add(took);
    ++(outcome == Outcome::done ? counted.committed : outcome == Outcome::moved ? counted.moved : counted.unknown);
  };
  controller_ = std::make_unique<control::Controller>(*store_, std::move(options));
  controller_->on_event([this](const control::Event& event) { tell(event); });
  watched_.cluster = options_.cluster;
  watched_.loop = &loop_;
  watched_.own_store = options_.own_store;
  watched_.controller = controller_.get();
  watched_.pulses = pulses_.get();
  out_of_touch_ = said_ = loop_.now();
  timer_ = loop_.post_after(look_every, [this] { look(); });
  if (options_.history > Duration{}) compact();
}

// What changed since the last look: the office, and whether the store answers.
void Daemon::Work::look() {
  const bool active = controller_->active();
  if (std::exchange(was_active_, active) != active) {
    log(Level::info, active ? "is active" : "stands by", {{"cluster", options_.cluster}});
    // In a store that others share this may be a slip of the pen.
    const auto& machine = controller_->machine();
    if (active && !options_.own_store && machine.workloads().empty() && machine.nodes(loop_.now()).empty())
      log(Level::warn, "nothing is known of this cluster; unless it is new, see that its name and its store are right",
          {{"cluster", options_.cluster}});
  }
  if (!active && office_ != ControllerEpoch{}) {
    office_ = {};
    pulses_->end_all();
  }
  const Instant now = loop_.now();
  if (controller_->in_touch()) {
    if (out_of_touch_ && said_ != *out_of_touch_)
      log(Level::info, "the store answers", {{"after", in_seconds(now - *out_of_touch_)}});
    out_of_touch_.reset();
  } else {
    if (!out_of_touch_) out_of_touch_ = said_ = now;
    // At first it is waited a little: at a start the first answer is on its way, and later a hiccup is soon over. Another reason is said soon, but not each
    // time it changes.
    const std::string what = watched_.why_not_ready()->what;
    const Duration pause = said_ == *out_of_touch_ ? Duration(1s) : what != said_why_ ? Duration(5s) : options_.said_again;
    if (now >= said_ + pause) {
      log(Level::warn, what, {{"for", in_seconds(now - *out_of_touch_)}});
      said_ = now;
      said_why_ = what;
    }
  }
  timer_ = loop_.post_after(look_every, [this] { look(); });
}

// Every fifth of the time it is noted where the store is, and what is older than the latest note of that age is forgotten.
void Daemon::Work::compact() {
  compact_timer_ = loop_.post_after(options_.history / 5, [this] { compact(); });
  store_->status([this](const Result<store::Status>& status) {
    if (!status) return;
    const Instant old = loop_.now() - options_.history;
    history_.emplace_back(loop_.now(), status->revision);
    while (history_.size() > 1 && history_[1].first <= old) history_.pop_front();
    if (history_.front().first > old) return;
    store_->compact(history_.front().second, [this](const Result<store::Revision>& done) {
      if (!done) log(Level::warn, "the store's history could not be compacted", {{"error", done.error().message}});
    });
    history_.pop_front();
  });
}

void Daemon::Work::tell(const control::Event& event) {
  ++watched_.counted.events[event.kind];
  watched_.events.push_back({++watched_.last_event, wall_now(), event});
  while (watched_.events.size() > options_.events_max) watched_.events.pop_front();
  log(is_for_people(event.kind) ? Level::info : Level::debug, event.text,
      {{"kind", serve::name(event.kind)},
       {"of", event.shard  ? format(*event.shard)
              : event.node ? event.node->str()
                           : options_.cluster.str()}});
}

PulseSink::Verdict Daemon::Work::pulse(const Pulse& pulse, Duration every) {
  if (!controller_ || !controller_->active()) return Verdict::not_active;
  if (const ControllerEpoch before = std::exchange(office_, controller_->epoch());
      before != office_ && before != ControllerEpoch{}) {
    pulses_->end_all();  // another office of ours: it knows nothing of what was said in the one before
    return Verdict::not_active;
  }
  const bool known = controller_->machine().knows(pulse.node, pulse.incarnation);
  controller_->pulse(pulse, every);
  if (known) ++watched_.counted.pulses;
  return known ? Verdict::known : Verdict::unknown;
}

void Daemon::Work::stop(Duration within) {
  if (!thread_.joinable()) return;
  auto promise = std::make_shared<std::promise<void>>();
  auto future = promise->get_future();
  loop_.post([this, promise] {
    loop_.cancel(timer_);  // it is out of office, and of touch, by its own will
    if (!controller_) return promise->set_value();
    controller_->resign([promise](const Result<>&) { promise->set_value(); });
  });
  if (future.wait_for(within) != std::future_status::ready) log(Level::warn, "could not leave the office in time");
  end();
}

// Who asks and who pulses go first, while the loop can still answer them.
void Daemon::Work::end() {
  if (!thread_.joinable()) return;
  if (pulses_) pulses_->stop();
  if (http_) http_->stop();
  on_loop([this] {
    loop_.cancel(timer_);
    loop_.cancel(compact_timer_);
    watched_.controller = nullptr;
    controller_.reset();
    store_.reset();
    return true;
  });
  planner_.reset();
  loop_.stop();
  thread_.join();
}

Daemon::Daemon(std::unique_ptr<Work> work) : work_(std::move(work)) {}
Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::start(DaemonOptions options) {
  if (auto good = check(options); !good) return fail(std::move(good).error());
  auto work = std::make_unique<Work>(std::move(options));
  if (auto started = work->start(); !started) return fail(std::move(started).error());
  return std::unique_ptr<Daemon>(new Daemon(std::move(work)));
}

const std::string& Daemon::name() const { return work_->self().name; }
const std::string& Daemon::http() const { return work_->self().http; }
const std::string& Daemon::pulse() const { return work_->self().pulse; }
bool Daemon::ready() const { return work_->ready(); }
bool Daemon::active() const { return work_->active(); }
void Daemon::stop(Duration within) { work_->stop(within); }

}  // namespace evenkeel::serve
