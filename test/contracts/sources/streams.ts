/** Byte streams: stdin, and those that a program passes. They are one input, and can be read once. */
import { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import { type IngestSource, findSources } from '../../../src/pipeline/source/open-sources.js'
import type { Source } from '../../../src/base/flow.js'
import { until } from '../../support/eventually.js'
import { bytesOf, type SourceKind, type SourceWorld } from './source-world.js'

const CHUNK_BYTES = 64 << 10
const SECRET = 'hunter2-of-the-stream'

/** What a stream does: it gives its chunks, and then ends, fails or waits. */
interface Feed {
  readonly bytes: Buffer
  readonly ending: 'end' | 'fail' | 'wait'
  waiting(): void
}

/** A stream in the hands of a test. */
interface Held {
  readonly stream: Readable | ReadableStream
  /** Whether it was never read, or is over. */
  isClosed(): boolean
}

const lacks = {
  offerMatched: 'a stream is one input',
  missing: 'a stream is there',
  replaced: 'a stream has no name that another one could have',
  shortened: 'a stream does not say how long it is',
} as const

function kind(title: string, hold: (feed: Feed) => Held, sourcesOf: (stream: Held['stream']) => Promise<Source[]>) {
  const streams: SourceKind = {
    title,
    again: 'never',
    closesAtOnce: true,
    lacks,
    open: async () => {
      const held: Held[] = []
      const sources: Source[] = []
      const begin = async (bytes: Buffer, ending: Feed['ending'] = 'end', waiting = () => {}) => {
        const one = hold({ bytes, ending, waiting })
        held.push(one)
        const [source] = await sourcesOf(one.stream)
        if (source === undefined) throw new Error('no stream was found')
        sources.push(source)
        return source
      }
      const world: SourceWorld = {
        secrets: [SECRET],
        offer: async inputs => [await begin(Buffer.concat(Object.values(inputs).map(bytesOf)))],
        offerBytes: async (_, bytes) => await begin(bytes),
        failing: async rows => ({ source: await begin(bytesOf(rows), 'fail') }),
        stalled: async rows => {
          let waiting = () => {}
          const waits = new Promise<void>(resolve => (waiting = resolve))
          return { source: await begin(bytesOf(rows), 'wait', waiting), waits }
        },
        // A run closes its inputs when it ends.
        closed: async () => {
          for (const source of sources) await source.close?.()
          await until(() => held.every(one => one.isClosed()))
        },
        [Symbol.asyncDispose]: async () => await Promise.resolve(),
      }
      return await Promise.resolve(world)
    },
  }
  return streams
}

function* chunksOf({ bytes }: Feed): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

function nodeStream(feed: Feed): Held {
  const chunks = chunksOf(feed)
  const stream = new Readable({
    read() {
      const { value, done } = chunks.next()
      if (done !== true) this.push(value)
      else if (feed.ending === 'fail') this.destroy(new Error('the other side has gone'))
      else if (feed.ending === 'end') this.push(null)
      else feed.waiting()
    },
  })
  return { stream, isClosed: () => stream.closed || !Readable.isDisturbed(stream) }
}

function webStream(feed: Feed): Held {
  const chunks = chunksOf(feed)
  let isRead = false
  let isOver = false
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        isRead = true
        const { value, done } = chunks.next()
        if (done !== true) return controller.enqueue(value)
        isOver = feed.ending !== 'wait'
        if (feed.ending === 'fail') controller.error(new Error('the other side has gone'))
        else if (feed.ending === 'end') controller.close()
        else return wait(feed)
      },
      cancel() {
        isOver = true
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, isClosed: () => isOver || !isRead }
}

async function wait({ waiting }: Feed): Promise<void> {
  waiting()
  await new Promise(() => {})
}

export const stdin = kind('stdin', nodeStream, async stream => await findSources('-', { stdin: stream as Readable }))
const ofProgram = async (stream: Held['stream']) => await findSources(stream as IngestSource, {})
export const byteStream = kind('a byte stream of Node', nodeStream, ofProgram)
export const webByteStream = kind('a byte stream of the web', webStream, ofProgram)
