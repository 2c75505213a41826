#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

namespace trivet::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenDraws{100};
constexpr int kWidth = 30;

}  // namespace

Progress::Progress(std::string label, std::int64_t total)
    : label_(std::move(label)), total_(total), visible_(isatty(STDERR_FILENO) == 1 && total > 0) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::advance(std::int64_t steps) {
  done_ += steps;
  const auto now = std::chrono::steady_clock::now();
  if (!visible_ || (drawn_ && now - last_ < kBetweenDraws)) return;
  last_ = now;
  drawn_ = true;
  draw();
}

void Progress::draw() const {
  const int filled = static_cast<int>(done_ >= total_ ? kWidth : done_ * kWidth / total_);
  std::string bar(static_cast<std::size_t>(filled), '#');
  bar.resize(kWidth, '.');
  std::fprintf(stderr, "\r%s [%s] %lld/%lld", label_.c_str(), bar.c_str(),
               static_cast<long long>(done_), static_cast<long long>(total_));
}

}  // namespace trivet::cli
