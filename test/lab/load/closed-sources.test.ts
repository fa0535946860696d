/** Sources of the caller are closed before `ingest` settles, however the run ends. */
import { Readable } from 'node:stream'
import { ReadableStream as WebStream } from 'node:stream/web'
import { expect, test } from 'vitest'
import { ingest } from '../../../src/index.js'
import { index, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

const turn = () => new Promise(setImmediate)
type Next = (taken: number) => Promise<unknown>

/** A generator of rows whose `finally` takes a while, like that of a database cursor. */
async function* rows(next: Next, seen: string[]): AsyncGenerator {
  try {
    for (let taken = 1; ; taken += 1) yield await next(taken)
  } finally {
    await turn()
    seen.push('closed')
  }
}

const row: Next = async taken => {
  await turn()
  return { taken }
}

/** How a run ends early: the rows that the source gives, and the options of the run. */
type Ending = (stop: AbortController) => { readonly next: Next; readonly options?: object }

const endings: Record<string, Ending> = {
  'its signal, while a row is ready': stop => ({
    next: async taken => {
      if (taken === 20) stop.abort()
      return await row(taken)
    },
  }),
  'its signal, while it waits for a row': stop => ({
    next: async taken => {
      if (taken < 20) return await row(taken)
      stop.abort()
      for (let turns = 0; turns < 50; turns += 1) await turn()
      return await row(taken)
    },
  }),
  'too many rejected documents': () => ({
    next: async taken => (await row(taken), 'no JSON'),
    options: { maxRejected: 3 },
  }),
  'a failure before it begins to read': () => ({
    next: row,
    options: { target: { ...way().target, apiKey: 'wrong' } },
  }),
}

test.each(Object.entries(endings))('a cursor is closed if the run ends by %s', async (_, ending) => {
  const stop = new AbortController()
  const seen: string[] = []
  const { next, options } = ending(stop)
  const generator = rows(next, seen)
  const cursor = {
    [Symbol.asyncIterator]: () => cursor,
    next: async () => await generator.next(),
    return: async () => {
      await generator.return(undefined)
      seen.push('returned')
      return { done: true as const, value: undefined }
    },
  }
  const given = { ...way(), index, batchDocs: 5, deadLetters: false, signal: stop.signal, ...options } as const
  await ingest({ ...given, source: cursor }).catch(() => seen.push('settled'))
  expect(seen.filter(one => one !== 'closed')).toEqual(['returned', 'settled'])
})

test('an iterator that an earlier load has closed is refused, and not taken for an empty one', async () => {
  const source = rows(row, [])
  const refused = { ...way(), index, source, deadLetters: false, target: { ...way().target, apiKey: 'wrong' } } as const
  await expect(ingest(refused)).rejects.toMatchObject({ code: 'CLUSTER_AUTH_REJECTED' })
  const again = ingest({ ...refused, target: way().target })
  await expect(again).rejects.toMatchObject({
    code: 'OPTION_INVALID',
    message: expect.stringContaining('earlier load'),
  })
})

const silent: Record<string, (closed: () => void) => Readable | WebStream> = {
  'bytes of Node': closed => new Readable({ read() {}, destroy: (_, done) => (closed(), done(null)) }),
  'objects of Node': closed =>
    new Readable({ objectMode: true, read() {}, destroy: (_, done) => (closed(), done(null)) }),
  'bytes of the web': cancel =>
    new WebStream({ type: 'bytes', start: at => at.enqueue(Uint8Array.of(0x7b, 0x7d, 0x0a)), cancel }),
  'objects of the web': cancel => new WebStream({ start: at => at.enqueue({}), cancel }),
}

test.each(Object.entries(silent))('a stream that waits is closed: %s', async (_, open) => {
  for (const isRefused of [false, true]) {
    const stop = new AbortController()
    const seen: string[] = []
    const options = isRefused ? { target: { ...way().target, apiKey: 'wrong' } } : {}
    const source = open(() => void seen.push('closed'))
    const onEvent = ({ type }: { type: string }) => void (type === 'input' && setImmediate(() => stop.abort()))
    const given = { ...way(), index, deadLetters: false, signal: stop.signal, onEvent, ...options } as const
    await ingest({ ...given, source }).catch((error: { code: string }) => seen.push(error.code))
    expect(seen).toEqual(['closed', isRefused ? 'CLUSTER_AUTH_REJECTED' : 'RUN_INTERRUPTED'])
  }
})

test('the signal also ends the wait for the first chunk of a web stream', async () => {
  const stop = new AbortController()
  const seen: string[] = []
  const source = new WebStream({ cancel: () => void seen.push('closed') })
  setImmediate(() => stop.abort())
  await ingest({ ...way(), index, source, signal: stop.signal }).catch((error: { code: string }) =>
    seen.push(error.code),
  )
  expect(seen).toEqual(['closed', 'RUN_INTERRUPTED'])
})

test('a web stream of objects is loaded', async () => {
  const { created, inputs } = await ingest({ ...way(), index, source: WebStream.from([{ a: 1 }, { a: 2 }]) })
  expect([created, inputs[0]?.name]).toEqual([2, '(iterable)'])
})
