// The reconciler's rules as stories: one input a block, its effects and reports out. Commands:
//   node [ttl=10s] [tries=5] [slots=64] [queues=yes] [held=t1/0@1.2:50/6]…    a process begins, with that on its disk, sealed against 6
//   joined INCARNATION [t1=BUCKETS]…
//   target t1/0 N.N [of=INCARNATION] [model=…] [fencing=epoch] [deadline=10m] [metadata=…]   then one line an entry (reconciler_text.h)
//   gone t1/0
//   begun t1/0                          the handler is called; only where the node `queues`
//   done t1/0 [last=N] [progress=N] [run=N]   the handler is done with what runs, or answers for another run
//   fail t1/0 WORDS…
//   sealed t1/0 EPOCH last=N progress=N
//   unsealed t1/0 EPOCH WORDS…
//   lost | leaving | tick +5s
//   show                                replicas, and whether all is settled

#include "evenkeel/node/reconciler.h"

#include <gtest/gtest.h>

#include <sstream>

#include "evenkeel/base/text.h"
#include "tests/node/reconciler_text.h"
#include "tests/story/story.h"

namespace evenkeel::node {
namespace {

class Stories {
 public:
  std::string handle(const story::Block& block) {
    const std::string& command = block.command;
    if (command == "node") return begin(block.args);
    if (command == "joined") return joined(block.args);
    if (command == "target") return target(block);
    if (command == "show") return show();
    if (command == "lost") return step(SessionLost());
    if (command == "leaving") return step(Leaving());
    if (command == "tick") {
      now_ += parse_duration(block.args.at(0).substr(1)).value();
      return step(Tick());
    }
    const ShardId shard = parse_shard_id(block.args.at(0)).value();
    if (command == "gone") return step(TargetGone{shard.workload, Bucket(shard.shard.value())});
    if (command == "begun") return step(Begun{shard});
    if (command == "done" || command == "fail") return answer(shard, block);
    const Epoch epoch(parse_unsigned(block.args.at(1)).value());
    if (command == "refused") return step(Refused{shard, epoch});
    if (command == "sealed") {
      const auto number = [&](std::string_view name) { return parse_unsigned(option(block.args, name, "0")).value(); };
      return step(SealDone{shard, epoch, Sealed{epoch, Epoch(number("last")), number("progress")}});
    }
    if (command == "unsealed") return step(SealDone{shard, epoch, fail(Code::unavailable, "{}", rest_of(block.args, 2))});
    return "no such command";
  }

 private:
  std::string begin(const std::vector<std::string>& args) {
    now_ = Instant{};
    runs_.clear();
    ReconcilerOptions options{.name = NodeId("n1"), .data = DataId("d1")};
    options.session_ttl = parse_duration(option(args, "ttl", "10s")).value();
    options.tries = static_cast<std::uint32_t>(parse_unsigned(option(args, "tries", "5")).value());
    options.transitions_at_once = static_cast<std::uint32_t>(parse_unsigned(option(args, "slots", "64")).value());
    options.queues = option(args, "queues") == "yes";
    std::vector<Held> held;
    for (const std::string& word : args) {
      if (!word.starts_with("held=")) continue;
      const auto at = word.find('@'), colon = word.find(':');
      const Version version = version_of(word.substr(at + 1, colon - at - 1));
      const std::string data = word.substr(colon + 1);
      const auto slash = data.find('/');
      held.push_back({parse_shard_id(word.substr(5, at - 5)).value(), version, version.epoch,
                      parse_unsigned(data.substr(0, slash)).value(),
                      slash == std::string::npos ? Epoch() : Epoch(parse_unsigned(data.substr(slash + 1)).value())});
    }
    reconciler_ = std::make_unique<Reconciler>(std::move(options), std::move(held));
    return "ok";
  }

  std::string joined(const std::vector<std::string>& args) {
    incarnation_ = Incarnation(parse_unsigned(args.at(0)).value());
    Joined joined{.incarnation = incarnation_, .buckets = {}};
    for (std::size_t i = 1; i < args.size(); ++i) {
      const auto equals = args[i].find('=');
      joined.buckets[WorkloadId(args[i].substr(0, equals))] =
          static_cast<std::uint32_t>(parse_unsigned(args[i].substr(equals + 1)).value());
    }
    return step(joined);
  }

  std::string target(const story::Block& block) {
    const ShardId place = parse_shard_id(block.args.at(0)).value();
    const Version number = version_of(block.args.at(1));
    Target target{.node = NodeId(option(block.args, "node", "n1")),
                  .workload = place.workload,
                  .bucket = Bucket(place.shard.value()),
                  .incarnation = incarnation_,
                  .number = {ControllerEpoch(number.epoch.value()), number.change.value()}};
    if (const auto of = option(block.args, "of"); !of.empty()) target.incarnation = Incarnation(parse_unsigned(of).value());
    const StateModel* model = find_built_in(option(block.args, "model", "leader-follower"));
    if (model != nullptr) target.model = model->spec();
    if (option(block.args, "fencing") == "epoch") target.fencing = Fencing::epoch;
    target.deadline = parse_duration(option(block.args, "deadline", "0")).value();
    target.metadata = option(block.args, "metadata");
    std::istringstream lines(block.input);
    for (std::string line; std::getline(lines, line);) target.replicas.push_back(entry_of(line));
    return step(TargetRead{std::move(target)});
  }

  std::string answer(const ShardId& shard, const story::Block& block) {
    Transitioned done{.shard = shard, .run = runs_[shard], .result = {}};
    if (const auto run = option(block.args, "run"); !run.empty()) done.run = parse_unsigned(run).value();
    done.last = Epoch(parse_unsigned(option(block.args, "last", "0")).value());
    done.progress = parse_unsigned(option(block.args, "progress", "0")).value();
    if (block.command == "fail") done.result = fail(Code::unavailable, "{}", rest_of(block.args, 1));
    return step(std::move(done));
  }

  std::string show() const {
    std::string out;
    for (const auto& replica : reconciler_->replicas()) {
      out += fmt::format("{} {} -> {} v={}{}{}\n", format(replica.shard), replica.state, replica.target, text_of(replica.version),
                         replica.running ? " running" : "", replica.error.empty() ? "" : " error");
    }
    return out + (reconciler_->settled() ? "settled" : "not settled");
  }

  static std::string rest_of(const std::vector<std::string>& args, std::size_t from) {
    return fmt::format("{}", fmt::join(args.begin() + static_cast<std::ptrdiff_t>(from), args.end(), " "));
  }

  std::string step(Input input) {
    const Output output = reconciler_->step(std::move(input), now_);
    for (const Effect& effect : output.effects) {
      if (const auto* start = std::get_if<Start>(&effect)) runs_[start->transition.shard] = start->run;
    }
    return text_of(output, now_);
  }

  Instant now_;
  Incarnation incarnation_;
  std::map<ShardId, std::uint64_t> runs_;
  std::unique_ptr<Reconciler> reconciler_;
};

TEST(Reconciler, Stories) {
  story::run_folder("node/reconciler", [] {
    auto stories = std::make_shared<Stories>();
    return [stories](const story::Block& block) { return stories->handle(block); };
  });
}

}  // namespace
}  // namespace evenkeel::node
