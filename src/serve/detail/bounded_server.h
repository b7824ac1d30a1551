#pragma once
// BoundedServer: the library's HTTP server, with the bounds that it lacks. It reads lines, headers and bodies without a length (chunked
// ones above all) for as long as somebody sends, gives every pause its time anew, and answers a thousand overlapping ranges with as many
// copies. Here a whole request has at most so many bytes, a request and its answer together so much time, and ranges are ignored.

#include <httplib.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "evenkeel/serve/http.h"

namespace evenkeel::serve::detail {

// One connection, as the library reads and writes it.
class Connection final : public httplib::Stream {
 public:
  Connection(socket_t socket, const HttpOptions& options) : socket_(socket), options_(options) {}
  ~Connection() override {
    ::shutdown(socket_, SHUT_RDWR);
    ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Waits for a request; then its bounds begin anew. False: none comes.
  bool next() {
    deadline_ = Clock::now() + options_.idle_max;
    if (at_ == filled_ && !ready(POLLIN)) return false;
    deadline_ = Clock::now() + options_.exchange_max;
    constexpr std::size_t head_max = std::size_t{64} << 10;
    left_ = head_max + options_.body_max.count();
    return true;
  }
  // The request was cut off: what follows is not the next one.
  bool cut_off() const { return left_ == 0; }

  bool is_readable() const override { return at_ < filled_ || ready(POLLIN); }
  bool is_writable() const override { return ready(POLLOUT); }

  ssize_t read(char* to, std::size_t size) override {
    if (left_ == 0) return -1;
    if (at_ == filled_) {
      if (!ready(POLLIN)) return -1;
      const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (got <= 0) return got;
      at_ = 0;
      filled_ = static_cast<std::size_t>(got);
    }
    const std::size_t taken = std::min({size, filled_ - at_, left_});
    std::memcpy(to, buffer_.data() + at_, taken);
    at_ += taken;
    left_ -= taken;
    return static_cast<ssize_t>(taken);
  }

  // All of it: the library does not look whether it was less.
  ssize_t write(const char* from, std::size_t size) override {
    for (std::size_t sent = 0; sent < size;) {
      if (!ready(POLLOUT)) return -1;
      const ssize_t now = ::send(socket_, from + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (now < 0 && errno != EAGAIN && errno != EINTR) return -1;
      sent += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
    }
    return static_cast<ssize_t>(size);
  }

  // Nobody here asks who it is.
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool ready(short events) const {
    const auto until = std::min(deadline_, Clock::now() + options_.pause_max);
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return false;
      pollfd waited{socket_, events, 0};
      const int found = ::poll(&waited, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
      if (found > 0) return true;
      if (found < 0 && errno != EINTR) return false;
    }
  }

  const socket_t socket_;
  const HttpOptions& options_;
  Clock::time_point deadline_;
  std::size_t left_ = 0;  // bytes that may still be read of this request
  std::array<char, 4096> buffer_{};
  std::size_t at_ = 0, filled_ = 0;
};

class BoundedServer final : public httplib::Server {
 public:
  explicit BoundedServer(HttpOptions options) : options_(std::move(options)) {}

 private:
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, options_);
    bool open = true;
    for (std::size_t left = keep_alive_max_count_; open && left > 0 && svr_sock_ != INVALID_SOCKET && connection.next(); --left) {
      bool closed = false, packed = false;
      const auto look = [&](httplib::Request& request) {
        request.ranges.clear();
        packed = request.has_header("Content-Encoding");  // it is refused unread, so nothing can follow it
      };
      open = process_request(connection, left == 1, closed, look) && !closed && !packed && !connection.cut_off();
    }
    return open;
  }

  const HttpOptions options_;
};

}  // namespace evenkeel::serve::detail
