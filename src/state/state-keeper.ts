/** Keeps the checkpoint of a run up to date. */
import { dirname, resolve } from 'node:path'
import { seeIndex } from '../cluster/indices.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { FoundRun } from './find-run.js'
import type { Input, Mark, Cursor } from '../flow.js'
import { sumOf } from '../ledger/account.js'
import { type Checkpoint, type CheckpointInput, type FileIdentity, type Target, VERSION } from './checkpoint.js'
import { prepareStateDir, writeCheckpoint } from './checkpoint-file.js'
import { CheckpointWriter } from './checkpoint-writer.js'
import { keepEarlier } from './earlier-checkpoints.js'
import type { DeadLetters } from '../ledger/dead-letters.js'
import { identityAt, identityOf } from './file-identity.js'
import type { Ledger } from '../ledger/ledger.js'
import type { PlannedInput } from './plan.js'
import type { Committed } from '../ledger/committed-prefix.js'
import { systemClock } from '../time/system-clock.js'

/** After a kill, Sluice sends the documents that were settled since the last write again, and finds them stored. */
const EVERY_MS = 500

const START: Mark = { kind: 'lines', document: 1, line: 1, offset: 0, tail: 0 }

export interface Keeping {
  readonly found: FoundRun
  readonly path: string
  /** Also used after a byte budget is spent: the budget leaves room for these requests. */
  readonly cluster: Cluster
  readonly ledger: Ledger
  readonly deadLetters: DeadLetters
  /** Aborted when the cluster is not waited for any longer. */
  readonly givenUp: AbortSignal
}

export class StateKeeper {
  readonly path: string
  readonly #keeping: Keeping
  readonly #writer: CheckpointWriter
  readonly #began: string
  readonly #files = new Map<number, FileIdentity>()
  readonly #begun = new Set<number>()
  #target: Target
  /** Destinations whose uuid was already read while this process stores documents in them. */
  readonly #seen = new Set<string>()
  #isIndexMissing: boolean
  #isComplete = false

  constructor(keeping: Keeping) {
    const { found } = keeping
    this.#keeping = keeping
    this.path = keeping.path
    this.#began = found.plan.began ?? new Date().toISOString()
    this.#target = found.target
    this.#isIndexMissing = found.isIndexMissing
    this.#writer = new CheckpointWriter(async () => await this.#write('running'), EVERY_MS, systemClock)
    for (const { source, from, file, place } of found.plan.inputs) {
      if (file !== undefined) this.#files.set(source.id, file)
      if (from !== undefined || place !== undefined) this.#begun.add(source.id)
    }
  }

  /** Whether the last checkpoint that was written leaves nothing to do. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /**
   * Writes the first checkpoint, with every token that the first request may use. Throws SluiceError
   * STATE_UNWRITABLE, STATE_UNREADABLE.
   */
  async start(): Promise<void> {
    const { replaces } = this.#keeping.found
    if (replaces !== undefined) await keepEarlier(this.path, replaces)
    await this.#write('running')
  }

  /** An input may have changed while it waited for its turn. */
  async begin({ id }: Input): Promise<void> {
    if (this.#begun.has(id)) return
    this.#begun.add(id)
    const source = this.#keeping.found.plan.inputs.find(one => one.source.id === id)?.source
    await source?.copy?.begun?.()
    // If the file cannot be read, opening it reports that.
    const look = await source?.file?.look().catch(() => undefined)
    if (look !== undefined) this.#files.set(id, identityOf(look))
  }

  /** There is something new. Returns why the state cannot be kept, if so. */
  touch(): Failure | undefined {
    return this.#writer.touch()
  }

  /** The last word. Returns why it could not be written. */
  async finish(status: Exclude<Checkpoint['status'], 'running'>): Promise<Failure | undefined> {
    await this.#writer.end()
    try {
      // Makes the folder again if somebody removed it.
      await prepareStateDir(dirname(dirname(this.path)))
      await this.#write(status)
      return undefined
    } catch (error) {
      if (isSluiceError(error)) return error.failure
      throw error
    }
  }

  async #write(status: Checkpoint['status']): Promise<void> {
    const { found, deadLetters, ledger } = this.#keeping
    const { plan } = found
    // Taken at once: what is settled while the rest is gathered belongs to the next write.
    const { committed } = ledger
    const { counts, rejections } = sumOf(plan.before, committed)
    const failed = new Set(ledger.inputs.filter(one => one.status === 'failed').map(({ name }) => name))
    await deadLetters.sync()
    // If this process wrote no dead letters, the earlier ones stay in their file, even if another file is set now.
    const keptLetters = deadLetters.records === 0 ? plan.deadLetters : undefined
    // The bytes of a copy must be on the disk before a checkpoint counts them as loaded.
    for (const { source } of plan.inputs) await source.copy?.sync?.()
    await this.#seeNewIndex(committed)
    await this.#seeDestinations(committed)
    const inputs: CheckpointInput[] = []
    for (const input of plan.inputs) inputs.push(await this.#inputOf(input, committed, failed))
    const isFinished = status === 'finished' && inputs.every(input => input.status === 'finished')
    await writeCheckpoint(this.path, {
      version: VERSION,
      run: plan.run,
      status: status === 'finished' && !isFinished ? 'failed' : status,
      began: this.#began,
      written: new Date().toISOString(),
      target: this.#target,
      sources: found.sources,
      options: found.options,
      isDoubtful: !isFinished && (status === 'running' || found.isNamed || plan.isDoubtful || committed.isDoubtful),
      inputs,
      counts,
      rejections,
      ...(deadLetters.path === undefined
        ? {}
        : {
            deadLetters: {
              ...(keptLetters ?? { path: resolve(deadLetters.path), length: committed.deadLetters }),
              writer: deadLetters.writer,
            },
          }),
    })
    this.#isComplete = inputs.every(input => input.status === 'finished')
    this.#letGo(inputs, committed.isBroken)
  }

  /** Lets copies delete what a resume does not read. `isLast`: no later checkpoint of this process says more. */
  #letGo(inputs: readonly CheckpointInput[], isLast: boolean): void {
    for (const [at, { mark, file }] of inputs.entries()) {
      if (file === undefined) continue
      const isRead = mark.kind === 'lines' && !file.isCompressed
      this.#keeping.found.plan.inputs[at]?.source.copy?.loaded?.(isRead && !isLast ? mark.offset : undefined)
    }
  }

  async #inputOf(planned: PlannedInput, committed: Committed, failed: ReadonlySet<string>): Promise<CheckpointInput> {
    const { source, token, from = START, start, isLoaded, read } = planned
    const settled = committed.inputs.get(source.id)
    const isFinished = isLoaded || settled?.isFinished === true
    const mark = settled?.mark ?? from
    const known = this.#files.get(source.id)
    const file =
      isLoaded || known === undefined || source.file === undefined
        ? known
        : await identityAt(mark, isFinished, known, source.file)
    if (file !== undefined) this.#files.set(source.id, file)
    const begun = this.#begun.has(source.id) ? 'begun' : 'waiting'
    return {
      name: source.name,
      status: isFinished ? 'finished' : failed.has(source.name) ? 'failed' : begun,
      token,
      mark,
      ...(start === undefined ? {} : { start }),
      read: read + (settled?.read ?? 0),
      ...(file === undefined ? {} : { file }),
      ...(source.copy === undefined ? {} : { copy: source.copy.id }),
      ...(source.cursor === undefined ? {} : tableAt(source.cursor, planned, settled)),
    }
  }

  /** The first document may have made the index. */
  async #seeNewIndex({ counts }: Committed): Promise<void> {
    if (!this.#isIndexMissing || counts.created === 0) return
    const seen = await seeIndex(this.#keeping.cluster, this.#target.index, this.#keeping.givenUp)
    this.#isIndexMissing = seen.kind === 'unreadable'
    if (seen.kind === 'index') this.#target = { ...this.#target, indexUuid: seen.uuid }
    if (seen.kind === 'name') this.#target = { ...this.#target, behind: seen.behind }
  }

  /**
   * Reads the uuid of each index that took a replayed document. A later resume compares it to see whether the index
   * was recreated.
   */
  async #seeDestinations({ destinations: reached }: Committed): Promise<void> {
    for (const index of reached) {
      if (this.#seen.has(index)) continue
      const seen = await seeIndex(this.#keeping.cluster, index, this.#keeping.givenUp)
      // The next checkpoint tries this index and the remaining ones again.
      if (seen.kind === 'unreadable') return
      this.#seen.add(index)
      const others = (this.#target.destinations ?? []).filter(one => one.index !== index)
      const known = { index, ...(seen.kind === 'index' ? { indexUuid: seen.uuid } : {}) }
      this.#target = { ...this.#target, destinations: [...others, known] }
    }
  }
}

/** Returns where the reading of a table continues. The table counts its rows from where this process began. */
function tableAt(
  cursor: Cursor,
  { from = START, place, isLoaded }: PlannedInput,
  settled: ReturnType<Committed['inputs']['get']>,
): Pick<CheckpointInput, 'place' | 'selection'> {
  const isReached = !isLoaded && (settled?.mark !== undefined || settled?.isFinished === true)
  const at = isReached ? cursor.placeAt((settled.mark ?? from).document - from.document + 1) : place
  return { selection: cursor.selection, ...(at === undefined ? {} : { place: at }) }
}

/** Returns the status of a run with this ending. */
export function statusOf(stopped: Failure | undefined): 'finished' | 'interrupted' | 'failed' {
  if (stopped === undefined) return 'finished'
  return explain(stopped.code).exit === 5 ? 'interrupted' : 'failed'
}
