// What actors carry out, in the words of Program::uses(), and the refusal of the rest before a run starts.
#include "base/error.h"
#include "program/actor.h"

namespace mtsim::program {

const std::set<std::string>& carried_out() {
  static const std::set<std::string> words{
      "mmap",
      "mmap backing=file",
      "mmap backing=io",
      "mmap prot=",
      "mmap share=shared",
      "munmap",
      "mprotect",
      "touch",
      "copy",
      "madvise",
      "swapout",
      "migrate",
      "fork",
      "fork_init",
      "memlock",
      "cap_ipc_lock",
      "alloc_pd",
      "alloc_pd dev=",
      "dealloc_pd",
      "reg_mr",
      "reg_mr access=od",
      "reg_mr access=zb",
      "reg_mr access=ht",
      "reg_mr implicit",
      "reg_mr iova=",
      "rereg_mr",
      "dereg_mr",
      "advise_mr",
      "dma",
      "alloc_mw",
      "bind_mw",
      "dealloc_mw",
      "create_cq",
      "destroy_cq",
      "create_srq",
      "destroy_srq",
      "create_qp",
      "create_qp srq=",
      "create_qp type=uc",
      "create_qp type=ud",
      "connect",
      "modify_qp",
      "destroy_qp",
      "query_qp",
      "event",
      "post_send",
      "post_send write",
      "post_send read",
      "post_send write_imm",
      "post_send send",
      "post_send send_imm",
      "post_send send_inv",
      "post_send bind_mw",
      "post_send local_inv",
      "post_send cas",
      "post_send faa",
      "post_send flags=fence",
      "post_recv",
      "post_srq",
      "poll",
      "poll hazard=",
      "poll wait=event",
      "barrier",
      "compute",
      "sleep",
  };
  return words;
}

void refuse_unsupported(const Program& program, const std::set<std::string>& supported) {
  std::vector<std::string> messages;
  for (const Program::Use& use : program.uses())
    if (!supported.contains(use.what)) messages.push_back(use.place + ": '" + use.what + "' is not modelled yet");
  if (!messages.empty()) throw UserError(std::move(messages));
}

}  // namespace mtsim::program
