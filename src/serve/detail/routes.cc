#include "evenkeel/serve/detail/routes.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "evenkeel_openapi.h"

#include "evenkeel/base/text.h"

namespace evenkeel::serve::detail {
namespace {

constexpr std::string_view shards_path = "/api/v1/shards/", view_path = "/api/v1/view/";
// What one answer has at most: so much the loop can be asked for between two steps.
constexpr std::uint32_t shards_most = 1000, view_most = 10'000, events_most = 1000;
constexpr auto shared_for = std::chrono::seconds(1);
constexpr std::uint32_t shards_usual = 100, view_usual = 1000;

Response json(std::string body) { return {.type = "application/json", .body = std::move(body), .headers = {}}; }
Response text(std::string body) { return {.body = std::move(body), .headers = {}}; }

constexpr const char* start_text =
    "Evenkeel's daemon. Ask /api/v1/cluster first; then /api/v1/nodes, /api/v1/workloads, /api/v1/shards/WORKLOAD, "
    "/api/v1/view/WORKLOAD and\n"
    "/api/v1/events. /api/v1/openapi.yaml describes them. /healthz, /readyz and /metrics are for who watches over it.\n";
Response description() { return {.type = "application/yaml", .body = openapi_text, .headers = {}}; }

Response busy() {
  return problem(503, "Busy", "The daemon does not come to answer, or is starting or stopping; try again, and look at its log.");
}

// What a question is answered with, or that it was not. The answer is shared: one that comes too late has nobody to go to.
template <class T>
std::optional<T> asked_early(const Ask& ask, std::function<T(const Watched&)> question) {
  const auto answer = std::make_shared<std::optional<T>>();
  const bool done = ask([answer, question = std::move(question)](const Watched& watched) { *answer = question(watched); });
  if (!done) return std::nullopt;
  return std::move(*answer);
}

// The same, of the controller, which comes after HTTP and goes before it.
template <class T>
std::optional<T> asked(const Ask& ask, std::function<T(const Watched&)> question) {
  auto answer = asked_early<std::optional<T>>(ask, [question = std::move(question)](const Watched& watched) {
    return watched.controller == nullptr ? std::nullopt : std::optional<T>(question(watched));
  });
  return answer ? *std::move(answer) : std::nullopt;
}

// A route whose handler is a question that gives a value and who answered, and what becomes of that as JSON.
template <class T>
using Told = std::pair<Answerer, T>;

// A number in the query.
Result<std::uint64_t> number_of(const Request& request, const std::string& name, std::uint64_t otherwise) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return otherwise;
  const auto number = parse_unsigned(found->second);
  if (!number) return fail(Code::invalid, "{} is a whole number, and not {}", name, quote(found->second));
  return *number;
}

Response wrong(const Error& error) { return problem(400, "Wrong question", error.message + "."); }

struct Range {
  std::uint32_t from = 0;
  std::uint32_t limit = 0;
};
Result<Range> range_of(const Request& request, std::uint32_t usual, std::uint32_t most) {
  const auto from = number_of(request, "from", 0);
  if (!from) return fail(from.error());
  const auto limit = number_of(request, "limit", usual);
  if (!limit) return fail(limit.error());
  if (*limit == 0 || *limit > most) return fail(Code::invalid, "limit is from 1 to {}", most);
  constexpr std::uint64_t last = 0xffffffff;
  return Range{static_cast<std::uint32_t>(std::min(*from, last)), static_cast<std::uint32_t>(*limit)};
}

Response no_workload(const std::string& name) {
  return problem(404, "Not found", fmt::format("There is no workload {}; /api/v1/workloads lists them.", quote(name)));
}

// Shards of a workload in order, as far as the range goes; `get` gives one, or nothing past the last.
template <class T>
struct Paged {
  Page page;
  std::vector<T> items;
};
template <class T, class Get>
std::optional<Paged<T>> paged(const control::Machine& machine, const std::string& workload, Range range, Get get) {
  Paged<T> out{{WorkloadId(workload), std::nullopt}, {}};
  if (!machine.knows(out.page.workload)) return std::nullopt;
  for (std::uint32_t at = range.from; out.items.size() < range.limit; ++at) {
    auto item = get(ShardId{out.page.workload, ShardIndex(at)});
    if (!item || at == 0xffffffff) return out;
    out.items.push_back(*std::move(item));
  }
  const std::uint32_t next = range.from + range.limit;
  if (get(ShardId{out.page.workload, ShardIndex(next)})) out.page.next = next;
  return out;
}

Response shard_list(const Ask& ask, const Request& request, const std::string& workload) {
  const auto range = range_of(request, shards_usual, shards_most);
  if (!range) return wrong(range.error());
  using Found = std::optional<Paged<control::ShardState>>;
  const auto told = asked<Told<Found>>(ask, [workload, range = *range](const Watched& watched) {
    const control::Machine& machine = watched.controller->machine();
    return Told<Found>{watched.answerer(), paged<control::ShardState>(machine, workload, range, [&](const ShardId& shard) {
                         return machine.explain(shard);
                       })};
  });
  if (!told) return busy();
  if (!told->second) return no_workload(workload);
  return json(format_shards(told->first, told->second->page, told->second->items));
}

Response view_list(const Ask& ask, const Request& request) {
  const std::string workload = request.path.substr(view_path.size());
  const auto range = range_of(request, view_usual, view_most);
  if (!range) return wrong(range.error());
  using Found = std::optional<Paged<ShardView>>;
  const auto told = asked<Told<Found>>(ask, [workload, range = *range](const Watched& watched) {
    const control::Machine& machine = watched.controller->machine();
    return Told<Found>{watched.answerer(),
                       paged<ShardView>(machine, workload, range, [&](const ShardId& shard) { return machine.view(shard); })};
  });
  if (!told) return busy();
  if (!told->second) return no_workload(workload);
  return json(format_view(told->first, told->second->page, told->second->items));
}

Response one_shard(const Ask& ask, const std::string& name) {
  const auto shard = parse_shard_id(name);
  if (!shard) return problem(404, "Not found", fmt::format("{} names no shard; write WORKLOAD/NUMBER.", quote(name)));
  using Found = std::optional<control::ShardState>;
  const auto told = asked<Told<Found>>(ask, [shard = *shard](const Watched& watched) {
    return Told<Found>{watched.answerer(), watched.controller->machine().explain(shard)};
  });
  if (!told) return busy();
  if (!told->second)
    return problem(404, "Not found",
                   fmt::format("There is no shard {}; /api/v1/shards/{} lists them.", quote(name), shard->workload));
  return json(format_shard(told->first, shard->workload, *told->second));
}

Response shards(const Ask& ask, const Request& request) {
  const std::string rest = request.path.substr(shards_path.size());
  return rest.find('/') == std::string::npos ? shard_list(ask, request, rest) : one_shard(ask, rest);
}

Response events(const Ask& ask, const Request& request) {
  const auto after = number_of(request, "after", 0);
  if (!after) return wrong(after.error());
  const auto range = range_of(request, events_most, events_most);
  if (!range) return wrong(range.error());
  struct Found {
    Answerer who;
    std::uint64_t last = 0;
    std::vector<NumberedEvent> events;
  };
  const auto told = asked<Found>(ask, [after = *after, limit = range->limit](const Watched& watched) {
    Found found{watched.answerer(), watched.last_event, {}};
    // The latest ones, if nobody says from where on; otherwise those that follow.
    const auto& all = watched.events;
    auto at = std::ranges::upper_bound(all, after, {}, &NumberedEvent::number);
    if (after == 0 && all.size() > limit) at = all.end() - limit;
    for (; at != all.end() && found.events.size() < limit; ++at) found.events.push_back(*at);
    return found;
  });
  if (!told) return busy();
  return json(format_events(told->who, told->last, told->events));
}

Response metrics(const Ask& ask) {
  const auto told = asked<Measured>(ask, [](const Watched& watched) {
    const control::Controller& controller = *watched.controller;
    return Measured{.active = controller.active(),
                    .in_touch = controller.in_touch(),
                    .epoch = controller.epoch().value(),
                    .overview = controller.machine().overview(),
                    .nodes = controller.machine().nodes(watched.loop->now()),
                    .workloads = controller.machine().workloads(),
                    .pulse_connections = watched.pulses->connections(),
                    .counted = watched.counted,
                    .store = watched.own_store ? std::optional(watched.own_store()) : std::nullopt};
  });
  if (!told) return busy();
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = format_metrics(*told), .headers = {}};
}

Response ready(const Ask& ask) {
  const auto why =
      asked_early<std::optional<Watched::Waiting>>(ask, [](const Watched& watched) { return watched.why_not_ready(); });
  if (!why) return busy();
  if (!*why) return text("ready\n");
  std::string what = (*why)->what;
  what.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(what.front())));
  return problem(503, "Not ready", fmt::format("{}. {}", what, (*why)->advice));
}

Response healthy(const Ask& ask) {
  const auto there = asked_early<bool>(ask, [](const Watched&) { return true; });
  return there ? text("ok\n") : busy();
}

// A list that the machine has as a whole.
template <class T>
Response whole(const Ask& ask, std::function<T(const Watched&)> question, std::string (*format)(const Answerer&, const T&)) {
  const auto told = asked<Told<T>>(ask, [question = std::move(question)](const Watched& watched) {
    return Told<T>{watched.answerer(), question(watched)};
  });
  return told ? json(format(told->first, told->second)) : busy();
}

Response overview(const Ask& ask) {
  return whole<control::Overview>(
      ask, [](const Watched& w) { return w.controller->machine().overview(); }, format_cluster);
}
Response nodes(const Ask& ask) {
  return whole<std::vector<control::NodeState>>(
      ask, [](const Watched& w) { return w.controller->machine().nodes(w.loop->now()); }, format_nodes);
}
Response workloads(const Ask& ask) {
  return whole<std::vector<control::WorkloadState>>(
      ask, [](const Watched& w) { return w.controller->machine().workloads(); }, format_workloads);
}

// What walks over all shards is asked once, for everybody who wants it within a second.
class Shared {
 public:
  Shared(Ask ask, Response (*handler)(const Ask&)) : ask_(std::move(ask)), handler_(handler) {}
  Response get() {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (!answer_ || answer_->status != 200 || now >= asked_ + shared_for) {
      answer_ = handler_(ask_);
      asked_ = now;
    }
    return *answer_;
  }

 private:
  const Ask ask_;
  Response (*const handler_)(const Ask&);
  std::mutex mutex_;
  std::optional<Response> answer_;
  std::chrono::steady_clock::time_point asked_;
};

}  // namespace

std::optional<Watched::Waiting> Watched::why_not_ready() const {
  const Waiting away{"the store does not answer; the daemon waits for it", "See that it runs and can be reached."};
  if (controller == nullptr) return away;
  const auto trouble = controller->trouble();
  if (!trouble) return controller->in_touch() ? std::nullopt : std::optional(away);
  const std::string& why = trouble->message;
  switch (trouble->code) {
    case Code::conflict:
      return Waiting{"the daemon waits for " + why, "Start it with another --name, or end the other process."};
    case Code::refused:
      return Waiting{"the store refuses writes: " + why,
                     "Where space is missing, make room, and all goes on by itself; where its disk fails, mend that and start "
                     "the store's process again."};
    case Code::unknown_outcome:
      return Waiting{"the store does not answer writes as it should: " + why, "See that it runs, can be reached and has space."};
    case Code::denied:
      return Waiting{"the store denies it: " + why, "See who it says it is, and that user's rights."};
    default:
      return Waiting{"the daemon leaves the office to others: " + why, "Upgrade it, or put back what it can read."};
  }
}

std::vector<Route> routes(Ask ask) {
  const auto plain = [&](std::string path, Response (*handler)(const Ask&)) {
    return Route{"GET", std::move(path), [ask, handler](const Request&) { return handler(ask); }};
  };
  const auto shared = [&](std::string path, Response (*handler)(const Ask&)) {
    return Route{"GET", std::move(path), [one = std::make_shared<Shared>(ask, handler)](const Request&) { return one->get(); }};
  };
  const auto asking = [&](std::string path, Response (*handler)(const Ask&, const Request&)) {
    return Route{"GET", std::move(path), [ask, handler](const Request& request) { return handler(ask, request); }};
  };
  return {
      {"GET", "/", [](const Request&) { return text(start_text); }},
      {"GET", "/api/v1/openapi.yaml", [](const Request&) { return description(); }},
      plain("/healthz", healthy),
      plain("/readyz", ready),
      shared("/metrics", metrics),
      shared("/api/v1/cluster", overview),
      shared("/api/v1/nodes", nodes),
      shared("/api/v1/workloads", workloads),
      asking("/api/v1/shards/*", shards),
      asking("/api/v1/view/*", view_list),
      asking("/api/v1/events", events),
  };
}

}  // namespace evenkeel::serve::detail
