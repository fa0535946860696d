import { expect, test } from 'vitest'
import { Batcher } from '../../../../src/pipeline/bulk/batcher.js'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'
import { failure, SluiceError } from '../../../../src/base/failure/failure.js'
import type { Batch, Outcome, Cursor, Source } from '../../../../src/base/flow.js'
import { DeadLetters } from '../../../../src/pipeline/ledger/dead-letters.js'
import { Ledger } from '../../../../src/pipeline/ledger/ledger.js'
import { StopSignals } from '../../../../src/run/loop/stop-signals.js'
import { load } from '../../../../src/run/loop/load-documents.js'
import { HeldClock } from '../../../support/load/held-clock.js'

const plain: Cursor = { selection: {}, placeAt: () => ({}), after: end => end }

/** A table whose chunks these are: each with whether it may hold a row that came before. */
function table(id: number, chunks: readonly (readonly [string, boolean] | SluiceError)[]): Source {
  let mayRepeat = false
  const cursor = {
    ...plain,
    get mayRepeat() {
      return mayRepeat
    },
  }
  return {
    id,
    name: `servicenow:t${id}`,
    cursor,
    open: async function* () {
      for (const chunk of chunks) {
        if (chunk instanceof SluiceError) throw chunk
        const [text, repeats] = chunk
        mayRepeat = repeats
        yield await Promise.resolve(Buffer.from(text))
      }
    },
  }
}

async function run(sources: readonly Source[], send: (batch: Batch) => Promise<void>) {
  await using letters = new DeadLetters(undefined)
  const ledger = new Ledger(letters)
  const loaded = await load({
    inputs: sources.map(source => ({ source, token: `token${source.id}` })),
    format: { format: 'auto' },
    batcher: new Batcher({
      operation: 'index',
      ids: { from: 'field', field: 'id' },
      batchBytes: 5000,
      batchDocs: 2,
      batchMs: 1000,
      maxDocumentBytes: 1000,
      slots: new SlotPool(4, 5000),
      clock: new HeldClock(),
      longLine: async () => await Promise.reject(new Error('no line is so long')),
    }),
    send: async (batch): Promise<Outcome> => {
      await send(batch)
      const none = { updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0 }
      return { docs: batch.docs, created: batch.docs, ...none, rejected: [] }
    },
    room: async () => await Promise.resolve(),
    halt: () => undefined,
    ledger,
    stop: new StopSignals({ clock: new HeldClock() }),
    tell: () => undefined,
  })
  return { loaded, ledger }
}

/** The ids that a body sends. */
function idsIn({ bytes }: Batch): string {
  return [...bytes.toString().matchAll(/"_id":"(\w+)"/g)].map(([, id]) => id).join('')
}

test('a row that may come again waits for an outcome of all that came before; other rows do not', async () => {
  const order: string[] = []
  const slow = new Map<string, () => void>()
  const send = async (batch: Batch) => {
    const ids = idsIn(batch)
    order.push(`sent ${ids}`)
    if (ids === 'ab') await new Promise<void>(resolve => slow.set('ab', resolve))
    // Only now that all of the first pass is under way does the first body of it get through.
    if (ids === 'e') slow.get('ab')?.()
    order.push(`through ${ids}`)
  }
  const row = (id: string) => `{"id":"${id}"}\n`
  const first = ['a', 'b', 'c', 'd', 'e'].map(row).join('')
  const { ledger } = await run(
    [
      table(0, [
        [first, false],
        [row('a'), true],
        [row('b'), true],
      ]),
    ],
    send,
  )
  expect(order).toEqual([
    'sent ab',
    'sent cd',
    'through cd',
    'sent e',
    'through e',
    'through ab',
    'sent a',
    'through a',
    'sent b',
    'through b',
  ])
  expect(ledger.counts).toMatchObject({ read: 7, created: 7 })
})

const onTheWay = [
  failure('SERVICENOW_HIBERNATING', { instance: 'https://instance.example' }),
  failure('PROXY_AUTH_REJECTED', { proxy: 'http://proxy.example:9293', observed: '407' }),
]
test.each(onTheWay)('a table that fails with $code keeps the next one from nothing', async why => {
  const broken = table(0, [['{"id":"a"}\n', false], new SluiceError(why)])
  const { loaded, ledger } = await run(
    [broken, table(1, [['{"id":"b"}\n', false]])],
    async () => await Promise.resolve(),
  )
  expect(loaded.failure).toEqual(why)
  expect(ledger.inputs).toMatchObject([
    { status: 'failed', read: 1, failure: why },
    { status: 'finished', read: 1 },
  ])
})

test('an error that is no fault of a table ends the run', async () => {
  const full = failure('DEAD_LETTERS_UNWRITABLE', { path: 'dead.ndjson', problem: 'the disk is full' })
  const broken = table(0, [new SluiceError(full)])
  const { loaded, ledger } = await run(
    [broken, table(1, [['{"id":"b"}\n', false]])],
    async () => await Promise.resolve(),
  )
  expect(loaded.failure).toEqual(full)
  expect(ledger.inputs).toMatchObject([{ status: 'unfinished' }])
})
