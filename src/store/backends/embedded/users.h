#pragma once
// Users of the embedded server: who they are, and which keys they may read and write.
//
//   users:
//     - {name: admin, password: "scrypt:16384:8:1:SALT:HASH", admin: true}      # `evenkeel store password` makes the hash
//     - {name: n1, certificate: n1.example.org, rights: [{prefix: /evenkeel/c1/, read: true}, {prefix: /evenkeel/c1/live/n1, write: true}]}
//
// A right is for all keys that begin with its prefix. A range is allowed if it lies in one prefix. Pure, but for the reading of the file.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/result.h"

namespace evenkeel::store::embedded {

struct Right {
  std::string prefix;
  bool read = false;
  bool write = false;
};

struct User {
  std::string name;
  std::string password;     // a hash; empty: not by password
  std::string certificate;  // a common name; empty: not by certificate
  bool admin = false;       // everything: compaction, defragmentation, alarms
  std::vector<Right> rights;
};

class Users {
 public:
  // YAML or JSON, with what is wrong line by line.
  static Result<Users> parse(std::string_view text, const std::string& file_name);

  const User* find(std::string_view name) const;
  const User* by_certificate(std::string_view common_name) const;
  // Takes as long for a name that is unknown.
  bool check_password(std::string_view name, std::string_view password) const;

 private:
  std::vector<User> users_;
};

// Whether a user may do this to all keys of [key, end); end as in engine.h's Span.
bool may(const User& user, bool write, std::string_view key, std::string_view end);

// The hash of a password with a fresh salt, as the file takes it.
std::string hash_password(std::string_view password);

}  // namespace evenkeel::store::embedded
