import { nothing } from '../../pipeline/ledger/account.js'
import type { Counts, FailureCode, IngestEvent } from '../../index.js'
import { showDuration, plural, count } from './columns.js'
import type { LogEntry } from './terminal.js'
import { explain } from '../../base/failure/failure.js'
import { type DrawingPace, systemPace } from './pace.js'

type Standing = Omit<Extract<IngestEvent, { type: 'standing' }>, 'type'>

export interface Snapshot {
  /** Of this process. */
  readonly counts: Counts
  /** Decoded bytes of this process. */
  readonly bytesRead: number
  readonly retries: number
  /** When loading began, by the pace. */
  readonly loadingAt?: number
  /** Stored bytes that earlier processes had read by then. */
  readonly begunAt?: number
  readonly standing?: Standing
  /** Set while nothing is stored. `since`: milliseconds since the epoch. */
  readonly waiting?: { readonly what: 'retry' | 'access'; readonly since: number; readonly code: FailureCode }
  /** Only for a table. */
  readonly rows?: { readonly read: number; readonly total: number }
  /** Only with a byte budget. */
  readonly wire?: { readonly bytes: number; readonly budget: number }
}

export interface Retried {
  readonly code: FailureCode
  readonly message: string
  readonly documents: number
  readonly waitMs: number
}

/** Shows the progress of a run. */
export interface Progress extends Disposable {
  update(snapshot: Snapshot): void
  /** Prints a line of its own. */
  note(entry: LogEntry): void
  /** A request will be sent again. There may be thousands of them. */
  retried(retry: Retried): void
}

type Handlers = { readonly [Type in IngestEvent['type']]: (event: Extract<IngestEvent, { type: Type }>) => void }

/** Passes the events of one run to the display of its progress. */
export function follow(progress: Progress, pace: DrawingPace = systemPace): (event: IngestEvent) => void {
  const noteBlock = blockNotes(progress)
  const noteInput = inputNotes(progress)
  let now: Snapshot = { counts: nothing, bytesRead: 0, retries: 0 }
  const update = ({ waiting, ...more }: Partial<Snapshot>) => {
    now = { ...now, ...more, ...(waiting === undefined ? {} : { waiting }) }
    progress.update(now)
  }
  const goOn = () => {
    const { waiting: _, ...rest } = now
    now = rest
  }
  // Counted in the progress, written in the dead letters, grouped in the receipt.
  const pass = () => undefined
  const handlers: Handlers = {
    progress: ({ counts, bytesRead, wire, rows }) => {
      // As soon as anything is settled, a retry is no longer what the run waits for.
      if (now.waiting?.what === 'retry' && settledIn(counts) > settledIn(now.counts)) goOn()
      update({ counts, bytesRead, ...(wire === undefined ? {} : { wire }), ...(rows === undefined ? {} : { rows }) })
    },
    standing: ({ type: _, ...standing }) => {
      const begun = now.loadingAt === undefined ? { loadingAt: pace.now(), begunAt: standing.bytes?.read ?? 0 } : {}
      update({ standing, ...begun })
    },
    retry: ({ failure: { code, message }, documents, waitMs }) => {
      const waiting = now.waiting ?? { what: 'retry', since: pace.date(), code }
      update({ retries: now.retries + 1, waiting })
      progress.retried({ code, message, documents, waitMs })
    },
    preflight: ({ notes, type: _, ...fields }) => {
      for (const message of notes) progress.note({ level: 'info', event: 'note', message })
      const { cluster, version, route, probes } = fields
      const reached = `reached ${cluster}${version === undefined ? '' : ` (Elasticsearch ${version})`}: ${route}`
      const message = `${reached}, ${plural(probes, 'connection')} accepted`
      progress.note({ level: 'info', event: 'preflight', message, fields })
    },
    input: noteInput,
    loaded: noteInput,
    format: noteInput,
    mapping: ({ message, index }) => progress.note({ level: 'info', event: 'mapping', message, fields: { index } }),
    deletions: ({ mode, index }) => {
      const text = `looking for documents of ${index} whose rows were deleted, by comparing the index with the ids of all rows`
      progress.note({ level: 'info', event: 'deletions', message: text, fields: { mode, index } })
    },
    blocked: event => {
      goOn()
      update({ waiting: { what: 'access', since: Date.parse(event.since), code: event.failure.code } })
      noteBlock(event)
    },
    unblocked: event => {
      goOn()
      update({})
      noteBlock(event)
    },
    followed: ({ message, name }) =>
      progress.note({ level: 'info', event: 'followed', message, fields: { input: name } }),
    warning: ({ message }) => progress.note({ level: 'warn', event: 'warning', message }),
    planning: pass,
    begun: pass,
    sent: pass,
    answered: pass,
    rejected: pass,
  }
  return event => (handlers[event.type] as (event: IngestEvent) => void)(event)
}

function fromWhere({ resumedAt, since }: { resumedAt?: number; since?: string }): string {
  const changed = since === undefined ? '' : `: rows that changed since ${since}`
  return `${changed}${resumedAt === undefined ? '' : `${since === undefined ? '' : ','} from document ${resumedAt} on`}`
}

/** Documents that need nothing more. */
function settledIn({ read, unsent, unknown }: Counts): number {
  return read - unsent - unknown
}

/** Most inputs that get a note. */
const NAMED = 10

type InputEvent = Extract<IngestEvent, { type: 'input' | 'loaded' | 'format' }>

/** Returns the notes on inputs. The progress counts them, so that later ones need no note. */
function inputNotes(progress: Progress): (event: InputEvent) => void {
  const seen = { loaded: 0, input: 0, format: 0 }
  let found = ''
  const sayLoaded = () => {
    if (seen.loaded > NAMED)
      progress.note({
        level: 'info',
        event: 'loaded',
        message: `${count(seen.loaded - NAMED)} more are already loaded`,
      })
    seen.loaded = 0
  }
  return event => {
    const { type, name } = event
    if (type === 'input') sayLoaded()
    // Many files that are alike need one note.
    if (type === 'format' && event.found === found) return
    seen[type] += 1
    if (type === 'format') found = event.found
    if (seen[type] > NAMED) return
    if (type === 'format') {
      const fields = { input: name, found }
      return progress.note({ level: 'info', event: type, message: `${name} is read as ${found}`, fields })
    }
    const text = type === 'loaded' ? `${name} is already loaded` : `reading ${name}${fromWhere(event)}`
    progress.note({ level: 'info', event: type, message: text, fields: { input: name } })
  }
}

type BlockEvent = Extract<IngestEvent, { type: 'blocked' | 'unblocked' }>

/**
 * Returns the notes while access is lost: first the cause, the time and what to do, later shorter notes that the run
 * still waits.
 */
function blockNotes(progress: Progress): (event: BlockEvent) => void {
  let said: FailureCode | undefined
  return event => {
    const { code } = event.failure
    const message = event.failure.message.replace(/\.$/, '')
    if (event.type === 'unblocked') {
      said = undefined
      const back = `access is back after ${showDuration(event.waitedMs)}. Resuming`
      progress.note({ level: 'warn', event: 'unblocked', message: `${back}. Cause: ${message}`, fields: { code } })
      return
    }
    const { since, waitedMs, leftMs, nextProbeMs, problem } = event
    const fields = { code, since, waitedMs, leftMs, nextProbeMs, ...(problem === undefined ? {} : { problem }) }
    const also = problem === undefined ? '' : ` (${problem})`
    const next = `Next test in ${showDuration(nextProbeMs)}. Sluice gives up in ${showDuration(leftMs)}`
    if (said === code) {
      const waiting = `still waiting for access since ${since}: ${message}${also}. ${next}`
      progress.note({ level: 'info', event: 'blocked', message: waiting, fields })
      return
    }
    said = code
    progress.note({
      level: 'warn',
      event: 'blocked',
      message: `waiting for access since ${since}: ${message}${also}. ${next}`,
      fields,
    })
    for (const fix of explain(code).fixes) progress.note({ level: 'info', event: 'fix', message: `fix: ${fix}` })
  }
}
