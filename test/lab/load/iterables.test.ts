/** Iterables of the caller: what they throw, what was taken from them, and how they end. */
import { expect, test } from 'vitest'
import { ingest, type Receipt } from '../../../src/index.js'
import { isSluiceError, type SluiceError } from '../../../src/base/failure/failure.js'
import { index, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

const failed = async (running: Promise<Receipt>): Promise<SluiceError<Receipt>> => {
  const error: unknown = await running.catch((thrown: unknown) => thrown)
  if (!isSluiceError(error)) throw new Error('it did not fail', { cause: error })
  return error as SluiceError<Receipt>
}

const balanced = ({ read, created, unsent, unknown, rejected }: Receipt) =>
  read === created + unsent + unknown + rejected

test.each([new Error('the queue is gone'), 'a text', Object.create(null), 5n])(
  'what it throws is the cause: %s',
  async thrown => {
    async function* throws() {
      yield { a: 1 }
      throw thrown
    }
    const { code, cause, receipt } = await failed(ingest({ ...way(), index, source: throws() }))
    expect([code, receipt?.created]).toEqual(['INPUT_UNREADABLE', 1])
    expect(cause).toBe(thrown)
  },
)

test("another load's failure is the cause, and its code stays", async () => {
  async function* loads() {
    yield { a: 1 }
    await ingest({ ...way(), index, source: '/no/such/file.ndjson' })
  }
  const { code, cause } = await failed(ingest({ ...way(), index, source: loads() }))
  expect([code, isSluiceError(cause)]).toEqual(['INPUT_NOT_FOUND', true])
})

test.each([1, 300, 5000])('after an abort, every document that was taken from it counts: %i', async many => {
  const stop = new AbortController()
  let taken = 0
  function* documents() {
    for (;;) {
      if (taken === many) stop.abort()
      taken += 1
      yield { taken }
    }
  }
  const options = { ...way(), index, signal: stop.signal, batchDocs: 7 }
  const { code, receipt } = await failed(ingest({ ...options, source: documents() }))
  expect(code).toBe('RUN_INTERRUPTED')
  expect(receipt?.read).toBe(taken)
  expect(receipt !== undefined && balanced(receipt)).toBe(true)
})

test('an iterable that never ends holds up no other', { tags: 'long' }, async () => {
  const stop = new AbortController()
  const source: AsyncIterable<unknown> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        stop.abort()
        return { value: { a: 1 }, done: false }
      },
      return: async () => await new Promise(() => {}),
    }),
  }
  const { code, receipt } = await failed(ingest({ ...way(), index, signal: stop.signal, source }))
  expect([code, receipt !== undefined && balanced(receipt)]).toEqual(['RUN_INTERRUPTED', true])
})
