#pragma once
// The runner behind TraceRunner, for any engine that has the Scheduler's operations: tests play the same lines on two of them.

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "evenkeel/broker/detail/trace_events.h"
#include "evenkeel/broker/trace.h"

namespace evenkeel::broker::detail {

template <class Engine>
class Runner {
 public:
  explicit Runner(const Options& options) : options_(options) {}

  tl::expected<void, Diagnostic> line(std::string_view text, std::string& out) {
    ++line_;
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
    auto command = trace::parse(text, engine_ ? engine_->resources() : default_resources_);
    auto done = command ? run(*command, out) : tl::expected<void, Diagnostic>(tl::unexpected(command.error()));
    if (!done) done.error().place.line = line_;
    return done;
  }

  tl::expected<void, Diagnostic> run(const trace::Command& command, std::string& out) {
    if (std::holds_alternative<trace::Note>(command)) return {};
    if (!engine_) return begin(command, out);
    return std::visit([&](const auto& one) { return step(one, out); }, command);
  }

  // The engine, once the first command has made it.
  std::optional<Engine>& engine() { return engine_; }
  std::uint64_t now() const { return now_; }
  const std::map<ClientId, std::string>& names() const { return names_; }

 private:
  using Done = tl::expected<void, Diagnostic>;

  static Done wrong(std::string message, std::string hint) {
    return tl::unexpected(Diagnostic{.place = {.line = 1, .column = 1}, .message = std::move(message), .hint = std::move(hint)});
  }

  // The first command makes the engine, or ends the trace.
  Done begin(const trace::Command& command, std::string& out) {
    Result<void> made = fail(Code::invalid, "the first command must be configure");
    if (const auto* configure = std::get_if<trace::Configure>(&command)) {
      made = keep(Engine::make(configure->config, options_, Micros(0)));
    } else if (const auto* restore = std::get_if<trace::Restore>(&command)) {
      made = keep(Engine::restore(restore->state, options_));
      now_ = restore->state.now.count();
      for (const auto& [number, name] : restore->clients) remember(number, name);
    }
    write_configured(out, now_, made.has_value(), made ? "" : made.error().message);
    if (made) return {};
    return wrong(fmt::format("the trace cannot start: {}", made.error().message), "begin it with a configure that is right");
  }

  Result<void> keep(Result<Engine> made) {
    if (!made) return fail(made.error());
    engine_.emplace(*std::move(made));
    return {};
  }

  Done step(const trace::Configure& c, std::string& out) {
    const auto effects = engine_->configure(c.config, Micros(now_));
    if (effects) write_events(*effects, out);
    write_configured(out, now_, effects.has_value(), effects ? "" : effects.error().message);
    return {};
  }
  Done step(const trace::Restore&, std::string&) {
    return wrong("restore stands in the middle of a trace", "it may only be the first command");
  }
  Done step(const trace::Submit& c, std::string& out) {
    const Submit request{.task = c.task, .type = c.type, .priority = c.priority, .need = by_resource(c.need), .cookie = c.cookie};
    const ClientId client = number_of(c.client);
    if (!c.instant) return write_events(engine_->submit(client, request, Micros(now_)), out);
    const Effects effects = engine_->submit_instant(client, request, Micros(now_));
    write_events(effects, out);
    write_result(out, now_, "submit_instant", c.client, effects.task, effects.granted);
    return {};
  }
  Done step(const trace::Update& c, std::string& out) {
    const Update request{
        .task = c.task, .type = c.type, .priority = c.priority, .need = by_resource(c.need), .resubmit = c.resubmit};
    return write_events(engine_->update(number_of(c.client), request, Micros(now_)), out);
  }
  Done step(const trace::UpdateCookie& c, std::string& out) {
    return write_events(engine_->update_cookie(number_of(c.client), c.task, c.cookie), out);
  }
  Done step(const trace::Remove& c, std::string& out) {
    return write_events(engine_->remove(number_of(c.client), c.task, c.reply ? Reply::yes : Reply::no, Micros(now_)), out);
  }
  Done step(const trace::Finish& c, std::string& out) {
    const Cancelled cancelled = c.cancel ? Cancelled::yes : Cancelled::no;
    const ClientId client = number_of(c.client);
    if (!c.instant) return write_events(engine_->finish(client, c.task, cancelled, Micros(now_)), out);
    return write_answer("finish_instant", c, engine_->finish_instant(client, c.task, cancelled, Micros(now_)), out);
  }
  Done step(const trace::Reduce& c, std::string& out) {
    return write_answer("reduce", c, engine_->reduce(number_of(c.client), c.task, by_resource(c.by), Micros(now_)), out);
  }
  Done step(const trace::Merge& c, std::string& out) {
    return write_answer("merge", c, engine_->merge(number_of(c.client), c.task, c.donor, Micros(now_)), out);
  }
  Done step(const trace::ClientDied& c, std::string& out) {
    const auto found = numbers_.find(c.client);
    if (found == numbers_.end()) return {};
    const ClientId client = found->second;
    write_events(engine_->client_died(client, Micros(now_)), out);
    numbers_.erase(found);
    names_.erase(client);
    return {};
  }
  Done step(const trace::Advance& c, std::string&) {
    if (c.by.count() > std::numeric_limits<std::uint64_t>::max() - now_)
      return wrong(fmt::format("the clock stands at {} and would pass 2^64 - 1 microseconds", now_), "advance by less");
    now_ += c.by.count();
    return {};
  }
  Done step(const trace::Stats&, std::string& out) {
    write_stats(out, engine_->observe(Micros(now_), 0, 0));
    return {};
  }
  Done step(const trace::Note&, std::string&) { return {}; }

  Done write_events(const Effects& effects, std::string& out) {
    for (const Event& event : effects.events) write_event(out, now_, event, names_.at(event.client));
    return {};
  }
  template <class Command>
  Done write_answer(std::string_view operation, const Command& command, const Effects& effects, std::string& out) {
    write_events(effects, out);
    write_result(out, now_, operation, command.client, command.task, effects.ok());
    return {};
  }

  void remember(ClientId number, const std::string& name) {
    numbers_[name] = number;
    names_[number] = name;
  }
  ClientId number_of(const std::string& name) {
    if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
    const ClientId number = engine_->connect();
    remember(number, name);
    return number;
  }

  // Amounts stand in the order of the resources, those that are 0 may be missing.
  std::span<const std::uint64_t> by_resource(const Amounts& amounts) {
    const auto& resources = engine_->resources();
    need_.assign(resources.size(), 0);
    for (std::size_t r = 0; r < resources.size(); ++r) need_[r] = find_amount(amounts, resources[r]).value_or(0);
    return need_;
  }

  Options options_;
  std::optional<Engine> engine_;
  std::uint64_t now_ = 0;
  std::uint32_t line_ = 0;
  std::map<std::string, ClientId> numbers_;
  std::map<ClientId, std::string> names_;
  std::vector<std::uint64_t> need_;
  std::vector<std::string> default_resources_ = {"cpu", "memory"};
};

}  // namespace evenkeel::broker::detail
