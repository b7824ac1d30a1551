#include "evenkeel/node/node.h"

#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "evenkeel/base/real_loop.h"
#include "evenkeel/base/version.h"
#include "evenkeel/node/participant.h"
#include "evenkeel/node/shell/data_folder.h"
#include "evenkeel/node/shell/pool.h"
#include "evenkeel/node/shell/pulse_line.h"
#include "evenkeel/store/backends/open.h"

namespace evenkeel::node {
namespace {

constexpr Duration reports_gathered = 1ms;   // a txn takes longer
constexpr Duration ready_look = 20ms;        // how often somebody who waits for ready() is looked after
constexpr Duration folder_look = 200ms;      // how often it is tried whether another process has let go of the data folder
constexpr Duration session_ttl_min = 300ms;  // what a session takes (store/session.h)
constexpr int stuck_status = 70;             // of a process that ends because it could not step down

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  ensure(::getentropy(&seed, sizeof(seed)) == 0, "the system has random bytes");
  return seed;
}

Result<> check(const NodeOptions& options) {
  if (const auto why = why_not_a_name(options.cluster.str())) return fail(Code::invalid, "cluster: {}", *why);
  if (const auto why = why_not_a_name(options.name.str())) return fail(Code::invalid, "node: {}", *why);
  if (!options.zone.empty()) {
    if (const auto why = why_not_a_zone(options.zone)) return fail(Code::invalid, "zone: {}", *why);
  }
  if (options.transitions_at_once == 0 || options.tries == 0)
    return fail(Code::invalid, "transitions_at_once and tries are at least 1");
  if (options.session_ttl < session_ttl_min)
    return fail(Code::invalid, "session_ttl is at least {}, and {} was given", format(session_ttl_min),
                format(options.session_ttl));
  return {};
}

// What is on disk, and so who takes part with it, belongs to the process that has the folder's lock. While another one has it, this one waits: it would lead
// with what it has read long ago, and somebody who gets the lock later would take it for dead.
class RealNode final : public Node {
 public:
  RealNode(NodeOptions options, DataFolder folder) : options_(std::move(options)), folder_(std::move(folder)) {}
  ~RealNode() override;
  RealNode(const RealNode&) = delete;
  RealNode& operator=(const RealNode&) = delete;

  Result<> start(ShardHandler& handler);

  bool may_lead(const ShardId& shard, Epoch epoch) const override {
    const Participant* participant = taking_part_.load(std::memory_order_acquire);
    return participant != nullptr && participant->may_lead(shard, epoch);
  }
  bool is_current() const override {
    const Participant* participant = taking_part_.load(std::memory_order_acquire);
    return participant != nullptr && participant->is_current();
  }
  Result<> ready(Duration timeout) override;
  Result<> leave(Duration timeout) override;
  void refused(const ShardId& shard, Epoch by) override {
    loop_.post([this, shard, by] {
      if (participant_) participant_->refused(shard, by);
    });
  }
  void touch(const ShardId&) override {
    loop_.post([this] {
      if (participant_) participant_->pulse_now();
    });
  }

 private:
  Result<> open_store();
  void await_folder(ShardHandler& handler);
  Result<> take_folder(ShardHandler& handler);
  void take_part(ShardHandler& handler, std::vector<Held> inventory);
  void on_stuck(const Stuck& stuck);
  void look(Instant end, std::shared_ptr<std::promise<Result<>>> answer);
  std::string what_is_missing() const;
  template <class T>
  T on_loop(std::move_only_function<T()> work);

  NodeOptions options_;
  DataFolder folder_;  // unlocked last
  RealLoop loop_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<PulseLine> pulses_;
  std::unique_ptr<Participant> participant_;         // the loop's; none while another process has the folder
  std::atomic<Participant*> taking_part_ = nullptr;  // the same, for any thread, until the node ends
  bool ending_ = false;                              // the loop's
  std::string waits_for_;                            // why it takes no part yet; the loop's
  std::jthread thread_;
};

template <class T>
T RealNode::on_loop(std::move_only_function<T()> work) {
  std::promise<T> promise;
  loop_.post([&] { promise.set_value(work()); });
  return promise.get_future().get();
}

Result<> RealNode::start(ShardHandler& handler) {
  const bool waits = !options_.data.empty() && !folder_.locked();
  auto inventory = waits ? Result<std::vector<Held>>() : inventory_of(handler);
  if (!inventory) return fail(std::move(inventory).error());
  thread_ = std::jthread([this] { loop_.run(); });
  return on_loop<Result<>>([&]() -> Result<> {
    if (auto opened = open_store(); !opened) return opened;
    if (waits) {
      await_folder(handler);
    } else {
      take_part(handler, *std::move(inventory));
    }
    return {};
  });
}

Result<> RealNode::open_store() {
  auto opened = options_.open_store ? options_.open_store(loop_)
                                    : store::open(loop_, options_.store,
                                                  store::OpenOptions{.lease_ttl = options_.session_ttl, .log = options_.log});
  if (!opened) return fail(std::move(opened).error().in("store"));
  store_ = *std::move(opened);
  return {};
}

// Only what is on disk once the folder is ours counts.
Result<> RealNode::take_folder(ShardHandler& handler) {
  auto folder = DataFolder::open(options_.data);
  if (!folder) return fail(std::move(folder).error().in("data folder"));
  if (!folder->locked()) return fail(Code::unavailable, "another process has the data folder");
  auto inventory = inventory_of(handler);
  if (!inventory) return fail(std::move(inventory).error().in("what is on disk is not known"));
  folder_ = *std::move(folder);
  take_part(handler, *std::move(inventory));
  return {};
}

// It tries until it has it; what is in the way is said when it is something new.
void RealNode::await_folder(ShardHandler& handler) {
  if (ending_) return;
  const auto taken = take_folder(handler);
  if (taken) return;
  if (waits_for_ != taken.error().message && options_.log != nullptr)
    options_.log->warn("takes no part yet", {{"folder", options_.data}, {"why", taken.error().message}});
  waits_for_ = taken.error().message;
  loop_.post_after(folder_look, [this, &handler] { await_folder(handler); });
}

void RealNode::take_part(ShardHandler& handler, std::vector<Held> inventory) {
  pool_ = std::make_unique<Pool>(loop_, handler, std::move(inventory), options_.threads, options_.broker);
  ParticipantOptions options{.node = options_, .data = folder_.id(), .owns_data = folder_.locked(), .rng = Rng(random_seed())};
  options.version = product_version();
  options.tells_waits = true;
  options.on_stuck = [this](const Stuck& stuck) { on_stuck(stuck); };
  options.pulse = options_.session_ttl / 3;
  options.gather = reports_gathered;
  pulses_ = std::make_unique<PulseLine>(*store_, PulseLineOptions{.cluster = options_.cluster,
                                                                  .store = options_.store,
                                                                  .every = options.pulse,
                                                                  .rng = Rng(random_seed()),
                                                                  .on_open = [this] { participant_->pulse_now(); },
                                                                  .log = options_.log});
  options.send_pulse = [this](const Pulse& pulse) { pulses_->send(pulse); };
  options.pulse_all = [this] { return pulses_->must_say_all(); };
  participant_ = std::make_unique<Participant>(*store_, *pool_, std::move(options));
  taking_part_ = participant_.get();
}

// Somebody else may lead soon, and this process has not let go: it must not go on.
void RealNode::on_stuck(const Stuck& stuck) {
  if (options_.on_stuck != OnStuck::exit) return;
  if (options_.log != nullptr)
    options_.log->error("the process ends, since it could not step down in time", {{"what", stuck.what}});
  ::_exit(stuck_status);
}

// Participant and store belong to the loop; handlers are waited for while it still runs, since they answer there. Until they are done they may ask
// this node something: so the participant, though closed, goes after them.
RealNode::~RealNode() {
  if (!thread_.joinable()) return;
  on_loop<bool>([this] {
    ending_ = true;
    if (participant_) participant_->close();
    return true;
  });
  pool_.reset();
  on_loop<bool>([this] { return taking_part_ = nullptr, participant_.reset(), pulses_.reset(), store_.reset(), true; });
  loop_.stop();
}

std::string RealNode::what_is_missing() const {
  if (!participant_) return waits_for_;
  if (!participant_->joined()) return "it has not joined";
  std::vector<std::string> missing;
  constexpr std::size_t named_max = 10;
  for (const auto& replica : participant_->replicas()) {
    if (missing.size() == named_max) break;
    if (replica.state != replica.target || replica.running || !replica.error.empty())
      missing.push_back(fmt::format("{} is {} and not {}{}", format(replica.shard), replica.state, replica.target,
                                    replica.error.empty() ? "" : ": " + replica.error));
  }
  if (participant_->untold() > 0) missing.push_back("nobody has said yet what is to become of all that it holds");
  return missing.empty() ? "reports are being written" : fmt::format("{}", fmt::join(missing, "; "));
}

void RealNode::look(Instant end, std::shared_ptr<std::promise<Result<>>> answer) {
  if (ending_) return answer->set_value(fail(Code::cancelled, "the node ends"));
  if (participant_ && participant_->ready()) return answer->set_value({});
  if (loop_.now() >= end) return answer->set_value(fail(Code::unavailable, "not ready: {}", what_is_missing()));
  loop_.post_after(std::min(ready_look, end - loop_.now()),
                   [this, end, answer = std::move(answer)]() mutable { look(end, std::move(answer)); });
}

Result<> RealNode::ready(Duration timeout) {
  auto answer = std::make_shared<std::promise<Result<>>>();
  auto future = answer->get_future();
  loop_.post([this, end = later(loop_.now(), timeout), answer = std::move(answer)]() mutable { look(end, std::move(answer)); });
  return future.get();
}

Result<> RealNode::leave(Duration timeout) {
  auto answer = std::make_shared<std::promise<Result<>>>();
  auto future = answer->get_future();
  loop_.post([this, timeout, answer] {
    if (participant_) return participant_->leave(timeout, [answer](Result<> done) { answer->set_value(std::move(done)); });
    ending_ = true;  // it never came
    answer->set_value({});
  });
  return future.get();
}

}  // namespace

Result<std::unique_ptr<Node>> Node::join(NodeOptions options, ShardHandler& handler) {
  if (auto good = check(options); !good) return fail(std::move(good).error());
  auto folder = options.data.empty() ? Result<DataFolder>(DataFolder::none()) : DataFolder::open(options.data);
  if (!folder) return fail(std::move(folder).error().in("data folder"));
  auto node = std::make_unique<RealNode>(std::move(options), *std::move(folder));
  if (auto started = node->start(handler); !started) return fail(std::move(started).error());
  return node;
}

}  // namespace evenkeel::node
