/** The patches of one line, in their order: bytes of the input that become another text. */
import { MOST_PATCHES, PATCH_BYTES } from '../layout'

/** Where they lie, how many there are, and how many bytes their texts have. */
let list: usize = 0
let count: usize = 0
let texts: usize = 0
/** Behind what the last call of `apply` has copied. */
export let appliedTo: usize = 0

export function keepPatchesAt(address: usize): void {
  list = address
}

export function noPatches(): void {
  count = 0
  texts = 0
}

export function bytesOfTexts(): usize {
  return texts
}

/** Adds a patch behind all others. False if there are too many. A part that is left out directly after another patch becomes part of that patch. */
export function patch(from: usize, to: usize, text: usize, bytes: usize): bool {
  if (count == <usize>MOST_PATCHES) return false
  const last = list + (count - 1) * PATCH_BYTES
  if (bytes == 0 && count > 0 && <usize>load<u32>(last, 4) == from) {
    store<u32>(last, u32(to), 4)
    return true
  }
  put(list + count * PATCH_BYTES, from, to, text, bytes)
  count += 1
  return true
}

/** Adds a text behind the patches that begin before or at this place. */
export function insert(place: usize, text: usize, bytes: usize): bool {
  if (count == <usize>MOST_PATCHES) return false
  let at = list + count * PATCH_BYTES
  while (at > list && <usize>load<u32>(at - PATCH_BYTES) > place) {
    v128.store(at, v128.load(at - PATCH_BYTES))
    at -= PATCH_BYTES
  }
  put(at, place, place, text, bytes)
  count += 1
  return true
}

function put(at: usize, from: usize, to: usize, text: usize, bytes: usize): void {
  store<u32>(at, u32(from))
  store<u32>(at, u32(to), 4)
  store<u32>(at, u32(text), 8)
  store<u32>(at, u32(bytes), 12)
  texts += bytes
}

/** Writes the input from `copied` on with its patches, up to the end of the last one. Returns the end of the output. */
export function apply(copied: usize, out: usize): usize {
  let from = copied
  let to = out
  const end = list + count * PATCH_BYTES
  for (let at = list; at < end; at += PATCH_BYTES) {
    to = copyTo(to, from, <usize>load<u32>(at))
    const text = <usize>load<u32>(at, 8)
    to = copyTo(to, text, text + <usize>load<u32>(at, 12))
    from = <usize>load<u32>(at, 4)
  }
  appliedTo = from
  return to
}

/** Copies [from, end), 16 bytes at a time: so up to 15 more. Returns the end of the output. */
// @ts-ignore: decorator
@inline
export function copyTo(to: usize, from: usize, end: usize): usize {
  const bytes = end - from
  for (let at: usize = 0; at < bytes; at += 16) v128.store(to + at, v128.load(from + at))
  return to + bytes
}
