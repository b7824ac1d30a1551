#pragma once
// Access: who calls, and whether he may. Without users everybody may do everything.
//
// Who shows a password gets a token, random and for this server's run; one that nobody used for `idle_max` is forgotten, as in etcd. Whoever
// sends no token is who his certificate says.
// Users may be replaced while it runs. A call goes by those it began with; a token stays good if its user is still there with the password
// that it was given for. Any thread.

#include <grpcpp/server_context.h>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "evenkeel/base/clock.h"
#include "evenkeel/store/backends/embedded/engine.h"
#include "evenkeel/store/backends/embedded/users.h"

namespace evenkeel::store::embedded::detail {

// Somebody who may call, as he was known then: null is everybody, where there are no users.
using Who = std::shared_ptr<const User>;

class Access {
 public:
  static constexpr Duration idle_max = 5min;
  static constexpr std::size_t tokens_max = 1 << 16;  // of some 200 bytes: the one that was idle longest goes first

  Access(std::optional<Users> users, const Clock& clock)
      : users_(users ? std::make_shared<const Users>(*std::move(users)) : nullptr), clock_(clock) {}

  bool enabled() const { return users() != nullptr; }
  void replace(Users users);
  Result<Who> who(const grpc::CallbackServerContext& context);
  Result<Who> who_has(const std::string& token);
  // A token. Takes as long as a check of a password does: some 50 ms.
  Result<std::string> authenticate(const std::string& name, const std::string& password);

 private:
  struct Token {
    std::string text;
    Who user;
    Instant used;
  };

  using UsersPtr = std::shared_ptr<const Users>;

  UsersPtr users() const {
    const std::scoped_lock lock(mutex_);
    return users_;
  }
  void forget(std::list<Token>::iterator token) {
    by_text_.erase(token->text);
    tokens_.erase(token);
  }

  mutable std::mutex mutex_;  // of all below
  UsersPtr users_;            // null: there are none
  const Clock& clock_;
  std::list<Token> tokens_;  // the one used longest ago first
  std::unordered_map<std::string, std::list<Token>::iterator> by_text_;
};

// Whether he may do this; both branches of a txn and what it compares count.
Result<> check(const Who& who, const Range& range);
Result<> check(const Who& who, const Watch& watch);
Result<> check(const Who& who, const Request& request);
Result<> check_admin(const Who& who);
// Whether he may read, or write, all that hangs on a lease.
Result<> check_lease(const Who& who, bool write, const std::vector<std::string>& keys);
// To end a lease, or to put a key on it, he must have the right to write all that hangs on it, since its end deletes that.
LeaseGuard guard_of(const Who& who);

}  // namespace evenkeel::store::embedded::detail
