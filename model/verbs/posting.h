// What a provider library looks at before a request goes to the device: the checks of ibv_post_send, ibv_post_recv and ibv_bind_mw, and
// the errno of each, by rule set. Pure functions on what the library knows. Keys, ranges and rights are never looked at here.
#pragma once

#include <cstdint>

#include "verbs/device.h"
#include "verbs/rules.h"

namespace mtsim::verbs {

enum class PostCheck : std::uint8_t {
  none,
  opcode,            ///< one that the provider has
  room,              ///< the queue has a free place
  state,             ///< the QP has been set to a state that takes the request
  elements,          ///< as many as the queue was made for
  type,              ///< the QP's type has the opcode
  length_sum,        ///< 2^31 bytes together at most
  atomic_length,     ///< room for the old value, 8 bytes
  atomic_alignment,  ///< the word lies at a multiple of 8
  inline_not_data,   ///< inline with SENDs and WRITEs alone
  inline_bytes,      ///< as many as the queue was made for
  bind_form,
  bind_pd,
  bind_length,
};
const char* explain(PostCheck check);

struct Refused {
  int error = 0;  ///< a positive errno; 0: it is posted
  PostCheck check = PostCheck::none;
  explicit operator bool() const { return error != 0; }
};

/// A send queue as its library knows it.
struct SendQueueView {
  QpType type = QpType::rc;
  bool ready = false;         ///< the QP was set to RTS, or beyond
  std::uint32_t free = 0;     ///< places
  std::uint32_t sges = 0;     ///< as granted
  std::uint32_t inlined = 0;  ///< bytes, as granted
};

/// A receive queue of a QP's own, or a shared one.
struct ReceiveQueueView {
  bool shared = false;
  bool ready = false;  ///< the QP was set to INIT, or beyond; of a shared queue always
  std::uint32_t free = 0;
  std::uint32_t sges = 0;
};

Refused check_post_send(const SendQueueView& queue, const SendRequest& request, const Rules& rules);
Refused check_post_recv(const ReceiveQueueView& queue, const RecvRequest& request, const Rules& rules);

/// What an ibv_mw and an ibv_mr say.
struct WindowView {
  Handle pd = 0;
  std::uint8_t type = 1;
};
struct RegionView {
  Handle pd = 0;
  Access access = Access::none;
};
/// What ibv_bind_mw looks at before it posts. `region` is null where the request names none.
Refused check_bind_mw(const BindMwRequest& request, const WindowView& window, const RegionView* region, const Rules& rules);

/// Opcodes of which nothing is looked at but room, state and elements, and, for those that go inline, how many bytes they are: whoever
/// keeps the two sets asks check_post_send about the others alone.
struct PlainOpcodes {
  OpcodeSet gathered, inlined;
};
PlainOpcodes plain_opcodes(QpType type, const Rules& rules);

}  // namespace mtsim::verbs
