/** Opens the queue that workers share: BullMQ on Redis, or on PostgreSQL. Loads the packages that this needs. */
import type { BackendFactory, Queue, Worker, WorkerOptions, Processor } from 'bullmq'
import type { ClientConfig } from 'pg'
import { parseJson } from '../../../base/json/parse-json.js'
import { fail, isSluiceError, type SluiceError } from '../../../base/failure/failure.js'
import { withoutCredentials, queueSecrets, withoutSecrets } from '../../../base/secrets.js'
import { inTime } from './in-time.js'
import { noSeal, type Seal } from './seal.js'

/** Begins every key of Redis, and names the schema of PostgreSQL. */
const PREFIX = 'sluice'

/**
 * A process that is stopped in the middle of a transaction must not keep its locks for long. Each queue and each worker has connections
 * of its own, so a few are enough.
 */
const ofPostgres = { schema: PREFIX, migrate: true, max: 3, idle_in_transaction_session_timeout: 5000 }

/** How long the first connection may take. Later ones are retried for as long as the process lives. */
const FIRST_MS = 10_000

export interface QueueEngine extends AsyncDisposable {
  /** Its URL without credentials. */
  readonly display: string
  readonly kind: 'redis' | 'postgres'
  /** Signs what this process writes, and checks what it reads. */
  readonly seal: Seal
  /** Returns the queue of that name, always the same one. */
  queue(name: string): Queue
  /** Starts a worker. The caller closes it. */
  worker<D, R>(
    name: string,
    processor: Processor<D, R>,
    options: Omit<WorkerOptions, 'connection'>,
  ): Promise<Worker<D, R>>
  /** Returns what an error of the queue means, without credentials. */
  failure(error: unknown): SluiceError
}

/** `problem`: hears of each error of a connection that is open. Throws SluiceError QUEUE_NEEDS_PACKAGE, QUEUE_UNREACHABLE, QUEUE_REFUSED. */
export async function openEngine(
  url: string,
  problem: (message: string) => void = () => undefined,
  seal: Seal = noSeal,
): Promise<QueueEngine> {
  const display = withoutCredentials(url)
  const kind = /^redis/i.test(url) ? 'redis' : 'postgres'
  const bullmq = await load(display, kind)
  const connection = (kind === 'redis' ? { url } : await toPostgres(url)) as never
  const factory = (kind === 'redis' ? undefined : bullmq.createPostgresBackend) as undefined
  const queues = new Map<string, Queue>()
  const named = (error: unknown) => nameProblem(error, display, url)
  const heard = (error: Error) => {
    // The queue was reached: another worker has the range, and its lease says so.
    if (!/could not renew lock/.test(String(error))) problem(named(error).message)
  }
  const engine: QueueEngine = {
    display,
    kind,
    seal,
    queue: name => {
      const known = queues.get(name)
      if (known !== undefined) return known
      const queue = readable(
        new bullmq.Queue(name, { connection, prefix: PREFIX, skipVersionCheck: true }, factory),
        bullmq,
      )
      queue.on('error', heard)
      queues.set(name, queue)
      return queue
    },
    worker: async (name, processor, options) => {
      const worker = new bullmq.Worker(
        name,
        processor,
        { ...options, connection, prefix: PREFIX, skipVersionCheck: true },
        factory as BackendFactory & undefined,
      )
      worker.on('error', heard)
      return await Promise.resolve(readable(worker, bullmq))
    },
    failure: named,
    [Symbol.asyncDispose]: async () => {
      await inTime(Promise.allSettled([...queues.values()].map(async queue => await queue.close())))
    },
  }
  const first = engine.queue(CONTROL)
  try {
    await firstContact(first)
  } catch (error) {
    void first.close().catch(() => undefined)
    throw named(error)
  }
  return engine
}

/** The queue of jobs. Each job has a queue of its own for its ranges. */
export const CONTROL = 'jobs'

/** An entry that is no JSON must not keep others from being read. It becomes a job without data, which everybody refuses. */
function readable<T extends object>(one: T, { Job }: typeof import('bullmq')): T {
  class ReadableJob extends Job {
    static override fromJSON = ((queue, json, id) => {
      const isData = json.data === '' || parseJson(json.data) !== undefined
      return Job.fromJSON(queue, isData ? json : { ...json, data: 'null' }, id)
    }) as typeof Job.fromJSON
  }
  // BullMQ makes each job by this member of its queues and workers.
  return Object.defineProperty(one, 'Job', { value: ReadableJob })
}

/** BullMQ hears no errors of the connection that looks at the schema. Without a listener, such an error would end the process. */
async function toPostgres(url: string) {
  const { default: pg } = await import('pg')
  class Client extends pg.Client {
    constructor(config?: ClientConfig) {
      super(config)
      // The query that fails says why.
      this.on('error', () => undefined)
    }
  }
  return { ...ofPostgres, connectionString: url, Client }
}

async function load(display: string, kind: QueueEngine['kind']): Promise<typeof import('bullmq')> {
  const driver = kind === 'redis' ? 'ioredis' : 'pg'
  const packages = `bullmq and ${driver}`
  try {
    await (kind === 'redis' ? import('ioredis') : import('pg'))
    return await import('bullmq')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && /MODULE_NOT_FOUND/.test(String(error.code))
    const problem = isMissing ? 'one of them is not installed' : `they cannot be loaded (${String(error)})`
    throw fail('QUEUE_NEEDS_PACKAGE', { queue: display, packages, problem }, { cause: error })
  }
}

async function firstContact(queue: Queue): Promise<void> {
  const late = new AbortController()
  try {
    await Promise.race([
      queue.waitUntilReady(),
      new Promise((_, reject) => queue.once('error', reject)),
      new Promise((_, reject) => {
        const timer = setTimeout(() => reject(new Error(`no answer in ${FIRST_MS / 1000} s`)), FIRST_MS)
        late.signal.addEventListener('abort', () => clearTimeout(timer))
      }),
    ])
  } finally {
    late.abort()
  }
}

/** Drivers repeat the URL in some messages. */
function nameProblem(error: unknown, queue: string, url: string): SluiceError {
  if (isSluiceError(error)) return error
  const text = error instanceof AggregateError ? String(error.errors[0]) : String(error)
  const problem = withoutSecrets(text.replace(/^\w*Error: /, ''), queueSecrets(url))
  const isLogin = /NOAUTH|WRONGPASS|NOPERM|password authentication|permission denied|no pg_hba/i.test(problem)
  const isFull = /\bOOM\b|MISCONF|No space left|could not extend|out of memory/i.test(problem)
  const code = isLogin ? 'QUEUE_REFUSED' : isFull ? 'QUEUE_FULL' : 'QUEUE_UNREACHABLE'
  return fail(code, { queue, problem }, { cause: undefined })
}
