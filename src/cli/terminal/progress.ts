import type { Counts, FailureCode, IngestEvent } from '../../index.js'
import { showDuration, plural } from '../show/columns.js'
import { explain } from '../../failure/catalogue.js'

/** How far a run is. */
export interface Snapshot {
  readonly counts: Counts
  readonly bytesRead: number
  readonly retries: number
  readonly elapsedMs: number
  /** Only for a table. */
  readonly rows?: { readonly read: number; readonly total: number }
  /** Only with a byte budget. */
  readonly wire?: { readonly bytes: number; readonly budget: number }
}

/** Shows the progress of a run. */
export interface Progress extends Disposable {
  update(snapshot: Snapshot): void
  /** Prints a line of its own. `fields` contain no secret and no document. */
  note(level: 'info' | 'warn', message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** Tells the events of one run to whoever shows its progress. */
export function follow(progress: Progress): (event: IngestEvent) => void {
  const startedAt = performance.now()
  const noteBlock = blockNotes(progress)
  let retries = 0
  return event => {
    switch (event.type) {
      case 'progress':
        progress.update({
          counts: event.counts,
          bytesRead: event.bytesRead,
          retries,
          elapsedMs: performance.now() - startedAt,
          ...(event.wire === undefined ? {} : { wire: event.wire }),
          ...(event.rows === undefined ? {} : { rows: event.rows }),
        })
        return
      case 'retry': {
        retries += 1
        const { code, message } = event.failure
        const again = `retrying ${plural(event.documents, 'document')} in ${showDuration(event.waitMs)}`
        progress.note('warn', `${again}. Cause: ${message}`, { code })
        return
      }
      case 'preflight': {
        const { notes, type: _, ...fields } = event
        for (const note of notes) progress.note('info', note)
        const { cluster, version, route, probes } = event
        const reached = `reached ${cluster}${version === undefined ? '' : ` (Elasticsearch ${version})`}: ${route}`
        progress.note('info', `${reached}, ${plural(probes, 'connection')} accepted`, fields)
        return
      }
      case 'input':
        progress.note('info', `reading ${event.name}${fromWhere(event)}`, { input: event.name })
        return
      case 'loaded':
        progress.note('info', `${event.name} is already loaded`, { input: event.name })
        return
      case 'deletions': {
        const { mode, index } = event
        const how = mode === 'audit' ? 'in sys_audit_delete' : 'by comparing it with the ids of all rows'
        progress.note('info', `looking for documents of ${index} whose rows were deleted, ${how}`, { mode, index })
        return
      }
      case 'blocked':
      case 'unblocked':
        noteBlock(event)
        return
      case 'warning':
        progress.note('warn', event.message)
        return
      case 'rejected':
        // Counted in the progress, written in the dead letters, grouped in the receipt.
        return
    }
  }
}

function fromWhere({ resumedAt, since }: { resumedAt?: number; since?: string }): string {
  const changed = since === undefined ? '' : `: what changed since ${since}`
  return `${changed}${resumedAt === undefined ? '' : `${since === undefined ? '' : ','} from document ${resumedAt} on`}`
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
      progress.note('warn', `${back}. Cause: ${message}`, { code })
      return
    }
    const { since, waitedMs, leftMs, nextProbeMs, problem } = event
    const fields = { code, since, waitedMs, leftMs, nextProbeMs, ...(problem === undefined ? {} : { problem }) }
    const also = problem === undefined ? '' : ` (${problem})`
    const next = `Next probe in ${showDuration(nextProbeMs)}, giving up in ${showDuration(leftMs)}`
    if (said === code) {
      progress.note('info', `still waiting for access since ${since}: ${message}${also}. ${next}`, fields)
      return
    }
    said = code
    progress.note('warn', `waiting for access since ${since}: ${message}${also}. ${next}`, fields)
    for (const fix of explain(code).fixes) progress.note('info', `fix: ${fix}`)
  }
}
