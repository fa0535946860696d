import { describe, expect, test } from 'vitest'
import type { Batch, Input, Mark, Outcome, Refused } from '../../../../src/base/flow.js'
import type { Committed } from '../../../../src/pipeline/ledger/account.js'
import { CommittedPrefix } from '../../../../src/pipeline/ledger/committed-prefix.js'
import { seeded } from '../../../support/random/seeded.js'

const a: Input = { id: 0, name: 'a' }
const b: Input = { id: 1, name: 'b' }

function markAt(document: number): Mark {
  return { kind: 'lines', document, line: document, offset: document * 10, tail: 0 }
}

/** A batch of so many documents that ends before the document of that number. */
function batchOf(input: Input, docs: number, next: number): Batch {
  const spans = [{ input, docs }]
  const parts = {
    docs,
    blank: 0,
    refused: [],
    spans,
    taken: [{ input, lines: docs }],
    ends: [{ input, mark: markAt(next) }],
  }
  return parts as unknown as Batch
}

/** Returns a function that commits, with all inputs as their last change left them. */
function committing(prefix: CommittedPrefix): () => Committed {
  const all: [number, NonNullable<ReturnType<Committed['inputs']['get']>>][] = []
  return () => {
    const committed = prefix.commit()
    all.push(...committed.inputs)
    return { ...committed, inputs: new Map(all) }
  }
}

function outcome(more: Partial<Outcome>): Outcome {
  const counts = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0, ...more }
  const { created, updated, duplicate, skipped, unknown, unsent, rejected = [] } = counts
  const docs = created + updated + duplicate + skipped + unknown + unsent + rejected.length
  return { ...counts, docs, rejected }
}

const refused = { status: 400, type: 'parse', reason: '' } as Refused

describe('the settled prefix', () => {
  test('grows only without a gap, in whatever order batches settle', () => {
    const random = seeded(3)
    for (let round = 0; round < 200; round += 1) {
      const prefix = new CommittedPrefix(() => 0)
      const commit = committing(prefix)
      const batches = Array.from({ length: 12 }, (_, at) => batchOf(a, 5, at * 5 + 6))
      for (const batch of batches) prefix.take(batch)
      const settled = new Set<number>()
      while (settled.size < batches.length) {
        const at = random.below(batches.length)
        const batch = batches[at]
        if (batch === undefined || settled.has(at)) continue
        settled.add(at)
        prefix.settle(batch, outcome({ created: 5 }), true)
        const gap = batches.findIndex((_, one) => !settled.has(one))
        const whole = gap === -1 ? batches.length : gap
        const { counts, inputs } = commit()
        expect(counts).toMatchObject({ read: whole * 5, created: whole * 5 })
        expect(inputs.get(0)?.mark?.document).toBe(whole === 0 ? undefined : whole * 5 + 1)
      }
    }
  })

  test('ends for good before a batch that is not final; only what was sent behind it leaves a doubt', () => {
    const prefix = new CommittedPrefix(() => 0)
    const commit = committing(prefix)
    const [first, second, third] = [batchOf(a, 5, 6), batchOf(a, 5, 11), batchOf(a, 5, 16)] as const
    for (const batch of [first, second, third]) prefix.take(batch)
    prefix.settle(first, outcome({ created: 5 }), true)
    prefix.settle(second, outcome({ unsent: 5 }), false)
    expect(commit()).toMatchObject({ counts: { read: 5 }, isDoubtful: false })
    prefix.settle(third, outcome({ created: 5 }), true)
    prefix.end(a)
    prefix.close()
    expect(commit()).toMatchObject({ counts: { read: 5, created: 5 }, isDoubtful: true })
    expect(commit().inputs.get(0)).toEqual({ mark: markAt(6), read: 5, hasStored: true, isFinished: false })
  })

  test('finishes an input with the batch that holds its last lines', () => {
    const prefix = new CommittedPrefix(() => 0)
    const commit = committing(prefix)
    const first = batchOf(a, 5, 6)
    const both = {
      docs: 4,
      blank: 1,
      spans: [
        { input: a, docs: 2 },
        { input: b, docs: 2 },
      ],
      refused: [],
      taken: [
        { input: a, lines: 2 },
        { input: b, lines: 3 },
      ],
      ends: [
        { input: a, mark: markAt(8) },
        { input: b, mark: markAt(4) },
      ],
    } as unknown as Batch
    prefix.take(first)
    prefix.end(a)
    prefix.take(both)
    prefix.settle(first, outcome({ created: 5 }), true)
    expect(commit().inputs.get(0)?.isFinished).toBe(false)
    prefix.settle(both, outcome({ created: 4 }), true)
    const { inputs, counts } = commit()
    expect(counts).toMatchObject({ read: 10, created: 9, skipped: 1 })
    expect(inputs.get(0)).toEqual({ mark: markAt(8), read: 7, hasStored: true, isFinished: true })
    expect(inputs.get(1)).toEqual({ mark: markAt(4), read: 3, hasStored: true, isFinished: false })
    prefix.end(b)
    prefix.close()
    expect(commit().inputs.get(1)?.isFinished).toBe(true)
  })

  test('names at each commit only the inputs that have changed since, and none again that is finished', () => {
    const prefix = new CommittedPrefix(() => 0)
    const inputs = Array.from({ length: 50 }, (_, id): Input => ({ id, name: `${id}` }))
    for (const input of inputs) {
      const batch = batchOf(input, 2, 3)
      prefix.take(batch)
      prefix.end(input)
      prefix.settle(batch, outcome({ created: 2 }), true)
      const changed = [...prefix.commit().inputs]
      const finished = changed.filter(([, { isFinished }]) => isFinished).map(([id]) => id)
      // The next batch holds the end of an input.
      expect(new Set(changed.map(([id]) => id))).toEqual(new Set(input.id === 0 ? [0] : [input.id - 1, input.id]))
      expect(finished).toEqual(input.id === 0 ? [] : [input.id - 1])
      expect(prefix.commit().inputs.size).toBe(0)
    }
    prefix.close()
    expect([...prefix.commit().inputs.keys()]).toEqual([49])
    expect(prefix.commit()).toMatchObject({ counts: { read: 100, created: 100 }, inputs: new Map() })
  })

  test.each([
    ['was created', { created: 1 }, true],
    ['is a duplicate', { duplicate: 1 }, true],
    ['got no clear answer', { unknown: 1 }, true],
    [
      'was rejected by the cluster',
      { rejected: [{ ...refused, attempts: 1, origin: { input: 'a', document: 1 } }] },
      false,
    ],
  ])('knows whether something of an input may be stored: a document that %s', (_, more, hasStored) => {
    const prefix = new CommittedPrefix(() => 0)
    const batch = batchOf(a, 1, 2)
    prefix.take(batch)
    prefix.settle(batch, outcome(more), true)
    expect(prefix.commit().inputs.get(0)?.hasStored).toBe(hasStored)
  })

  test('counts a line of no batch with the next one', () => {
    const prefix = new CommittedPrefix(() => 0)
    const commit = committing(prefix)
    prefix.reject(a, refused)
    expect(commit().counts.read).toBe(0)
    const batch = batchOf(a, 1, 3)
    prefix.take(batch)
    prefix.settle(batch, outcome({ created: 1 }), true)
    expect(commit()).toMatchObject({ counts: { read: 2, rejected: 1, created: 1 } })
    expect(commit().inputs.get(0)?.read).toBe(2)
  })

  test('gives each batch its turn to write dead letters, so that their length covers the prefix and no more', async () => {
    let length = 7
    const prefix = new CommittedPrefix(() => length)
    const commit = committing(prefix)
    const batches = [batchOf(a, 1, 2), batchOf(a, 1, 3), batchOf(a, 1, 4)] as const
    for (const batch of batches) prefix.take(batch)
    const order: number[] = []
    const write = async (at: 0 | 1 | 2, isFinal = true) => {
      await prefix.turn(batches[at])
      order.push(at)
      length += 10
      prefix.settle(batches[at], outcome({ rejected: [refused] }), isFinal)
    }
    const last = write(2, false)
    const middle = write(1)
    const all = prefix.turn()
    await new Promise(setImmediate)
    expect({ order, covered: commit().deadLetters }).toEqual({ order: [], covered: 7 })
    prefix.settle(batches[0], outcome({ created: 1 }), true)
    await Promise.all([last, middle, all])
    expect(order).toEqual([1, 2])
    // The last one ended the prefix: what it wrote will be written again.
    expect(commit()).toMatchObject({ deadLetters: 17, counts: { rejected: 1 } })
  })
})
