import * as check from '../../options/option-checks.js'
import { defaults } from '../../options/describe-option.js'
import type { ConnectSection, Load } from '../../options/load.js'
import { readConnecting, readRecorded } from '../../options/read-options.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import { invalid } from '../../options/option-checks.js'

/** Selects a run, and how to reach its cluster. */
export interface VerifyOptions extends ConnectOptions {
  /** The run's id, as the receipt names it, or the path of its checkpoint. */
  readonly run: string
  /** The folder with its checkpoint. */
  readonly stateDir: string
  /** Most ids that are listed of each kind and input. Default 20. */
  readonly listed?: number | undefined
  /** Longest time to retry one request, in milliseconds. Default 900,000. */
  readonly maxElapsedMs?: number | undefined
  /** Called now and then: how many of the settled documents have been looked up. */
  readonly onProgress?: ((lookedUp: number, documents: number) => void) | undefined
}

export interface UndoOptions extends VerifyOptions {
  /** Delete nothing, and count in `wouldDelete`. Default false. */
  readonly dryRun?: boolean | undefined
  /** Delete also what was changed since. Default false. */
  readonly force?: boolean | undefined
}

/** How the inputs of a run were read. */
export type RecordedLoad = Pick<Load, 'inputs' | 'documents' | 'batching'>

/** Options whose text in a checkpoint says all that reading needs. Those of CSV do, too. */
const readableOptions: ReadonlySet<string> = new Set([
  'op',
  'ids',
  'idField',
  'idSeparator',
  'format',
  'pick',
  'members',
  'pipeline',
  'routingField',
  'onConflict',
])

const own = {
  run: check.name,
  stateDir: check.name,
  listed: value => (value === Infinity ? undefined : check.whole(0, Number.MAX_SAFE_INTEGER)(value)),
  maxElapsedMs: check.whole(0, Number.MAX_SAFE_INTEGER),
  onProgress: check.listener,
  dryRun: check.flag,
  force: check.flag,
} satisfies Record<Exclude<keyof UndoOptions, keyof ConnectOptions>, check.Check>

/** The same, checked, with every default filled in. */
export interface VerifySection extends Pick<VerifyOptions, 'run' | 'stateDir' | 'onProgress' | 'signal'> {
  readonly connecting: ConnectSection
  readonly listed: number
  readonly maxElapsedMs: number
  readonly dryRun: boolean
  readonly force: boolean
  /** Reads how a run was loaded. Returns undefined if its checkpoint does not say all. */
  loadedWith(recorded: Readonly<Record<string, string>>): RecordedLoad | undefined
}

const LISTED = 20

/** Throws SluiceError OPTION_INVALID. */
export function readVerifyOptions(options: UndoOptions): VerifySection {
  const { run, stateDir, listed, maxElapsedMs, onProgress, dryRun, force, ...connect } = options
  const connecting = readConnecting(connect)
  const found = check.problemIn({ run, stateDir, listed, maxElapsedMs, onProgress, dryRun, force }, own)
  const missing = run === undefined ? 'run' : stateDir === undefined ? 'stateDir' : undefined
  if (missing !== undefined) throw invalid(missing, 'is not set')
  if (found !== undefined) throw invalid(found.option ?? 'options', found.problem)
  return {
    run,
    stateDir,
    onProgress,
    signal: options.signal,
    connecting,
    listed: listed ?? LISTED,
    maxElapsedMs: maxElapsedMs ?? defaults.maxElapsedMs,
    dryRun: dryRun ?? false,
    force: force ?? false,
    loadedWith: recorded => readRecorded(recorded, connect, readableOptions),
  }
}

/** The documents of a run. `documents` = `found` + `rejected` + `missing`, and `dropped` for all inputs together. */
export interface DocumentCounts {
  readonly documents: number
  readonly found: number
  /** In the dead letters, and not stored by a replay since. If ids come from fields, another document may have the id. */
  readonly rejected: number
  /** Not there, and in no dead letters that could be read. */
  readonly missing: number
  /** There, and numbered behind the last settled one: sent before the run was cut off. A resume settles them. */
  readonly unsettled: number
  /** There, with the token of the run, and none of its documents. */
  readonly foreign: number
  /** There in more than one index behind an alias or data stream. */
  readonly doubled: number
}

/** The documents of one input in the cluster. */
export interface VerifiedInput extends DocumentCounts {
  readonly name: string
  /** Its ids are `TOKEN-NUMBER`. */
  readonly token: string
  /** The numbers of the first and the last settled document. */
  readonly first: number
  readonly last: number
  /** The first of them. */
  readonly missingIds: readonly string[]
  readonly foreignIds: readonly string[]
  readonly doubledIds: readonly string[]
}

/** The documents of a source, compared with a target. */
export interface ComparedCounts {
  /** Documents of the source. */
  readonly documents: number
  /** The same bytes in both clusters, except for white space between their parts. */
  readonly equal: number
  /** In the dead letters of the run. */
  readonly rejected: number
  /** Not in the target. */
  readonly missing: number
  /** In the target, with another document. */
  readonly different: number
  /** Written in the source since the run has read it, or not read yet. Not equal in the target. */
  readonly unread: number
}

/** The documents of one index. */
export interface ComparedInput extends ComparedCounts {
  readonly name: string
  /** The first of them. */
  readonly missingIds: readonly string[]
  readonly differentIds: readonly string[]
  readonly unreadIds: readonly string[]
}
