#include "evenkeel/store/backends/zookeeper/client.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "evenkeel/base/hash.h"
#include "evenkeel/store/backends/zookeeper/detail/client.h"
#include "evenkeel/store/backends/zookeeper/detail/four_letters.h"
#include "evenkeel/store/backends/zookeeper/detail/reads.h"
#include "evenkeel/store/backends/zookeeper/detail/tracker.h"
#include "evenkeel/store/backends/zookeeper/detail/txn_call.h"

namespace evenkeel::store::zookeeper {
namespace {

constexpr Duration lease_ttl_min = 100ms;
constexpr Duration lease_ttl_max = 1h;
constexpr Duration member_timeout = 1s;

class TrackerHandle final : public Watching {
 public:
  explicit TrackerHandle(std::shared_ptr<Tracker> tracker) : tracker_(std::move(tracker)) {}
  ~TrackerHandle() override { tracker_->close(); }

 private:
  std::shared_ptr<Tracker> tracker_;
};

// Members are asked in the background, all at once. Those whose names take too long count as silent.
class StatusCall final : public Call {
 public:
  StatusCall(Context& context, std::vector<std::string> endpoints, Answer<Status> answer)
      : Call(context), endpoints_(std::move(endpoints)), answers_(endpoints_.size()), answer_(std::move(answer)) {}

 protected:
  void attempt() override {
    std::ranges::fill(answers_, std::nullopt);
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
      in_background([door = context_.connection->door(), endpoint = endpoints_[i],
                     done = guarded([this, i](Result<std::string> answer) { on_answer(i, std::move(answer)); })]() mutable {
        auto answer = ask(endpoint, "srvr", member_timeout);
        door->post([done = std::move(done), answer = std::move(answer)]() mutable { done(std::move(answer)); });
      });
    }
    context_.loop.post_after(2 * member_timeout, guarded([this] { finish(); }));
  }
  void answer_error(Error error) override { answer_(fail(std::move(error))); }

 private:
  void on_answer(std::size_t member, Result<std::string> answer) {
    answers_[member] = std::move(answer);
    if (std::ranges::all_of(answers_, [](const auto& one) { return one.has_value(); })) finish();
  }

  void finish() {
    Status status{.backend = "zookeeper", .version = {}, .revision = {}, .members = endpoints_, .warnings = {}};
    status.revision = context_.connection->known();
    for (std::size_t i = 0; i < endpoints_.size(); ++i) tell(status, endpoints_[i], answers_[i]);
    const auto alive = shared_from_this();
    forget();
    answer_(std::move(status));
  }

  static void tell(Status& status, const std::string& endpoint, const std::optional<Result<std::string>>& answer) {
    if (!answer || !*answer) {
      const std::string why = answer ? answer->error().message : endpoint + ": its name was not resolved in time";
      status.warnings.push_back(fmt::format("The member {} does not answer.", why));
      return;
    }
    const Member member = parse_srvr(**answer);
    status.revision = std::max(status.revision, member.newest);
    if (member.version.empty())
      status.warnings.push_back(
          fmt::format("The member {} does not tell its version: \"srvr\" is not among its "
                      "4lw.commands.whitelist, or it serves no requests.",
                      endpoint));
    else if (status.version.empty())
      status.version = member.version;
  }

  std::vector<std::string> endpoints_;
  std::vector<std::optional<Result<std::string>>> answers_;
  Answer<Status> answer_;
};

class Client final : public Store {
 public:
  Client(Loop& loop, const Url& url, const OpenOptions& options, Sweeping sweeping)
      : Store(loop),
        url_(url),
        context_{.loop = loop,
                 .connection = Connection::open(loop, url, options),
                 .root = url.path,
                 .options = options,
                 .servers = fmt::format("{}", fmt::join(url.endpoints, ",")),
                 .rng = Rng(mix64(static_cast<std::uint64_t>(::getpid()),
                                  static_cast<std::uint64_t>(loop.now().time_since_epoch().count()))),
                 .on_trace = {}},
        sweeper_(std::make_shared<Sweeper>(loop, context_.connection, url.path, sweeping)) {
    context_.on_trace = [weak = std::weak_ptr(sweeper_)](const Trace& trace) {
      if (const auto sweeper = weak.lock()) sweeper->note(trace);
    };
    sweeper_->begin();
  }

 protected:
  void do_get(std::string key, Answer<Read> answer) override {
    Call::begin(std::make_shared<GetCall>(context_, std::move(key), std::move(answer)));
  }
  void do_list(std::string prefix, Answer<Listing> answer) override {
    Call::begin(std::make_shared<ListCall>(context_, prefix, std::move(answer)));
  }
  void do_txn(Txn txn, Answer<Committed> answer) override {
    Call::begin(std::make_shared<TxnCall>(context_, std::move(txn), std::move(answer)));
  }
  std::unique_ptr<Watching> do_watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes) override {
    auto tracker = std::make_shared<Tracker>(context_, prefix, after, std::move(on_changes));
    tracker->begin();
    return std::make_unique<TrackerHandle>(std::move(tracker));
  }
  void do_status(Answer<Status> answer) override {
    Call::begin(std::make_shared<StatusCall>(context_, url_.endpoints, std::move(answer)));
  }
  // ZooKeeper has no history to forget.
  void do_compact(Revision before, Answer<Revision> answer) override {
    loop().post([weak = std::weak_ptr(sweeper_), before, answer = std::move(answer)]() mutable {
      if (const auto alive = weak.lock()) answer(before);
    });
  }

 private:
  const Url url_;
  Context context_;
  std::shared_ptr<Sweeper> sweeper_;
};

}  // namespace

Result<std::unique_ptr<Store>> connect(Loop& loop, const Url& url, const OpenOptions& options) {
  return connect(loop, url, options, {});
}

Result<std::unique_ptr<Store>> connect(Loop& loop, const Url& url, const OpenOptions& options, Sweeping sweeping) {
  const Tls& tls = options.access.tls;
  if (!tls.authority.empty() || !tls.certificate.empty() || !tls.key.empty() || !tls.server_name.empty())
    return fail(Code::invalid, "ZooKeeper is reached without TLS: its C client has none; leave the certificates out");
  if (options.access.user.find(':') != std::string::npos)
    return fail(Code::invalid, "a ZooKeeper user's name has no ':': that is where its password begins");
  if (options.access.user.empty() && !options.access.password.empty())
    return fail(Code::invalid, "a password was given without a user");
  if (options.lease_ttl < lease_ttl_min || options.lease_ttl > lease_ttl_max)
    return fail(Code::invalid, "a lease of {} is not between {} and {}", evenkeel::format(options.lease_ttl),
                evenkeel::format(lease_ttl_min), evenkeel::format(lease_ttl_max));
  for (const std::string& endpoint : url.endpoints) {
    if (endpoint.starts_with("unix:"))
      return fail(Code::invalid, "ZooKeeper listens on no socket in the file system: {}", endpoint);
  }
  return std::make_unique<Client>(loop, url, options, sweeping);
}

}  // namespace evenkeel::store::zookeeper
