// Between libibverbs' names for things and ours.
#pragma once

#include <infiniband/verbs.h>

#include <optional>

#include "base/units.h"
#include "verbs/event.h"
#include "verbs/types.h"

namespace mtsim::replay {

/// Nothing for rights that this libibverbs has no name for (flush).
std::optional<unsigned> to_ibv(verbs::Access);
ibv_wr_opcode to_ibv(verbs::Opcode);
ibv_qp_type to_ibv(verbs::QpType);
ibv_qp_state to_ibv(verbs::QpState);
/// The code of a path MTU of that many bytes or the next smaller; `most` if it is 0.
ibv_mtu to_ibv_mtu(Bytes mtu, ibv_mtu most);

verbs::Status from_ibv(ibv_wc_status);
verbs::QpState from_ibv(ibv_qp_state);
/// Event::none for those that traces do not name, such as those of ports.
verbs::Event from_ibv(ibv_event_type);

}  // namespace mtsim::replay
