/**
 * Skips answers `100 Continue` that nobody asked for. A client must accept them (RFC 9110, 15.2), and some proxies and gateways send one
 * before each answer. undici ends the connection instead.
 */
import type { Socket } from 'node:net'

const HEADS = ['HTTP/1.1 100', 'HTTP/1.0 100'] as const
/** The whole head of such an answer. It has no body. */
const WHOLE = /^[^\r\n]+\r\n(?:[^\r\n]+\r\n)*\r\n/
/** A longer head is none of these. */
const LONGEST_BYTES = 8192

/** Looks only at what comes first after something was written: there an answer begins. All other bytes stay as they are. */
export function skipContinue(socket: Socket): void {
  let isAwaiting = false
  let held: Buffer | undefined
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  socket.write = (...args: unknown[]) => {
    isAwaiting = true
    return write(...args)
  }
  socket.read = (size?: number) => {
    if (!isAwaiting || size !== undefined) return read(size)
    for (let more = read(); more !== null; more = read()) {
      const chunk = held === undefined ? more : Buffer.concat([held, more])
      const rest = withoutContinue(chunk)
      held = isUnclear(rest) ? rest : undefined
      if (held !== undefined) continue
      isAwaiting = false
      return rest
    }
    return null
  }
}

function withoutContinue(chunk: Buffer): Buffer {
  const text = chunk.toString('latin1', 0, LONGEST_BYTES)
  const [head] = (HEADS.some(one => text.startsWith(one)) && WHOLE.exec(text)) || []
  return head === undefined ? chunk : withoutContinue(chunk.subarray(head.length))
}

/** Returns whether it needs more bytes to be known. */
function isUnclear(chunk: Buffer): boolean {
  const text = chunk.toString('latin1', 0, HEADS[0].length)
  return chunk.length < LONGEST_BYTES && HEADS.some(one => one.startsWith(text))
}
