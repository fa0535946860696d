/** Records the time line of a run from its events. */
import { nothing } from '../../pipeline/ledger/account.js'
import { takenOf } from '../../base/operation.js'
import type { BatchSection, ConnectSection, StateSection } from '../../options/load.js'
import type { IngestEvent } from '../../options/run-events.js'
import type { BodiesHook, EndingHook, Feature, Started } from '../../run/loop/hooks.js'
import { isoTime } from '../../base/time/clock.js'
import { keepTimeline, pruneTimelines, recallTimeline } from './kept-timeline.js'
import { type RunLimits, Timeline } from './timeline.js'

interface Sections {
  readonly dryRun: boolean
  readonly connecting: Pick<ConnectSection, 'concurrency'>
  readonly batching: Pick<BatchSection, 'batchBytes'>
  readonly state: Pick<StateSection, 'stateDir' | 'keepRuns'>
}

/** A process that is killed loses no more than this of its time line. */
const WRITE_MS = 5000

/**
 * Samples requests, documents, retries and waits over time, for the report of the run. Never stops a load. Runs of the same name
 * that follow each other in one process, as with `follow`, continue one time line.
 */
export function recordTimeline(sections: Sections): Feature {
  const { dryRun, state } = sections
  const { stateDir } = state
  if (dryRun || stateDir === undefined) return () => undefined
  let recorder: Recorder | undefined
  return (): BodiesHook & EndingHook => {
    let isRecording = false
    let before = nothing
    return {
      prepare: async ({ found }) => {
        if (found.plan.isDone) return
        const { run } = found.plan
        if (recorder?.run !== run) recorder = await openRecorder(run, found, { ...sections, stateDir })
        isRecording = true
      },
      told: event => {
        if (!isRecording || recorder === undefined) return
        if (event.type === 'progress') {
          const { counts } = event
          recorder.settled(takenOf(counts) - takenOf(before), counts.rejected - before.rejected)
          before = counts
        } else recorder.hear(event)
      },
      finished: async ({ sender }) => {
        if (isRecording) recorder?.learnt(sender.learnt)
        await Promise.resolve()
      },
      dispose: async () => {
        if (isRecording) await recorder?.end()
      },
    }
  }
}

async function openRecorder(run: string, { plan }: Started['found'], sections: OpenSections): Promise<Recorder> {
  const { stateDir, connecting, batching, state } = sections
  const earlier = plan.continues === undefined ? undefined : await recallTimeline(stateDir, run)
  const limits = { concurrency: connecting.concurrency, batchBytes: batching.batchBytes }
  const timeline = new Timeline(isoTime(new Date()), earlier?.samples)
  return new Recorder({ run, stateDir, most: state.keepRuns, timeline, limits: { ...earlier?.limits, ...limits } })
}

type OpenSections = Sections & { readonly stateDir: string }

interface Recording {
  readonly run: string
  readonly stateDir: string
  /** Most time lines to keep. */
  readonly most: number
  readonly timeline: Timeline
  readonly limits: RunLimits
}

class Recorder {
  readonly run: string
  readonly #recording: Recording
  #limits: RunLimits
  /** The time of the time line at `performance.now() === 0`. */
  readonly #zero: number
  #written: number
  #writing: Promise<void> | undefined
  #isPruned = false

  constructor(recording: Recording) {
    this.run = recording.run
    this.#recording = recording
    this.#limits = recording.limits
    this.#written = performance.now()
    this.#zero = recording.timeline.lengthMs - this.#written
  }

  hear(event: IngestEvent): void {
    const { timeline } = this.#recording
    const now = this.#now
    switch (event.type) {
      case 'sent':
        return timeline.sent(now, event.open, event.bytes)
      case 'answered': {
        const { open, ms, status = 0 } = event
        return timeline.answered(now, open, ms, status < 200 || status > 299)
      }
      case 'retry':
        return timeline.retried(now, event.failure.code)
      case 'blocked':
        return timeline.blocked(now, event.failure.code)
      case 'unblocked':
        return timeline.unblocked(now)
      default:
    }
  }

  settled(taken: number, rejected: number): void {
    this.#recording.timeline.settled(this.#now, taken, rejected)
    if (performance.now() - this.#written < WRITE_MS) return
    this.#written = performance.now()
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined))
  }

  learnt(learnt: { readonly concurrency?: number; readonly bodyBytes?: number } | undefined): void {
    if (learnt === undefined) return
    const { concurrency, bodyBytes } = learnt
    this.#limits = {
      ...this.#recording.limits,
      ...(concurrency === undefined ? {} : { learntConcurrency: concurrency }),
      ...(bodyBytes === undefined ? {} : { learntBytes: bodyBytes }),
    }
  }

  async end(): Promise<void> {
    await this.#writing
    await this.#write()
    const { stateDir, most } = this.#recording
    if (!this.#isPruned) await pruneTimelines(stateDir, most)
    this.#isPruned = true
  }

  get #now(): number {
    return this.#zero + performance.now()
  }

  async #write(): Promise<void> {
    const { stateDir, run, timeline } = this.#recording
    await keepTimeline(stateDir, run, { samples: timeline.samples(this.#now), limits: this.#limits })
  }
}
