// Any bytes as a file of users: refused with a place, or users who may do what their rights say and nothing by a name they do not have.

#include <cstdint>
#include <string>
#include <string_view>

#include "evenkeel/store/backends/embedded/users.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  using namespace evenkeel::store::embedded;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto users = Users::parse(text, "fuzz");
  if (!users) {
    ensure(users.error().code == Code::invalid && users.error().message.starts_with("fuzz"), "a refusal says where");
    return 0;
  }
  ensure(users->find("") == nullptr && users->by_certificate("") == nullptr, "nobody has no name");
  for (const char* name : {"a", "admin", "n1"}) {
    const User* user = users->find(name);
    if (user == nullptr) continue;
    ensure(user->name == name, "a user is found by his own name");
    ensure(!user->password.empty() || !user->certificate.empty(), "a user can say who he is");
    ensure(user->certificate.empty() || users->by_certificate(user->certificate) == user, "a certificate names one user");
    for (const Right& right : user->rights) {
      ensure(right.read || right.write, "a right allows something");
      ensure(may(*user, right.write, right.prefix + "x", {}), "what a right allows he may do");
    }
    if (user->admin || !user->rights.empty()) continue;
    ensure(!may(*user, false, "x", {}) && !may(*user, true, "x", {}), "who has no right may do nothing");
  }
  return 0;
}
