#pragma once
// Access: who calls, and whether he may. Without users everybody may do everything.
//
// Who shows a password gets a token, random and for this server's run; one that nobody used for `idle_max` is forgotten, as in etcd. Whoever
// sends no token is who his certificate says. Any thread.

#include <grpcpp/server_context.h>

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "evenkeel/base/clock.h"
#include "evenkeel/store/backends/embedded/engine.h"
#include "evenkeel/store/backends/embedded/users.h"

namespace evenkeel::store::embedded::detail {

// Somebody who may call: null is everybody, where there are no users.
using Who = const User*;

class Access {
 public:
  static constexpr Duration idle_max = 5min;
  static constexpr std::size_t tokens_max = 1 << 16;  // of some 200 bytes: the one that was idle longest goes first

  Access(std::optional<Users> users, const Clock& clock) : users_(std::move(users)), clock_(clock) {}

  bool enabled() const { return users_.has_value(); }
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

  const std::optional<Users> users_;
  const Clock& clock_;
  std::mutex mutex_;
  std::list<Token> tokens_;  // the one used longest ago first
  std::unordered_map<std::string, std::list<Token>::iterator> by_text_;
};

// Whether he may do this; both branches of a txn and what it compares count. A put on a lease needs the right to write all that hangs on it,
// since its end deletes that.
Result<> check(Who who, const Range& range);
Result<> check(Who who, const Watch& watch);
Result<> check(Who who, const Request& request, const Engine& engine);
Result<> check_lease(Who who, bool write, const Lease& lease);
Result<> check_admin(Who who);

}  // namespace evenkeel::store::embedded::detail
