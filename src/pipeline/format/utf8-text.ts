import { isUtf8 } from 'node:buffer'

interface Utf8Text {
  /** Returns the text of the chunk up to the first invalid byte. A cut character at the end waits for the next chunk. */
  decode(chunk: Uint8Array): { text: string; isValid: boolean }
  /** Whether the bytes so far end inside a character. */
  readonly isCut: boolean
}

/** Decodes UTF-8 chunk by chunk. Reports invalid bytes, where a lenient decoder would write U+FFFD. */
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

/** Counts the bytes at the end that begin a character. */
function cutLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < characterLength(byte) ? back : 0
  }
  return 0
}

/** Returns the length of a character by its first byte, or 0 if no character begins so. */
function characterLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 0
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

/** Returns how many bytes are valid, in whole characters. */
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
