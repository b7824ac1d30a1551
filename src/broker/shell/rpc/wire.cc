#include "evenkeel/broker/shell/rpc/wire.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/text.h"

namespace evenkeel::broker::wire {
namespace {

Result<Amounts> amounts_of(const google::protobuf::RepeatedPtrField<v1::Amount>& given, std::string_view what) {
  if (static_cast<std::size_t>(given.size()) > resources_max)
    return fail(Code::invalid, "{} names {} resources; at most {} exist", what, given.size(), resources_max);
  Amounts amounts;
  amounts.reserve(static_cast<std::size_t>(given.size()));
  for (const v1::Amount& amount : given) {
    if (amount.resource().empty()) return fail(Code::invalid, "{} has an amount of a resource without a name", what);
    if (find_amount(amounts, amount.resource()))
      return fail(Code::invalid, "{} names the resource {} twice", what, quote(amount.resource()));
    amounts.emplace_back(amount.resource(), amount.amount());
  }
  return amounts;
}

Result<Need> need_of(const v1::Need& given) {
  auto others = amounts_of(given.others(), "the need");
  if (!others) return fail(others.error());
  for (const std::string_view own : {"cpu", "memory"}) {
    if (find_amount(*others, own)) return fail(Code::invalid, "the need has {} among the others; it has a field of its own", own);
  }
  return Need{.cpu = given.cpu(), .memory = given.memory(), .others = std::move(*others)};
}

Result<Task> task_of(v1::Submit& given) {
  auto need = need_of(given.need());
  if (!need) return fail(need.error());
  return Task{.id = TaskId(given.task()),
              .name = std::move(*given.mutable_name()),
              .type = std::move(*given.mutable_type()),
              .priority = given.priority(),
              .need = std::move(*need),
              .cookie = std::move(*given.mutable_cookie())};
}

Result<TaskUpdate> update_of(v1::Update& given) {
  auto need = need_of(given.need());
  if (!need) return fail(need.error());
  return TaskUpdate{.id = TaskId(given.task()),
                    .type = std::move(*given.mutable_type()),
                    .priority = given.priority(),
                    .need = std::move(*need),
                    .resubmit = given.resubmit()};
}

// What became of an operation: taken, or not and why; the outer error says that it made no sense.
struct Handed {
  TaskId task{0};
  Result<RequestTag> taken;
};

Cancelled cancelled_of(const v1::Finish& finish) { return finish.cancelled() ? Cancelled::yes : Cancelled::no; }

Result<Handed> hand_over(v1::Operation& operation, Session& session) {
  using Kind = v1::Operation::RequestCase;
  const auto submitted = [&](v1::Submit& given, Result<RequestTag> (Session::*submit)(Task)) -> Result<Handed> {
    const TaskId id(given.task());
    auto task = task_of(given);
    if (!task) return fail(task.error());
    return Handed{id, (session.*submit)(std::move(*task))};
  };
  switch (operation.request_case()) {
    case Kind::kSubmit:
      return submitted(*operation.mutable_submit(), &Session::submit);
    case Kind::kSubmitInstant:
      return submitted(*operation.mutable_submit_instant(), &Session::submit_instant);
    case Kind::kUpdate: {
      auto update = update_of(*operation.mutable_update());
      if (!update) return fail(update.error());
      return Handed{update->id, session.update(*update)};
    }
    case Kind::kUpdateCookie: {
      auto& given = *operation.mutable_update_cookie();
      return Handed{TaskId(given.task()), session.update_cookie(TaskId(given.task()), std::move(*given.mutable_cookie()))};
    }
    case Kind::kRemove: {
      const auto& given = operation.remove();
      return Handed{TaskId(given.task()), session.remove(TaskId(given.task()), given.reply() ? Reply::yes : Reply::no)};
    }
    case Kind::kFinish: {
      const auto& given = operation.finish();
      return Handed{TaskId(given.task()), session.finish(TaskId(given.task()), cancelled_of(given))};
    }
    case Kind::kFinishInstant: {
      const auto& given = operation.finish_instant();
      return Handed{TaskId(given.task()), session.finish_instant(TaskId(given.task()), cancelled_of(given))};
    }
    case Kind::kReduce: {
      auto by = need_of(operation.reduce().by());
      if (!by) return fail(by.error());
      const TaskId task(operation.reduce().task());
      return Handed{task, session.reduce(task, std::move(*by))};
    }
    case Kind::kMerge: {
      const auto& given = operation.merge();
      return Handed{TaskId(given.task()), session.merge(TaskId(given.task()), TaskId(given.donor()))};
    }
    case Kind::REQUEST_NOT_SET:
      break;
  }
  return fail(Code::invalid, "it asks for nothing that this broker knows; a newer client's operation, perhaps");
}

}  // namespace

Result<void> Intake::take(v1::ClientMessage& message, Session& session, const NotTaken& not_taken) {
  for (v1::Operation& operation : *message.mutable_operations()) {
    const RequestTag tag = last_ + 1;
    if (operation.tag() != tag) {
      return fail(Code::invalid, "operation {} has the tag {}: operations are numbered from 1, in order, without gaps", tag,
                  operation.tag());
    }
    auto handed = hand_over(operation, session);
    if (!handed) return fail(handed.error().in(fmt::format("operation {}", tag)));
    last_ = tag;
    // A session numbers its requests from 1, those refused for what they say included, and not those that found no room.
    if (!handed->taken && handed->taken.error().code == Code::unavailable) return fail(handed->taken.error());
    if (handed->taken)
      ensure(*handed->taken == tag, "a session numbers its requests from 1, in order");
    else
      not_taken(tag, handed->task, handed->taken.error());
  }
  return {};
}

Result<std::string> take_hello(const v1::ClientMessage& message) {
  if (!message.has_hello()) return fail(Code::invalid, "the first message has no hello; it must say who calls");
  const std::string& name = message.hello().client();
  if (name.size() > Broker::client_name_bytes_max)
    return fail(Code::invalid, "the client's name has {} bytes; at most {} are allowed", name.size(),
                Broker::client_name_bytes_max);
  return name;
}

Result<v1::ClientMessage> parse_client_message(std::string_view bytes) {
  v1::ClientMessage message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(Code::invalid, "{} bytes are no ClientMessage of broker.proto, or a text in them is not UTF-8", bytes.size());
  return message;
}

v1::Need to_wire(const Need& need) {
  v1::Need out;
  out.set_cpu(need.cpu);
  out.set_memory(need.memory);
  for (const auto& [resource, amount] : need.others) {
    v1::Amount& other = *out.add_others();
    other.set_resource(resource);
    other.set_amount(amount);
  }
  return out;
}

v1::Delivery to_wire(const Delivery& delivery) {
  v1::Delivery out;
  // Both enums have the same values in the same order, the wire's kinds one higher.
  out.set_kind(static_cast<v1::DeliveryKind>(static_cast<int>(delivery.kind) + 1));
  out.set_refusal(static_cast<v1::Refusal>(delivery.refusal));
  out.set_tag(delivery.tag);
  out.set_task(delivery.task.value());
  out.set_ok(delivery.ok);
  out.set_cookie(delivery.cookie);
  if (delivery.message != message(delivery.refusal)) out.set_message(delivery.message);
  return out;
}
static_assert(static_cast<int>(Delivery::Kind::allocated) + 1 == v1::DELIVERY_KIND_ALLOCATED);
static_assert(static_cast<int>(Delivery::Kind::error) + 1 == v1::DELIVERY_KIND_ERROR);
static_assert(static_cast<int>(Delivery::Kind::removed) + 1 == v1::DELIVERY_KIND_REMOVED);
static_assert(static_cast<int>(Delivery::Kind::result) + 1 == v1::DELIVERY_KIND_RESULT);
static_assert(static_cast<int>(Refusal::already_exists) == v1::REFUSAL_ALREADY_EXISTS);
static_assert(static_cast<int>(Refusal::queue_full) == v1::REFUSAL_QUEUE_FULL);
static_assert(static_cast<int>(Refusal::unlike) == v1::REFUSAL_UNLIKE && v1::Refusal_MAX == v1::REFUSAL_UNLIKE);

Result<Delivery> from_wire(const v1::Delivery& delivery) {
  if (delivery.kind() < v1::DELIVERY_KIND_ALLOCATED || delivery.kind() > v1::DELIVERY_KIND_RESULT)
    return fail(Code::invalid, "a delivery of the unknown kind {}; the broker is newer than this client", int{delivery.kind()});
  // A newer broker may refuse for a reason of which nobody here has heard. The refusal stands all the same.
  const bool known = v1::Refusal_IsValid(delivery.refusal());
  const auto refusal = known ? static_cast<Refusal>(delivery.refusal()) : Refusal::none;
  const std::string usual = known
                                ? std::string(message(refusal))
                                : fmt::format("refused for reason {}, which is newer than this client", int{delivery.refusal()});
  return Delivery{.kind = static_cast<Delivery::Kind>(delivery.kind() - 1),
                  .tag = delivery.tag(),
                  .task = TaskId(delivery.task()),
                  .refusal = refusal,
                  .ok = delivery.ok(),
                  .cookie = delivery.cookie(),
                  .message = delivery.message().empty() ? usual : delivery.message()};
}

// ---------------------------------------------------------------------------------------------------------------------- config

namespace {

void put(google::protobuf::RepeatedPtrField<v1::Amount>& out, const Amounts& amounts) {
  for (const auto& [resource, amount] : amounts) {
    v1::Amount& added = *out.Add();
    added.set_resource(resource);
    added.set_amount(amount);
  }
}

}  // namespace

v1::Config to_wire(const Config& config) {
  v1::Config out;
  for (const QueueSpec& queue : config.queues) {
    v1::Queue& added = *out.add_queues();
    added.set_name(queue.name);
    added.set_weight(queue.weight);
    put(*added.mutable_limit(), queue.limit);
  }
  for (const TypeSpec& type : config.types) {
    v1::TaskType& added = *out.add_types();
    added.set_name(type.name);
    added.set_queue(type.queue);
    added.set_default_duration_us(type.default_duration.count());
  }
  put(*out.mutable_limit(), config.limit);
  return out;
}

v1::ConfigPatch to_wire(const ConfigPatch& patch) {
  v1::ConfigPatch out;
  for (const ConfigPatch::Queue& queue : patch.queues) {
    auto& added = *out.add_queues();
    added.set_name(queue.name);
    if (queue.weight) added.set_weight(*queue.weight);
    put(*added.mutable_limit(), queue.limit);
  }
  for (const ConfigPatch::Type& type : patch.types) {
    auto& added = *out.add_types();
    added.set_name(type.name);
    if (type.queue) added.set_queue(*type.queue);
    if (type.default_duration) added.set_default_duration_us(type.default_duration->count());
  }
  put(*out.mutable_limit(), patch.limit);
  return out;
}

Result<Config> from_wire(const v1::Config& config) {
  Config out;
  for (const v1::Queue& queue : config.queues()) {
    auto limit = amounts_of(queue.limit(), fmt::format("the limit of queue {}", quote(queue.name())));
    if (!limit) return fail(limit.error());
    out.queues.push_back({.name = queue.name(), .weight = queue.weight(), .limit = std::move(*limit)});
  }
  for (const v1::TaskType& type : config.types())
    out.types.push_back({.name = type.name(), .queue = type.queue(), .default_duration = Micros(type.default_duration_us())});
  auto limit = amounts_of(config.limit(), "the node's limit");
  if (!limit) return fail(limit.error());
  out.limit = std::move(*limit);
  return out;
}

Result<ConfigPatch> from_wire(const v1::ConfigPatch& patch) {
  ConfigPatch out;
  for (const auto& queue : patch.queues()) {
    auto limit = amounts_of(queue.limit(), fmt::format("the limit of queue {}", quote(queue.name())));
    if (!limit) return fail(limit.error());
    out.queues.push_back({.name = queue.name(),
                          .weight = queue.has_weight() ? std::optional(queue.weight()) : std::nullopt,
                          .limit = std::move(*limit)});
  }
  for (const auto& type : patch.types()) {
    out.types.push_back(
        {.name = type.name(),
         .queue = type.has_queue() ? std::optional(type.queue()) : std::nullopt,
         .default_duration = type.has_default_duration_us() ? std::optional(Micros(type.default_duration_us())) : std::nullopt});
  }
  auto limit = amounts_of(patch.limit(), "the node's limit");
  if (!limit) return fail(limit.error());
  out.limit = std::move(*limit);
  return out;
}

}  // namespace evenkeel::broker::wire
