/** Keeps the state of a run on the disk while it loads. */
import { dirname, resolve } from 'node:path'
import { type Failure, isSluiceError } from '../../../base/failure/failure.js'
import type { Batch, Input, Lines, Source } from '../../../base/flow.js'
import { type Committed, nothing, sumOf } from '../../../pipeline/ledger/account.js'
import type { DeadLetters } from '../../../pipeline/ledger/dead-letters.js'
import type { Ledger } from '../../../pipeline/ledger/ledger.js'
import { systemClock } from '../../../base/time/clock.js'
import { type Checkpoint, type CheckpointInput, lettersIn, nextLimitFrom } from '../checkpoint/checkpoint.js'
import { CheckpointWriter } from './checkpoint-writer.js'
import type { FoundRun } from './find-run.js'
import type { IndexWatch } from './index-watch.js'
import { ContentSum, isStoredAsLines } from '../inputs/content.js'
import { inputLine, Journal, markLine, sinceLine, wholeLine } from '../checkpoint/journal.js'
import { isOwn, keep, keepOwn, type KeptInput, moveTo, noteSent } from './kept-input.js'
import type { PlannedInput } from './plan.js'
import { scopeOf } from './run-identity.js'
import { removeRun } from '../runs/runs.js'
import { stateUnwritable } from '../../../base/disk/safe-files.js'
import { prepareStateDir } from '../runs/state-folder.js'

/** After a kill, Sluice sends the documents that were settled since the last write again, and finds them stored. */
export const CHECKPOINT_MS = 500

interface Keeping {
  readonly found: FoundRun
  readonly path: string
  readonly ledger: Ledger
  readonly deadLetters: DeadLetters
  readonly watch: IndexWatch
}

export class StateKeeper {
  readonly path: string
  readonly #keeping: Keeping
  readonly #writer: CheckpointWriter
  readonly #began: string
  /** When this process began, if it continues the run. */
  readonly #since: string | undefined
  /** Inputs of this process that are begun, and not finished. */
  readonly #kept = new Map<number, KeptInput>()
  /** By the id of the source. A map would take more memory. */
  readonly #planned: (PlannedInput | undefined)[] = []
  readonly #failed = new Set<number>()
  /** Of inputs whose lines are not their stored bytes. By the id of the source. */
  readonly #lines = new Map<number, ContentSum>()
  /** Inputs that were committed after the last written checkpoint. */
  #untold: Committed['inputs'] = new Map()
  #journal: Journal | undefined
  /** Resolves when the last batch may be sent. */
  #turn: Promise<unknown> = Promise.resolve()
  #nextId = 1
  /** Inputs that are not finished. */
  #left: number
  #isComplete = false

  constructor(keeping: Keeping) {
    const { found } = keeping
    const { plan } = found
    this.#keeping = keeping
    this.path = keeping.path
    this.#began = found.began
    this.#since = plan.continues === undefined ? undefined : found.since
    this.#writer = new CheckpointWriter(async () => await this.#write('running'), CHECKPOINT_MS, systemClock)
    for (const { id } of plan.continues?.inputs ?? []) this.#nextId = Math.max(this.#nextId, id + 1)
    this.#left = plan.inputs.filter(({ isLoaded }) => !isLoaded).length
    for (const planned of plan.inputs) if (!planned.isLoaded) this.#planned[planned.source.id] = planned
  }

  /** Whether the last checkpoint that was written leaves nothing to do. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Writes the file of the run, with what is known of its inputs. Throws SluiceError STATE_UNWRITABLE. */
  async start(): Promise<void> {
    const { found, ledger } = this.#keeping
    const { plan, oldPath, key, named, identity, sources, options } = found
    const { run, continues } = plan
    try {
      this.#journal = await Journal.begin(this.path, {
        run,
        began: this.#began,
        scope: scopeOf(identity),
        key,
        sources,
        options,
        ...(plan.settles.length === 0 ? {} : { settles: plan.settles }),
        ...(identity.kind === undefined ? {} : { kind: identity.kind }),
        ...(named === undefined ? {} : { named }),
        ...this.#whole('running', continues ?? { counts: nothing, rejections: [] }, this.#letters(ledger.commit())),
        inputs: this.#known(),
      })
      if (this.#since !== undefined) await this.#journal.add(sinceLine(this.#since), false)
    } catch (error) {
      throw stateUnwritable(this.path, error)
    }
    if (oldPath !== undefined) await removeRun(oldPath)
    if (continues !== undefined) continues.inputs.forget?.()
  }

  /** Returns the inputs of which something is known before the first one is read. */
  *#known(): Generator<CheckpointInput> {
    yield* this.#continued()
    yield* this.#adopted()
    // A resume must know since when only the changes of a table are read, even if there was none so far.
    for (const planned of this.#planned)
      if (planned?.place !== undefined && !isOwn(planned)) yield this.#keep(planned).kept
  }

  /** Returns the inputs that this run knows, each with the file as it is now. */
  *#continued(): Generator<CheckpointInput> {
    const { continues, inputs } = this.#keeping.found.plan
    if (continues === undefined) return
    const found = new Map<number, Partial<CheckpointInput>>()
    for (const { known, by, file, content, source, from: mark = known?.mark } of inputs) {
      if (known === undefined || by !== undefined || (file === undefined && source.address === undefined)) continue
      const now = { file, address: source.address }
      found.set(known.id, content === undefined ? now : { ...now, content, ...(mark === undefined ? {} : { mark }) })
    }
    for (const input of continues.inputs) {
      const now = found.get(input.id)
      yield now === undefined ? input : { ...input, ...now }
    }
  }

  /** Returns the inputs that another run has loaded, and that have another name or other times now. */
  *#adopted(): Generator<CheckpointInput> {
    for (const { isLoaded, known, by, file, source, content, from } of this.#keeping.found.plan.inputs) {
      if (!isLoaded || known === undefined || file === undefined || by === undefined) continue
      const { path, stat } = known.file ?? {}
      const isSame = path === file.path && stat?.ctimeMs === file.stat?.ctimeMs && stat?.inode === file.stat?.inode
      if (isSame) continue
      const start = { document: known.mark.document, wasRead: known.mark.tail > 0 }
      const packed = content === undefined ? {} : { content, mark: from ?? known.mark }
      yield {
        ...known,
        ...packed,
        id: this.#nextId++,
        since: this.#since,
        name: source.name,
        file,
        address: undefined,
        read: 0,
        start,
      }
    }
  }

  /** Called with the lines of an input from its start. Returns the same lines, whose checksum is taken while they are read. */
  watch({ id, file, address }: Source, lines: Lines): AsyncIterable<Uint8Array> {
    const opened = this.#planned[id]?.opened
    if (opened !== undefined) {
      this.#lines.set(id, opened.sum)
      return lines.bytes
    }
    if (address !== undefined) return this.#summed(id, lines)
    if (file?.isPacked === undefined || isStoredAsLines(lines, file)) return lines.bytes
    return this.#summed(id, lines)
  }

  #summed(id: number, lines: Lines): AsyncIterable<Uint8Array> {
    const sum = new ContentSum(lines.at)
    this.#lines.set(id, sum)
    return sum.of(lines.bytes)
  }

  /** Called before the first byte of an input is read. */
  async begin({ id }: Input): Promise<void> {
    await this.#planned[id]?.source.copy?.begun?.()
  }

  /**
   * Called before a batch is sent. Resolves when a resume can know its inputs again, and up to where their documents may be stored.
   * Batches may be sent in the order of the calls. Returns why that could not be written, if so.
   */
  async sending(batch: Batch): Promise<Failure | undefined> {
    const turn = this.#turn.then(async () => await this.#note(batch))
    this.#turn = turn
    return await turn
  }

  async #note({ spans }: Batch): Promise<Failure | undefined> {
    let fresh = ''
    let sent = ''
    let last: Input | undefined
    for (const { input } of spans) {
      // Between rejected lines, each document has a span of its own.
      if (input === last) continue
      last = input
      const planned = this.#planned[input.id]
      if (planned === undefined) continue
      const kept = this.#kept.get(input.id)
      if (kept === undefined) fresh += this.#keep(planned).lines
      else sent += noteSent(kept)
    }
    if (fresh === '' && sent === '') return undefined
    try {
      await this.#journal?.add(fresh + sent, fresh !== '')
      return undefined
    } catch (error) {
      return stateUnwritable(this.path, error).failure
    }
  }

  #keptOf(planned: PlannedInput): { readonly kept: KeptInput; readonly lines: string } {
    const kept = this.#kept.get(planned.source.id)
    return kept === undefined ? this.#keep(planned) : { kept, lines: '' }
  }

  /** Begins to keep an input. `lines`: what the journal does not say of it yet. */
  #keep(planned: PlannedInput): { readonly kept: KeptInput; readonly lines: string } {
    const isNew = !isOwn(planned)
    const lines = this.#lines.get(planned.source.id)
    const kept = isNew ? keep(planned, this.#nextId++, this.#since, lines) : keepOwn(planned, lines)
    this.#kept.set(planned.source.id, kept)
    const sent = noteSent(kept)
    // A second line of an input would put it back to its start.
    return { kept, lines: isNew ? inputLine(kept, planned.from) : sent }
  }

  /** There is something new. Returns why the state cannot be kept, if so. */
  touch(): Failure | undefined {
    return this.#writer.touch()
  }

  /** The last word. Returns why it could not be written. */
  async finish(status: Exclude<Checkpoint['status'], 'running'>): Promise<Failure | undefined> {
    await this.#writer.end()
    try {
      await this.#write(status)
      // Makes the folder and the file again if somebody removed them.
      await prepareStateDir(dirname(dirname(this.path)))
      await this.#journal?.restore()
      return undefined
    } catch (error) {
      return (isSluiceError(error) ? error : stateUnwritable(this.path, error)).failure
    }
  }

  /** Gives the file back. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.end()
    await this.#journal?.close()
  }

  async #write(status: Checkpoint['status']): Promise<void> {
    const { found, deadLetters, ledger, watch } = this.#keeping
    const { plan } = found
    // Taken at once: what is settled while the rest is gathered belongs to the next write.
    const committed = ledger.commit()
    const sum = sumOf(plan.before, committed)
    this.#untold = new Map([...this.#untold, ...committed.inputs])
    const failed = ledger.failedInputs
    await deadLetters.sync()
    // The bytes of a copy must be on the disk before a checkpoint counts them as loaded.
    for (const { planned } of this.#kept.values()) await planned.source.copy?.sync?.()
    await watch.see(committed)
    let lines = ''
    for (const [id, settled] of this.#untold) {
      const planned = this.#planned[id]
      if (planned === undefined) continue
      const { kept, lines: first } = this.#keptOf(planned)
      lines += first
      moveTo(kept, settled)
      if (failed.has(id) && !settled.isFinished) kept.status = 'failed'
      lines += markLine(kept)
      if (!settled.isFinished) continue
      this.#left -= 1
      this.#kept.delete(id)
      this.#lines.delete(id)
      this.#planned[id] = undefined
      planned.source.file?.forget?.()
    }
    for (const id of failed) lines += this.#fail(id)
    if (status !== 'running') lines += this.#unsettled()
    this.#untold = new Map()
    const isFinished = status === 'finished' && this.#left === 0
    const whole = this.#whole(status === 'finished' && !isFinished ? 'failed' : status, sum, this.#letters(committed))
    const isDoubtful = !isFinished && (status === 'running' || found.isNamed || plan.isDoubtful || committed.isDoubtful)
    try {
      await this.#journal?.add(lines + wholeLine({ ...whole, isDoubtful }), true)
    } catch (error) {
      throw stateUnwritable(this.path, error)
    }
    this.#isComplete = this.#left === 0
    this.#letGo(committed.isBroken)
  }

  /** Inputs of which nothing was settled since the last checkpoint. Without a mark, documents of them count as stored after a kill. */
  #unsettled(): string {
    let lines = ''
    for (const [id, kept] of this.#kept) if (kept.status === 'begun' && !this.#untold.has(id)) lines += markLine(kept)
    return lines
  }

  /** An input that failed before anything of it was settled. */
  #fail(id: number): string {
    if (this.#failed.has(id)) return ''
    this.#failed.add(id)
    const planned = this.#planned[id]
    if (planned === undefined) return ''
    const { kept, lines } = this.#keptOf(planned)
    kept.status = 'failed'
    return lines + markLine(kept)
  }

  /** If this process wrote no dead letters, the earlier ones stay in their file, even if another file is set now. */
  #letters({ deadLetters: length }: Committed): Checkpoint['deadLetters'] {
    const { found, deadLetters } = this.#keeping
    const { path, records, writer } = deadLetters
    const { continues } = found.plan
    if (path === undefined) return continues?.deadLetters
    const kept = records === 0 ? continues?.deadLetters : undefined
    return { ...(kept ?? lettersIn({ path: resolve(path), length }, continues)), writer }
  }

  #whole(
    status: Checkpoint['status'],
    { counts, rejections }: Pick<Checkpoint, 'counts' | 'rejections'>,
    deadLetters: Checkpoint['deadLetters'],
  ) {
    const { identity, plan } = this.#keeping.found
    const limitFrom = plan.continues === undefined ? undefined : nextLimitFrom(plan.continues)
    const replays = new Set([...(plan.continues?.replays ?? []), ...(identity.replays ?? [])])
    return {
      status,
      written: new Date().toISOString(),
      target: this.#keeping.watch.target,
      isDoubtful: true,
      left: this.#left,
      counts,
      rejections,
      ...(deadLetters === undefined ? {} : { deadLetters }),
      ...(replays.size === 0 ? {} : { replays: [...replays] }),
      ...(limitFrom === undefined ? {} : { limitFrom }),
      ...(this.#since === undefined ? {} : { since: this.#since }),
    }
  }

  /** Lets copies delete what a resume does not read. `isLast`: no later checkpoint of this process says more. */
  #letGo(isLast: boolean): void {
    for (const { mark, planned } of this.#kept.values())
      planned.source.copy?.loaded?.(mark.kind === 'lines' && !isLast ? mark.offset : undefined)
  }
}
