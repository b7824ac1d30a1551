// A run as a picture: time goes to the right, one row a node. A row's ground says whether the node runs, the bar on it how many shards it
// leads; numbered marks above are what the story did, listed below. Colours are of middle lightness, so that the picture can be read on
// light and on dark ground.

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "evenkeel/base/text.h"
#include "evenkeel/sim/detail/moments.h"
#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace {

constexpr double chart_width = 860;
constexpr double top = 56;     // above the rows: title and marks
constexpr double margin = 16;  // around everything
constexpr std::size_t marks_max = 60;

constexpr std::string_view style =
    "text{font:11px system-ui,sans-serif;fill:#767676}.title{font-size:13px}.small{font-size:9px}.end{text-anchor:end}"
    ".mid{text-anchor:middle}.up{fill:#7aa6c9;fill-opacity:.35}.still{fill:#d9a441;fill-opacity:.75}.gone{fill:#888;fill-opacity:"
    ".22}"
    ".leads{fill:#3f7fb3}.unled{fill:#c8553d}.line{stroke:#888;stroke-width:1;stroke-opacity:.5}"
    ".mark{fill:#767676}.number{font-size:9px;fill:#fff}.bad{fill:#c8403a}.badline{stroke:#c8403a;stroke-width:1.5}";

std::string escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t good = find_invalid_utf8(text).value_or(text.size());
    for (const char c : text.substr(0, good)) {
      switch (c) {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '"':
          out += "&quot;";
          break;
        default:
          out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
      }
    }
    text.remove_prefix(good);
    if (text.empty()) break;
    out += "\xef\xbf\xbd";
    text.remove_prefix(1);
  }
  return out;
}

std::string number(double value) { return format_decimal(value, 1); }

// Round steps, of which the axis has at most ten.
Duration step_of(Duration length) {
  constexpr std::array<Duration, 17> steps = {100ms, 200ms, 500ms, 1s,    2s, 5s, 10s, 30s, 1min,
                                              2min,  5min,  10min, 30min, 1h, 2h, 6h,  24h};
  for (const Duration step : steps) {
    if (length / step <= 10) return step;
  }
  return 24h * (1 + length / (24h * 10));
}

class Plot {
 public:
  explicit Plot(const Outcome& outcome) : outcome_(outcome), length_(std::max(outcome.time, Duration(1ms))) {
    std::set<NodeId> names;
    for (const Sample& sample : outcome.samples) {
      for (const NodeSample& node : sample.nodes) {
        names.insert(node.node);
        leaders_max_ = std::max(leaders_max_, node.leaders);
      }
      unled_max_ = std::max(unled_max_, sample.unled);
    }
    names_.assign(names.begin(), names.end());
    row_ = std::clamp(600.0 / static_cast<double>(std::max<std::size_t>(names_.size(), 1)), 3.0, 24.0);
    std::size_t longest = 9;
    for (const NodeId& name : names_) longest = std::max(longest, std::min<std::size_t>(name.str().size(), 24));
    left_ = margin + 6.5 * static_cast<double>(longest) + 8;
    bottom_ = top + row_ * static_cast<double>(names_.size()) + 22;  // the rows, and the lane of shards without leaders
    for (const Moment& moment : outcome.timeline) {
      if (moment.who == "story") marks_.push_back(&moment);
    }
  }

  std::string draw() {
    for (std::size_t row = 0; row < names_.size(); ++row) draw_node(row);
    draw_unled();
    draw_axis();
    draw_marks();
    draw_failure();
    const double height = draw_list(bottom_ + 40) + margin;
    const double width = left_ + chart_width + margin;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\">\n<style>{2}</style>\n{3}</svg>\n",
        number(width), number(height), style, body_);
  }

 private:
  double x(Duration at) const {
    return left_ + chart_width * static_cast<double>(at.count()) / static_cast<double>(length_.count());
  }
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(body_), text, std::forward<Args>(args)...);
  }
  void add_text(double at_x, double at_y, std::string_view kind, std::string_view text) {
    add("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", kind, number(at_x), number(at_y), escape(text));
  }
  void add_bar(std::string_view kind, Duration from, Duration to, double y, double height, std::string_view title) {
    add("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">", kind, number(x(from)), number(y),
        number(x(to) - x(from)), number(height));
    if (!title.empty()) add("<title>{}</title>", escape(title));
    add("</rect>\n");
  }
  void add_line(std::string_view kind, double x1, double y1, double x2, double y2) {
    add("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", kind, number(x1), number(y1), number(x2), number(y2));
  }
  // From one sample to the next; the last holds to the end.
  Duration end_of(std::size_t sample) const {
    return sample + 1 < outcome_.samples.size() ? outcome_.samples[sample + 1].at : outcome_.time;
  }

  // One bar for a time in which nothing changes.
  void draw_node(std::size_t row) {
    const NodeId& name = names_[row];
    const double y = top + row_ * static_cast<double>(row);
    if (row_ >= 11) add_text(left_ - 8, y + row_ / 2 + 4, "end", name.str().substr(0, 24));
    const NodeSample* last = nullptr;
    Duration since{};
    for (std::size_t at = 0; at < outcome_.samples.size(); ++at) {
      const auto& nodes = outcome_.samples[at].nodes;
      const auto found = std::ranges::find(nodes, name, &NodeSample::node);
      const NodeSample* now = found == nodes.end() ? nullptr : &*found;
      const bool same = (last == nullptr && now == nullptr) || (last != nullptr && now != nullptr && *last == *now);
      if (same) continue;
      if (last != nullptr) draw_stretch(*last, since, outcome_.samples[at].at, y);
      last = now;
      since = outcome_.samples[at].at;
    }
    if (last != nullptr) draw_stretch(*last, since, outcome_.time, y);
  }

  void draw_stretch(const NodeSample& node, Duration from, Duration to, double y) {
    constexpr std::array<std::string_view, 3> kinds = {"up", "still", "gone"};
    constexpr std::array<std::string_view, 3> words = {"runs", "stands still", "is gone"};
    const auto state = static_cast<std::size_t>(node.state);
    const double gap = row_ > 8 ? 2 : 0.5;
    const auto title = fmt::format("{} {}, from {} to {}: {} replicas, {} leaders", node.node, words[state],
                                   detail::format_time(from), detail::format_time(to), node.replicas, node.leaders);
    add_bar(kinds[state], from, to, y, row_ - gap, title);
    if (node.leaders > 0) {
      // At most its lower half, where numbers stand above it.
      const double most = row_ >= 14 ? (row_ - gap) / 2 : row_ - gap;
      const double height = most * static_cast<double>(node.leaders) / static_cast<double>(leaders_max_);
      add_bar("leads", from, to, y + row_ - gap - height, height, title);
    }
    const std::string label = fmt::format("{}/{}", node.leaders, node.replicas);
    const bool fits = x(to) - x(from) > 7 * static_cast<double>(label.size()) && row_ >= 14;
    if (fits && node.replicas > 0) add_text(x(from) + 3, y + 9, "small", label);
  }

  void draw_unled() {
    const double y = bottom_ - 20;
    add_text(left_ - 8, y + 12, "end", "no leader");
    for (std::size_t at = 0; at < outcome_.samples.size(); ++at) {
      const Sample& sample = outcome_.samples[at];
      if (sample.unled == 0) continue;
      const double height = 16.0 * static_cast<double>(sample.unled) / static_cast<double>(unled_max_);
      add_bar("unled", sample.at, end_of(at), y + 16 - height, height,
              fmt::format("{} shards without a leader at {}", sample.unled, detail::format_time(sample.at)));
    }
  }

  void draw_axis() {
    add_line("line", left_, bottom_, left_ + chart_width, bottom_);
    const Duration step = step_of(length_);
    for (Duration at{}; at <= length_; at += step) {
      add_line("line", x(at), bottom_, x(at), bottom_ + 4);
      add_text(x(at), bottom_ + 16, "mid", detail::format_time(at));
    }
  }

  void draw_marks() {
    double taken = 0;  // up to where the lane is written on
    for (std::size_t at = 0; at < marks_.size(); ++at) {
      const double mark = x(marks_[at]->at);
      add_line("line", mark, top - 14, mark, bottom_);
      const bool room = at < marks_max && mark - 7 >= taken;
      add("<g><title>{}</title>", escape(fmt::format("{} {}", detail::format_time(marks_[at]->at), marks_[at]->what)));
      add("<circle class=\"mark\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", number(mark), number(room ? top - 20 : top - 9),
          room ? "7" : "2");
      if (room) {
        add("<text class=\"number mid\" x=\"{}\" y=\"{}\">{}</text>", number(mark), number(top - 16.8), at + 1);
        taken = mark + 8;
      }
      add("</g>\n");
    }
  }

  void draw_failure() {
    const std::string title =
        outcome_.failure ? *outcome_.failure : fmt::format("{}: as expected", detail::format_time(outcome_.time));
    add_text(left_, margin + 4, outcome_.failure ? "title bad" : "title", title.substr(0, 400));
    if (outcome_.failure) add_line("badline", x(outcome_.time), top - 14, x(outcome_.time), bottom_);
  }

  // What the marks are, in columns; returns where it ends.
  double draw_list(double y) {
    constexpr std::size_t columns = 2;
    const std::size_t shown = std::min(marks_.size(), marks_max);
    const std::size_t rows = (shown + columns - 1) / columns;
    for (std::size_t at = 0; at < shown; ++at) {
      const double column_x = left_ + chart_width / columns * static_cast<double>(at / std::max<std::size_t>(rows, 1));
      const double row_y = y + 15 * static_cast<double>(at % std::max<std::size_t>(rows, 1));
      add_text(column_x + 18, row_y, "end", fmt::format("{}", at + 1));
      add_text(column_x + 26, row_y, "",
               fmt::format("{}  {}", detail::format_time(marks_[at]->at), marks_[at]->what.substr(0, 64)));
    }
    double end = y + 15 * static_cast<double>(rows);
    if (marks_.size() > shown) add_text(left_ + 26, end, "", fmt::format("and {} more", marks_.size() - shown)), end += 15;
    add_text(left_, end + 4, "small", "ground: blue runs, amber stands still, grey is gone; bar: shards led; numbers: led/held");
    return end + 8;
  }

  const Outcome& outcome_;
  Duration length_;
  std::vector<NodeId> names_;
  std::vector<const Moment*> marks_;
  std::uint32_t leaders_max_ = 1;
  std::uint32_t unled_max_ = 1;
  double row_ = 24;
  double left_ = 0;
  double bottom_ = 0;
  std::string body_;
};

}  // namespace

std::string plot_svg(const Outcome& outcome) { return Plot(outcome).draw(); }

}  // namespace evenkeel::sim
