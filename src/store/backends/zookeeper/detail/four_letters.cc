#include "evenkeel/store/backends/zookeeper/detail/four_letters.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "evenkeel/base/address.h"
#include "evenkeel/base/clock.h"

namespace evenkeel::store::zookeeper {
namespace {

constexpr std::size_t answer_bytes_max = 64 << 10;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

Result<> wait_for(int fd, short events, Instant deadline) {
  const BootClock clock;
  while (true) {
    pollfd waiting{fd, events, 0};
    const int ready = ::poll(&waiting, 1, 50);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail(Code::unavailable, "{}", std::strerror(errno));
    if (clock.now() >= deadline) return fail(Code::unavailable, "no answer in time");
  }
}

Result<> connect_to(const Socket& socket, const addrinfo& to, Instant deadline) {
  if (::connect(socket.fd(), to.ai_addr, to.ai_addrlen) == 0) return {};
  if (errno != EINPROGRESS) return fail(Code::unavailable, "{}", std::strerror(errno));
  if (auto good = wait_for(socket.fd(), POLLOUT, deadline); !good) return good;
  int error = 0;
  socklen_t length = sizeof(error);
  ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return fail(Code::unavailable, "{}", std::strerror(error));
  return {};
}

}  // namespace

Result<std::string> ask(const std::string& endpoint, std::string_view word, Duration timeout) {
  const auto address = parse_address(endpoint);
  if (!address) return fail(address.error());
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(address->host.c_str(), std::to_string(address->port).c_str(), &hints, &found); code != 0)
    return fail(Code::unavailable, "{}: {}", endpoint, gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
  const Instant deadline = later(BootClock().now(), timeout);  // the name may have taken as long as it wanted
  const Socket socket(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (auto good = connect_to(socket, *found, deadline); !good) return fail(good.error().in(endpoint));
  if (::send(socket.fd(), word.data(), word.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(word.size()))
    return fail(Code::unavailable, "{}: {}", endpoint, std::strerror(errno));
  std::string answer;
  while (answer.size() < answer_bytes_max) {
    if (auto good = wait_for(socket.fd(), POLLIN, deadline); !good) return fail(good.error().in(endpoint));
    char buffer[4096];
    const ssize_t got = ::recv(socket.fd(), buffer, sizeof(buffer), 0);
    if (got <= 0) break;
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  return answer;
}

Member parse_srvr(std::string_view answer) {
  const auto after = [&](std::string_view word, std::string_view ends) -> std::string {
    const std::size_t at = answer.find(word);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = answer.substr(at + word.size());
    return std::string(rest.substr(0, std::min(rest.find_first_of(ends), rest.size())));
  };
  Member member{.version = after("Zookeeper version: ", "-, \n"), .mode = after("Mode: ", "\n"), .newest = {}};
  const std::string zxid = after("Zxid: 0x", "\n");
  std::int64_t number = 0;
  if (std::from_chars(zxid.data(), zxid.data() + zxid.size(), number, 16).ec == std::errc()) member.newest = Revision(number);
  return member;
}

std::optional<Revision> went_back(const std::vector<Member>& members, std::size_t count, Revision known) {
  std::size_t serving = 0;
  bool led = false;
  Revision newest;
  for (const Member& member : members) {
    if (member.mode.empty()) continue;
    ++serving;
    led |= member.mode == "leader" || member.mode == "standalone";
    newest = std::max(newest, member.newest);
  }
  if (!led || 2 * serving <= count || newest >= known) return std::nullopt;
  return newest;
}

}  // namespace evenkeel::store::zookeeper
