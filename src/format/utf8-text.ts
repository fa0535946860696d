import { isUtf8 } from 'node:buffer'

export interface Utf8Text {
  /** The text of the chunk, as far as it is whole characters and valid; the rest of a cut character waits for the next chunk. */
  decode(chunk: Uint8Array): { text: string; isValid: boolean }
  /** Whether the bytes so far end within a character. */
  readonly isCut: boolean
}

/** UTF-8 to text, chunk by chunk. What is not UTF-8 is told, where a lenient decoder would put U+FFFD in its place. */
export function utf8Text(): Utf8Text {
  let cut = Buffer.alloc(0)
  return {
    get isCut() {
      return cut.length > 0
    },
    decode(chunk) {
      const bytes =
        cut.length > 0 ? Buffer.concat([cut, chunk]) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
      const whole = bytes.length - cutLength(bytes)
      cut = Buffer.from(bytes.subarray(whole))
      const isValid = isUtf8(bytes.subarray(0, whole))
      const end = isValid ? whole : validLength(bytes.subarray(0, whole))
      return { text: bytes.toString('utf8', 0, end), isValid }
    },
  }
}

/** How many bytes at the end are the beginning of a character. */
function cutLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < characterLength(byte) ? back : 0
  }
  return 0
}

/** By its first byte; 0 for one that begins none. */
function characterLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 0
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

/** How far the bytes are valid, in whole characters. */
function validLength(bytes: Uint8Array): number {
  let valid = 0
  let invalid = bytes.length
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >>> 1
    const start = bytes.subarray(0, middle)
    if (isUtf8(start.subarray(0, middle - cutLength(start)))) valid = middle
    else invalid = middle
  }
  return valid - cutLength(bytes.subarray(0, valid))
}
