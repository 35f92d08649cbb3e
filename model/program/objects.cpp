#include "program/objects.h"

namespace mtsim::program {

mtsim::Key Objects::changed_key(const Object& o, const KeyRef& ref, KeyPlace place) {
  mtsim::Key key = key_in_place(o, place);
  if (ref.form == KeyRef::Form::lkey) key = o.lkey;
  if (ref.form == KeyRef::Form::rkey) key = o.rkey;
  return mtsim::Key((key.raw + ref.add) ^ ref.flip);
}

}  // namespace mtsim::program
