import type { Cause, Fault } from './answers.js'

/** What a script made of a document. */
interface Changed {
  readonly op: 'index' | 'none' | 'delete'
  readonly source: Record<string, unknown>
}

type Values = Record<string, unknown>

/**
 * The lab runs no painless. It knows these scripts by their text, and does the same: one counts, one counts each number once, one
 * deletes, one throws.
 */
const known: Readonly<Record<string, (source: Values, params: Values) => Changed>> = {
  'ctx._source.n = (ctx._source.n == null ? 0 : ctx._source.n) + params.by': counted,
  "if (ctx._source.last != null && ctx._source.last >= params.no) { ctx.op = 'none' } else { ctx._source.n = (ctx._source.n == null ? 0 : ctx._source.n) + params.by; ctx._source.last = params.no }":
    (source, params) => {
      const last = source['last']
      if (last !== undefined && Number(last) >= Number(params['no'])) return { op: 'none', source }
      return { op: 'index', source: { ...counted(source, params).source, last: params['no'] } }
    },
  "ctx.op = 'delete'": source => ({ op: 'delete', source }),
  "throw new IllegalArgumentException('no ' + params.id)": (_, params) => {
    throw new ScriptFailed(`no ${String(params['id'])}`)
  },
}

function counted(source: Values, { by }: Values): Changed {
  return { op: 'index', source: { ...source, n: Number(source['n'] ?? 0) + Number(by) } }
}

class ScriptFailed extends Error {}

/** A script of an update, as its line has it. */
export interface UpdateScript {
  readonly source: string | undefined
  readonly id: string | undefined
  /** A JSON object. */
  readonly params: string
}

/** Runs a script. `stored`: the document, undefined if there is none. */
export function runKnownScript({ source, id, params }: UpdateScript, stored: string | undefined): Changed | Fault {
  if (source === undefined) {
    const reason = `unable to find script [${id ?? ''}] in cluster state`
    return failed({ type: 'resource_not_found_exception', reason })
  }
  const run = known[source.replaceAll(/\s+/g, ' ').trim()]
  if (run === undefined) {
    const causedBy = { type: 'illegal_argument_exception', reason: 'the lab knows only a few scripts' }
    return failed({ type: 'script_exception', reason: 'compile error', causedBy })
  }
  try {
    return run(stored === undefined ? {} : (JSON.parse(stored) as Values), JSON.parse(params) as Values)
  } catch (error) {
    if (!(error instanceof ScriptFailed)) throw error
    const causedBy = { type: 'illegal_argument_exception', reason: error.message }
    return failed({ type: 'script_exception', reason: 'runtime error', causedBy })
  }
}

function failed(causedBy: Cause): Fault {
  return { status: 400, type: 'illegal_argument_exception', reason: 'failed to execute script', causedBy }
}
