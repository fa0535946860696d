/** Documents that a program passes: each item is one. */
import { Readable } from 'node:stream'
import { type IngestSource, findSources } from '../../../src/pipeline/source/open-sources.js'
import { until } from '../../support/eventually.js'
import { type Row, type SourceKind, type SourceWorld } from './source-world.js'

interface Feed {
  readonly rows: readonly Row[]
  readonly ending: 'end' | 'fail' | 'wait'
  waiting(): void
}

interface Held {
  readonly items: Iterable<unknown> | AsyncIterable<unknown>
  isClosed(): boolean
}

const lacks = {
  offerMatched: 'an iterable is one input',
  offerBytes: 'its items are documents',
  missing: 'an iterable is there',
  replaced: 'an iterable has no name that another one could have',
  shortened: 'an iterable does not say how long it is',
} as const

function kind(title: string, hold: (feed: Feed) => Held, more: Partial<SourceKind['lacks']> = {}): SourceKind {
  return {
    title,
    again: 'never',
    closesAtOnce: true,
    lacks: { ...lacks, ...more },
    open: async () => {
      const held: Held[] = []
      const begin = async (rows: readonly Row[], ending: Feed['ending'] = 'end', waiting = () => {}) => {
        const one = hold({ rows, ending, waiting })
        held.push(one)
        const [source] = await findSources(one.items as IngestSource, {})
        if (source === undefined) throw new Error('no iterable was found')
        return source
      }
      const world: SourceWorld = {
        secrets: [],
        offer: async inputs => [await begin(Object.values(inputs).flat())],
        failing: async rows => ({ source: await begin(rows, 'fail') }),
        ...(more.stalled === undefined
          ? {
              stalled: async (rows: readonly Row[]) => {
                let waiting = () => {}
                const waits = new Promise<void>(resolve => (waiting = resolve))
                return { source: await begin(rows, 'wait', waiting), waits }
              },
            }
          : {}),
        closed: async () => await until(() => held.every(one => one.isClosed())),
        [Symbol.asyncDispose]: async () => await Promise.resolve(),
      }
      return await Promise.resolve(world)
    },
  }
}

export const generator = kind(
  'a generator',
  ({ rows, ending }) => {
    let state: 'new' | 'open' | 'over' = 'new'
    function* items() {
      state = 'open'
      try {
        yield* rows
        if (ending === 'fail') throw new Error('the query was cancelled')
      } finally {
        state = 'over'
      }
    }
    return { items: items(), isClosed: () => state !== 'open' }
  },
  { stalled: 'a generator that waits blocks everything' },
)

/** As a cursor of a database: it needs its `return` to be awaited, and answers one question at a time. */
export const asyncIterator = kind('an asynchronous iterator', ({ rows, ending, waiting }) => {
  let at = 0
  let state: 'new' | 'open' | 'over' = 'new'
  const iterator: AsyncIterator<Row> = {
    async next() {
      state = 'open'
      await new Promise(resolve => setImmediate(resolve))
      const value = rows[at]
      at += 1
      if (value !== undefined) return { done: false, value }
      if (ending === 'wait') {
        waiting()
        return await new Promise(() => {})
      }
      state = 'over'
      if (ending === 'fail') throw new Error('the query was cancelled')
      return { done: true, value: undefined }
    },
    async return() {
      await new Promise(resolve => setImmediate(resolve))
      state = 'over'
      return { done: true, value: undefined }
    },
  }
  return { items: { [Symbol.asyncIterator]: () => iterator }, isClosed: () => state !== 'open' }
})

export const objectStream = kind('a stream of objects', ({ rows, ending, waiting }) => {
  let at = 0
  const stream = new Readable({
    objectMode: true,
    read() {
      const row = rows[at]
      at += 1
      if (row !== undefined) this.push(row)
      else if (ending === 'fail') this.destroy(new Error('the query was cancelled'))
      else if (ending === 'end') this.push(null)
      else waiting()
    },
  })
  return { items: stream, isClosed: () => stream.closed || !Readable.isDisturbed(stream) }
})
