#include "evenkeel/store/backends/embedded/detail/server_access.h"

#include <grpc/grpc_security_constants.h>
#include <openssl/rand.h>

#include <array>

#include "evenkeel/store/backends/embedded/detail/wire.h"

namespace evenkeel::store::embedded::detail {
namespace {

unexpected<Error> deny(std::string_view words) { return fail(Error{Code::denied, std::string(words)}); }

Result<> allow(bool allowed) {
  if (!allowed) return deny(words::permission_denied);
  return {};
}

// The token of the call's metadata, under one of the names that etcd takes.
std::optional<std::string> token_of(const grpc::CallbackServerContext& context) {
  for (const char* name : {"token", "authorization"}) {
    if (const auto found = context.client_metadata().find(name); found != context.client_metadata().end())
      return std::string(found->second.data(), found->second.size());
  }
  return std::nullopt;
}

// The common name of a certificate that was checked; empty if none was shown.
std::string common_name(const grpc::CallbackServerContext& context) {
  const auto shown = context.auth_context();
  if (!shown || !shown->IsPeerAuthenticated()) return {};
  const auto names = shown->FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME);
  return names.empty() ? std::string() : std::string(names.front().data(), names.front().size());
}

Result<> check_put(const User& user, const Put& put) {
  return allow(may(user, true, put.key, {}) && (!put.previous || may(user, false, put.key, {})));
}

Result<> check_erase(const User& user, const Erase& erase) {
  const Span& span = erase.span;
  return allow(may(user, true, span.key, span.end) && (!erase.previous || may(user, false, span.key, span.end)));
}

// The user of that name among these, if he has the same password.
Who same_user(const User& user, const std::shared_ptr<const Users>& users) {
  const User* found = users->find(user.name);
  if (found == nullptr || found->password != user.password) return nullptr;
  return Who(users, found);
}

}  // namespace

Result<Who> Access::who(const grpc::CallbackServerContext& context) {
  const auto all = users();
  if (!all) return nullptr;
  if (const auto token = token_of(context)) return who_has(*token);
  const std::string name = common_name(context);
  if (name.empty()) return deny(words::user_empty);
  const User* user = all->by_certificate(name);
  if (user == nullptr) return deny(words::permission_denied);
  return Who(all, user);
}

Result<Who> Access::who_has(const std::string& token) {
  const std::scoped_lock lock(mutex_);
  const Instant now = clock_.now();
  while (!tokens_.empty() && now - tokens_.front().used > idle_max) forget(tokens_.begin());
  const auto found = by_text_.find(token);
  if (found == by_text_.end()) return deny(words::invalid_token);
  found->second->used = now;
  tokens_.splice(tokens_.end(), tokens_, found->second);
  return found->second->user;
}

Result<std::string> Access::authenticate(const std::string& name, const std::string& password) {
  const auto all = users();
  if (!all) return fail(Error{Code::refused, std::string(words::not_enabled)});
  if (!all->check_password(name, password)) return deny(words::authentication_failed);
  std::array<unsigned char, 24> bytes;
  ensure(RAND_bytes(bytes.data(), bytes.size()) == 1, "the system has random bytes");
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  const std::scoped_lock lock(mutex_);
  const Who who = same_user(*all->find(name), users_);
  if (!who) return deny(words::authentication_failed);  // he was replaced meanwhile
  if (tokens_.size() >= tokens_max) forget(tokens_.begin());
  tokens_.push_back({text, who, clock_.now()});
  by_text_.emplace(text, std::prev(tokens_.end()));
  return text;
}

void Access::replace(Users users) {
  auto all = std::make_shared<const Users>(std::move(users));
  const std::scoped_lock lock(mutex_);
  users_ = std::move(all);
  for (auto token = tokens_.begin(); token != tokens_.end();) {
    const auto at = token++;
    at->user = same_user(*at->user, users_);
    if (!at->user) forget(at);
  }
}

Result<> check(const Who& who, const Range& range) {
  return allow(who == nullptr || may(*who, false, range.span.key, range.span.end));
}
Result<> check(const Who& who, const Watch& watch) {
  return allow(who == nullptr || may(*who, false, watch.span.key, watch.span.end));
}

Result<> check(const Who& who, const Request& request) {
  if (who == nullptr || who->admin) return {};
  for (const Condition& condition : request.conditions) {
    if (!may(*who, false, condition.span.key, condition.span.end)) return deny(words::permission_denied);
  }
  for (const auto* branch : {&request.then, &request.otherwise}) {
    for (const Operation& operation : *branch) {
      Result<> good;
      if (const auto* range = std::get_if<Range>(&operation)) {
        good = check(who, *range);
      } else if (const auto* put = std::get_if<Put>(&operation)) {
        good = check_put(*who, *put);
      } else if (const auto* erase = std::get_if<Erase>(&operation)) {
        good = check_erase(*who, *erase);
      } else {
        good = check(who, *std::get<std::shared_ptr<Request>>(operation));
      }
      if (!good) return good;
    }
  }
  return {};
}

Result<> check_lease(const Who& who, bool write, const std::vector<std::string>& keys) {
  if (who == nullptr || who->admin) return {};
  for (const std::string& key : keys) {
    if (!may(*who, write, key, {})) return deny(words::permission_denied);
  }
  return {};
}

LeaseGuard guard_of(const Who& who) {
  if (who == nullptr || who->admin) return {};
  return [who](const std::vector<std::string>& keys) { return check_lease(who, true, keys); };
}

Result<> check_admin(const Who& who) { return allow(who == nullptr || who->admin); }

}  // namespace evenkeel::store::embedded::detail
