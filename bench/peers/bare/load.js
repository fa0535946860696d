/**
 * The mechanism alone: bytes from a file into fixed memory, one kernel call per chunk or full body, bodies to the socket
 * without a copy. No retries, no accounting, no proxy rules, no options: what is left of Sluice without the product.
 *
 *   node load.js KERNEL FILE URL INDEX CONNECTIONS checked|unchecked [PROXY]
 */
import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { Pool, ProxyAgent } from 'undici'

const [kernelFile, file, url, index, connectionCount, checking, proxy] = process.argv.slice(2)
const connections = Number(connectionCount)
const check = checking === 'checked'

const CHUNK = 1 << 20
const LONGEST_LINE = 1 << 20
const BODY = 5_000_000
/** The kernel loads and stores 16 bytes at a time, three times in a row. */
const SLACK = 64
const STATICS = 65_536

const chunkCapacity = LONGEST_LINE + CHUNK + SLACK
/** A body is full once it has passed BODY: by the last document and its action. */
const bodyCapacity = BODY + LONGEST_LINE + 256 + SLACK
const bodies = connections + 1
const memory = new WebAssembly.Memory({
  initial: Math.ceil((STATICS + 2 * chunkCapacity + bodies * bodyCapacity + 256) / 65_536),
})
const { instance } = await WebAssembly.instantiate(await readFile(kernelFile), { env: { memory } })
const kernel = instance.exports

let reserved = STATICS
function reserve(bytes) {
  const address = reserved
  reserved += (bytes + 15) & ~15
  return { address, bytes: Buffer.from(memory.buffer, address, bytes) }
}

const action = reserve(64)
const actionText = check ? `{"create":{"_id":"${randomBytes(6).toString('base64url')}-` : '{"index":{}}\n'
action.bytes.write(actionText)
let number = check ? 0 : -1

const origin = new URL(url).origin
const pool = proxy ? new ProxyAgent({ uri: proxy, connections, proxyTunnel: true }) : new Pool(origin, { connections })
const path = `/${index}/_bulk?filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.failure_store`
const headers = { 'content-type': 'application/x-ndjson', accept: 'application/json' }

function post(bytes) {
  return new Promise((resolve, reject) => {
    let status = 0
    let start
    pool.dispatch(
      { origin, path, method: 'POST', headers, body: bytes },
      {
        onRequestStart() {},
        onResponseStart(_controller, code) {
          status = code
        },
        onResponseData(_controller, part) {
          start ??= part.latin1Slice(0, 64)
        },
        onResponseEnd() {
          if (status === 200 && start?.includes('"errors":false')) resolve()
          else reject(new Error(`answer ${status}: ${start}`))
        },
        onResponseError(_controller, error) {
          reject(error)
        },
      },
    )
  })
}

const free = Array.from({ length: bodies }, () => reserve(bodyCapacity))
const waiting = []
const underWay = new Set()

// No free body, no reading: this is all the backpressure there is.
const takeBody = () => free.pop() ?? new Promise(resolve => waiting.push(resolve))

function send(body, bytes) {
  const sent = post(body.bytes.subarray(0, bytes)).then(
    () => {
      underWay.delete(sent)
      const next = waiting.shift()
      if (next) next(body)
      else free.push(body)
    },
    error => {
      process.stderr.write(`${error.stack}\n`)
      process.exit(1)
    },
  )
  underWay.add(sent)
}

const input = await open(file)
const chunks = [reserve(chunkCapacity), reserve(chunkCapacity)]
let current = 0
let held = 0
let body = await takeBody()
let filled = 0
let reading = input.read(chunks[0].bytes, 0, CHUNK)
for (;;) {
  const { bytesRead } = await reading
  const chunk = chunks[current]
  let end = held + bytesRead
  if (end === 0) break
  const last = bytesRead === 0
  if (last && chunk.bytes[end - 1] !== 10) chunk.bytes[end++] = 10
  const stop = last ? end : chunk.bytes.lastIndexOf(10, end - 1) + 1
  // What follows the last newline goes to the start of the other buffer, and the next read lands behind it.
  held = end - stop
  if (held > LONGEST_LINE) throw new Error('a line is longer than the buffers')
  const other = chunks[1 - current]
  if (held > 0) chunk.bytes.copy(other.bytes, 0, stop, end)
  if (!last) reading = input.read(other.bytes, held, CHUNK)

  if (check && !isUtf8(chunk.bytes.subarray(0, stop))) throw new Error('not UTF-8')
  let at = 0
  while (at < stop) {
    const to = body.address + filled
    const limit = body.address + BODY
    kernel.splice(chunk.address + at, chunk.address + stop, to, limit, action.address, actionText.length, number, check)
    at = kernel.readTo.value - chunk.address
    filled = kernel.wroteTo.value - body.address
    if (check) number += kernel.documents.value
    if (filled >= BODY) {
      send(body, filled)
      body = await takeBody()
      filled = 0
    } else if (at < stop) throw new Error('a line is no JSON object')
  }
  if (last) break
  current = 1 - current
}
if (filled > 0) send(body, filled)
await Promise.all(underWay)
await pool.close()
await input.close()
