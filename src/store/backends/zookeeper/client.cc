#include "evenkeel/store/backends/zookeeper/client.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <thread>

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

// Members are asked on a thread of its own, one after another.
class StatusCall final : public Call {
 public:
  StatusCall(Context& context, std::vector<std::string> endpoints, Answer<Status> answer)
      : Call(context), endpoints_(std::move(endpoints)), answer_(std::move(answer)) {}

 protected:
  void attempt() override {
    thread_ =
        std::jthread([&loop = context_.loop, endpoints = endpoints_,
                      done = guarded([this](Status status) { finish(std::move(status)); })](const std::stop_token& stop) mutable {
          Status status = look(endpoints, stop);
          loop.post([done = std::move(done), status = std::move(status)]() mutable { done(std::move(status)); });
        });
  }
  void answer_error(Error error) override { answer_(fail(std::move(error))); }

 private:
  static Status look(const std::vector<std::string>& endpoints, const std::stop_token& stop) {
    Status status{.backend = "zookeeper", .version = {}, .revision = {}, .members = endpoints, .warnings = {}};
    for (const std::string& endpoint : endpoints) {
      const auto answer = ask(endpoint, "srvr", member_timeout, stop);
      if (!answer) {
        status.warnings.push_back(fmt::format("The member {} does not answer.", answer.error().message));
        continue;
      }
      const Member member = parse_srvr(*answer);
      if (member.version.empty())
        status.warnings.push_back(
            fmt::format("The member {} does not tell its version: \"srvr\" is not among its "
                        "4lw.commands.whitelist, or it serves no requests.",
                        endpoint));
      else if (status.version.empty())
        status.version = member.version;
    }
    return status;
  }
  void finish(Status status) {
    status.revision = context_.connection->known();
    const auto alive = shared_from_this();
    forget();
    answer_(std::move(status));
  }

  std::vector<std::string> endpoints_;
  Answer<Status> answer_;
  std::jthread thread_;
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
