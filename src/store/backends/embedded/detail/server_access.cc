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

Result<> check_write(Who who, const Put& put, const Engine& engine) {
  if (!may(*who, true, put.key, {}) || (put.previous && !may(*who, false, put.key, {}))) return deny(words::permission_denied);
  if (put.lease == 0) return {};
  const auto lease = engine.lease(put.lease);
  return lease ? check_lease(who, true, *lease) : Result<>();  // the engine says that there is none
}

Result<> check_erase(Who who, const Erase& erase) {
  const Span& span = erase.span;
  return allow(may(*who, true, span.key, span.end) && (!erase.previous || may(*who, false, span.key, span.end)));
}

}  // namespace

Result<Who> Access::who(const grpc::CallbackServerContext& context) {
  if (!users_) return nullptr;
  if (const auto token = token_of(context)) return who_has(*token);
  const std::string name = common_name(context);
  if (name.empty()) return deny(words::user_empty);
  const User* user = users_->by_certificate(name);
  if (user == nullptr) return deny(words::permission_denied);
  return user;
}

Result<Who> Access::who_has(const std::string& token) {
  const std::scoped_lock lock(mutex_);
  const Instant now = clock_.now();
  while (!tokens_.empty() && now - tokens_.front().used > idle_max) {
    by_text_.erase(tokens_.front().text);
    tokens_.pop_front();
  }
  const auto found = by_text_.find(token);
  if (found == by_text_.end()) return deny(words::invalid_token);
  found->second->used = now;
  tokens_.splice(tokens_.end(), tokens_, found->second);
  return found->second->user;
}

Result<std::string> Access::authenticate(const std::string& name, const std::string& password) {
  if (!users_) return fail(Error{Code::refused, std::string(words::not_enabled)});
  if (!users_->check_password(name, password)) return deny(words::authentication_failed);
  std::array<unsigned char, 24> bytes;
  ensure(RAND_bytes(bytes.data(), bytes.size()) == 1, "the system has random bytes");
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  const std::scoped_lock lock(mutex_);
  if (tokens_.size() >= tokens_max) {
    by_text_.erase(tokens_.front().text);
    tokens_.pop_front();
  }
  tokens_.push_back({text, users_->find(name), clock_.now()});
  by_text_.emplace(text, std::prev(tokens_.end()));
  return text;
}

Result<> check(Who who, const Range& range) { return allow(who == nullptr || may(*who, false, range.span.key, range.span.end)); }
Result<> check(Who who, const Watch& watch) { return allow(who == nullptr || may(*who, false, watch.span.key, watch.span.end)); }

Result<> check(Who who, const Request& request, const Engine& engine) {
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
        good = check_write(who, *put, engine);
      } else if (const auto* erase = std::get_if<Erase>(&operation)) {
        good = check_erase(who, *erase);
      } else {
        good = check(who, *std::get<std::shared_ptr<Request>>(operation), engine);
      }
      if (!good) return good;
    }
  }
  return {};
}

Result<> check_lease(Who who, bool write, const Lease& lease) {
  if (who == nullptr || who->admin) return {};
  for (const std::string& key : lease.keys) {
    if (!may(*who, write, key, {})) return deny(words::permission_denied);
  }
  return {};
}

Result<> check_admin(Who who) { return allow(who == nullptr || who->admin); }

}  // namespace evenkeel::store::embedded::detail
