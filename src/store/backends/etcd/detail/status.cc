#include <fmt/ranges.h>

#include "evenkeel/store/backends/etcd/detail/core.h"

namespace evenkeel::store::etcd::detail {
namespace {

// More history than anybody needs who has not forgotten to compact.
constexpr std::int64_t history_revisions_max = 100'000;

using Said = etcdserverpb::StatusResponse;
using Members = etcdserverpb::MemberListResponse;
using Page = etcdserverpb::RangeResponse;

struct Asking {
  Core& core;
  Answer<Status> answer;
  Status status;
};
using AskingPtr = std::shared_ptr<Asking>;

void take_said(Status& status, const Said& said) {
  status.version = said.version();
  status.revision = Revision(said.header().revision());
  status.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(said.dbsize(), 0));
  status.bytes_quota = static_cast<std::uint64_t>(std::max<std::int64_t>(said.dbsizequota(), 0));
  if (std::string warning = warning_of_version(said.version()); !warning.empty()) status.warnings.push_back(std::move(warning));
  for (std::string_view error : said.errors()) {
    while (error.ends_with(' ')) error.remove_suffix(1);
    status.warnings.push_back(fmt::format("The server reports a fault: {}.", error));
  }
}

void take_members(Status& status, const Members& members) {
  for (const etcdserverpb::Member& member : members.members()) {
    status.members.push_back(fmt::format("{} {}{}", member.name().empty() ? "(unnamed)" : member.name(),
                                         fmt::join(member.clienturls(), ","), member.islearner() ? " learner" : ""));
  }
}

// Whether what was long ago can still be read.
void ask_history(const AskingPtr& asking) {
  const std::int64_t now = asking->status.revision.value();
  if (now <= history_revisions_max) return asking->answer(std::move(asking->status));
  etcdserverpb::RangeRequest request;
  request.set_key(asking->core.keys.full("/"));
  request.set_count_only(true);
  request.set_revision(now - history_revisions_max);
  asking->core.caller.call<Page>(methods::range, std::move(request), asking->core.deadline(), [asking](Result<Page> page) {
    if (page) {
      asking->status.warnings.push_back(fmt::format(
          "More than {} revisions of history are kept, so it seems that nobody compacts it; it grows until the quota is "
          "reached, and then no write is taken.",
          history_revisions_max));
    }
    asking->answer(std::move(asking->status));
  });
}

// Who may not see the members still gets the rest.
void ask_members(const AskingPtr& asking) {
  asking->core.caller.call<Members>(methods::member_list, etcdserverpb::MemberListRequest(), asking->core.deadline(),
                                    [asking](Result<Members> members) {
                                      if (members) take_members(asking->status, *members);
                                      ask_history(asking);
                                    });
}

}  // namespace

void ask_status(Core& core, Answer<Status> answer) {
  const AskingPtr asking(new Asking{core, std::move(answer), {.backend = "etcd"}});
  core.caller.call<Said>(methods::status, etcdserverpb::StatusRequest(), core.deadline(), [asking](Result<Said> said) {
    if (!said) return asking->answer(fail(std::move(said).error()));
    take_said(asking->status, *said);
    if (asking->core.caller.user_ignored())
      asking->status.warnings.push_back("The server does not ask for users, so the one given is not used and anybody may write.");
    ask_members(asking);
  });
}

}  // namespace evenkeel::store::etcd::detail
