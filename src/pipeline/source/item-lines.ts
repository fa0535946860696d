import { inspect, types } from 'node:util'

/** Collects documents as NDJSON lines. */
export interface CollectedLines {
  /** Rough number of bytes collected and not taken. */
  readonly length: number
  add(item: unknown): void
  take(): Uint8Array
}

/** Makes each item exactly one line. An item that is no JSON is rejected later, with its position. */
export function collectLines(): CollectedLines {
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

/** Copies the bytes. Bytes that are not UTF-8 stay, so that the rejection can show them. */
function withoutLineEnds(bytes: Uint8Array): Uint8Array {
  return bytes.map(byte => (byte === 0x0a || byte === 0x0d ? 0x20 : byte))
}

function lineOf(item: unknown): string {
  if (typeof item === 'string') return item.replaceAll(/[\r\n]/g, ' ')
  try {
    // JSON.stringify returns undefined for undefined, functions and symbols.
    const json: unknown = JSON.stringify(item)
    return typeof json === 'string' && !(json === '{}' && hidesItsContent(item)) ? json : describe(item)
  } catch {
    return describe(item)
  }
}

/** Returns whether JSON.stringify would make an empty object of it, whatever it holds. */
function hidesItsContent(item: unknown): boolean {
  return types.isMap(item) || types.isSet(item) || types.isNativeError(item) || types.isAnyArrayBuffer(item)
}

/** Describes an item in a line that is never valid JSON. */
function describe(item: unknown): string {
  try {
    const options = { breakLength: Infinity, compact: true, depth: 5, maxArrayLength: null, maxStringLength: null }
    return `not JSON: ${inspect(item, options).replaceAll(/\s*[\r\n]\s*/g, ' ')}`
  } catch {
    return `not JSON: ${typeof item}`
  }
}

/** Encodes text, with half surrogate pairs as escapes. UTF-8 cannot hold them and would turn them into U+FFFD. */
function encode(text: string): Buffer {
  return Buffer.from(text.replaceAll(/\p{Surrogate}/gu, half => `\\u${half.charCodeAt(0).toString(16)}`))
}
