import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { Batch, Outcome } from '../../../../src/base/flow.js'
import { deliver } from '../../../../src/route/sender/deliver.js'
import { type Judging, judgeAnswer } from '../../../../src/route/sender/judge-answer.js'
import type { Verdict } from '../../../../src/route/sender/send.js'
import { batchOf } from '../../../support/load/sender-batch.js'

const DOCS = 10_000
const reason = "failed to parse field [status] of type [long]. Preview of field's value: 'not a number'"
const refused = { create: { status: 400, error: { type: 'document_parsing_exception', reason } } }
const busy = { create: { status: 429, error: { type: 'es_rejected_execution_exception', reason } } }
const documentOf = (n: number) => `{"n":${n},"text":"é"}`

const judging = (items: number): Judging => ({
  body: {
    items,
    index: 'logs',
    operation: 'create',
    onConflict: 'reject',
    ownIds: true,
    safeToResend: true,
    resent: false,
    doubtful: false,
  },
  cluster: 'http://127.0.0.1',
  route: { form: 'direct', proxy: undefined } as unknown as Judging['route'],
  now: 0,
})

function judged(items: readonly object[]): Verdict {
  const body = Buffer.from(JSON.stringify({ errors: true, items }))
  const headers = { 'x-elastic-product': 'Elasticsearch' }
  return judgeAnswer({ statusCode: 200, headers, body }, judging(items.length))
}

async function delivered(batch: Batch, ...verdicts: Verdict[]): Promise<Outcome> {
  const send = async () => await Promise.resolve(verdicts.shift() as Verdict)
  return await deliver(batch, send, {
    ownIds: true,
    safeToResend: true,
    maxElapsedMs: 1_000_000,
    halted: new AbortController().signal,
    learning: { accepted: 0, lostInARow: 0 },
    access: { now: () => 0, lost: () => false },
    random: () => 1,
    onRetry: () => undefined,
    pause: async () => await Promise.resolve(),
  })
}

const documents = (count: number) => Array.from({ length: count }, (_, n) => documentOf(n))

async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // Buffers are freed by another thread, after what refers to them.
  for (let round = 0; round < 5; round += 1) {
    collect()
    await setImmediate()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

test(
  'a body whose documents are all rejected holds its memory and the answer, and little else',
  { tags: 'long' },
  async () => {
    const batch = await batchOf(documents(DOCS))
    const verdict = judged(Array.from({ length: DOCS }, () => refused))
    const before = await heldBytes()
    const outcome = await delivered(batch, verdict)
    expect([...outcome.rejected].map(({ origin }) => origin.document)).toEqual(documents(DOCS).map((_, n) => n + 1))
    // The offset and the number of each item. As objects, they took seven hundred bytes each.
    expect((await heldBytes()) - before).toBeLessThan(DOCS * 200)
    expect(outcome.rejected.length).toBe(DOCS)
  },
)

test(
  'what was refused of a body that waits for a retry does not hold the rest of the answer',
  { tags: 'long' },
  async () => {
    const before = await heldBytes()
    const verdict = judged([...Array.from({ length: DOCS }, () => busy), refused])
    expect((await heldBytes()) - before).toBeLessThan(DOCS * 50)
    expect(verdict).toMatchObject({ kind: 'retryItems', settled: { refused: { length: 1 } } })
  },
)

test('rejected documents are read again for each pass, and kept ones outlive the memory of their batch', async () => {
  const batch = await batchOf(documents(6))
  const stored = { create: { status: 201 } }
  const first = judged([busy, refused, stored, busy, busy, refused])
  const { rejected } = await delivered(batch, first, judged([stored, refused, stored]))
  const kept = rejected.kept?.() ?? []
  const shown = (all: Outcome['rejected']) =>
    Array.from(all, ({ document, id, origin, attempts }) => [String(document), id, origin.offset, attempts])
  const expected = [
    [1, 1],
    [5, 1],
    [3, 2],
  ].map(([n = 0, attempts]) => [documentOf(n), `t-${n + 1}`, n * Buffer.byteLength(`${documentOf(0)}\n`), attempts])
  expect(shown(rejected)).toEqual(expected)
  expect(shown(rejected)).toEqual(expected)
  batch.bytes.fill(0)
  expect(shown(kept)).toEqual(expected)
})
