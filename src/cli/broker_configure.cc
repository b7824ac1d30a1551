// evenkeel broker configure -f FILE: gives a live broker another config, and says what that changes.

#include <algorithm>
#include <map>

#include "evenkeel/broker/config_file.h"
#include "evenkeel/cli/broker_view.h"
#include "evenkeel/cli/live.h"

namespace evenkeel::cli {
namespace {

using broker::Config;
using broker::RemoteBroker;

struct BrokerConfigureOptions {
  Reach reach;
  std::string file;
  bool merge = false;
  bool dry_run = false;
};

std::string amount_of(const broker::Amounts& amounts, const std::string& resource) {
  const auto amount = broker::find_amount(amounts, resource);
  return !amount || *amount == broker::unlimited ? "unlimited" : fmt::format("{}", *amount);
}

// Lines such as "~ queue q: weight 30 -> 50".
class Differences {
 public:
  void add(const std::string& what, const std::string& from, const std::string& to) {
    if (from != to) text_ += fmt::format("~ {}: {} -> {}\n", what, from, to);
  }
  void came(const std::string& what) { text_ += fmt::format("+ {}\n", what); }
  void went(const std::string& what) { text_ += fmt::format("- {}\n", what); }

  void add_limits(const std::string& what, const broker::Amounts& from, const broker::Amounts& to) {
    std::vector<std::string> resources;
    for (const broker::Amounts* amounts : {&from, &to}) {
      for (const auto& [resource, amount] : *amounts)
        if (std::ranges::find(resources, resource) == resources.end()) resources.push_back(resource);
    }
    for (const std::string& resource : resources)
      add(fmt::format("{}: limit of {}", what, shown(resource)), amount_of(from, resource), amount_of(to, resource));
  }

  // Specs of one kind, by name: what came, what went, and `compare` for what stayed.
  template <class Spec, class Compare>
  void add_all(const std::string& kind, const std::vector<Spec>& from, const std::vector<Spec>& to, const Compare& compare) {
    const auto named = [](const std::vector<Spec>& specs, const std::string& name) {
      return std::ranges::find(specs, name, &Spec::name);
    };
    for (const Spec& old : from)
      if (named(to, old.name) == to.end()) went(kind + shown(old.name));
    for (const Spec& now : to) {
      const auto old = named(from, now.name);
      if (old == from.end()) came(kind + shown(now.name));
      compare(kind + shown(now.name), old == from.end() ? Spec{.name = now.name} : *old, now);
    }
  }

  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string differences(const Config& before, const Config& after) {
  Differences found;
  found.add_limits("total", before.limit, after.limit);
  found.add_all("queue ", before.queues, after.queues, [&](const std::string& what, const auto& from, const auto& to) {
    found.add(what + ": weight", fmt::format("{}", from.weight), fmt::format("{}", to.weight));
    found.add_limits(what, from.limit, to.limit);
  });
  found.add_all("task ", before.types, after.types, [&](const std::string& what, const auto& from, const auto& to) {
    found.add(what + ": queue", shown(from.queue), shown(to.queue));
    found.add(what + ": default duration", fmt::format("{}us", from.default_duration.count()),
              fmt::format("{}us", to.default_duration.count()));
  });
  return std::move(found).take();
}

void configure(Session& session, const BrokerConfigureOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto text = session.io.read_file(options.file);
  if (!text) return session.fail(text.error());
  const std::string file = options.file == "-" ? "<stdin>" : options.file;
  const RemoteBroker remote(address_of(*outside, options.reach), options_of(options.reach));
  const auto dry_run = options.dry_run ? RemoteBroker::DryRun::yes : RemoteBroker::DryRun::no;
  Result<RemoteBroker::Changed> changed;
  if (options.merge) {
    const auto patch = broker::parse_patch(*text, file);
    if (!patch) return session.fail(patch.error());
    changed = remote.configure(*patch, dry_run);
  } else {
    const auto config = broker::parse_config(*text, file);
    if (!config) return session.fail(config.error());
    changed = remote.configure(*config, dry_run);
  }
  if (!changed) return session.fail(changed.error());
  const std::string found = differences(changed->before, changed->after);
  session.print(found);
  if (found.empty())
    session.say(options.dry_run ? "nothing would change" : "nothing changed but that the means of durations begin anew");
  if (!found.empty() && options.dry_run) session.say("nothing was changed: it was a dry run");
}

}  // namespace

void add_broker_configure(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("configure", "Give a live broker another config");
  command->footer(
      "Prints what changes, a line each: + came, - went, ~ changed. Tasks stay, and go on under the new limits.\n"
      "With --merge only what the file names changes.\n\n"
      "Examples:\n"
      "  evenkeel broker configure -f broker.yaml --dry-run\n"
      "  echo 'queues: [{name: queue_default, weight: 50}]' | evenkeel broker configure -f - --merge");
  auto options = std::make_shared<BrokerConfigureOptions>();
  add_file(*command, session, options->file)->required();
  command->add_flag("--merge", options->merge, "Change only what the file names");
  command->add_flag("--dry-run", options->dry_run, "Say what would change, and change nothing");
  add_reach(*command, session, options->reach);
  command->callback([&session, options] { configure(session, *options); });
}

}  // namespace evenkeel::cli
