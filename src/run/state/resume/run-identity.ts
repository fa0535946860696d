/** Says when two commands are the same run, and how their inputs are named in ids. */
import { resolve } from 'node:path'
import { defaults, sentOptions } from '../../../options/describe-option.js'
import { keyOf, randomToken, tokenOf } from '../../../base/checksum/tokens.js'
import type { DocumentSection, InputSection, StateSection } from '../../../options/load.js'
import { listedIn, namedIn } from '../../../options/names.js'
import type { Checkpoint } from '../checkpoint/checkpoint.js'
import { lostIndex } from './lost-index.js'
import { planRun } from './plan-run.js'
import type { Planning, RunIdentity } from './plan.js'
import type { Source } from '../../../base/flow.js'
import { isPath } from '../../../base/text/source-url.js'

/** Returns how a load into one index is known. */
export function plainIdentity(inputs: InputSection, documents: DocumentSection): RunIdentity {
  const { into, ids } = documents
  return {
    label: into,
    into,
    sources: sourcesOf(inputs.source),
    options: whatIsSent(inputs, documents),
    repeatsIds: ids.from === 'run',
    doubt:
      ids.from === 'cluster'
        ? 'documents that Sluice was sending when the run stopped may be stored twice, because the cluster makes their ids'
        : undefined,
    lastIndex: () => into,
    lost: lostIndex,
    plan: planRun,
    index: () => into,
  }
}

/** Returns the key of this run, which no other run has. `place`: the uuid of the cluster, or its URL. */
export function runKey(place: string, { into, scope, kind, sources }: RunIdentity, runId: string | undefined): string {
  return keyOf([
    place,
    scopeOf({ into, ...(scope === undefined ? {} : { scope }) }),
    sources,
    ...(kind === undefined ? [] : [kind]),
    runId ?? '',
  ])
}

/** Where documents go, without the cluster. */
export function scopeOf({ into, scope = into }: Pick<RunIdentity, 'into' | 'scope'>): string {
  return scope
}

/** A list may have very many files, so its hash stands for it. */
function sourcesOf(source: unknown): string[] {
  const listed = listedIn(source)
  return listed === undefined ? namedIn(source).map(absolute) : [`files ${keyOf(listed.map(absolute))}`]
}

function absolute(name: string): string {
  return isPath(name) ? resolve(name) : name
}

/** Leaves out options that are not set or as usual, so that runs from before an option was added stay as they were. */
function whatIsSent(inputs: InputSection, documents: DocumentSection): Record<string, string> {
  const { op, ids, script: runs } = documents
  const { field: idField, separator: idSeparator } = 'field' in ids ? ids : {}
  const script = runs === undefined ? undefined : 'id' in runs ? `id ${runs.id}` : `text ${keyOf([runs.source])}`
  const values = { ...inputs, ...documents, script }
  const given = {
    idField,
    idSeparator,
    ...Object.fromEntries(sentOptions.map(name => [name, values[name]])),
    ...inputs.csv,
  }
  const set = Object.entries(given).filter(
    ([name, value]) => value !== undefined && value !== false && value !== usual[name],
  )
  const texts = set.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
  return { op, ids: 'by' in ids ? ids.by : ids.from, format: inputs.format, ...Object.fromEntries(texts) }
}

const usual: Readonly<Record<string, unknown>> = defaults

interface Given {
  readonly state: Pick<StateSection, 'runId'>
  readonly identity: Pick<RunIdentity, 'into' | 'hasOwnIndex'>
  /** The token of the one input, if it has one. */
  readonly token?: string | undefined
  /** Returns the ids among these that the index holds. Absent: no index is asked. */
  readonly idsIn?: (index: string, ids: readonly string[]) => Promise<readonly string[]>
}

/**
 * Returns what makes the tokens of inputs, the part of a run's ids that belongs to one input. `places`: the uuid of the cluster, and its
 * URL, as far as they are known. They were a part of the ids of older versions.
 */
export function tokens(
  { state: { runId }, identity, token, idsIn }: Given,
  places: readonly string[],
  runs: readonly Checkpoint[],
): Planning['newToken'] {
  let taken: ReadonlySet<string> | undefined
  /** The place in the ids of an older version, if documents have these. */
  let older: Promise<string | undefined> | undefined
  return async (source: Source) => {
    if (token !== undefined) return token
    if (runId === undefined) return randomToken()
    // Any process that loads a part of the input makes the same ids. An index has only one document of an id, so the cluster is no part
    // of it: one process may know its uuid, and the next one only its URL.
    if (source.seen !== undefined) return tokenOf('range', runId, identity.into, source.name, source.seen)
    // A file with other content under the same name is another input: otherwise its documents would get the ids of
    // stored documents. For stdin only the name is known before reading.
    const head = (await source.file?.look())?.head.sha256 ?? ''
    const name = source.copy?.of ?? source.name
    // The cluster is no part of it, because the next credentials may not see its uuid.
    const rest = [identity.into, name, source.file?.stat.size ?? 0, head] as const
    older ??=
      idsIn === undefined
        ? Promise.resolve(undefined)
        : olderPlace(places, identity.into, place => tokenOf(runId, place, ...rest), idsIn)
    const place = await older
    const parts = [runId, ...(place === undefined ? [] : [place]), ...rest] as const
    const first = tokenOf(...parts)
    // Stdin that is piped again gets the ids of before. An index of its own holds no other documents.
    const isReadOnce = source.file === undefined && source.address === undefined
    if (isReadOnce || source.copy !== undefined || identity.hasOwnIndex === true) return first
    // Another content may have the same name, size and beginning: its documents would pass for those that are stored.
    taken ??= storedTokens(runs)
    let free = first
    for (let number = 2; taken.has(free); number += 1) free = tokenOf(...parts, number)
    return free
  }
}

/** Returns the place that is a part of stored ids. One input tells: all of a run have the same. */
async function olderPlace(
  places: readonly string[],
  index: string,
  tokenAt: (place: string) => string,
  idsIn: NonNullable<Given['idsIn']>,
): Promise<string | undefined> {
  const ids = new Map<string, string>(
    places.flatMap(place => FIRST.map(number => [`${tokenAt(place)}-${number}`, place] as const)),
  )
  const [found] = await idsIn(index, [...ids.keys()])
  return found === undefined ? undefined : ids.get(found)
}

/** Numbers of documents that are asked for. The first of them may be rejected, or blank. */
const FIRST = [1, 2, 3]

/** Returns the tokens of inputs of which a document is stored, or may be. */
function storedTokens(runs: readonly Checkpoint[]): ReadonlySet<string> {
  const tokens = new Set<string>()
  for (const run of runs)
    for (const { token, hasStored, status } of run.inputs)
      if (hasStored || (status !== 'finished' && run.isDoubtful)) tokens.add(token)
  return tokens
}
