#include "evenkeel/broker/shell/broker.h"

#include <algorithm>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "evenkeel/base/text.h"
#include "evenkeel/broker/config_file.h"
#include "evenkeel/broker/shell/client.h"
#include "evenkeel/broker/shell/detail/outbox.h"
#include "evenkeel/broker/shell/detail/recording_buffer.h"

namespace evenkeel::broker {
namespace {

using DeliveryOutbox = detail::Outbox<Delivery>;

// The outboxes to start once the lock is released. Nearly always there is one at most, which costs no allocation.
class Due {
 public:
  void add(std::shared_ptr<DeliveryOutbox> outbox) {
    if (first_ == nullptr)
      first_ = std::move(outbox);
    else
      others_.push_back(std::move(outbox));
  }
  void start() {
    if (first_ != nullptr) first_->start();
    for (const auto& outbox : others_) outbox->start();
  }

 private:
  std::shared_ptr<DeliveryOutbox> first_;
  std::vector<std::shared_ptr<DeliveryOutbox>> others_;
};

struct LiveTask {
  RequestTag tag = 0;  // of the submit or resubmit that its next grant answers
  bool running = false;
};

// A task that the request at hand takes from the broker for certain, if it is `running`, or waits, as the request supposes. That is
// never refused for the sake of a bound: how else would a client that is behind catch up?
struct GivenBack {
  TaskId task;
  bool running = false;
};

// A client, as the broker sees it. Everything is guarded by the broker's lock.
struct Line {
  Line(ClientId id, std::string called, std::shared_ptr<DeliveryOutbox> to, std::pmr::memory_resource* memory)
      : client(id), name(std::move(called)), outbox(std::move(to)), tasks(memory) {}

  ClientId client;
  std::string name;
  std::shared_ptr<DeliveryOutbox> outbox;
  RequestTag last_tag = 0;
  std::pmr::unordered_map<std::uint64_t, LiveTask> tasks;
};

// A cookie may be any bytes, but a type is compared as it stands, in recordings too.
Result<void> is_text(std::string_view type) {
  if (!find_invalid_utf8(type)) return {};
  return fail(Code::invalid, "the task's type {} is no UTF-8", quote(type));
}

}  // namespace

// -------------------------------------------------------------------------------------------------------------------- the core

class Broker::Core {
 public:
  Core(Scheduler scheduler, BrokerOptions options)
      : options_(std::move(options)), scheduler_(std::move(scheduler)), start_(options_.clock->now()) {}

  const BrokerOptions& options() const { return options_; }

  Line& connect(std::string name, Executor executor, SessionSink& sink);
  void disconnect(Line& line);

  Result<RequestTag> submit(Line& line, const Task& task, bool instant);
  Result<RequestTag> update(Line& line, const TaskUpdate& update);
  Result<RequestTag> update_cookie(Line& line, TaskId task, const std::string& cookie);
  Result<RequestTag> remove(Line& line, TaskId task, Reply reply);
  Result<RequestTag> finish(Line& line, TaskId task, Cancelled cancelled, bool instant);
  Result<RequestTag> reduce(Line& line, TaskId task, const Need& by);
  Result<RequestTag> merge(Line& line, TaskId task, TaskId donor);

  Result<void> configure(const Config& config);
  Result<void> configure(const ConfigPatch& patch);
  Config config() const;
  std::vector<std::string> resources() const;
  Observed observe(const ObserveLimits& limits) const;
  std::shared_ptr<Recording::Buffer> record(std::size_t most);

 private:
  // One request: it takes a tag, does its work under the lock, and starts what is due without it.
  // `work(tag, due)` returns a Result<void>; refused, nothing happened.
  template <class Work>
  Result<RequestTag> request(Line& line, const Work& work, std::optional<GivenBack> given_back = std::nullopt);
  Result<void> has_room(const Line& line, std::optional<GivenBack> given_back) const;

  // All below is called under the lock.
  Micros tick() const;
  Result<void> fits(std::string_view what, std::string_view text) const;
  Result<std::span<const std::uint64_t>> resolve(const Need& need);
  Result<void> resolve_others(const Need& need);
  std::string unique_name(std::string name, ClientId client) const;
  void post(Line& line, Delivery delivery, Due& due);
  // What came of a request of `line`; null: of nobody's.
  void post(const Effects& effects, const Line* line, RequestTag tag, Due& due);
  void post_result(Line& line, const Effects& effects, bool ok, RequestTag tag, Due& due);
  Result<void> configure_locked(const Config& config, Due& due);
  // `make` is called only if somebody records.
  template <class MakeCommand>
  void tap(Micros now, const MakeCommand& make);
  Amounts named(std::span<const std::uint64_t> amounts) const;

  const BrokerOptions options_;
  mutable std::mutex mutex_;
  Scheduler scheduler_;
  const Instant start_;
  mutable Micros last_{0};
  std::pmr::unsynchronized_pool_resource pool_;  // of all lines' tasks, so that nothing is allocated once warm
  std::vector<std::unique_ptr<Line>> lines_;     // by ClientId
  std::set<std::string, std::less<>> names_;     // of those connected
  std::vector<std::uint64_t> need_;              // of the request at hand
  std::vector<std::shared_ptr<Recording::Buffer>> recordings_;
};

Micros Broker::Core::tick() const {
  const Duration passed = options_.clock->now() - start_;
  const Micros now(static_cast<std::uint64_t>(
      std::max(std::chrono::duration_cast<std::chrono::microseconds>(passed).count(), std::int64_t{0})));
  return last_ = std::max(last_, now);
}

// --------------------------------------------------------------------------------------------------------------------- clients

std::string Broker::Core::unique_name(std::string name, ClientId client) const {
  if (name.size() > client_name_bytes_max) name.resize(client_name_bytes_max);
  // Recordings tell clients apart by name, as text.
  while (const auto bad = find_invalid_utf8(name)) name[*bad] = '?';
  if (name.empty()) name = "client";
  while (names_.contains(name)) name += fmt::format("#{}", client);
  return name;
}

Line& Broker::Core::connect(std::string name, Executor executor, SessionSink& sink) {
  auto outbox =
      std::make_shared<DeliveryOutbox>(std::move(executor), [&sink](const Delivery& delivery) { sink.deliver(delivery); });
  const std::lock_guard lock(mutex_);
  const ClientId client = scheduler_.connect();
  name = unique_name(std::move(name), client);
  names_.insert(name);
  if (lines_.size() <= client.value()) lines_.resize(client.value() + std::size_t{1});
  std::unique_ptr<Line>& line = lines_[client.value()];
  ensure(line == nullptr, "a client's number is not given to another while it lives");
  line = std::make_unique<Line>(client, std::move(name), std::move(outbox), &pool_);
  return *line;
}

void Broker::Core::disconnect(Line& line) {
  // First, so that no delivery uses the session while it goes.
  line.outbox->close();
  Due due;
  {
    const std::lock_guard lock(mutex_);
    const Micros now = tick();
    tap(now, [&] { return trace::ClientDied{line.name}; });
    post(scheduler_.client_died(line.client, now), &line, 0, due);
    names_.erase(line.name);
    lines_[line.client.value()].reset();
  }
  due.start();
}

// ------------------------------------------------------------------------------------------------------------------ deliveries

void Broker::Core::post(Line& line, Delivery delivery, Due& due) {
  if (line.outbox->push(std::move(delivery))) due.add(line.outbox);
}

void Broker::Core::post(const Effects& effects, const Line* line, RequestTag tag, Due& due) {
  for (const Event& event : effects.events) {
    Line& to = *lines_[event.client.value()];
    Delivery delivery{.tag = tag, .task = event.task, .cookie = std::string(event.cookie)};
    switch (event.kind) {
      case Event::Kind::allocated: {
        const auto found = to.tasks.find(event.task.value());
        ensure(found != to.tasks.end(), "what is granted was submitted");
        delivery.kind = Delivery::Kind::allocated;
        delivery.tag = found->second.tag;
        found->second.running = true;
        break;
      }
      case Event::Kind::error:
        delivery.kind = Delivery::Kind::error;
        delivery.refusal = event.refusal;
        delivery.message = message(event.refusal);
        break;
      case Event::Kind::removed:
        delivery.kind = Delivery::Kind::removed;
        break;
    }
    ensure(event.kind == Event::Kind::allocated || &to == line, "errors and removals go to who asked");
    post(to, std::move(delivery), due);
  }
}

void Broker::Core::post_result(Line& line, const Effects& effects, bool ok, RequestTag tag, Due& due) {
  Delivery delivery{.kind = Delivery::Kind::result, .tag = tag, .task = effects.task, .refusal = effects.refusal, .ok = ok};
  if (!effects.ok()) delivery.message = message(effects.refusal);
  post(line, std::move(delivery), due);
}

template <class MakeCommand>
void Broker::Core::tap(Micros now, const MakeCommand& make) {
  if (recordings_.empty()) [[likely]]
    return;
  const trace::Command command = make();
  std::erase_if(recordings_, [&](const auto& recording) { return !recording->push(now, command); });
}

// Those that are not 0, by name, in the order of the resources.
Amounts Broker::Core::named(std::span<const std::uint64_t> amounts) const {
  Amounts named;
  for (std::size_t i = 0; i < amounts.size(); ++i)
    if (amounts[i] != 0) named.emplace_back(scheduler_.resources()[i], amounts[i]);
  return named;
}

// -------------------------------------------------------------------------------------------------------------------- requests

template <class Work>
Result<RequestTag> Broker::Core::request(Line& line, const Work& work, std::optional<GivenBack> given_back) {
  Due due;
  Result<RequestTag> tag;
  {
    const std::lock_guard lock(mutex_);
    tag = ++line.last_tag;  // taken by every request, also by one that is refused
    if (auto room = has_room(line, given_back); !room) return fail(room.error());
    const Result<void> done = work(*tag, due);
    if (!done) tag = fail(done.error());
  }
  due.start();
  return tag;
}

Result<void> Broker::Core::has_room(const Line& line, std::optional<GivenBack> given_back) const {
  if (line.outbox->size() < options_.deliveries_max) return {};
  if (given_back) {
    const auto found = line.tasks.find(given_back->task.value());
    if (found != line.tasks.end() && found->second.running == given_back->running) return {};
  }
  return fail(Code::unavailable, "{} deliveries wait for the client's executor, which is all that are kept; let it run them",
              options_.deliveries_max);
}

Result<void> Broker::Core::fits(std::string_view what, std::string_view text) const {
  if (text.size() <= options_.text_bytes_max) return {};
  return fail(Code::too_large, "the task's {} has {} bytes, more than {}", what, text.size(), options_.text_bytes_max);
}

Result<std::span<const std::uint64_t>> Broker::Core::resolve(const Need& need) {
  need_.assign(scheduler_.resources().size(), 0);
  need_[0] = need.cpu;
  need_[1] = need.memory;
  if (!need.others.empty()) {
    const Result<void> resolved = resolve_others(need);
    if (!resolved) return fail(resolved.error());
  }
  return need_;
}

Result<void> Broker::Core::resolve_others(const Need& need) {
  const std::vector<std::string>& resources = scheduler_.resources();
  static_assert(resources_max <= 64);
  std::uint64_t given = 0b11;  // cpu and memory have fields of their own
  for (const auto& [name, amount] : need.others) {
    const auto found = std::ranges::find(resources, name);
    if (found == resources.end())
      return fail(Code::invalid, "the broker has no resource {}; it has {}", quote(name), fmt::join(resources, ", "));
    const auto index = static_cast<std::size_t>(found - resources.begin());
    if ((given >> index & 1) != 0) return fail(Code::invalid, "the resource {} is given twice", quote(name));
    given |= std::uint64_t{1} << index;
    need_[index] = amount;
  }
  return {};
}

Result<RequestTag> Broker::Core::submit(Line& line, const Task& task, bool instant) {
  return request(line, [&](RequestTag tag, Due& due) -> Result<void> {
    for (const auto& [what, text] :
         {std::pair("name", std::string_view(task.name)), {"type", task.type}, {"cookie", task.cookie}})
      if (auto right = fits(what, text); !right) return right;
    if (auto right = is_text(task.type); !right) return right;
    if (line.tasks.size() >= options_.tasks_max)
      return fail(Code::refused, "the client has {} tasks, which is all it may have; finish or remove some", line.tasks.size());
    const auto need = resolve(task.need);
    if (!need) return fail(need.error());
    const Micros now = tick();
    tap(now, [&] {
      return trace::Submit{line.name, task.id, task.type, task.priority, named(*need), trace::cookie_of(task.cookie), instant};
    });
    const Submit submit{
        .task = task.id, .name = task.name, .type = task.type, .priority = task.priority, .need = *need, .cookie = task.cookie};
    const Effects effects =
        instant ? scheduler_.submit_instant(line.client, submit, now) : scheduler_.submit(line.client, submit, now);
    if (effects.ok() && (effects.granted || !instant))
      line.tasks.insert_or_assign(effects.task.value(), LiveTask{.tag = tag, .running = instant});
    post(effects, &line, tag, due);
    if (instant) post_result(line, effects, effects.ok() && effects.granted, tag, due);
    return {};
  });
}

Result<RequestTag> Broker::Core::update(Line& line, const TaskUpdate& update) {
  return request(line, [&](RequestTag tag, Due& due) -> Result<void> {
    if (auto right = fits("type", update.type); !right) return right;
    if (auto right = is_text(update.type); !right) return right;
    const auto need = resolve(update.need);
    if (!need) return fail(need.error());
    const Micros now = tick();
    tap(now, [&] { return trace::Update{line.name, update.id, update.type, update.priority, named(*need), update.resubmit}; });
    const Effects effects = scheduler_.update(
        line.client,
        {.task = update.id, .type = update.type, .priority = update.priority, .need = *need, .resubmit = update.resubmit}, now);
    if (effects.ok() && update.resubmit) line.tasks.insert_or_assign(update.id.value(), LiveTask{.tag = tag});
    post(effects, &line, tag, due);
    return {};
  });
}

Result<RequestTag> Broker::Core::update_cookie(Line& line, TaskId task, const std::string& cookie) {
  return request(line, [&](RequestTag tag, Due& due) -> Result<void> {
    if (auto right = fits("cookie", cookie); !right) return right;
    tap(tick(), [&] { return trace::UpdateCookie{line.name, task, trace::cookie_of(cookie)}; });
    post(scheduler_.update_cookie(line.client, task, cookie), &line, tag, due);
    return {};
  });
}

Result<RequestTag> Broker::Core::remove(Line& line, TaskId task, Reply reply) {
  return request(
      line,
      [&](RequestTag tag, Due& due) -> Result<void> {
        const Micros now = tick();
        tap(now, [&] { return trace::Remove{line.name, task, reply == Reply::yes}; });
        const Effects effects = scheduler_.remove(line.client, task, reply, now);
        if (effects.ok()) line.tasks.erase(task.value());
        post(effects, &line, tag, due);
        return {};
      },
      GivenBack{.task = task, .running = false});
}

Result<RequestTag> Broker::Core::finish(Line& line, TaskId task, Cancelled cancelled, bool instant) {
  return request(
      line,
      [&](RequestTag tag, Due& due) -> Result<void> {
        const Micros now = tick();
        tap(now, [&] { return trace::Finish{line.name, task, cancelled == Cancelled::yes, instant}; });
        const Effects effects = instant ? scheduler_.finish_instant(line.client, task, cancelled, now)
                                        : scheduler_.finish(line.client, task, cancelled, now);
        if (effects.ok()) line.tasks.erase(task.value());
        post(effects, &line, tag, due);
        if (instant) post_result(line, effects, effects.ok(), tag, due);
        return {};
      },
      instant ? std::nullopt : std::optional(GivenBack{.task = task, .running = true}));
}

Result<RequestTag> Broker::Core::reduce(Line& line, TaskId task, const Need& by) {
  return request(line, [&](RequestTag tag, Due& due) -> Result<void> {
    const auto amounts = resolve(by);
    if (!amounts) return fail(amounts.error());
    const Micros now = tick();
    tap(now, [&] { return trace::Reduce{line.name, task, named(*amounts)}; });
    const Effects effects = scheduler_.reduce(line.client, task, *amounts, now);
    post(effects, &line, tag, due);
    post_result(line, effects, effects.ok(), tag, due);
    return {};
  });
}

Result<RequestTag> Broker::Core::merge(Line& line, TaskId task, TaskId donor) {
  return request(line, [&](RequestTag tag, Due& due) -> Result<void> {
    const Micros now = tick();
    tap(now, [&] { return trace::Merge{line.name, task, donor}; });
    const Effects effects = scheduler_.merge(line.client, task, donor, now);
    if (effects.ok()) line.tasks.erase(donor.value());
    post(effects, &line, tag, due);
    post_result(line, effects, effects.ok(), tag, due);
    return {};
  });
}

// ------------------------------------------------------------------------------------------------------- the broker as a whole

Result<void> Broker::Core::configure_locked(const Config& config, Due& due) {
  const Micros now = tick();
  const Result<Effects> effects = scheduler_.configure(config, now);
  if (!effects) return fail(effects.error());
  tap(now, [&] { return trace::Configure{config}; });
  post(*effects, nullptr, 0, due);
  return {};
}

Result<void> Broker::Core::configure(const Config& config) {
  Due due;
  Result<void> done;
  {
    const std::lock_guard lock(mutex_);
    done = configure_locked(config, due);
  }
  due.start();
  return done;
}

Result<void> Broker::Core::configure(const ConfigPatch& patch) {
  Due due;
  Result<void> done;
  {
    const std::lock_guard lock(mutex_);
    done = configure_locked(broker::merge(scheduler_.config(), patch), due);
  }
  due.start();
  return done;
}

Config Broker::Core::config() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.config();
}

std::vector<std::string> Broker::Core::resources() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.resources();
}

Observed Broker::Core::observe(const ObserveLimits& limits) const {
  const std::lock_guard lock(mutex_);
  Observed seen{.status = scheduler_.observe(tick(), limits.waiting_max, limits.running_max), .clients = {}};
  const auto add = [&](const TaskStatus& task) { seen.clients.try_emplace(task.client, lines_[task.client.value()]->name); };
  std::ranges::for_each(seen.status.running, add);
  for (const QueueStatus& queue : seen.status.queues) std::ranges::for_each(queue.waiting, add);
  return seen;
}

std::shared_ptr<Recording::Buffer> Broker::Core::record(std::size_t most) {
  const std::lock_guard lock(mutex_);
  std::map<ClientId, std::string> clients;
  for (const auto& line : lines_)
    if (line != nullptr) clients.emplace(line->client, line->name);
  trace::Restore start = trace::restore_of(scheduler_.save(tick()), std::move(clients));
  return recordings_.emplace_back(std::make_shared<Recording::Buffer>(std::move(start), most));
}

// --------------------------------------------------------------------------------------------------------------------- session

class Broker::LocalSession final : public Session {
 public:
  LocalSession(std::shared_ptr<Broker> broker, Line& line) : broker_(std::move(broker)), core_(*broker_->core_), line_(line) {}
  ~LocalSession() override { core_.disconnect(line_); }
  LocalSession(const LocalSession&) = delete;
  LocalSession& operator=(const LocalSession&) = delete;

  Result<RequestTag> submit(Task task) override { return core_.submit(line_, task, false); }
  Result<RequestTag> submit_instant(Task task) override { return core_.submit(line_, task, true); }
  Result<RequestTag> update(TaskUpdate update) override { return core_.update(line_, update); }
  Result<RequestTag> update_cookie(TaskId task, std::string cookie) override { return core_.update_cookie(line_, task, cookie); }
  Result<RequestTag> remove(TaskId task, Reply reply) override { return core_.remove(line_, task, reply); }
  Result<RequestTag> finish(TaskId task, Cancelled cancelled) override { return core_.finish(line_, task, cancelled, false); }
  Result<RequestTag> finish_instant(TaskId task, Cancelled cancelled) override {
    return core_.finish(line_, task, cancelled, true);
  }
  Result<RequestTag> reduce(TaskId task, Need by) override { return core_.reduce(line_, task, by); }
  Result<RequestTag> merge(TaskId task, TaskId donor) override { return core_.merge(line_, task, donor); }

 private:
  const std::shared_ptr<Broker> broker_;
  Core& core_;
  Line& line_;  // the core's, until disconnect
};

// ---------------------------------------------------------------------------------------------------------------------- broker

Result<std::shared_ptr<Broker>> Broker::from_config(const Config& config, BrokerOptions options) {
  if (options.clock == nullptr) options.clock = std::make_shared<BootClock>();
  auto scheduler = Scheduler::make(config, options.scheduling, Micros(0));
  if (!scheduler) return fail(scheduler.error());
  return std::shared_ptr<Broker>(new Broker(std::make_unique<Core>(std::move(*scheduler), std::move(options))));
}

Result<std::shared_ptr<Broker>> Broker::from_text(std::string_view text, std::string file, BrokerOptions options) {
  const Parsed<Config> config = parse_config(text, file);
  if (!config) return fail(config.error().to_error());
  auto broker = from_config(*config, std::move(options));
  if (!broker) return fail(broker.error().in(file));
  return broker;
}

Broker::Broker(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Broker::~Broker() = default;

std::unique_ptr<Session> Broker::open(std::string client_name, Executor executor, SessionSink& sink) {
  return std::make_unique<LocalSession>(shared_from_this(), core_->connect(std::move(client_name), std::move(executor), sink));
}

std::unique_ptr<Client> Broker::client(std::string client_name, Executor executor) {
  const SessionMaker maker = [&](Executor deliveries, SessionSink& sink) -> Result<std::unique_ptr<Session>> {
    return open(std::move(client_name), std::move(deliveries), sink);
  };
  auto made = Client::connect(maker, std::move(executor));
  ensure(made.has_value(), "a session in this process always opens");
  return std::move(*made);
}

Result<void> Broker::configure(const Config& config) { return core_->configure(config); }
Result<void> Broker::configure(const ConfigPatch& patch) { return core_->configure(patch); }
Config Broker::config() const { return core_->config(); }
std::vector<std::string> Broker::resources() const { return core_->resources(); }
const BrokerOptions& Broker::options() const { return core_->options(); }
Observed Broker::observe(const ObserveLimits& limits) const { return core_->observe(limits); }
std::unique_ptr<Recording> Broker::record(std::size_t most) { return std::make_unique<Recording>(core_->record(most)); }

}  // namespace evenkeel::broker
