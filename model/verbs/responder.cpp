#include "verbs/responder.h"

namespace mtsim::verbs {

const char* explain(Check check) {
  switch (check) {
    case Check::none:
      return "none";
    case Check::opcode_sequence:
      return "the packet is not the one that must follow";
    case Check::opcode:
      return "the transport does not have this request";
    case Check::qp_access:
      return "the QP's access flags do not let peers do this";
    case Check::no_read_atomic:
      return "the QP's max_dest_rd_atomic is 0";
    case Check::no_receive:
      return "no receive is posted";
    case Check::receive_malformed:
      return "the receive cannot be carried out";
    case Check::length:
      return "the message is longer than a message may be";
    case Check::key:
      return "the key is refused";
    case Check::payload:
      return "the message has another length than its header says";
    case Check::alignment:
      return "the address of an atomic is no multiple of 8";
    case Check::receive_too_short:
      return "the message is longer than the receive";
    case Check::receive_key:
      return "the key of the receive is refused";
    case Check::dma:
      return "the host's memory does not answer";
    case Check::invalidation:
      return "the key to be invalidated is refused";
    case Check::cq_overflow:
      return "the completion queue is full";
  }
  return "";
}

}  // namespace mtsim::verbs
