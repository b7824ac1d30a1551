#include "evenkeel/broker/shell/rpc/remote.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "broker/shell/rpc/broker.grpc.pb.h"

#include "evenkeel/base/text.h"
#include "evenkeel/broker/shell/rpc/detail/channel.h"
#include "evenkeel/broker/shell/rpc/detail/line.h"
#include "evenkeel/broker/shell/rpc/detail/status.h"
#include "evenkeel/broker/shell/rpc/wire.h"

namespace evenkeel::broker {
namespace {

Result<void> check_text(std::string_view what, std::string_view text) {
  if (const auto at = find_invalid_utf8(text))
    return fail(Code::invalid, "the {} {} is not UTF-8 at byte {}", what, quote(text), *at);
  return {};
}

Result<void> check_need(const Need& need) {
  for (const auto& [resource, amount] : need.others)
    if (auto right = check_text("resource", resource); !right) return right;
  return {};
}

Result<void> put(v1::Submit& out, Task task) {
  if (auto right = check_text("task's name", task.name); !right) return right;
  if (auto right = check_text("type", task.type); !right) return right;
  if (auto right = check_need(task.need); !right) return right;
  out.set_task(task.id.value());
  out.set_name(std::move(task.name));
  out.set_type(std::move(task.type));
  out.set_priority(task.priority);
  *out.mutable_need() = wire::to_wire(task.need);
  out.set_cookie(std::move(task.cookie));
  return {};
}

class RemoteSession final : public Session {
 public:
  explicit RemoteSession(std::shared_ptr<detail::Line> line) : line_(std::move(line)) {}
  ~RemoteSession() override { line_->close(); }

  Result<RequestTag> submit(Task task) override {
    v1::Operation operation;
    if (auto right = put(*operation.mutable_submit(), std::move(task)); !right) return fail(right.error());
    return line_->send(std::move(operation));
  }

  Result<RequestTag> submit_instant(Task task) override {
    v1::Operation operation;
    if (auto right = put(*operation.mutable_submit_instant(), std::move(task)); !right) return fail(right.error());
    return line_->send(std::move(operation));
  }

  Result<RequestTag> update(TaskUpdate update) override {
    if (auto right = check_text("type", update.type); !right) return fail(right.error());
    if (auto right = check_need(update.need); !right) return fail(right.error());
    v1::Operation operation;
    v1::Update& out = *operation.mutable_update();
    out.set_task(update.id.value());
    out.set_type(std::move(update.type));
    out.set_priority(update.priority);
    *out.mutable_need() = wire::to_wire(update.need);
    out.set_resubmit(update.resubmit);
    return line_->send(std::move(operation));
  }

  Result<RequestTag> update_cookie(TaskId task, std::string cookie) override {
    v1::Operation operation;
    operation.mutable_update_cookie()->set_task(task.value());
    operation.mutable_update_cookie()->set_cookie(std::move(cookie));
    return line_->send(std::move(operation));
  }

  Result<RequestTag> remove(TaskId task, Reply reply) override {
    v1::Operation operation;
    operation.mutable_remove()->set_task(task.value());
    operation.mutable_remove()->set_reply(reply == Reply::yes);
    return line_->send(std::move(operation));
  }

  Result<RequestTag> finish(TaskId task, Cancelled cancelled) override {
    v1::Operation operation;
    operation.mutable_finish()->set_task(task.value());
    operation.mutable_finish()->set_cancelled(cancelled == Cancelled::yes);
    return line_->send(std::move(operation));
  }

  Result<RequestTag> finish_instant(TaskId task, Cancelled cancelled) override {
    v1::Operation operation;
    operation.mutable_finish_instant()->set_task(task.value());
    operation.mutable_finish_instant()->set_cancelled(cancelled == Cancelled::yes);
    return line_->send(std::move(operation));
  }

  Result<RequestTag> reduce(TaskId task, Need by) override {
    if (auto right = check_need(by); !right) return fail(right.error());
    v1::Operation operation;
    operation.mutable_reduce()->set_task(task.value());
    *operation.mutable_reduce()->mutable_by() = wire::to_wire(by);
    return line_->send(std::move(operation));
  }

  Result<RequestTag> merge(TaskId task, TaskId donor) override {
    v1::Operation operation;
    operation.mutable_merge()->set_task(task.value());
    operation.mutable_merge()->set_donor(donor.value());
    return line_->send(std::move(operation));
  }

 private:
  std::shared_ptr<detail::Line> line_;
};

}  // namespace

Result<std::unique_ptr<Session>> connect(const std::string& address, const std::string& name, const RemoteOptions& options,
                                         Executor executor, SessionSink& sink) {
  if (auto right = check_text("client's name", name); !right) return fail(right.error());
  auto channel = detail::open_channel(address, options);
  if (!channel) return fail(channel.error());
  auto line = std::make_shared<detail::Line>(std::move(*channel), options, std::move(executor), sink);
  if (auto started = line->start(name); !started) {
    line->close();
    return fail(detail::at_address(started.error(), address));
  }
  return std::make_unique<RemoteSession>(std::move(line));
}

Result<std::unique_ptr<Client>> connect_client(const std::string& address, const std::string& name, const RemoteOptions& options,
                                               Executor executor) {
  return Client::connect(
      [&](Executor given, SessionSink& sink) { return connect(address, name, options, std::move(given), sink); },
      std::move(executor));
}

// ----------------------------------------------------------------------------------------------------------------- RemoteBroker

struct RemoteBroker::Impl {
  std::string address;
  RemoteOptions options;
  Result<std::shared_ptr<grpc::Channel>> channel;

  // One question and its answer.
  template <class Request, class Response>
  Result<Response> ask(grpc::Status (v1::Broker::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                       const Request& request, bool change) const {
    if (!channel) return fail(channel.error());
    grpc::ClientContext context;
    constexpr Duration longest = 24h * 365;  // a sum with the clock would overflow at some point
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::duration_cast<std::chrono::microseconds>(std::min(options.connect_timeout, longest)));
    Response response;
    v1::Broker::Stub stub(*channel);
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (!status.ok()) return fail(detail::at_address(detail::to_error(status, change), address));
    return response;
  }

  Result<Changed> configure(v1::ConfigureRequest request, DryRun dry_run) const {
    request.set_dry_run(dry_run == DryRun::yes);
    const auto response = ask(&v1::Broker::Stub::Configure, request, dry_run == DryRun::no);
    if (!response) return fail(response.error());
    auto before = wire::from_wire(response->before());
    if (!before) return fail(before.error());
    auto after = wire::from_wire(response->after());
    if (!after) return fail(after.error());
    return Changed{.before = std::move(*before), .after = std::move(*after)};
  }
};

RemoteBroker::RemoteBroker(const std::string& address, const RemoteOptions& options)
    : impl_(new Impl{.address = address, .options = options, .channel = detail::open_channel(address, options)}) {}
RemoteBroker::~RemoteBroker() = default;

Result<Observed> RemoteBroker::observe(const ObserveLimits& limits) const {
  v1::GetStatusRequest request;
  request.set_waiting_max(limits.waiting_max);
  request.set_running_max(limits.running_max);
  const auto response = impl_->ask(&v1::Broker::Stub::GetStatus, request, false);
  if (!response) return fail(response.error());
  return wire::from_wire(*response);
}

Result<Config> RemoteBroker::config() const {
  const auto response = impl_->ask(&v1::Broker::Stub::GetConfig, v1::GetConfigRequest(), false);
  if (!response) return fail(response.error());
  return wire::from_wire(response->config());
}

Result<RemoteBroker::Changed> RemoteBroker::configure(const Config& config, DryRun dry_run) const {
  v1::ConfigureRequest request;
  *request.mutable_whole() = wire::to_wire(config);
  return impl_->configure(std::move(request), dry_run);
}

Result<RemoteBroker::Changed> RemoteBroker::configure(const ConfigPatch& patch, DryRun dry_run) const {
  v1::ConfigureRequest request;
  *request.mutable_merge() = wire::to_wire(patch);
  return impl_->configure(std::move(request), dry_run);
}

Result<void> RemoteBroker::record(const std::function<Result<void>(std::string_view part)>& take, std::stop_token stop) const {
  // A stream has no deadline, and opening one waits for a connection without minding `stop`: whether somebody answers is asked first.
  if (const auto there = config(); !there) return fail(there.error());
  grpc::ClientContext context;
  v1::Broker::Stub stub(*impl_->channel);
  const std::unique_ptr<grpc::ClientReader<v1::RecordResponse>> reader = stub.Record(&context, v1::RecordRequest());
  Result<void> taken;
  {
    const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
    for (v1::RecordResponse part; taken && reader->Read(&part);) taken = take(part.text());
  }
  if (!taken) context.TryCancel();
  const grpc::Status status = reader->Finish();
  if (!taken) return taken;
  if (status.ok() || stop.stop_requested()) return {};
  const Error error = detail::to_error(status);
  if (error.code != Code::unavailable) return fail(error);
  return fail(error.code, "the broker at {} went away: {}", impl_->address, error.message);
}

}  // namespace evenkeel::broker
