/** What the oracle keeps between commands. */
import type { After, Line, Load } from '../facts.js'
import { Counted } from './counted.js'
import type { Expected } from './expected.js'
import { Keyed } from './keyed.js'
import type { Leniency } from './leniency.js'
import { isMisfit } from './narrow.js'
import { type Record, Records } from './records.js'
import { Shaped, type Shaping, transformed, unshaped } from './shapes.js'

/** What all loads of a story have in common. */
export interface Told {
  readonly isKeyed: boolean
  readonly op: string
  /** Whether a function shapes the documents. */
  readonly transforms: boolean
  /** Whether documents whose id exists are skipped. */
  readonly skips: boolean
}

interface OnMachine {
  readonly records: Record[]
  readonly streams: (readonly [string, Stream])[]
  readonly keys: (readonly [string, 'known' | 'unsure'])[]
  readonly spooled: Line[]
  readonly maybeSpooled: Line[]
  readonly isSpoolCut: boolean
  readonly spoolSetting: string | undefined
  readonly read: (readonly [string, readonly Line[]])[]
}

/** A load changes records in place. */
function copyOf({ records, spooled, maybeSpooled, ...same }: OnMachine): OnMachine {
  const own = records.map(one => ({ ...one, pending: [...one.pending], parts: one.parts.map(part => ({ ...part })) }))
  return { ...same, records: own, spooled: [...spooled], maybeSpooled: [...maybeSpooled] }
}

/** What was copied to another machine may be finished there, under the same ids. */
function shared(machine: OnMachine): OnMachine {
  for (const record of machine.records) record.isCutShort = record.isOpen
  return { ...machine, spooled: [], maybeSpooled: [...machine.maybeSpooled, ...machine.spooled] }
}

interface Stream {
  readonly lines: readonly Line[]
  readonly isSure: boolean
}

export class Memory {
  readonly leniencies = new Set<string>()
  /** Lines of unfinished loads that others have written meanwhile. */
  readonly #maySettle: Line[] = []
  /** Whether two machines had the same state. */
  #hasTwin = false
  readonly records = new Records()
  readonly expected: Expected
  /** Set if ids come from a field. */
  readonly keyed: Keyed | undefined
  /** Whether a load could not write what it did. */
  hadFullDisk = false
  /** Lines of a spool that was not loaded to its end. */
  spooled: Line[] = []
  /** Lines that a spool may hold whose end Sluice did not see. */
  maybeSpooled: Line[] = []
  isSpoolCut = false
  /** Whether a job was left before its end. It was planned with the inputs as they were then. */
  isJobOpen = false
  /** Inputs that a queue knows. */
  readonly queued = new Map<string, 'begun' | 'loaded'>()
  /** Keys of requests that a receiver has taken, or may have taken. */
  readonly keys = new Map<string, 'known' | 'unsure'>()
  /** What receivers have stored since their spool was empty. `isSure`: each has counted what it stored. */
  received = { size: 0, created: 0, isSure: true }
  /** Rows of each table that the index may hold. */
  readonly rows = new Map<string, readonly Line[]>()
  /** Rows that a command has read, by its tables. Another command reads all rows (docs/guide/servicenow.md). */
  readonly read = new Map<string, readonly Line[]>()
  /** Tables whose last load did not end well. */
  readonly unsettled = new Set<string>()
  /** How an unfinished spool is to be loaded. */
  spoolSetting: string | undefined
  /** What runs have stored of inputs that Sluice does not know again. `isSure`: all of these lines, and only once. */
  readonly streams = new Map<string, Stream>()
  /** Dead letters that were loaded, by their ids and editions. */
  readonly replayed = new Map<string, Line>()
  isReplayed = false
  readonly refusedAgain = new Set<string>()
  mayReplayAgain = false
  /** Paths that were followed, and when the newest file of each that Sluice knows was written. */
  readonly followed = new Map<string, number>()
  isFollowVague = false
  /** Files that were loaded into an index that is lost. Sluice notices if they are gone. */
  readonly inodesBefore = new Set<number>()
  /** Whether a load was ever unfinished. */
  wasUnfinished = false
  /** Whether a load was unfinished when its index was lost. */
  wasOpen = false
  /** Whether Sluice may know inputs in two ways from now on. */
  isBlurred = false
  isForgotten = false
  isIndexLost = false
  isStateLost = false
  isIndexGone = true
  /** Whether the index was lost during a load, and no other load has ended well since. */
  isUnsure = false
  /** The lines of each input then. One that was changed since is another input, with other ids. */
  readonly linesLost = new Map<string, readonly Line[]>()
  /** Documents that others have written since then. */
  readonly writtenByOthers = new Set<number>()
  /** Runs whose documents are not all where the run put them. */
  readonly disturbed = new Set<string>()
  /** How many documents the index held, and their ids. */
  size = 0
  ids: ReadonlySet<string> = new Set()
  /** Documents in the dead letters of before. */
  letters: ReadonlySet<number> = new Set()

  /** What Sluice knows on machines where the user was before. */
  readonly #elsewhere = new Map<number, OnMachine>()
  /** The documents that come of a line. */
  readonly shaping: Shaping
  readonly transforms: boolean

  constructor({ isKeyed, op, transforms, skips }: Told) {
    this.keyed = isKeyed ? new Keyed(op, skips) : undefined
    const inner = this.keyed ?? new Counted()
    this.transforms = transforms
    this.shaping = transforms ? transformed : unshaped
    this.expected = transforms ? new Shaped(inner, transformed) : inner
  }

  lenient(rule: Leniency): void {
    this.leniencies.add(rule)
  }

  /** Notes what stands in the index now. */
  see({ index }: Pick<After, 'index'>): void {
    this.ids = new Set(index.map(({ id }) => id))
    this.size = index.length
    if (this.size > 0) this.isIndexGone = false
  }

  /** Whether a file that was loaded stands nowhere. */
  isGone(disk: Load['disk']): boolean {
    const inodes = [...this.inodesBefore, ...this.records.all.map(({ inode }) => inode)]
    return inodes.some(inode => !disk.some(file => file.inode === inode))
  }

  /** A load of all inputs has ended well since the index was lost. */
  becomeSure(): void {
    // Whatever changes from now on gets other ids.
    if (this.isUnsure) this.expected.forgetIds()
    this.isUnsure = false
    this.writtenByOthers.clear()
    this.linesLost.clear()
  }

  disturb({ parts }: Pick<Record, 'parts'>): void {
    for (const { run } of parts) this.disturbed.add(run)
  }

  /** Whether a run of this name makes the ids of an earlier one for the same bytes. */
  isNameReused(runId: string | undefined): boolean {
    if (this.isBlurred) return true
    if (runId === undefined || !(this.isForgotten || this.isStateLost)) return false
    this.lenient('a run name without the state')
    return true
  }

  /** None of what is pending and does not fit was stored: otherwise the field would be a text. */
  narrowed(op: string): void {
    const own = [...this.#elsewhere.values()].flatMap(({ records }) => records)
    for (const record of [...this.records.all, ...own])
      record.pending = record.pending.filter(line => !isMisfit(line, op))
    this.spooled = this.spooled.filter(line => !isMisfit(line, op))
  }

  prefilled(after: After, numbers: readonly number[]): void {
    this.keyed?.prefilled(after.index, numbers)
    this.expected.begin(this.#maySettle)
    // A job that is open has settled some. A load that was repeated after its index was lost may be complete. Neither sends them again.
    if (this.isUnsure || this.isJobOpen) for (const n of numbers) this.writtenByOthers.add(n)
    for (const { pending } of this.records.all) this.expected.begin(pending)
    for (const record of this.records.all) {
      const written = record.pending.filter(({ n }) => numbers.includes(n))
      if (written.length === 0) continue
      // Sluice may have settled them before, and then does not send them again.
      this.lenient('written by others while a load was unfinished')
      this.expected.begin(written)
      this.#maySettle.push(...written)
      record.pending = record.pending.filter(line => !written.includes(line))
    }
    const waiting = this.spooled.filter(({ n }) => numbers.includes(n))
    if (waiting.length > 0) {
      this.lenient('written by others while a load was unfinished')
      this.expected.begin(waiting)
      this.spooled = this.spooled.filter(line => !waiting.includes(line))
      this.maybeSpooled.push(...waiting)
    }
    this.see(after)
  }

  /** The user goes to another machine. `isCopied`: with the state of this one. */
  moved(from: number, to: number, isCopied: boolean): void {
    this.#elsewhere.set(from, isCopied ? shared(this.#onMachine()) : this.#onMachine())
    this.mayReplayAgain = true
    this.isFollowVague = true
    this.isStateLost = true
    this.#hasTwin ||= isCopied
    if (isCopied) return
    const there = this.#elsewhere.get(to)
    if (there === undefined) this.stateLost()
    else this.#put(copyOf(there))
  }

  #onMachine(): OnMachine {
    return copyOf({
      records: this.records.all,
      streams: [...this.streams],
      keys: [...this.keys],
      spooled: this.spooled,
      maybeSpooled: this.maybeSpooled,
      isSpoolCut: this.isSpoolCut,
      spoolSetting: this.spoolSetting,
      read: [...this.read],
    })
  }

  #put({ records, streams, keys, read, ...spool }: OnMachine): void {
    this.records.all = records
    this.keys.clear()
    for (const [key, taken] of keys) this.keys.set(key, taken)
    this.streams.clear()
    for (const [run, stream] of streams) this.streams.set(run, stream)
    this.read.clear()
    for (const [command, rows] of read) this.read.set(command, rows)
    Object.assign(this, spool)
  }

  stateLost(): void {
    this.expected.forgetIds()
    this.records.all = []
    this.streams.clear()
    this.spooled = []
    this.maybeSpooled = []
    this.isSpoolCut = false
    this.keys.clear()
    this.spoolSetting = undefined
    this.mayReplayAgain = true
    this.isFollowVague = true
    this.isStateLost = true
    this.read.clear()
    this.received.isSure = false
  }

  indexLost(isMadeAnew: boolean): void {
    this.isIndexLost = true
    // Each machine may load the same run again, under the same ids.
    if (this.#hasTwin) {
      this.lenient('an index that was lost, and two machines with one state')
      this.isBlurred = true
    }
    this.received.isSure = false
    this.read.clear()
    this.isIndexGone = !isMadeAnew
    // A load that was begun has its options, also without its index.
    this.wasOpen ||= this.records.all.some(({ isOpen }) => isOpen)
    this.expected.lost()
    // A spool is loaded into the next one.
    this.expected.begin([...this.spooled, ...this.maybeSpooled])
    this.isFollowVague = true
    for (const { inode } of this.records.all) if (inode !== undefined) this.inodesBefore.add(inode)
    this.records.all = []
    this.streams.clear()
    for (const there of this.#elsewhere.values()) Object.assign(there, { records: [], streams: [], read: [] })
    this.replayed.clear()
    this.mayReplayAgain = true
    this.size = 0
    this.ids = new Set()
  }
}
