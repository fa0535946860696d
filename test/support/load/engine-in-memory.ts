/** A queue in memory, which behaves as BullMQ documents it, as far as jobs use it. Others may write to it too: see `entries`. */
import type { QueueEngine } from '../../../src/programs/jobs/queue/open-engine.js'
import { noSeal, type Seal } from '../../../src/programs/jobs/queue/seal.js'
import { parseJson } from '../../../src/base/json/parse-json.js'

type State = 'waiting' | 'active' | 'completed' | 'failed'

/** What the queue keeps of a job. `text` is its data, which others may have written. */
interface Kept {
  readonly id: string
  text: string
  state: State
  progress: unknown
  returnvalue: unknown
  failedReason?: string
  readonly logs: string[]
  readonly attempts: number
  attemptsMade: number
}

type Processor = (job: unknown, token: string) => Promise<unknown>

/** Time between two looks of a worker, in milliseconds. */
const LOOK_MS = 5

class QueueHeld {
  readonly entries = new Map<string, Kept>()
  isPaused = false

  add(id: string, data: unknown, attempts = 1): void {
    if (this.entries.has(id)) return
    const none = { progress: 0, returnvalue: null, logs: [], attemptsMade: 0 }
    this.entries.set(id, { id, text: JSON.stringify(data), state: 'waiting', attempts, ...none })
  }

  /** As BullMQ makes a job of an entry, and `openEngine` one that is no JSON. */
  jobOf(kept: Kept): object {
    const { id, state, text, logs: _, ...rest } = kept
    const data = (parseJson(text) ?? null) as unknown
    return {
      ...structuredClone(rest),
      id,
      data,
      opts: { attempts: kept.attempts },
      getState: async () => await Promise.resolve(state),
      extendLock: async () => await Promise.resolve(1),
      moveToDelayed: async () => await this.#back(kept),
      moveToWait: async () => await this.#back(kept),
      updateData: async (next: unknown) => {
        kept.text = JSON.stringify(next)
        await Promise.resolve()
      },
      remove: async () => await Promise.resolve(this.entries.delete(id)),
    }
  }

  get asQueue(): object {
    const of = (states: readonly string[]) => [...this.entries.values()].filter(({ state }) => states.includes(state))
    return {
      add: async (_: string, data: unknown, { jobId = '', attempts }: { jobId?: string; attempts?: number } = {}) => {
        await Promise.resolve(this.add(jobId, data, attempts))
      },
      addBulk: async (all: readonly { data: unknown; opts: { jobId: string; attempts: number } }[]) => {
        for (const { data, opts } of all) this.add(opts.jobId, data, opts.attempts)
        await Promise.resolve()
      },
      getJob: async (id: string) => {
        const kept = this.entries.get(id)
        return await Promise.resolve(kept && this.jobOf(kept))
      },
      getJobs: async (states: readonly string[], from = 0, to = -1) =>
        await Promise.resolve(
          of(states)
            .slice(from, to === -1 ? undefined : to + 1)
            .map(kept => this.jobOf(kept)),
        ),
      getJobCounts: async (...states: readonly string[]) =>
        await Promise.resolve(Object.fromEntries(states.map(state => [state, of([state]).length]))),
      addJobLog: async (id: string, row: string) => await Promise.resolve(this.entries.get(id)?.logs.push(row)),
      getJobLogs: async (id: string, from: number, to: number) =>
        await Promise.resolve({ logs: (this.entries.get(id)?.logs ?? []).slice(from, to + 1) }),
      updateJobProgress: async (id: string, progress: unknown) => {
        const kept = this.entries.get(id)
        if (kept !== undefined) kept.progress = structuredClone(progress)
        await Promise.resolve()
      },
      remove: async (id: string) => await Promise.resolve(this.entries.delete(id) ? 1 : 0),
      drain: async () => {
        for (const { id } of of(['waiting'])) this.entries.delete(id)
        await Promise.resolve()
      },
      pause: async () => await Promise.resolve((this.isPaused = true)),
      resume: async () => await Promise.resolve((this.isPaused = false)),
      setGlobalConcurrency: async () => await Promise.resolve(),
    }
  }

  async #back(kept: Kept): Promise<void> {
    // The next ones come first.
    this.entries.delete(kept.id)
    this.entries.set(kept.id, Object.assign(kept, { state: 'waiting' }))
    await Promise.resolve()
  }
}

class WorkerHeld {
  concurrency: number
  readonly #queue: QueueHeld
  readonly #process: Processor
  readonly #running = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout

  constructor(queue: QueueHeld, process: Processor, concurrency: number) {
    this.#queue = queue
    this.#process = process
    this.concurrency = concurrency
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
  }

  extendJobLocks = async () => await Promise.resolve([])

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#running)
  }

  #look(): void {
    // Those that go back while it looks wait for the next look.
    const waiting = [...this.#queue.entries.values()].filter(({ state }) => state === 'waiting')
    for (const kept of waiting) {
      if (this.#running.size >= this.concurrency || this.#queue.isPaused) return
      if (kept.state !== 'waiting') continue
      kept.state = 'active'
      const running = this.#run(kept)
      this.#running.add(running)
      void running.finally(() => this.#running.delete(running))
    }
  }

  async #run(kept: Kept): Promise<void> {
    try {
      const value = await this.#process(this.#queue.jobOf(kept), 'token')
      Object.assign(kept, { state: 'completed', returnvalue: structuredClone(value) })
    } catch (error) {
      const { name, message } = error as Error
      if (name === 'DelayedError' || name === 'WaitingError') return
      kept.attemptsMade += 1
      const isTried = name !== 'UnrecoverableError' && kept.attemptsMade < kept.attempts
      Object.assign(kept, isTried ? { state: 'waiting' } : { state: 'failed', failedReason: message })
    }
  }
}

export class EngineInMemory {
  readonly #queues = new Map<string, QueueHeld>()

  /** The queue of that name, as anyone sees it who may write to it. */
  held(name: string): QueueHeld {
    const held = this.#queues.get(name) ?? new QueueHeld()
    this.#queues.set(name, held)
    return held
  }

  /** The same queue as others see it after the process that worked on it was killed: what it had begun waits again. */
  afterKill(): EngineInMemory {
    const copy = new EngineInMemory()
    for (const [name, { entries, isPaused }] of this.#queues) {
      const held = copy.held(name)
      held.isPaused = isPaused
      for (const [id, kept] of entries) {
        const { state } = kept
        held.entries.set(id, { ...structuredClone(kept), state: state === 'active' ? 'waiting' : state })
      }
    }
    return copy
  }

  /** The queue as one process sees it. */
  open(seal: Seal = noSeal): QueueEngine {
    const engine = {
      display: 'memory://queue',
      kind: 'redis',
      seal,
      queue: (name: string) => this.held(name).asQueue,
      worker: async (name: string, processor: Processor, { concurrency = 1 }: { concurrency?: number }) =>
        await Promise.resolve(new WorkerHeld(this.held(name), processor, concurrency)),
      failure: (error: unknown) => error,
      [Symbol.asyncDispose]: async () => await Promise.resolve(),
    }
    return engine as unknown as QueueEngine
  }
}
