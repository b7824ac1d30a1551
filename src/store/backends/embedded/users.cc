#include "evenkeel/store/backends/embedded/users.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"

namespace evenkeel::store::embedded {
namespace {

constexpr std::size_t salt_bytes = 16;
constexpr std::size_t hash_bytes = 32;
// What one check may cost: 128 × N × r bytes. 64 MiB is four times what hash_password asks for.
constexpr std::uint64_t memory_max = 64 << 20;

struct Scrypt {
  std::uint64_t n = 16384;
  std::uint64_t r = 8;
  std::uint64_t p = 1;
  std::string salt;
  std::string hash;
};

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned byte = 0;
    const char* end = text.data() + i + 2;
    if (const auto read = std::from_chars(text.data() + i, end, byte, 16); read.ec != std::errc() || read.ptr != end)
      return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

// scrypt:N:r:p:SALT:HASH, the last two in hexadecimal.
std::optional<Scrypt> parse_hash(std::string_view text) {
  std::array<std::string_view, 6> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const std::size_t colon = last ? text.size() : text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    parts[i] = text.substr(0, colon);
    text.remove_prefix(last ? colon : colon + 1);
  }
  const auto n = parse_unsigned(parts[1]), r = parse_unsigned(parts[2]), p = parse_unsigned(parts[3]);
  auto salt = from_hex(parts[4]), hash = from_hex(parts[5]);
  if (parts[0] != "scrypt" || !n || !r || !p || !salt || !hash) return std::nullopt;
  const bool power_of_two = *n > 1 && (*n & (*n - 1)) == 0;
  if (!power_of_two || *r == 0 || *p == 0 || *n > memory_max || *r > 64 || *p > 16 || 128 * *n * *r > memory_max)
    return std::nullopt;
  if (salt->size() < 8 || salt->size() > 64 || hash->size() < 16 || hash->size() > 64) return std::nullopt;
  return Scrypt{*n, *r, *p, *std::move(salt), *std::move(hash)};
}

std::string derive(std::string_view password, const Scrypt& how, std::size_t bytes) {
  std::string out(bytes, '\0');
  const auto* salt = reinterpret_cast<const unsigned char*>(how.salt.data());
  const int done = EVP_PBE_scrypt(password.data(), password.size(), salt, how.salt.size(), how.n, how.r, how.p, 2 * memory_max,
                                  reinterpret_cast<unsigned char*>(out.data()), out.size());
  ensure(done == 1, "scrypt works with parameters that were checked");
  return out;
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// The first text after all that begin with the prefix; empty: there is none.
std::string after_prefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

bool lies_in(const std::string& prefix, std::string_view key, std::string_view end) {
  if (!key.starts_with(prefix)) return false;
  if (end.empty()) return true;
  const std::string after = after_prefix(prefix);
  if (after.empty()) return true;
  return end != std::string_view("\0", 1) && end <= after;
}

std::optional<Right> read_right(Value value, Diagnostics& problems) {
  Right right;
  FieldReader fields(value, problems, "a right");
  fields.required("prefix", right.prefix, [&](Value v) { return read_text(v, problems); });
  fields.flag("read", right.read);
  fields.flag("write", right.write);
  fields.finish();
  if (fields.is_map() && !right.read && !right.write)
    problems.add(value.place(), "a right allows nothing", "write `read: true`, `write: true` or both, or leave it out");
  return right;
}

std::optional<std::vector<Right>> read_rights(Value value, Diagnostics& problems) {
  if (!expect_list(value, problems, "rights")) return std::nullopt;
  std::vector<Right> rights;
  for (const Value item : value.items()) {
    if (auto right = read_right(item, problems)) rights.push_back(*std::move(right));
  }
  return rights;
}

// Never says what stands there: it may be the password itself.
std::optional<std::string> read_hash(Value value, Diagnostics& problems) {
  if (value.is_scalar() && parse_hash(value.text())) return std::string(value.text());
  problems.add(value.place(), "this password is no hash that can be checked",
               "`evenkeel store password` makes one: scrypt:16384:8:1:SALT:HASH");
  return std::nullopt;
}

User read_user(Value value, Diagnostics& problems) {
  User user;
  FieldReader fields(value, problems, "a user");
  const auto filled = [&](Value v) {
    auto text = read_text(v, problems);
    if (text && text->empty()) problems.add(v.place(), "this is empty", "leave the field out, or fill it in");
    return text;
  };
  fields.required("name", user.name, filled);
  fields.read("password", user.password, [&](Value v) { return read_hash(v, problems); });
  fields.read("certificate", user.certificate, filled);
  fields.flag("admin", user.admin);
  fields.read("rights", user.rights, [&](Value v) { return read_rights(v, problems); });
  if (fields.is_map() && !fields.take_or_null("password") && !fields.take_or_null("certificate"))
    problems.add(value.place(), "a user can never show who it is", "give it a `password`, a `certificate` or both");
  fields.finish();
  return user;
}

}  // namespace

Result<Users> Users::parse(std::string_view text, const std::string& file_name) {
  const auto document = Document::parse(text, file_name);
  if (!document) return fail(document.error().to_error());
  Diagnostics problems = document->problems();
  FieldReader fields(document->root(), problems, "the file of users");
  Users users;
  std::set<std::string, std::less<>> names, certificates;
  const auto list = fields.take_required("users");
  if (list && expect_list(*list, problems, "users")) {
    for (const Value item : list->items()) {
      User user = read_user(item, problems);
      if (!user.name.empty() && !names.insert(user.name).second)
        problems.add(item.place(), fmt::format("the user {} is given twice", quote(user.name)), "keep one, or rename one");
      if (!user.certificate.empty() && !certificates.insert(user.certificate).second)
        problems.add(item.place(), fmt::format("two users have the certificate {}", quote(user.certificate)),
                     "a certificate's common name says who it is, so each has its own");
      users.users_.push_back(std::move(user));
    }
    if (list->size() == 0)
      problems.add(list->place(), "there are no users, so nobody could do anything", "add one, or start without the file");
  }
  fields.finish();
  if (!problems.empty()) return fail(problems.to_error());
  return users;
}

const User* Users::find(std::string_view name) const {
  const auto found = std::ranges::find(users_, name, &User::name);
  return found == users_.end() ? nullptr : &*found;
}

const User* Users::by_certificate(std::string_view common_name) const {
  if (common_name.empty()) return nullptr;
  const auto found = std::ranges::find(users_, common_name, &User::certificate);
  return found == users_.end() ? nullptr : &*found;
}

bool Users::check_password(std::string_view name, std::string_view password) const {
  const User* user = find(name);
  // Somebody else's hash, whose answer is then not used, costs the time that the user's own would.
  const auto any = std::ranges::find_if(users_, [](const User& other) { return !other.password.empty(); });
  const bool known = user != nullptr && !user->password.empty();
  const auto how = parse_hash(known ? user->password : any == users_.end() ? "" : any->password);
  if (!how) return false;
  return same(derive(password, *how, how->hash.size()), how->hash) && known;
}

bool may(const User& user, bool write, std::string_view key, std::string_view end) {
  if (user.admin) return true;
  return std::ranges::any_of(
      user.rights, [&](const Right& right) { return (write ? right.write : right.read) && lies_in(right.prefix, key, end); });
}

std::string hash_password(std::string_view password) {
  Scrypt how;
  how.salt.resize(salt_bytes);
  ensure(RAND_bytes(reinterpret_cast<unsigned char*>(how.salt.data()), static_cast<int>(salt_bytes)) == 1,
         "the system has random bytes");
  return fmt::format("scrypt:{}:{}:{}:{}:{}", how.n, how.r, how.p, to_hex(how.salt), to_hex(derive(password, how, hash_bytes)));
}

}  // namespace evenkeel::store::embedded
