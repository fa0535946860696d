import { isAscii } from 'node:buffer'
import type { Encoding } from './formats.js'

/** Turns chunks into UTF-8. Bytes that are not valid become bytes that are not valid there either, so that their row is rejected. */
export type ToUtf8 = (chunk: Uint8Array, isLast: boolean) => Buffer

export function toUtf8(encoding: Encoding): ToUtf8 {
  switch (encoding) {
    case 'utf-8':
      return asItIs
    case 'windows-1252':
      return fromWindows1252
    case 'utf-16le':
    case 'utf-16be': {
      const decoder = new TextDecoder(encoding, { ignoreBOM: true })
      return (chunk, isLast) => withInvalid(decoder.decode(chunk, { stream: !isLast }))
    }
  }
}

function asItIs(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

const INVALID = Buffer.of(0xff)

/** The decoder writes U+FFFD for what is not valid. */
function withInvalid(text: string): Buffer {
  const [first = '', ...parts] = text.split('\ufffd')
  if (parts.length === 0) return Buffer.from(first)
  return Buffer.concat([Buffer.from(first), ...parts.flatMap(part => [INVALID, Buffer.from(part)])])
}

/** The characters of the bytes 0x80 to 0x9f. Those without any keep their number, as in browsers. */
const SPECIAL = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** Each byte from 0x80 in UTF-8. Node's own decoder takes Windows-1252 for Latin-1 in some versions. */
const HIGH = Array.from({ length: 128 }, (_, at) => Buffer.from(SPECIAL[at] ?? String.fromCharCode(0x80 + at)))

function fromWindows1252(chunk: Uint8Array): Buffer {
  if (isAscii(chunk)) return asItIs(chunk)
  const out = Buffer.allocUnsafe(chunk.length * 3)
  let to = 0
  for (let at = 0; at < chunk.length; at += 1) {
    const byte = chunk[at] as number
    if (byte < 0x80) out[to++] = byte
    else {
      const character = HIGH[byte - 0x80] as Buffer
      for (let part = 0; part < character.length; part += 1) out[to++] = character[part] as number
    }
  }
  return out.subarray(0, to)
}
