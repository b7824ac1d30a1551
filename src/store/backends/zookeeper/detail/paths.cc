#include "evenkeel/store/backends/zookeeper/detail/paths.h"

#include <fmt/format.h>

#include <cstdint>

#include "evenkeel/store/store.h"

namespace evenkeel::store::zookeeper {
namespace {

// The length in bytes of the character that begins with this byte, in valid UTF-8.
std::size_t length_of(unsigned char first) { return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4; }

bool must_escape(std::string_view character) {
  if (character.size() == 1) return character[0] == '%';
  if (character.size() == 4) return true;  // a pair of surrogates to ZooKeeper, which refuses them
  std::uint32_t code = static_cast<unsigned char>(character[0]) & (character.size() == 2 ? 0x1f : 0x0f);
  for (const char c : character.substr(1)) code = (code << 6) | (static_cast<unsigned char>(c) & 0x3f);
  return (code >= 0x80 && code <= 0x9f) || (code >= 0xd800 && code <= 0xf8ff) || code >= 0xfff0;
}

std::string escape(std::string_view key) {
  std::string escaped;
  escaped.reserve(key.size());
  while (!key.empty()) {
    const std::string_view character = key.substr(0, length_of(static_cast<unsigned char>(key[0])));
    if (must_escape(character)) {
      for (const char c : character) escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      escaped += character;
    }
    key.remove_prefix(character.size());
  }
  return escaped;
}

int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

std::optional<std::string> unescape(std::string_view path) {
  std::string key;
  key.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      key += path[i];
      continue;
    }
    if (i + 2 >= path.size() || digit(path[i + 1]) < 0 || digit(path[i + 2]) < 0) return std::nullopt;
    key += static_cast<char>(digit(path[i + 1]) * 16 + digit(path[i + 2]));
    i += 2;
  }
  return key;
}

}  // namespace

std::string path_of(std::string_view root, std::string_view key) { return std::string(root) + escape(key); }

std::string path_of_prefix(std::string_view root, std::string_view prefix) {
  return prefix == "/" ? root_path(root) : path_of(root, prefix.substr(0, prefix.size() - 1));
}

std::optional<std::string> key_of(std::string_view root, std::string_view path) {
  if (!path.starts_with(root) || path.size() == root.size() || path[root.size()] != '/') return std::nullopt;
  auto key = unescape(path.substr(root.size()));
  if (!key || !check_key(*key) || path_of(root, *key) != path) return std::nullopt;
  return key;
}

std::string root_path(std::string_view root) { return root.empty() ? "/" : std::string(root); }

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string child_of(std::string_view path, std::string_view name) {
  return path == "/" ? fmt::format("/{}", name) : fmt::format("{}/{}", path, name);
}

std::vector<std::string> ancestors_of(std::string_view path) {
  std::vector<std::string> ancestors;
  for (std::size_t slash = path.find('/', 1); slash != std::string_view::npos; slash = path.find('/', slash + 1))
    ancestors.emplace_back(path.substr(0, slash));
  return ancestors;
}

bool is_below(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/") return path.size() > 1;
  return path.size() > ancestor.size() && path.starts_with(ancestor) && path[ancestor.size()] == '/';
}

}  // namespace evenkeel::store::zookeeper
