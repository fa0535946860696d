/** One load of known documents against one server that is strange to some of its bodies. */
import { type IngestOptions, type Receipt, ingest } from '../../../src/index.js'
import { isSluiceError } from '../../../src/base/failure/failure.js'
import { createAuthority } from '../../support/servers/proxy-certificates.js'
import { type BodyServer, type BulkRequest, type Front, startBodyServer } from './body-server.js'
import { BODY_DOCS, bytesUpTo, documentStream, documentsOf } from '../../support/state/known-documents.js'

/** Enough to know a body by its first document, and so little that the kernel takes no more of the rest than it would unread. */
const BEGINNING_BYTES = 40_000

const authority = await createAuthority('Body memory CA')
const certificate = await authority.issue(['localhost'])

export interface Way {
  readonly front: Front
  readonly secure?: boolean
  readonly gzip?: boolean
}

/** One load against one server: what the server does with a request, told as it happens. */
class World {
  /** Item results that the server gave as 201. */
  claimed = 0
  readonly stored = new Set<number>()
  pulled = 0
  retries = 0
  #isOver = false
  #waiting: { when: () => boolean; go: () => void }[] = []

  until(when: () => boolean): Promise<void> {
    return new Promise(go => {
      this.#waiting.push({ when, go })
      this.note()
    })
  }

  /** Until the memory of the body that begins with this document holds another one. At one request at a time: two bodies on. */
  untilUsedAgain(first: number): Promise<void> {
    const enough = bytesUpTo(first - 1 + 3 * BODY_DOCS)
    return this.until(() => this.pulled >= enough)
  }

  note(more: Partial<Pick<World, 'pulled' | 'retries'>> = {}): void {
    Object.assign(this, more)
    for (const { when, go } of this.#waiting) if (this.#isOver || when()) go()
  }

  end(): void {
    this.#isOver = true
    this.note()
  }

  /** Takes the whole body and answers each of its documents. */
  store(request: BulkRequest, numbers: readonly number[]): void {
    const isNew = numbers.map(n => !this.stored.has(n))
    for (const n of numbers) this.stored.add(n)
    const statuses = isNew.map(created => (created ? 201 : 409))
    this.answer(request, statuses, true)
  }

  answer(request: BulkRequest, statuses: readonly number[], last = false): void {
    this.claimed += statuses.filter(status => status === 201).length
    const errors = statuses.some(status => status !== 201)
    const error = { type: 'refused', reason: 'planted' }
    const items = statuses.map(status => ({ create: status === 201 ? { status } : { status, error } }))
    request.answer(200, { errors, items }, last)
  }
}

/** `first`: the number of the first document of the body, of which a beginning has been read. */
export type Strange = (request: BulkRequest, world: World, first: number) => Promise<void>

export interface Done {
  readonly receipt: Receipt
  readonly world: World
  readonly server: BodyServer
  /** The requests that were not treated as a cluster treats them. */
  readonly strange: readonly BulkRequest[]
}

/** Loads all documents. The server is strange to the first request for each of the bodies that are named, from 0. */
export async function load(
  way: Way,
  strange: Strange,
  { bodies = [0], gaps = false, signal, ...more }: Partial<IngestOptions> & { bodies?: number[]; gaps?: boolean } = {},
): Promise<Done> {
  const world = new World()
  const giveUp = new AbortController()
  const met = new Set<number>()
  const treated: BulkRequest[] = []
  const tls = way.secure === true ? { tls: certificate } : {}
  await using server = await startBodyServer({ front: way.front, ...tls }, async request => {
    await request.read(BEGINNING_BYTES)
    const [first = NaN] = documentsOf(request, gaps)
    const body = (first - 1) / BODY_DOCS
    if (bodies.includes(body) && !met.has(body)) {
      met.add(body)
      treated.push(request)
      await strange(request, world, first)
    } else {
      await request.read()
      const numbers = documentsOf(request, gaps)
      if (request.isWhole) world.store(request, numbers)
    }
  })
  const here = `127.0.0.1:${server.port}`
  const scheme = way.secure === true ? 'https' : 'http'
  const straight = { target: { url: `${scheme}://localhost:${server.port}`, ca: authority.cert } }
  const proxied = {
    target: { url: `${scheme}://localhost:9200`, ca: authority.cert },
    proxy: way.front === 'socks5' ? `socks5://${here}` : `http://${here}`,
  }
  const run = ingest({
    ...(way.front === 'direct' ? straight : proxied),
    source: documentStream(pulled => world.note({ pulled })),
    index: 'bytes',
    batchBytes: 12_000_000,
    batchDocs: BODY_DOCS,
    // On a slow machine a body would be sent before it is full.
    batchMs: 3_600_000,
    concurrency: 1,
    compress: way.gzip === true ? 'gzip' : 'none',
    preflightConnections: 1,
    deadLetters: false,
    onEvent: event => event.type === 'retry' && world.note({ retries: world.retries + 1 }),
    ...more,
    signal: AbortSignal.any([giveUp.signal, ...(signal === undefined ? [] : [signal])]),
  }).catch((error: unknown) => {
    if (isSluiceError(error) && error.receipt !== undefined) return error.receipt as Receipt
    throw error
  })
  const receipt = await Promise.race([server.broken, run]).finally(() => giveUp.abort())
  world.end()
  await Promise.race([server.broken, server.settled()])
  for (const request of treated) documentsOf(request, gaps)
  return { receipt, world, server, strange: treated }
}
