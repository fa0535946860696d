import { expect, test } from 'vitest'
import { Batcher } from '../../../../src/pipeline/bulk/batcher.js'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'
import { failure, SluiceError } from '../../../../src/base/failure/failure.js'
import type { Batch, Outcome, Source } from '../../../../src/base/flow.js'
import { DeadLetters } from '../../../../src/pipeline/ledger/dead-letters.js'
import { Ledger } from '../../../../src/pipeline/ledger/ledger.js'
import type { IngestEvent } from '../../../../src/options/run-events.js'
import { load } from '../../../../src/run/loop/load-documents.js'
import { StopSignals } from '../../../../src/run/loop/stop-signals.js'
import { HeldClock } from '../../../support/load/held-clock.js'

const IN_BATCH = 1000

/** Loads inputs of one document each. */
function loading(inputs: number, open: Source['open'], answered: () => Promise<void>) {
  const ledger = new Ledger(new DeadLetters(undefined))
  const warnings: string[] = []
  const clock = new HeldClock()
  const loaded = load({
    inputs: Array.from({ length: inputs }, (_, id) => ({ source: { id, name: `${id}`, open }, token: `t${id}` })),
    format: { format: 'ndjson' },
    batcher: new Batcher({
      operation: 'create',
      ids: { from: 'run' },
      batchBytes: 1 << 20,
      batchDocs: IN_BATCH,
      batchMs: 1e9,
      maxDocumentBytes: 1000,
      slots: new SlotPool(inputs / IN_BATCH + 1, 1 << 20),
      clock,
      longLine: async () => await Promise.reject(new Error('no line is so long')),
    }),
    send: async ({ docs }: Batch): Promise<Outcome> => {
      await answered()
      const none = { updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0 }
      return { docs, created: docs, ...none, rejected: [] }
    },
    room: async () => await Promise.resolve(),
    halt: () => undefined,
    ledger,
    stop: new StopSignals({ clock }),
    tell: (event: IngestEvent) => {
      if (event.type === 'warning') warnings.push(event.message)
    },
  })
  return { loaded, ledger, warnings }
}

test('reads no further while thousands of inputs wait for their outcomes', { tags: 'long' }, async () => {
  const inputs = 12_000
  let opened = 0
  const answers: (() => void)[] = []
  const { loaded, ledger } = loading(
    inputs,
    async function* () {
      opened += 1
      yield await Promise.resolve(Buffer.from('{"n":1}\n'))
    },
    async () => await new Promise<void>(resolve => answers.push(resolve)),
  )
  const state = { isOver: false }
  void loaded.then(() => (state.isOver = true))
  for (let last = -1; !state.isOver; last = opened) {
    // Nothing is read from the disk: what stands still for a turn waits for an answer.
    if (opened === last) for (const answer of answers.splice(0)) answer()
    await new Promise(resolve => setImmediate(resolve))
    expect(opened - ledger.counts.created).toBeLessThan(10_000)
  }
  expect(ledger.counts).toMatchObject({ read: inputs, created: inputs })
})

test('warns of ten broken inputs, and of the others together', async () => {
  const open = async function* () {
    yield await Promise.resolve(Buffer.from('{"n":1}\n'))
    throw new SluiceError(failure('INPUT_TRUNCATED', { input: 'a', encoding: 'gzip', bytes: 1 }))
  }
  const { loaded, ledger, warnings } = loading(1000, open, async () => await Promise.resolve())
  expect((await loaded).failure).toMatchObject({ code: 'INPUT_TRUNCATED' })
  expect(ledger.counts).toMatchObject({ read: 1000, created: 1000 })
  expect(warnings).toHaveLength(11)
  expect(warnings.at(-1)).toBe(
    'Sluice could not read 990 more inputs to the end. The receipt names each input with its failure',
  )
})
