#include "verbs/requester.h"

namespace mtsim::verbs {

RequestCheck check_work(const WorkView& request, const Rules& rules) {
  if (request.flushes) return RequestCheck::flushed;
  if (!rules.opcodes[unsigned(request.type)].has(request.opcode)) return RequestCheck::opcode;
  if (request.longest_element > rules.requester.longest_element) return RequestCheck::element;
  if (request.length > rules.requester.longest) return RequestCheck::length;
  return request.type == QpType::ud && request.length > request.mtu ? RequestCheck::datagram : RequestCheck::none;
}

Status status_of(RequestCheck check, const Rules& rules) {
  switch (check) {
    case RequestCheck::none:
      return Status::SUCCESS;
    case RequestCheck::flushed:
      return Status::WR_FLUSH_ERR;
    case RequestCheck::opcode:
    case RequestCheck::element:
      return rules.requester.unfit;
    case RequestCheck::length:
      return rules.requester.too_long;
    case RequestCheck::datagram:
      return rules.requester.datagram_too_long;
  }
  return Status::GENERAL_ERR;
}

std::optional<std::uint32_t> retries(std::uint8_t retry_cnt, const Rules& rules) {
  if (retry_cnt == 7 && rules.requester.retry_7_is_forever) return std::nullopt;
  return retry_cnt;
}

std::optional<std::uint32_t> rnr_retries(std::uint8_t rnr_retry) {
  if (rnr_retry == 7) return std::nullopt;
  return rnr_retry;
}

const char* explain(RequestCheck check) {
  switch (check) {
    case RequestCheck::none:
      return "none";
    case RequestCheck::flushed:
      return "the queue is in an error state";
    case RequestCheck::opcode:
      return "the transport does not have this request";
    case RequestCheck::element:
      return "an element is longer than a work request can say";
    case RequestCheck::length:
      return "the message is longer than a message may be";
    case RequestCheck::datagram:
      return "the datagram is longer than a packet";
  }
  return "";
}

}  // namespace mtsim::verbs
