/**
 * Says after each command whether the index, the receipt, the exit code and the dead letters are what the guides promise. It shares no
 * code with Sluice, and each of its leniencies has a name.
 */
import type { After, Dead, Ended, Line, Load, Seen } from '../facts.js'
import { Counted } from './counted.js'
import type { Expected } from './expected.js'
import { Keyed } from './keyed.js'
import type { Leniency } from './leniency.js'
import { judgeReceipt } from './receipt.js'
import { type Match, type Record, Records } from './records.js'

/** What a load does with one input. */
export interface Plan {
  readonly file: Seen
  readonly match: Match
  /** Lines that it must settle. */
  readonly rest: readonly Line[]
}

export class Oracle {
  readonly leniencies = new Set<string>()
  readonly #records = new Records()
  readonly #expected: Expected
  readonly #keyed: Keyed | undefined
  /** Lines of a spool that was not loaded to its end. */
  #spooled: Line[] = []
  #isSpoolCut = false
  /** Ids of dead letters that were corrected and loaded. */
  readonly #replayed = new Set<string>()
  readonly #followed = new Set<string>()
  #isFollowVague = false
  #isReplayed = false
  #wasOpen = false
  /** Whether Sluice may know inputs in two ways from now on. */
  #isBlurred = false
  #isForgotten = false
  readonly #refusedAgain = new Set<string>()
  #mayReplayAgain = false
  #size = 0
  #ids = new Set<string>()
  #setting = ''
  #isIndexGone = true
  /** Runs whose documents are not all where the run put them. */
  readonly #disturbed = new Set<string>()
  /** Documents that were rejected, and the runs of them. */
  #lettersBefore = 0
  #isStateLost = false

  constructor(isKeyed: boolean, op: string) {
    this.#keyed = isKeyed ? new Keyed(op) : undefined
    this.#expected = this.#keyed ?? new Counted()
  }

  #lenient(rule: Leniency): void {
    this.leniencies.add(rule)
  }

  load(load: Load, after: After): string[] {
    const { ended, isAgain, isKept, trouble } = load
    this.#setting = load.setting
    const inputs = load.inputs.map(file => (load.isFollowed ? withoutOpen(file) : file))
    const matches = isKept && !isAgain ? this.#records.match(load, inputs) : this.#continued(load, inputs)
    const plans = inputs.map(file => planOf(file, matches.get(file) ?? { kind: 'new' }))
    if (load.isFollowed) plans.push(...this.#rotated(load, matches))
    const problems: string[] = []
    const refusal = this.#refused(load, plans)
    const before = this.#size
    if (refusal !== undefined) problems.push(...refusal)
    else {
      const isGone =
        load.isFollowed && this.#records.all.some(one => !load.disk.some(({ inode }) => inode === one.inode))
      // A new field makes another document of the same edition.
      const isTagged = load.tag !== undefined && ['update', 'upsert'].includes(load.op)
      const counts = this.#keyed === undefined || isTagged ? undefined : this.#outcomes(plans)
      // A load that was refused at its start has begun nothing.
      if (load.isSpooled || ended.code === undefined || (ended.thisProcess?.read ?? 0) > 0) this.#begin(load, plans)
      if (ended.isKilled === undefined && ended.code === undefined) {
        problems.push(
          ...judgeReceipt(load, plans, {
            isGone,
            isVague: this.#isVague(load),
            counts,
            grown: after.index.length - before,
            isKeyed: this.#keyed !== undefined,
            spooled: this.#spooled,
          }),
        )
        this.#finish(load, plans)
        problems.push(...this.#named(load, plans, after))
      } else problems.push(...this.#judgeFailure(load, plans))
      if (load.isSpooled) this.#keepSpool(load, trouble)
      if (load.isFollowed) for (const { path } of inputs) this.#followed.add(path)
    }
    problems.push(...this.#expected.check(after.index))
    problems.push(...this.#judgeTags(load, plans, after))
    this.#size = after.index.length
    if (this.#size > 0) this.#isIndexGone = false
    this.#lettersBefore = after.dead.length
    return problems
  }

  /** A run of this name makes the same ids for the same bytes. */
  #isNameReused(runId: string | undefined): boolean {
    if (this.#isBlurred) return true
    if (runId === undefined || !(this.#isForgotten || this.#isStateLost)) return false
    this.#lenient('a run name without the state')
    return true
  }

  /** After the index was lost, nothing of it was stored by updates that were all rejected: then Sluice knows them still. */
  #isVague({ isFollowed, op, runId }: Load): boolean {
    if (this.#isNameReused(runId)) return true
    if (!this.#isFollowVague) return false
    if (op === 'update' || op === 'delete') this.#lenient('changes of an index that was lost')
    return isFollowed || op === 'update' || op === 'delete'
  }

  /** What is new in the index has the fields that --set gave it. */
  #judgeTags({ tag, trouble, ended }: Load, plans: readonly Plan[], { index }: After): string[] {
    const fresh = index.filter(({ id }) => !this.#ids.has(id))
    this.#ids = new Set(index.map(({ id }) => id))
    const isOpen = plans.some(({ match }) => match.kind !== 'new' && match.record.setting !== this.#setting)
    if (trouble !== 'none' || ended.exit !== 0 || isOpen || this.#spooled.length > 0) return []
    return fresh
      .filter(one => one.tag !== tag)
      .map(one => `document ${one.n} has the tag ${one.tag ?? 'none'}, and not ${tag ?? 'none'}`)
  }

  /** With --again, or without a memory: everything is new, except what was begun. */
  #continued(load: Load, inputs: readonly Seen[]): Map<Seen, Match> {
    if (!load.isKept) return new Map()
    const matches = this.#records.match(load, inputs)
    return new Map([...matches].filter(([, match]) => match.kind !== 'new' && match.record.isOpen))
  }

  /** Files of the same name that were rotated away while nobody followed. */
  #rotated(load: Load, matches: ReadonlyMap<Seen, Match>): Plan[] {
    const taken = new Set([...matches.values()].flatMap(match => (match.kind === 'new' ? [] : [match.record])))
    const named = this.#followed
    const rotated = load.disk.filter(({ path }) => /\.\d+$/.test(path) && named.has(path.replace(/(\.\d+)+$/, '')))
    const whole = rotated.map(withoutOpen)
    if (this.#isFollowVague) {
      if (whole.length > 0) this.#lenient('rotated files after the index was lost')
      for (const { lines } of whole) this.#expected.begin(lines)
      return []
    }
    return [...this.#records.match(load, whole, taken)].map(([file, match]) => planOf(file, match))
  }

  /** Returns problems if Sluice refused, or should have: then nothing was sent. */
  #refused({ ended, setting }: Load, plans: readonly Plan[]): string[] | undefined {
    const changed = plans.some(({ match }) => match.kind === 'unclear')
    // New edits apply to new lines (docs/guide/edits.md). Only an unfinished load is refused.
    const others = plans.filter(
      ({ match }) => match.kind !== 'new' && match.record.isOpen && match.record.setting !== setting,
    )
    if (ended.code === 'INPUT_CHANGED') {
      if (changed || this.#wasOpen) this.#lenient('an input changed while its load was unfinished')
      return changed || this.#wasOpen ? [] : [`INPUT_CHANGED, but no input changed: ${ended.said.slice(-300)}`]
    }
    if (ended.code === 'RUN_OPTIONS_CHANGED')
      return others.length > 0 || this.#wasOpen ? [] : ['RUN_OPTIONS_CHANGED, but the options are those of before']
    return undefined
  }

  /** How a load must be counted, if nothing happens to it. */
  #outcomes(plans: readonly Plan[]): ReadonlyMap<string, number> | undefined {
    const counts = new Map<string, number>()
    const seen = new Set<number>()
    for (const { rest, match } of plans) {
      if (match.kind === 'unclear' || (match.kind === 'known' && match.record.isOpen)) return undefined
      for (const line of rest) {
        const outcome = line.isBad ? 'rejected' : this.#keyed?.outcome(line)
        if (outcome === undefined || seen.has(line.n)) return undefined
        seen.add(line.n)
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
      }
    }
    return counts
  }

  #begin({ setting, isKept, isAgain, isSpooled, ended }: Load, plans: readonly Plan[]): void {
    const isBroken = ended.isKilled === true || ended.code !== undefined
    for (const { file, match, rest } of plans) {
      if (!isKept) {
        this.#expected.begin(rest)
        if (isSpooled) this.#spooled.push(...rest)
        continue
      }
      const { path, inode, lines } = file
      const before = isAgain && isBroken ? this.#records.all.find(one => one.path === path && !one.isOpen) : undefined
      if (before !== undefined) {
        // Only some of the inputs may have been begun again.
        this.#lenient('again, and not finished')
        this.#isBlurred = true
        this.#expected.begin(rest)
        before.isOpen = true
      } else if (match.kind === 'known') {
        const fresh = match.record.isOpen ? lines.slice(match.record.lines.length) : rest
        this.#expected.begin(fresh)
        match.record.pending.push(...fresh)
        if (fresh.length > 0) match.record.isOpen = true
        Object.assign(match.record, { path, inode, lines, setting })
        this.#records.touch(match.record)
      } else if (match.kind === 'new' || isAgain) {
        this.#expected.begin(rest)
        this.#records.touch({ path, inode, lines, pending: [...rest], isOpen: rest.length > 0, setting, parts: [] })
      } else {
        this.#lenient('an input changed while its load was unfinished')
        this.#expected.begin(rest)
        match.record.pending = match.record.pending.filter(line => !rest.includes(line))
        this.#records.touch({ path, inode, lines, pending: [...rest], isOpen: true, setting, parts: [] })
      }
    }
  }

  #finish({ isKept, isSpooled, ended, runId }: Load, plans: readonly Plan[]): void {
    if (!isKept) {
      if (isSpooled) this.#expected.finish(this.#spooled)
      else for (const { rest } of plans) this.#expected.finish(rest)
      return
    }
    for (const { file, match } of plans) {
      const record = this.#records.all.find(one => one.path === file.path && one.lines === file.lines)
      if (record === undefined) throw new Error(`the oracle has no record of ${file.path}`)
      if (match.kind === 'unclear') this.#settleUnclear(match.record, record)
      else if (this.#isNameReused(runId)) this.#expected.atLeastOnce(record.pending)
      else this.#expected.finish(record.pending)
      if (record.isOpen) {
        const from = record.parts.at(-1)?.to ?? 0
        record.parts.push({ run: ended.run ?? '', from, to: file.lines.length })
      }
      record.isOpen = false
      record.pending = []
    }
  }

  /** Either Sluice continued, or it took the file for another one. All of its lines are there. */
  #settleUnclear(before: Record, record: Record): void {
    const both = record.lines.filter(line => before.lines.some(({ n, v }) => n === line.n && v === line.v))
    // If it was continued, they were sent once.
    this.#expected.finish(record.pending.filter(line => !both.includes(line)))
    for (const line of both) this.#settleOne(line)
    // Lines that are no longer there may be under way for ever.
    if (this.#records.all.includes(before)) this.#records.drop(before)
    this.#disturb(record)
  }

  #settleOne(line: Line): void {
    this.#expected.atLeastOnce([line])
  }

  #disturb(record: Record): void {
    for (const { run } of record.parts) this.#disturbed.add(run)
  }

  /** Each line is in the index, or is named. */
  #named(load: Load, plans: readonly Plan[], { dead }: After): string[] {
    const { ended, isKept } = load
    const letters = new Set(dead.map(({ n }) => n))
    const lost = plans.flatMap(({ file }) => file.lines).filter(({ n, isBad }) => isBad && !letters.has(n))
    const problems = lost.map(({ n }) => `bad line ${n} is named nowhere`)
    const isNew = (line: Line) => plans.some(({ rest }) => rest.includes(line))
    const bad = plans.flatMap(({ file }) => file.lines).filter(({ isBad }) => isBad)
    if (ended.exit !== 0 || bad.length === 0 || this.#isVague(load)) return problems
    if (bad.some(isNew)) problems.push(`exit code 0, but ${bad.length} lines are bad`)
    // After a replay, or if Sluice no longer knows the run, the file of dead letters names them.
    else if (isKept && !this.#isReplayed && ended.unreplayed === 0 && !this.#isForgotten)
      problems.push(`exit code 0, but ${bad.length} lines are bad, and no run is named that rejected them`)
    return problems
  }

  /** A load may only fail if something happened, now or before. */
  #judgeFailure(load: Load, plans: readonly Plan[]): string[] {
    const { ended, trouble, maxRejected } = load
    if (ended.isKilled === true) return []
    const code = ended.code ?? ''
    const bad = plans.flatMap(({ rest }) => rest).filter(({ isBad }) => isBad).length
    if (ended.exit === 0) return [`exit code 0 with ${code}`]
    if (maxRejected !== undefined && (bad > maxRejected || this.#keyed !== undefined || this.#lettersBefore > 0)) {
      if (code === 'TOO_MANY_REJECTED' || code === 'REJECTED_NOT_REPLAYED') {
        this.#lenient('too many rejected')
        return []
      }
    }
    if (trouble === 'filter' && ['CLUSTER_IP_FILTERED', 'EGRESS_NOT_ALLOWED'].includes(code)) return []
    // A repeated run with the same name stores no document twice, so it cannot be loaded again.
    if (code === 'OPTION_INVALID' && load.runId !== undefined && load.isAgain) return []
    // Elasticsearch makes no index for an update or a delete.
    if (code === 'REQUEST_REFUSED' && this.#isIndexGone && ['update', 'delete'].includes(load.op)) return []
    if ((trouble === 'stopped' || trouble === 'killed') && code === 'RUN_INTERRUPTED') return []
    if (load.isSpooled && this.#isSpoolCut && ended.exit === 5) {
      this.#lenient('a killed spool')
      return []
    }
    return [`failed with ${code} (exit code ${ended.exit}) for no reason: ${ended.said.slice(-600)}`]
  }

  #keepSpool({ ended, inputs }: Load, trouble: string): void {
    const isDone = ended.isKilled === undefined && ended.code === undefined
    if (isDone) {
      this.#spooled = []
      this.#isSpoolCut = false
      return
    }
    this.#lenient('an unfinished spool')
    this.#isSpoolCut ||= ended.isKilled === true || trouble === 'stopped'
    // A process that was killed or stopped may not have read all of stdin.
    if (ended.isKilled === true || trouble === 'stopped')
      this.#spooled = this.#spooled.filter(line => !inputs.some(({ lines }) => lines.includes(line)))
  }

  verify(run: string, ended: Ended, _after: After): string[] {
    const own = this.#records.all.filter(({ parts }) => parts.some(part => part.run === run))
    if (this.#keyed !== undefined) return []
    const isSure = own.length > 0 && !this.#disturbed.has(run) && own.every(({ isOpen }) => !isOpen)
    if (!isSure) {
      this.#lenient('other content that a run covered')
      return []
    }
    if (ended.exit === 2 && ended.said.includes('is the name of')) {
      this.#lenient('a name of several runs')
      return []
    }
    return ended.exit === 0 ? [] : [`verify of ${run} ends with ${ended.exit}: ${JSON.stringify(ended)}`.slice(0, 900)]
  }

  undo(run: string, ended: Ended, after: After): string[] {
    const isKnown = this.#records.all.some(({ parts }) => parts.some(part => part.run === run))
    if (this.#keyed === undefined && ended.exit !== 2)
      this.#forgetParts(run, lines => this.#expected.takeBack(lines, ended.exit === 0))
    this.#size = after.index.length
    const problems = this.#expected.check(after.index)
    return isKnown || problems.length === 0
      ? problems
      : ['undo of a run into an index that is gone deletes others', ...problems]
  }

  forget(run: string, ended: Ended, after: After): string[] {
    if (ended.exit === 0) this.#forgetParts(run, () => undefined)
    return this.#expected.check(after.index)
  }

  /** The part of a run is no longer known, unless a later run continued behind it. */
  #forgetParts(run: string, act: (lines: readonly Line[]) => void): void {
    this.#isForgotten = true
    for (const record of this.#records.all) while (this.#forgetPart(record, run, act)) this.#isForgotten = true
  }

  #forgetPart(record: Record, run: string, act: (lines: readonly Line[]) => void): boolean {
    const at = record.parts.findLastIndex(part => part.run === run)
    const part = record.parts[at]
    if (part === undefined) return false
    act(record.lines.slice(part.from, part.to))
    const isLast = at === record.parts.length - 1
    if (!isLast) {
      record.parts.splice(at, 1)
      return true
    }
    record.parts.pop()
    record.lines = record.lines.slice(0, record.parts.at(-1)?.to ?? 0)
    record.isOpen = false
    record.pending = []
    if (record.lines.length === 0) {
      this.#records.drop(record)
      this.#isFollowVague = true
    }
    return true
  }

  replay(letters: readonly Dead[], ended: Ended, { index, dead }: After): string[] {
    this.#isReplayed = true
    const problems: string[] = []
    for (const { id, n, isRepaired } of letters) {
      if (!isRepaired || this.#replayed.has(`${id} ${n}`)) continue
      this.#replayed.add(`${id} ${n}`)
      this.#expected.repaired(n)
    }
    const broken = letters.filter(({ isRepaired }) => !isRepaired)
    const named = new Set(dead.map(({ n }) => n))
    for (const { id } of dead) this.#refusedAgain.add(id)
    for (const { n, id } of broken)
      if (ended.exit === 0 && !named.has(n) && !this.#refusedAgain.has(id))
        problems.push(`dead letter ${n} is lost in a replay`)
    if (this.#mayReplayAgain || this.#keyed !== undefined) this.#lenient('replay without its state or index')
    else if (ended.exit > 1) problems.push(`replay failed with ${ended.code ?? ''}: ${ended.said.slice(-300)}`)
    this.#ids = new Set(index.map(({ id }) => id))
    this.#size = index.length
    return [...problems, ...this.#expected.check(index)]
  }

  prefilled({ index }: After): void {
    this.#keyed?.prefilled(index)
    this.#ids = new Set(index.map(({ id }) => id))
    this.#isIndexGone = false
    this.#size = index.length
  }

  stateLost(): void {
    this.#records.all = []
    this.#spooled = []
    this.#isSpoolCut = false
    this.#mayReplayAgain = true
    this.#isFollowVague = true
    this.#isStateLost = true
  }

  indexLost(isMadeAnew: boolean): void {
    this.#isIndexGone = !isMadeAnew
    // A load that was begun has its options, also without its index.
    this.#wasOpen ||= this.#records.all.some(({ isOpen }) => isOpen)
    this.#expected.lost()
    this.#isFollowVague = true
    this.#records.all = []
    this.#replayed.clear()
    this.#mayReplayAgain = true
    this.#size = 0
  }

  get isStateLost(): boolean {
    return this.#isStateLost
  }
}

function planOf(file: Seen, match: Match): Plan {
  if (match.kind === 'new' || match.kind === 'unclear') return { file, match, rest: file.lines }
  const { record } = match
  return {
    file,
    match,
    rest: record.isOpen ? file.lines.slice(record.parts.at(-1)?.to ?? 0) : file.lines.slice(record.lines.length),
  }
}

/** A last line without its line end waits. */
function withoutOpen(file: Seen): Seen {
  return file.isOpen ? { ...file, lines: file.lines.slice(0, -1), isOpen: false } : file
}
