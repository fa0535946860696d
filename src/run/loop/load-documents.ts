/** Runs the documents of all inputs through the pipeline: reads like the picture in the docs. */
import type { Batcher } from '../../pipeline/bulk/batcher.js'
import type { StopSignals } from './stop-signals.js'
import { explain, type Failure, isSluiceError, type SluiceError } from '../../base/failure/failure.js'
import type { Batch, Cursor, Input, Lines, Mark, Outcome, Place, Refused, Rejected, Source } from '../../base/flow.js'
import { decode, type DecodeOptions, skipLines } from '../../pipeline/format/decode.js'
import type { IngestEvent, StandingEvent } from '../../options/run-events.js'
import type { Ledger } from '../../pipeline/ledger/ledger.js'
import type { Counts } from '../../pipeline/ledger/receipt.js'
import { skipBytes } from '../../pipeline/source/stored-file.js'
import { beginning, untilAborted } from './lines-again.js'
import { linesOfRange } from './lines-of-range.js'
import type { Loaded } from './hooks.js'

/** Inputs that are read while one is framed, if they are small files. */
const AHEAD = 16

/** Inputs with documents that wait for their outcome. Each takes more memory than its documents, if the files are small. */
const MOST_UNDER_WAY = 4000

/** Broken inputs that get a warning each. */
const NAMED = 10

/** An input that has something left to load. */
interface Work {
  readonly source: Source
  /** The part of each id that names this input. */
  readonly token: string
  /** The mark where reading continues. Absent: the start of the input. */
  readonly from?: Mark
  /** Whether `from` counts in lines that are not the stored bytes. Default false. */
  readonly isPacked?: boolean
  /** The same of a table. */
  readonly place?: Place
  /** The input, if it is open already. */
  readonly opened?: { from(mark: Mark | undefined): Lines } | undefined
  /** The lines that it must begin with, if it may be another one each time that it is opened. */
  readonly begins?: { readonly bytes: number; readonly sum: string }
}

export interface Loading {
  readonly inputs: readonly Work[]
  readonly format: DecodeOptions
  readonly batcher: Pick<Batcher, 'frame' | 'rest' | 'reading'>
  /** Resolves when every document of the batch has an outcome. */
  send(batch: Batch): Promise<Outcome>
  /** Resolves when one more batch may be read while the others are being sent. */
  room(): Promise<void>
  /** Stops sending for good. */
  halt(): void
  readonly ledger: Ledger
  /** Called before the first byte of an input is read. */
  begin?(input: Input): Promise<void>
  /** Called with the lines of an input from its start, also if a part of them is passed over. Returns what to read instead. */
  watch?(source: Source, lines: Lines): AsyncIterable<Uint8Array>
  /** Called after every batch. Returns a failure if the run must stop because its state cannot be kept. */
  settled?(): Failure | undefined
  /** When the run ends before its inputs do. */
  readonly stop: Pick<StopSignals, 'signal' | 'why'>
  /** Returns how far the run has come with these counts of this process. */
  soFar?(counts: Counts): Omit<StandingEvent, 'type' | 'underWay' | 'isStopping'>
  /** Adds to each `progress` event. */
  progress?(): object
  tell(event: IngestEvent): void
}

/** Resolves when every document that was read has an outcome, also after a failure. Rejects only for a bug. */
export async function load(loading: Loading): Promise<Loaded> {
  return await new Load(loading).run()
}

class Load {
  readonly #loading: Loading
  readonly #pending = new Set<Promise<void>>()
  readonly #reading = new AbortController()
  #interrupted = false
  #stop: Failure | undefined
  #brokenInput: Failure | undefined
  #brokenInputs = 0
  /** The first error of reading. */
  #thrown: SluiceError | undefined
  #bug: { error: unknown } | undefined
  #bytesRead = 0
  #inputsUnderWay = 0

  constructor(loading: Loading) {
    this.#loading = loading
  }

  async run(): Promise<Loaded> {
    const { inputs, ledger, stop } = this.#loading
    const interrupt = () => {
      this.#interrupted = true
      this.#end()
      this.#tellStanding()
    }
    if (stop.signal.aborted) interrupt()
    stop.signal.addEventListener('abort', interrupt, { once: true })
    try {
      this.#tellStanding()
      for (const [at, work] of inputs.entries()) {
        if (this.#isStopped) break
        for (const { source, from } of inputs.slice(at === 0 ? 0 : at + AHEAD - 1, at + AHEAD))
          if (from === undefined) source.ahead?.()
        await this.#read(work)
      }
      await this.#settleAll()
      ledger.close()
      this.#tellMoreBroken()
    } finally {
      stop.signal.removeEventListener('abort', interrupt)
    }
    if (this.#bug !== undefined) throw this.#bug.error
    const why = this.#whyStopped()
    const cause = why !== undefined && why === this.#thrown?.failure ? this.#thrown.cause : undefined
    return { bytesRead: this.#bytesRead, ...(why === undefined ? {} : { failure: why, cause }) }
  }

  get #isStopped(): boolean {
    return this.#interrupted || this.#stop !== undefined || this.#bug !== undefined
  }

  #whyStopped(): Failure | undefined {
    const { ledger, inputs, stop } = this.#loading
    if (this.#stop !== undefined) return this.#stop
    const isCut = ledger.counts.unsent > 0 || ledger.toResend > 0 || ledger.ended < inputs.length
    // If the signal came after all documents were settled, the run ends normally.
    if (this.#interrupted && isCut) return stop.why(ledger.settled)
    return ledger.overLimit() ?? this.#brokenInput
  }

  /**
   * Reads one input from its first byte to its last. If an input cannot be read to its end, the run continues with
   * the other inputs.
   */
  async #read(work: Work): Promise<void> {
    const { ledger, batcher, tell } = this.#loading
    const { source, token, from, place } = work
    ledger.begin(source)
    const since = place === undefined ? undefined : source.cursor?.since?.(place)
    tell({
      type: 'input',
      name: source.name,
      ...(from === undefined ? {} : { resumedAt: from.document }),
      ...(since === undefined ? {} : { since }),
    })
    try {
      await this.#loading.begin?.(source)
      const lines = await this.#linesOf(work)
      if (lines.found !== undefined) {
        ledger.readAs(source, lines.found)
        tell({ type: 'format', name: source.name, found: lines.found })
      }
      // Only lines can be resumed in their middle.
      if (lines.kind !== 'lines') source.copy?.loaded?.(undefined)
      for await (const batch of batcher.frame(source, token, lines)) {
        this.#dispatch(batch)
        await this.#loading.room()
        while (this.#inputsUnderWay > MOST_UNDER_WAY && this.#pending.size > 0) await Promise.race(this.#pending)
        if (this.#isStopped && !isTaken(source)) return
      }
      if (!this.#isStopped) ledger.end(source)
    } catch (error) {
      if (this.#isStopped) return
      if (!isSluiceError(error)) return this.#fail(error)
      this.#thrown ??= error
      if (!isOfInput(source, error.failure)) return this.#halt(error.failure)
      ledger.end(source, error.failure)
      // Nothing was sent yet. A user who named a file by mistake wants to know before Sluice sends anything.
      if (error.failure.code === 'INPUT_NOT_JSON' && work === this.#loading.inputs[0]) return this.#halt(error.failure)
      this.#brokenInput ??= error.failure
      this.#brokenInputs += 1
      if (this.#brokenInputs <= NAMED) tell({ type: 'warning', message: error.failure.message })
    }
  }

  async #linesOf({ source, from, isPacked = false, place, opened, begins }: Work): Promise<Lines> {
    const { format, batcher } = this.#loading
    if (source.range !== undefined) {
      const lines = await linesOfRange(source, source.range, { ...this.#loading, signal: this.#reading.signal })
      return { ...lines, bytes: this.#counted(lines.bytes) }
    }
    if (opened !== undefined) {
      const lines = opened.from(from)
      const bytes = this.#loading.watch?.(source, lines) ?? lines.bytes
      return { ...lines, bytes: this.#counted(untilAborted(bytes, this.#reading.signal)) }
    }
    const stored = (offset?: number) => source.open(this.#reading.signal, offset, place, batcher.reading)
    const open = (offset?: number) => this.#counted(stored(offset))
    // A row is a line, whatever it begins with.
    if (source.cursor !== undefined) {
      const { document = 1, line = 1, offset = 0 } = from ?? {}
      const rows = this.#inTurn(source.cursor, open(offset))
      if (source.cursor.holdsHits !== true) return { kind: 'lines', document, line, at: offset, bytes: rows }
      return { ...(await decode(source, rows, format)), document, line, at: offset }
    }
    const note = (name: string, found: string) => this.#loading.tell({ type: 'format', name, found })
    // In the middle of NDJSON nothing is left to recognise.
    if (from?.kind === 'lines' && !isPacked) {
      const { kind, document, line, offset, within = 0 } = from
      return { kind, document, line, within, at: offset, bytes: open(offset) }
    }
    // Lines that are passed over do not count as read.
    const passesOver = from?.kind === 'lines'
    const decoded = await decode(source, passesOver ? stored() : open(), format, note)
    // The state must not take what begins otherwise for what it knows.
    const lines = begins === undefined ? decoded : { ...decoded, bytes: beginning(decoded.bytes, begins, source.name) }
    const bytes = this.#loading.watch?.(source, lines) ?? lines.bytes
    if (from === undefined) return { ...lines, bytes }
    const { document, line, offset, within = 0 } = from
    const rest = passesOver ? this.#counted(skipBytes(bytes, offset - lines.at)) : skipLines(bytes, line - 1)
    return { ...lines, document, line, within, at: offset, bytes: rest }
  }

  /**
   * A row may come again because it changed, and what is sent again after a refusal comes late: so that the last word is the newest,
   * all that came before has an outcome before a row is sent for the second time.
   */
  async *#inTurn(cursor: Cursor, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      if (cursor.mayRepeat !== false) await this.#settleAll()
      yield chunk
    }
  }

  async #settleAll(): Promise<void> {
    const rest = this.#loading.batcher.rest()
    if (rest !== undefined) this.#dispatch(rest)
    await Promise.all(this.#pending)
  }

  #tellMoreBroken(): void {
    const more = this.#brokenInputs - NAMED
    const which = more === 1 ? '1 more input' : `${more} more inputs`
    const message = `Sluice could not read ${which} to the end. The receipt names each input with its failure`
    if (more > 0) this.#loading.tell({ type: 'warning', message })
  }

  async *#counted(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.#bytesRead += chunk.length
      yield chunk
    }
  }

  #dispatch(batch: Batch): void {
    this.#loading.ledger.take(batch)
    this.#inputsUnderWay += batch.ends.length
    const settled = this.#settle(batch).catch((error: unknown) => this.#fail(error))
    const pending = settled.finally(() => {
      batch.release()
      this.#pending.delete(pending)
      this.#inputsUnderWay -= batch.ends.length
      this.#tellStanding()
    })
    this.#pending.add(pending)
    this.#tellStanding()
  }

  async #settle(batch: Batch): Promise<void> {
    const { ledger, send, settled, progress, tell } = this.#loading
    const outcome = await send(batch)
    const stop = (await ledger.settle(batch, outcome)) ?? settled?.()
    if (outcome.rejected.length > 0) tell(rejectedEvent(outcome.rejected.kept?.() ?? outcome.rejected))
    tell({ type: 'progress', counts: ledger.counts, bytesRead: this.#bytesRead, ...progress?.() })
    if (stop !== undefined) this.#halt(stop)
  }

  #tellStanding(): void {
    const { ledger, soFar, tell } = this.#loading
    if (soFar === undefined) return
    const stopping = this.#isStopped ? { isStopping: true as const } : {}
    tell({ type: 'standing', ...soFar(ledger.counts), underWay: this.#pending.size, ...stopping })
  }

  #halt(why: Failure): void {
    if (!this.#interrupted) this.#stop ??= why
    this.#end()
  }

  #fail(error: unknown): void {
    this.#bug ??= { error }
    this.#end()
  }

  /** Stops reading and sending, and waits for requests under way. */
  #end(): void {
    this.#loading.halt()
    this.#reading.abort()
  }
}

/** Its documents are listed when somebody asks for them: most listeners only count. */
function rejectedEvent(rejected: Rejected): IngestEvent {
  let documents: readonly Refused[] | undefined
  return {
    type: 'rejected',
    get documents() {
      return (documents ??= [...rejected])
    },
  }
}

/** Returns whether what was read of the input is gone for its owner: it is framed to its end, to be counted. */
function isTaken({ name }: Source): boolean {
  return name === '(iterable)'
}

/** Returns whether only this input failed. A table also fails if the connection to its instance fails. */
function isOfInput({ cursor }: Source, { code }: Failure): boolean {
  const { stage } = explain(code)
  return stage === 'input' || (cursor !== undefined && stage !== 'run')
}
