// @module-tag search
/**
 * No body is overwritten while it is read: whatever a server does, each byte that it received of a body is one of that body, also
 * of bodies that were given up. Memory is used again at once: there is one body's more than requests at a time.
 */
import { describe, expect, test } from 'vitest'
import { seeded } from '../../support/random/seeded.js'
import { type Done, type Strange, type Way, load } from './body-world.js'
import { BODY_DOCS, DOCS, documentsOf } from '../../support/state/known-documents.js'

function expectAllTaken({ receipt, world }: Done): void {
  expect(receipt).toMatchObject({ read: DOCS, created: DOCS, duplicate: 0, rejected: 0, unsent: 0, unknown: 0 })
  expect(world.claimed).toBe(DOCS)
}

const refusal = (status: number) => ({ error: { type: 'illegal_argument_exception', reason: 'planted' }, status })

/** Answers what was barely begun, and reads the rest when its memory holds something else. */
const early =
  (status: number, rest: 'later' | 'slowly' | 'never'): Strange =>
  async (request, world, first) => {
    if (status === 200) world.answer(request, Array<number>(BODY_DOCS).fill(201))
    else request.answer(status, refusal(status))
    if (rest === 'never') return
    if (rest === 'later') await world.untilUsedAgain(first)
    await request.read(Infinity, rest === 'slowly')
  }

const ways: readonly (readonly [string, Way])[] = [
  ['directly', { front: 'direct' }],
  ['through CONNECT with TLS', { front: 'connect', secure: true }],
  ['directly, with gzip', { front: 'direct', gzip: true }],
  ['through SOCKS5', { front: 'socks5' }],
  ['forwarded by a proxy', { front: 'forward' }],
]

describe.each(ways)('a body that is sent %s is never overwritten while it is read', (_, way) => {
  for (const status of [200, 429]) {
    test(`when ${status} comes before it was read, and the rest is read later`, async () => {
      const done = await load(way, early(status, 'later'))
      expectAllTaken(done)
      expect(done.world.stored.size).toBe(status === 200 ? DOCS - BODY_DOCS : DOCS)
      // The connection was closed: of the body came only what the kernel had taken by then.
      expect(done.strange.map(({ isWhole }) => isWhole)).toEqual([false])
    })
  }

  test('when items are refused before it was read, and what is left is moved together', async () => {
    const half = Array.from({ length: BODY_DOCS }, (__, item) => (item % 2 === 0 ? 201 : 429))
    const strange: Strange = async (request, world) => {
      const { retries } = world
      world.answer(request, half)
      await world.until(() => world.retries > retries)
      await request.read()
    }
    const done = await load(way, strange, { gaps: true })
    expectAllTaken(done)
    expect(done.strange.map(({ isWhole }) => isWhole)).toEqual([false])
  })

  test('when the time limit runs out half-way, and the rest is read later', async () => {
    const strange: Strange = async (request, world, first) => {
      // A reader that is fast at first is given larger buffers, which may hold the rest.
      await request.read(100_000)
      await world.untilUsedAgain(first)
      await request.read()
    }
    const done = await load(way, strange, { timeoutMs: 5000 })
    expectAllTaken(done)
    expect(done.world.stored.size).toBe(DOCS)
    expect(done.strange.map(({ isWhole }) => isWhole)).toEqual([false])
  })

  test('when the connection is reset half-way', async () => {
    const strange: Strange = async request => {
      await request.read(3_000_000)
      request.reset()
    }
    const done = await load(way, strange)
    expectAllTaken(done)
    expect(done.world.stored.size).toBe(DOCS)
  })

  test('when it is read slowly and answered late', async () => {
    const strange: Strange = async (request, world) => {
      await request.read(Infinity, true)
      world.store(request, documentsOf(request))
    }
    const done = await load(way, strange, { bodies: [0, 1, 2, 3] })
    expectAllTaken(done)
    expect(done.server.requests.length).toBe(4)
  })

  test('when the caller aborts while it is read', async () => {
    const abort = new AbortController()
    const strange: Strange = async (request, world) => {
      abort.abort('enough')
      await request.read(Infinity, true)
      world.store(request, documentsOf(request))
    }
    const { receipt, world, server } = await load(way, strange, { bodies: [1], signal: abort.signal })
    expect(receipt).toMatchObject({ status: 'interrupted', created: 2 * BODY_DOCS, unknown: 0 })
    expect(receipt.created + receipt.unsent).toBe(receipt.read)
    expect(world.claimed).toBe(receipt.created)
    expect(server.requests.length).toBe(2)
  })
})

describe('a body is never overwritten while it is read', () => {
  test.each([413, 503])('when %d comes before it was read, and the rest is read later', async status => {
    const done = await load({ front: 'direct' }, early(status, 'later'))
    expectAllTaken(done)
    expect(done.strange.map(({ isWhole }) => isWhole)).toEqual([false])
  })

  test.each([200, 413, 429, 503])('when %d comes before the rest is read slowly', async status => {
    expectAllTaken(await load({ front: 'direct' }, early(status, 'slowly')))
  })

  test.each([200, 429])('when %d comes and the rest is never read', async status => {
    expectAllTaken(await load({ front: 'direct' }, early(status, 'never')))
  })

  test.each([1, 2, 3])('whatever happens to three requests at a time (seed %d)', async seed => {
    const { pick } = seeded(seed)
    const cut: Strange = async request => {
      await request.read(3_000_000)
      request.reset()
    }
    const strange: Strange = async (request, world, first) =>
      await pick([early(429, 'later'), early(503, 'slowly'), early(413, 'slowly'), cut])(request, world, first)
    const way: Way = { front: pick(['direct', 'socks5']), secure: pick([true, false]), gzip: pick([true, false]) }
    const done = await load(way, strange, { bodies: [0, 1, 2, 3], concurrency: 3 })
    expectAllTaken(done)
    expect(done.world.stored.size).toBe(DOCS)
  })
})
