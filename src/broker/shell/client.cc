#include "evenkeel/broker/shell/client.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evenkeel/base/text.h"
#include "evenkeel/broker/shell/detail/outbox.h"

namespace evenkeel::broker {
namespace {

// A call that waits on its own thread. Guarded by the core's lock, and told of its answer under it, so that it may live on the stack.
struct Wait {
  std::condition_variable_any changed;
  std::optional<Result<Grant>> answer;
  bool none = false;  // the answer to try_acquire: not at once
};

// A callback and what it gets.
struct Answer {
  Client::Callback callback;
  Result<Grant> result;
};
using AnswerOutbox = detail::Outbox<Answer>;

enum class Stage : std::uint8_t {
  waiting,  // for a grant
  instant,  // for the answer to an instant submit
  running,
  leaving,  // nobody wants it any more, and the broker was told so
};

struct Entry {
  Stage stage = Stage::waiting;
  bool resubmitted = false;   // it ran before, and if the broker refuses to let it wait again, it still does
  RequestTag newer_than = 0;  // what answers this request or an earlier one is not about it, but about its id's life before
  Wait* wait = nullptr;       // who waits: this,
  Client::Callback callback;  // or this
  std::string type;
  Need need;
};

Error refusal_error(const Delivery& delivery) {
  const std::string what = delivery.message.empty() ? std::string(message(delivery.refusal)) : delivery.message;
  // Without a refusal of the scheduler's it is a bound of a broker behind a socket, which could not say so in the call.
  return {delivery.refusal == Refusal::already_exists ? Code::conflict : Code::refused, what};
}

void shrink(Need& need, const Need& by) {
  need.cpu -= std::min(need.cpu, by.cpu);
  need.memory -= std::min(need.memory, by.memory);
  for (const auto& [name, amount] : by.others)
    for (auto& [held, left] : need.others)
      if (held == name) left -= std::min(left, amount);
}

// False if a sum passes 64 bits; then `need` is unchanged.
bool grow(Need& need, const Need& by) {
  Need sum = need;
  bool fits = !__builtin_add_overflow(need.cpu, by.cpu, &sum.cpu) && !__builtin_add_overflow(need.memory, by.memory, &sum.memory);
  for (const auto& [name, amount] : by.others) {
    auto found = std::ranges::find(sum.others, name, [](const auto& each) { return each.first; });
    if (found == sum.others.end()) found = sum.others.insert(sum.others.end(), {name, 0});
    fits = fits && !__builtin_add_overflow(found->second, amount, &found->second);
  }
  if (fits) need = std::move(sum);
  return fits;
}

// Longer timeouts than that are without end: adding them to a clock would overflow it.
constexpr Duration timeout_max = std::chrono::hours(24 * 365);

}  // namespace

// What a client and its grants share. The session's own deliveries run at once: they only find who waits and wake it; callbacks go on
// to the user's executor. Sessions deliver inside their calls, so none is called under the lock.
class ClientCore final : public SessionSink, public std::enable_shared_from_this<ClientCore> {
 public:
  explicit ClientCore(Executor executor)
      : outbox_(std::make_shared<AnswerOutbox>(std::move(executor),
                                               [](Answer& answer) { answer.callback(std::move(answer.result)); })) {}

  void attach(std::unique_ptr<Session> session);
  void close();
  void deliver(const Delivery& delivery) override;

  Result<Grant> acquire(Task task, Duration timeout, const std::stop_token& stop);
  Result<std::optional<Grant>> try_acquire(Task task);
  Result<TaskId> submit(Task task, Client::Callback callback);
  bool withdraw(TaskId id);
  Result<Grant> reacquire(Grant grant, Change change, Duration timeout, const std::stop_token& stop);
  Result<TaskId> resubmit(Grant grant, Change change, Client::Callback callback);

  bool active(TaskId id) const;
  void give_back(TaskId id, Cancelled cancelled);
  Result<void> reduce(TaskId id, const Need& by);
  Result<void> merge(TaskId id, TaskId donor);
  Result<void> update(TaskId id, Change change);
  Result<void> update_cookie(TaskId id, std::string cookie);

 private:
  // What a delivery leaves to do without the lock.
  struct Afterwards {
    bool start = false;            // the outbox
    std::optional<TaskId> finish;  // a grant that nobody wants
    std::shared_ptr<Session> session;
  };

  Result<TaskId> enter(Task task, Entry entry, Client::Callback* refused);
  Result<TaskId> enter_again(Grant grant, Change change, Entry entry);
  Result<Grant> wait_for(TaskId id, Wait& wait, Duration timeout, const std::stop_token& stop);
  Result<void> may_wait();

  // Under the lock.
  void granted(Entry& entry, TaskId id, const Delivery& delivery, Afterwards& after);
  void refused(std::unordered_map<TaskId, Entry>::iterator found, const Delivery& delivery, Afterwards& after);
  void closed(const Delivery& delivery, Afterwards& after);
  void answer(Entry& entry, Result<Grant> result, Afterwards& after);
  Result<TaskId> pick(TaskId wanted);
  Result<std::shared_ptr<Session>> session() const;
  Result<std::shared_ptr<Session>> session_of(TaskId id) const;

  mutable std::mutex mutex_;
  std::shared_ptr<Session> session_;  // null before attach and after close
  std::optional<Error> closed_;
  std::unordered_map<TaskId, Entry> entries_;
  std::uint64_t next_id_ = 1;
  RequestTag last_unawaited_ = 0;  // the newest request of a grant, the answer to which nobody awaits
  std::thread::id delivering_;
  const std::shared_ptr<AnswerOutbox> outbox_;
};

// -------------------------------------------------------------------------------------------------------------- begin and end

void ClientCore::attach(std::unique_ptr<Session> session) {
  const std::lock_guard lock(mutex_);
  session_ = std::move(session);
}

void ClientCore::close() {
  std::shared_ptr<Session> session;
  std::unordered_map<TaskId, Entry> entries;
  const Error over{Code::cancelled, "the client was closed"};
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ || closed_->code != Code::cancelled) closed_ = over;
    session = std::move(session_);
    entries.swap(entries_);
    Afterwards after;
    // Any order: each has an answer of its own, and none is more than woken.
    for (auto& [id, entry] : entries)
      if (entry.wait != nullptr) answer(entry, fail(over), after);
  }
  session.reset();
  for (Answer& left : outbox_->close()) left.callback(fail(over));
  std::vector<std::pair<TaskId, Client::Callback>> callbacks;
  for (auto& [id, entry] : entries)
    if (entry.callback) callbacks.emplace_back(id, std::move(entry.callback));
  std::ranges::sort(callbacks, {}, [](const auto& each) { return each.first; });
  for (auto& [id, callback] : callbacks) callback(fail(over));
}

// ------------------------------------------------------------------------------------------------------------------ deliveries

void ClientCore::deliver(const Delivery& delivery) {
  // A callback may destroy the client, and with it the last other owner.
  const auto self = shared_from_this();
  Afterwards after;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    delivering_ = std::this_thread::get_id();
    const auto found = entries_.find(delivery.task);
    if (delivery.kind == Delivery::Kind::closed) {
      closed(delivery, after);
    } else if (found != entries_.end()) {
      Entry& entry = found->second;
      const bool stale = delivery.tag != 0 && delivery.tag <= entry.newer_than;
      const bool answers = !stale && (delivery.kind != Delivery::Kind::result || entry.stage == Stage::instant);
      const bool grants = delivery.kind == Delivery::Kind::allocated || (delivery.kind == Delivery::Kind::result && delivery.ok);
      if (answers && grants)
        granted(entry, delivery.task, delivery, after);
      else if (answers)
        refused(found, delivery, after);
    }
  }
  if (after.finish && after.session != nullptr) std::ignore = after.session->finish(*after.finish, Cancelled::yes);
  after.session.reset();
  if (after.start) outbox_->start();
  const std::lock_guard lock(mutex_);
  delivering_ = std::thread::id();
}

void ClientCore::granted(Entry& entry, TaskId id, const Delivery& delivery, Afterwards& after) {
  if (entry.stage == Stage::leaving) {
    entries_.erase(id);
    after.finish = id;
    after.session = session_;
    return;
  }
  entry.stage = Stage::running;
  entry.resubmitted = false;
  answer(entry, Grant(shared_from_this(), id, delivery.cookie), after);
}

void ClientCore::refused(std::unordered_map<TaskId, Entry>::iterator found, const Delivery& delivery, Afterwards& after) {
  Entry& entry = found->second;
  // A removal's answers mean only a task that leaves: one that was granted first has been given back at that, and its id may have been
  // taken anew since.
  const bool of_removal = delivery.kind == Delivery::Kind::removed || delivery.refusal == Refusal::task_in_fly ||
                          delivery.refusal == Refusal::unknown_task;
  if (entry.stage == Stage::running || (of_removal && entry.stage != Stage::leaving)) return;
  if (entry.resubmitted && !of_removal) {
    after.finish = found->first;
    after.session = session_;
  }
  Entry gone = std::move(entry);
  entries_.erase(found);
  if (gone.stage == Stage::leaving) return;
  if (gone.wait != nullptr && delivery.kind == Delivery::Kind::result && delivery.refusal == Refusal::none)
    gone.wait->none = true;
  answer(gone, fail(refusal_error(delivery)), after);
}

void ClientCore::closed(const Delivery& delivery, Afterwards& after) {
  closed_ = Error{Code::unavailable, delivery.message.empty() ? "the line to the broker is down" : delivery.message};
  std::vector<TaskId> ids;
  // Any order: sorted below.
  for (const auto& [id, entry] : entries_) ids.push_back(id);
  std::ranges::sort(ids);
  for (const TaskId id : ids) answer(entries_.find(id)->second, fail(*closed_), after);
  entries_.clear();
}

// Tells whoever waits, if anybody does.
void ClientCore::answer(Entry& entry, Result<Grant> result, Afterwards& after) {
  if (Wait* wait = std::exchange(entry.wait, nullptr)) {
    wait->answer = std::move(result);
    wait->changed.notify_one();
  } else if (entry.callback) {
    after.start = outbox_->push({std::move(entry.callback), std::move(result)}) || after.start;
    entry.callback = nullptr;
  }
}

// ----------------------------------------------------------------------------------------------------------------- submissions

Result<TaskId> ClientCore::pick(TaskId wanted) {
  if (wanted == TaskId(0)) {
    while (entries_.contains(TaskId(next_id_))) ++next_id_;
    return TaskId(next_id_++);
  }
  if (entries_.contains(wanted))
    return fail(Code::conflict, "the client has a task {}, or is giving it back; take another id", wanted);
  return wanted;
}

Result<std::shared_ptr<Session>> ClientCore::session() const {
  if (closed_) return fail(*closed_);
  return session_;
}

// The entry is made first, since the answer may come inside the call. `refused`: where the callback goes if nothing was submitted.
Result<TaskId> ClientCore::enter(Task task, Entry entry, Client::Callback* refused) {
  const bool instant = entry.stage == Stage::instant;
  std::shared_ptr<Session> to;
  {
    const std::lock_guard lock(mutex_);
    auto open = session();
    if (!open) return fail(open.error());
    to = std::move(*open);
    const Result<TaskId> id = pick(task.id);
    if (!id) return id;
    task.id = *id;
    entry.type = task.type;
    entry.need = task.need;
    entry.newer_than = last_unawaited_;
    entries_.insert_or_assign(task.id, std::move(entry));
  }
  const TaskId id = task.id;
  const Result<RequestTag> sent = instant ? to->submit_instant(std::move(task)) : to->submit(std::move(task));
  if (sent) return id;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  // If the line broke meanwhile, its end has answered.
  if (found == entries_.end()) return id;
  if (refused != nullptr) *refused = std::move(found->second.callback);
  entries_.erase(found);
  return fail(sent.error());
}

Result<void> ClientCore::may_wait() {
  const std::lock_guard lock(mutex_);
  if (delivering_ != std::this_thread::get_id()) return {};
  return fail(Code::refused,
              "this would wait for a delivery that can come only when the callback has returned; use submit, or an executor "
              "with a thread of its own");
}

Result<Grant> ClientCore::wait_for(TaskId id, Wait& wait, Duration timeout, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto answered = [&wait] { return wait.answer.has_value(); };
  if (timeout > timeout_max)
    wait.changed.wait(lock, stop, answered);
  else
    wait.changed.wait_for(lock, stop, timeout, answered);
  if (wait.answer) return std::move(*wait.answer);
  Entry& entry = entries_.find(id)->second;
  entry.wait = nullptr;
  entry.stage = Stage::leaving;
  const std::shared_ptr<Session> to = session_;
  lock.unlock();
  if (to != nullptr) std::ignore = to->remove(id, Reply::yes);
  if (stop.stop_requested()) return fail(Code::cancelled, "a stop was requested while the task waited");
  return fail(Code::cancelled, "the task waited for {} and was not granted", format(timeout));
}

Result<Grant> ClientCore::acquire(Task task, Duration timeout, const std::stop_token& stop) {
  if (auto may = may_wait(); !may) return fail(may.error());
  Wait wait;
  const Result<TaskId> id = enter(std::move(task), Entry{.wait = &wait}, nullptr);
  if (!id) return fail(id.error());
  return wait_for(*id, wait, timeout, stop);
}

Result<std::optional<Grant>> ClientCore::try_acquire(Task task) {
  if (auto may = may_wait(); !may) return fail(may.error());
  Wait wait;
  const Result<TaskId> id = enter(std::move(task), Entry{.stage = Stage::instant, .wait = &wait}, nullptr);
  if (!id) return fail(id.error());
  Result<Grant> grant = wait_for(*id, wait, Duration::max(), {});
  if (grant) return std::move(*grant);
  if (wait.none) return std::nullopt;
  return fail(grant.error());
}

Result<TaskId> ClientCore::submit(Task task, Client::Callback callback) {
  Client::Callback unused;  // destroyed without the lock: it may own grants
  return enter(std::move(task), Entry{.callback = std::move(callback)}, &unused);
}

bool ClientCore::withdraw(TaskId id) {
  Afterwards after;
  std::shared_ptr<Session> to;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.stage != Stage::waiting || !found->second.callback) return false;
    found->second.stage = Stage::leaving;
    answer(found->second, fail(Code::cancelled, "the task was withdrawn"), after);
    to = session_;
  }
  if (to != nullptr) std::ignore = to->remove(id, Reply::yes);
  if (after.start) outbox_->start();
  return true;
}

// A running task becomes one that waits. What the session does not take is given back.
Result<TaskId> ClientCore::enter_again(Grant grant, Change change, Entry entry) {
  if (grant.core_.get() != this) return fail(Code::invalid, "the grant is not of this client, or was given back");
  const TaskId id = grant.id_;
  std::shared_ptr<Session> to;
  {
    const std::lock_guard lock(mutex_);
    auto open = session();
    if (!open) return fail(open.error());
    const auto found = entries_.find(id);
    if (found == entries_.end()) return fail(Code::invalid, "the grant was given back");
    to = std::move(*open);
    entry.resubmitted = true;
    entry.type = change.type;
    entry.need = change.need;
    entry.newer_than = last_unawaited_;
    found->second = std::move(entry);
  }
  const Result<RequestTag> sent = to->update(
      {.id = id, .type = std::move(change.type), .priority = change.priority, .need = std::move(change.need), .resubmit = true});
  if (sent) {
    grant.core_.reset();
    return id;
  }
  Entry undone{.stage = Stage::running};  // what it becomes is destroyed without the lock: a callback may own grants
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return id;
  std::swap(found->second, undone);
  return fail(sent.error());
}

Result<Grant> ClientCore::reacquire(Grant grant, Change change, Duration timeout, const std::stop_token& stop) {
  if (auto may = may_wait(); !may) return fail(may.error());
  Wait wait;
  const Result<TaskId> id = enter_again(std::move(grant), std::move(change), Entry{.wait = &wait});
  if (!id) return fail(id.error());
  return wait_for(*id, wait, timeout, stop);
}

Result<TaskId> ClientCore::resubmit(Grant grant, Change change, Client::Callback callback) {
  return enter_again(std::move(grant), std::move(change), Entry{.callback = std::move(callback)});
}

// ---------------------------------------------------------------------------------------------------------- what a grant can do

Result<std::shared_ptr<Session>> ClientCore::session_of(TaskId id) const {
  auto open = session();
  if (open && !entries_.contains(id)) return fail(Code::invalid, "the grant was given back");
  return open;
}

bool ClientCore::active(TaskId id) const {
  const std::lock_guard lock(mutex_);
  return session_of(id).has_value();
}

void ClientCore::give_back(TaskId id, Cancelled cancelled) {
  std::shared_ptr<Session> to;
  {
    const std::lock_guard lock(mutex_);
    auto open = session_of(id);
    if (!open) return;
    to = std::move(*open);
    entries_.erase(id);
  }
  std::ignore = to->finish(id, cancelled);
}

Result<void> ClientCore::reduce(TaskId id, const Need& by) {
  std::shared_ptr<Session> to;
  {
    const std::lock_guard lock(mutex_);
    auto open = session_of(id);
    if (!open) return fail(open.error());
    to = std::move(*open);
  }
  const Result<RequestTag> sent = to->reduce(id, by);
  if (!sent) return fail(sent.error());
  const std::lock_guard lock(mutex_);
  last_unawaited_ = std::max(last_unawaited_, *sent);
  if (const auto found = entries_.find(id); found != entries_.end()) shrink(found->second.need, by);
  return {};
}

// All for which the broker would refuse is checked here, so that what it answers need not be awaited.
Result<void> ClientCore::merge(TaskId id, TaskId donor) {
  std::shared_ptr<Session> to;
  Need sum;
  {
    const std::lock_guard lock(mutex_);
    for (const TaskId each : {id, donor})
      if (auto open = session_of(each); !open) return fail(open.error());
    const Entry& taker = entries_.find(id)->second;
    const Entry& giver = entries_.find(donor)->second;
    if (taker.type != giver.type)
      return fail(Code::refused, "the grants are of two types, {} and {}; only those of one type are merged", quote(taker.type),
                  quote(giver.type));
    sum = taker.need;
    if (!grow(sum, giver.need)) return fail(Code::refused, "together the grants hold more than 64 bits can say");
    to = session_;
  }
  const Result<RequestTag> sent = to->merge(id, donor);
  if (!sent) return fail(sent.error());
  const std::lock_guard lock(mutex_);
  last_unawaited_ = std::max(last_unawaited_, *sent);
  if (const auto found = entries_.find(id); found != entries_.end()) found->second.need = std::move(sum);
  entries_.erase(donor);
  return {};
}

Result<void> ClientCore::update(TaskId id, Change change) {
  std::shared_ptr<Session> to;
  {
    const std::lock_guard lock(mutex_);
    auto open = session_of(id);
    if (!open) return fail(open.error());
    to = std::move(*open);
  }
  const Result<RequestTag> sent = to->update({.id = id, .type = change.type, .priority = change.priority, .need = change.need});
  if (!sent) return fail(sent.error());
  const std::lock_guard lock(mutex_);
  last_unawaited_ = std::max(last_unawaited_, *sent);
  if (const auto found = entries_.find(id); found != entries_.end()) {
    found->second.type = std::move(change.type);
    found->second.need = std::move(change.need);
  }
  return {};
}

Result<void> ClientCore::update_cookie(TaskId id, std::string cookie) {
  std::shared_ptr<Session> to;
  {
    const std::lock_guard lock(mutex_);
    auto open = session_of(id);
    if (!open) return fail(open.error());
    to = std::move(*open);
  }
  const Result<RequestTag> sent = to->update_cookie(id, std::move(cookie));
  if (!sent) return fail(sent.error());
  const std::lock_guard lock(mutex_);
  last_unawaited_ = std::max(last_unawaited_, *sent);
  return {};
}

// ----------------------------------------------------------------------------------------------------------------------- grant

namespace {

unexpected<Error> nothing_granted() { return fail(Code::invalid, "the grant was given back"); }

}  // namespace

Grant::Grant(std::shared_ptr<ClientCore> core, TaskId id, std::string cookie)
    : core_(std::move(core)), id_(id), cookie_(std::move(cookie)) {}

Grant::Grant(Grant&& other) noexcept
    : core_(std::move(other.core_)), id_(std::exchange(other.id_, TaskId(0))), cookie_(std::move(other.cookie_)) {}

Grant& Grant::operator=(Grant&& other) noexcept {
  if (this == &other) return *this;
  finish();
  core_ = std::move(other.core_);
  id_ = std::exchange(other.id_, TaskId(0));
  cookie_ = std::move(other.cookie_);
  return *this;
}

bool Grant::active() const { return core_ != nullptr && core_->active(id_); }

void Grant::give_back(Cancelled cancelled) {
  // The core may end with the call, and this grant by what the call causes.
  if (const auto core = std::move(core_)) core->give_back(id_, cancelled);
}

void Grant::finish() { give_back(Cancelled::no); }
void Grant::cancel() { give_back(Cancelled::yes); }

Result<void> Grant::reduce(const Need& by) { return core_ == nullptr ? nothing_granted() : core_->reduce(id_, by); }

Result<void> Grant::merge(Grant&& donor) {
  if (core_ == nullptr || donor.core_ == nullptr) return nothing_granted();
  if (core_ != donor.core_ || id_ == donor.id_) return fail(Code::refused, "only two grants of one client are merged");
  const Result<void> merged = core_->merge(id_, donor.id_);
  if (merged) donor.core_.reset();
  return merged;
}

Result<void> Grant::update(Change change) { return core_ == nullptr ? nothing_granted() : core_->update(id_, std::move(change)); }

Result<void> Grant::update_cookie(std::string cookie) {
  return core_ == nullptr ? nothing_granted() : core_->update_cookie(id_, std::move(cookie));
}

// ---------------------------------------------------------------------------------------------------------------------- client

Client::Client(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}
Client::~Client() { core_->close(); }

Result<std::unique_ptr<Client>> Client::connect(const SessionMaker& maker, Executor executor) {
  auto core = std::make_shared<ClientCore>(std::move(executor));
  auto session = maker(at_once(), *core);
  if (!session) return fail(session.error());
  core->attach(std::move(*session));
  return std::unique_ptr<Client>(new Client(std::move(core)));
}

// The core is copied first: it must outlast a client that is destroyed while one of its calls waits.
Result<Grant> Client::acquire(Task task, Duration timeout, std::stop_token stop) {
  return std::shared_ptr(core_)->acquire(std::move(task), timeout, stop);
}
Result<std::optional<Grant>> Client::try_acquire(Task task) { return std::shared_ptr(core_)->try_acquire(std::move(task)); }
Result<TaskId> Client::submit(Task task, Callback callback) {
  return std::shared_ptr(core_)->submit(std::move(task), std::move(callback));
}
bool Client::withdraw(TaskId task) { return std::shared_ptr(core_)->withdraw(task); }
Result<Grant> Client::reacquire(Grant grant, Change change, Duration timeout, std::stop_token stop) {
  return std::shared_ptr(core_)->reacquire(std::move(grant), std::move(change), timeout, stop);
}
Result<TaskId> Client::resubmit(Grant grant, Change change, Callback callback) {
  return std::shared_ptr(core_)->resubmit(std::move(grant), std::move(change), std::move(callback));
}

}  // namespace evenkeel::broker
