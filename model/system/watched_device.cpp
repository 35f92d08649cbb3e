#include "system/watched_device.h"

#include <string_view>

namespace mtsim::system {

WatchedDevice::WatchedDevice(verbs::Device& inner, CallWatcher& watcher, std::uint32_t port, std::uint32_t threads)
    : inner_(inner), watcher_(watcher), port_(port), waiting_(threads) {
  for (Waiting& waiting : waiting_) waiting.device = this;
}

void WatchedDevice::finished(Waiting& waiting) {
  waiting.pending = false;
  WatchedCall& call = waiting.call;
  call.end = now();
  if (std::string_view(call.name) == create_qp_name && call.reply->error == 0) {
    const Handle qp = call.reply->handle;
    if (qpns_.size() <= qp) qpns_.resize(qp + 1);
    call.qpn = qpns_[qp] = static_cast<std::uint32_t>(call.reply->value);
  }
  watcher_.called(port_, call);
  // The caller may make its next call at once, in this same place.
  waiting.caller->resume();
}

void WatchedDevice::tell_rest() {
  for (Waiting& waiting : waiting_) {
    if (!waiting.pending) continue;
    waiting.call.end = now();
    waiting.call.finished = false;
    watcher_.called(port_, waiting.call);
  }
}

}  // namespace mtsim::system
