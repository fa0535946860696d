import type { Counts, IngestEvent } from '../index.js'
import { blockNotes } from './block-notes.js'
import { drawProgress } from './progress-bar.js'
import { masked, withoutSecrets } from './mask.js'
import { duration, plural } from './quantities.js'
import type { Terminal } from './terminal.js'

/** How far a run is. */
export interface Snapshot {
  readonly counts: Counts
  readonly bytesRead: number
  readonly retries: number
  readonly elapsedMs: number
  /** Of a table. */
  readonly rows?: { readonly read: number; readonly total: number }
  /** Where there is a byte budget. */
  readonly wire?: { readonly bytes: number; readonly budget: number }
}

/** Where the progress of a run is shown while it lasts. */
export interface Progress extends Disposable {
  update(snapshot: Snapshot): void
  /** Something worth a line of its own; `fields` hold no secret and no document. */
  note(level: 'info' | 'warn', message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** A bar where a person watches, log lines elsewhere, warnings alone where quiet was asked for. */
export async function showProgress(terminal: Terminal, { quiet }: { quiet: boolean }): Promise<Progress> {
  const shown = quiet ? silent(terminal) : terminal.stderr.isTTY ? drawProgress(terminal) : await log(terminal)
  return {
    ...shown,
    note: (level, message, fields = {}) => {
      // More may become known on the way.
      const { secrets } = terminal.manner
      shown.note(level, withoutSecrets(message, secrets), masked(fields, secrets))
    },
  }
}

/** Whoever watches needs no logger. */
async function log(terminal: Terminal): Promise<Progress> {
  const { openLog } = await import('./progress-log.js')
  return openLog(terminal)
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
        progress.note('warn', `${plural(event.documents, 'document')} again in ${duration(event.waitMs)}: ${message}`, {
          code,
        })
        return
      }
      case 'preflight': {
        const { notes, type: _, ...fields } = event
        for (const note of notes) progress.note('info', note)
        const { cluster, version, route, probes } = event
        const reached = `reached ${cluster}${version === undefined ? '' : ` (Elasticsearch ${version})`}: ${route}`
        progress.note('info', `${reached}, ${plural(probes, 'connection')} let through`, fields)
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

function silent(terminal: Terminal): Progress {
  return {
    update: () => undefined,
    note: (level, message) => {
      if (level === 'warn') terminal.err(`warning: ${message}\n`)
    },
    [Symbol.dispose]: () => undefined,
  }
}
