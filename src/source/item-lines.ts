import { inspect, types } from 'node:util'

/** Documents put together as NDJSON lines, until they are taken. */
export interface ItemLines {
  /** Roughly, in bytes, of what has been added and not taken. */
  readonly length: number
  add(item: unknown): void
  take(): Uint8Array
}

/** Each item becomes exactly one line, whatever it is: one that is no JSON is refused later, with its position. */
export function itemLines(): ItemLines {
  let done: Uint8Array[] = []
  let text = ''
  let length = 0

  return {
    get length() {
      return length
    },
    add(item) {
      const line = types.isUint8Array(item) ? withoutLineEnds(item) : lineOf(item)
      length += line.length + 1
      if (typeof line === 'string') {
        text += `${line}\n`
      } else {
        done.push(encode(text), line)
        text = '\n'
      }
    },
    take() {
      const bytes = done.length === 0 ? encode(text) : Buffer.concat([...done, encode(text)])
      done = []
      text = ''
      length = 0
      return bytes
    },
  }
}

/** A copy: bytes that are not UTF-8 stay as they are, for the refusal to show them. */
function withoutLineEnds(bytes: Uint8Array): Uint8Array {
  return bytes.map(byte => (byte === 0x0a || byte === 0x0d ? 0x20 : byte))
}

function lineOf(item: unknown): string {
  if (typeof item === 'string') return item.replaceAll(/[\r\n]/g, ' ')
  try {
    // Undefined for undefined, functions and symbols, whatever the types say.
    const json: unknown = JSON.stringify(item)
    return typeof json === 'string' && !(json === '{}' && hidesItsContent(item)) ? json : describe(item)
  } catch {
    return describe(item)
  }
}

/** JSON.stringify makes an empty object of these, whatever they hold. */
function hidesItsContent(item: unknown): boolean {
  return types.isMap(item) || types.isSet(item) || types.isNativeError(item) || types.isAnyArrayBuffer(item)
}

/** Never valid JSON, also where what `inspect` shows would be. */
function describe(item: unknown): string {
  try {
    const options = { breakLength: Infinity, compact: true, depth: 5, maxArrayLength: null, maxStringLength: null }
    return `not JSON: ${inspect(item, options).replaceAll(/\s*[\r\n]\s*/g, ' ')}`
  } catch {
    return `not JSON: ${typeof item}`
  }
}

/** UTF-8 cannot hold half a surrogate pair. As an escape it means the same; left alone it would turn into U+FFFD. */
function encode(text: string): Buffer {
  return Buffer.from(text.replaceAll(/\p{Surrogate}/gu, half => `\\u${half.charCodeAt(0).toString(16)}`))
}
