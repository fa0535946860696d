/** Finds what transforms lines: the user's function in this thread, or worker threads with the user's module. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fail, type SluiceError } from '../../base/failure/failure.js'
import type { TransformSection } from '../../options/load.js'
import type { TransformFunction } from '../../options/ingest-options.js'
import { type LineJob, transformLines } from './transform-lines.js'
import { WorkerThread } from './worker-thread.js'

export interface Transform {
  /** The same as long as the code is. */
  readonly checksum: string
  /** Jobs that may be begun before the first one is over. */
  readonly ahead: number
  start(job: LineJob): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** More threads would only wait for each other's results. */
const MOST_THREADS = 2
/** Jobs of a thread: it begins the next one while the results of the last one are sent. */
const AHEAD = 2

/** How long a module may take to load. */
const LOAD_MS = 60_000

/** `maxBytes`: of a document's line. Throws SluiceError TRANSFORM_NOT_LOADED. */
export async function openTransform(section: TransformSection, maxBytes: number): Promise<Transform> {
  const { transform, timeoutMs } = section
  return typeof transform === 'function'
    ? inThisThread(transform, timeoutMs, maxBytes)
    : await inThreads(transform, timeoutMs, maxBytes)
}

function inThisThread(transform: TransformFunction, timeoutMs: number, maxBytes: number): Transform {
  return {
    checksum: checksumOf(transform.toString()),
    ahead: 1,
    start: async function* (job) {
      let late: SluiceError | undefined
      const guarded: TransformFunction = (document, place) => {
        const result = transform(document, place)
        const stop = () => (late = stoppedAt(job.path, place.line, timeoutMs))
        return isPromise(result) ? limited(result, timeoutMs, stop) : result
      }
      const check = () => {
        if (late !== undefined) throw late
      }
      for await (const bytes of transformLines(job, guarded, { maxBytes }, check)) {
        check()
        yield bytes
      }
    },
    close: async () => await Promise.resolve(),
  }
}

function isPromise(value: unknown): value is PromiseLike<object | null> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function stoppedAt(path: string, line: number, timeoutMs: number): SluiceError {
  const what = `did not return within ${timeoutMs / 1000} s`
  return fail('TRANSFORM_STOPPED', { module: 'transform', what, place: `at ${path}, line ${line}` })
}

/** Rejects with what `stop` returns if the promise is not settled in time. */
async function limited<T>(promise: PromiseLike<T>, timeoutMs: number, stop: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(stop()), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

async function inThreads(name: string, timeoutMs: number, maxBytes: number): Promise<Transform> {
  const path = resolve(name)
  const code = await readFile(path).catch((error: unknown) => {
    const { code: problem = String(error) } = error as NodeJS.ErrnoException
    throw fail('TRANSFORM_NOT_LOADED', { module: name, problem: `it cannot be read (${problem})` })
  })
  const count = Math.min(MOST_THREADS, availableParallelism())
  const module = pathToFileURL(path).href
  const threads = Array.from(
    { length: count },
    () => new WorkerThread({ name, module, maxBytes, timeoutMs, loadMs: LOAD_MS }),
  )
  const close = async () => void (await Promise.all(threads.map(async thread => await thread.close())))
  try {
    await Promise.all(threads.map(async thread => await thread.started()))
  } catch (error) {
    await close()
    throw error
  }
  let next = 0
  return {
    checksum: checksumOf(code),
    ahead: AHEAD * count,
    start: job => (threads[next++ % count] as WorkerThread).start(job),
    close,
  }
}

function checksumOf(code: string | Buffer): string {
  return `sha256 ${createHash('sha256').update(code).digest('hex').slice(0, 16)}`
}
