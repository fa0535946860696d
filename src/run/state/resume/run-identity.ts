/** How a run is known again, and what it has left to do. A feature may give other answers for its runs. */
import { createHash, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { IndexSeen } from '../../../route/cluster/indices.js'
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import type { DocumentSection, InputSection, StateSection } from '../../../options/load.js'
import { listedIn, namedIn } from '../../../options/names.js'
import type { Checkpoint, Target } from '../checkpoint/checkpoint.js'
import { lostIndex, type LostIndices } from './lost-index.js'
import { planRun } from './plan-run.js'
import type { Plan, Planning } from './plan.js'
import type { Source } from '../../../base/flow.js'
import { isPath } from '../../../base/text/input-form.js'
import { inputsOf } from '../inputs/packed-inputs.js'

export interface RunIdentity {
  /** The name that the user gave to where documents go. */
  readonly label: string
  /** The same in keys and tokens. No index has a blank in its name. */
  readonly into: string
  /** In the key, instead of `into`. */
  readonly scope?: string
  /** In the key: what runs of another kind with the same inputs are not. */
  readonly kind?: string
  /** Inputs as the user named them, absolute. */
  readonly sources: readonly string[]
  /** Options that change what Sluice sends for a document. */
  readonly options: Checkpoint['options']
  /** Whether another run of the same name makes the same ids. */
  readonly repeatsIds: boolean
  /** Whether each run fills an index of its own. Default false. */
  readonly hasOwnIndex?: boolean
  /** Why documents that were under way may be stored twice. Undefined: their ids prevent this. */
  readonly doubt: string | undefined
  /** More fields of the target in the checkpoint. */
  readonly target?: Pick<Target, 'alias' | 'indices'>
  /** See `Checkpoint`. Grows while the run reads. */
  readonly replays?: ReadonlySet<string>
  /** Asks the cluster for what the other answers depend on. Throws SluiceError. */
  look?(cluster: Cluster): Promise<void>
  /** Throws SluiceError if another run stands in the way. Called after this run has locked the checkpoint. */
  refuse?(claim: RunClaim): Promise<void>
  /** The index that the last run filled. */
  lastIndex(last: Checkpoint | undefined): string | undefined
  /** Returns indices that no longer hold the documents of the last run. `seen`: of `lastIndex`, if there is one. */
  lost(
    last: Checkpoint,
    seen: IndexSeen | undefined,
    cluster: Cluster,
  ): LostIndices | undefined | Promise<LostIndices | undefined>
  /** Throws SluiceError: see `planRun`. */
  plan(planning: Planning): Promise<Plan>
  /** The index that the run fills. */
  index(run: string): string
  /** Throws SluiceError if the index cannot take the documents. `seen`: undefined if unknown. */
  refuseIndex?(seen: IndexSeen | undefined, index: string): void
  /** Returns notes on the index. */
  notes?(index: string): readonly string[]
}

export interface RunClaim {
  readonly stateDir: string
  /** Path of the checkpoint. */
  readonly path: string
  readonly target: Pick<Target, 'clusterUuid' | 'url'>
}

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

/** 128 bits in hex. */
export function keyOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
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

function whatIsSent(inputs: InputSection, documents: DocumentSection): Record<string, string> {
  const { op, ids, routingField, versionField, ifSeqNoField, ifPrimaryTermField, script, pipeline } = documents
  const { field: idField, separator: idSeparator } = 'field' in ids ? ids : {}
  const given = {
    op,
    ids: 'by' in ids ? ids.by : ids.from,
    format: inputs.format,
    idField,
    idSeparator,
    routingField,
    versionField,
    ifSeqNoField,
    ifPrimaryTermField,
    script: script === undefined ? undefined : 'id' in script ? `id ${script.id}` : `text ${keyOf([script.source])}`,
    pipeline,
    pick: inputs.pick,
  }
  return Object.fromEntries(
    [...Object.entries(given), ...howCsvIsRead(inputs)].filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  )
}

/** Leaves out options that are not set, so that runs of other formats stay as they were. */
function howCsvIsRead({ csv = {} }: InputSection): [string, string][] {
  return Object.entries(csv).flatMap(([name, value]) => {
    if (value === undefined || value === false || (name === 'empty' && value === 'omit')) return []
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)]]
  })
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** Returns an id for a run: sortable by time, and unique. */
export function newRunId(): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${randomBytes(3).toString('hex')}`
}

/** Makes the part of a run's ids that belongs to one input: 80 random bits, only letters and digits. */
export function randomToken(): string {
  return spell(randomBytes(16))
}

/** Returns such parts by number: they follow each other from one that is random, so another process gets none of them. */
export function randomTokens(): (number: number) => string {
  const first = randomBytes(16)
  return number => {
    const digits = Uint8Array.from(first, byte => byte & 31)
    let carry = number
    for (let at = digits.length - 1; carry > 0 && at >= 0; at -= 1) {
      const sum = (digits[at] ?? 0) + carry
      digits[at] = sum & 31
      carry = Math.floor(sum / 32)
    }
    return spell(digits)
  }
}

/** Returns the same token for the same parts, on any machine. */
export function tokenOf(...parts: readonly (string | number)[]): string {
  return spell(createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16))
}

function spell(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += letters[byte & 31]
  return text
}

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
    for (const { token, hasStored, status } of inputsOf(run))
      if (hasStored || (status !== 'finished' && run.isDoubtful)) tokens.add(token)
  return tokens
}
