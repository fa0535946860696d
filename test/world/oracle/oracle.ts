/**
 * Says after each command whether the index, the receipt, the exit code and the dead letters are what the guides promise. It shares no
 * code with Sluice, and each of its leniencies has a name.
 */
import type { After, Dead, Ended, Load } from '../facts.js'
import { judgeForget, judgeReplay, judgeUndo, judgeVerify } from './afterwards.js'
import { isVague, judgeFields, judgeNamed, mayLoadAnew, outcomesOf } from './documents.js'
import { Memory, type Told } from './memory.js'
import { judgePosted } from './posted.js'
import { judgeQueued } from './queued.js'
import { noteFollowed, type Plan, plansOf } from './plans.js'
import { judgeExit, judgeReceipt } from './receipt.js'
import { judgeTables } from './tables.js'
import { isOther, judgeFailure, judgeRefusal } from './refusals.js'
import { narrowed } from './narrow.js'
import { begin, finish, keepSpool } from './settling.js'

export class Oracle {
  readonly #memory: Memory

  constructor(told: Told) {
    this.#memory = new Memory(told)
  }

  get leniencies(): ReadonlySet<string> {
    return this.#memory.leniencies
  }

  load(seen: Load, after: After): string[] {
    const memory = this.#memory
    if (seen.posted !== undefined) return this.#noted(seen, after, judgePosted(memory, seen, after), [])
    if (seen.isTable === true) return this.#noted(seen, after, judgeTables(memory, seen, after), [])
    if (seen.isQueued === true) return this.#noted(seen, after, judgeQueued(memory, seen, after), [])
    if (seen.isNarrow) memory.narrowed(seen.op)
    const load = seen.isNarrow ? narrowed(seen) : seen
    const plans = plansOf(memory, load)
    if (load.isAgain) memory.expected.forgetIds()
    const refused = judgeRefusal(memory, load, plans)
    // A followed load may have loaded other files before.
    // Stdin is spooled to its end, whatever becomes of the load.
    if (refused !== undefined && (load.isSpooled || (load.ended.thisProcess?.read ?? 0) > 0)) {
      const own = plans.filter(plan => load.isFollowed || !isOther(plan, load.setting))
      begin(memory, load, own)
    }
    const judged =
      load.indexLost === undefined ? (refused ?? this.#loaded(load, plans, after)) : this.#lostIn(load, plans, refused)
    return this.#noted(load, after, judged, plans)
  }

  /** Judges the documents, and notes what stands there after a load. */
  #noted(load: Load, after: After, judged: readonly string[], plans: readonly Plan[]): string[] {
    const memory = this.#memory
    const problems = [...judged, ...memory.expected.check(after.index), ...judgeFields(memory, load, plans, after)]
    memory.see(after)
    memory.letters = new Set(after.dead.map(({ n }) => n))
    return problems
  }

  /** The index was deleted while it was loaded into: what came before is lost, and the next load sends everything again. */
  #lostIn(load: Load, plans: readonly Plan[], refused: readonly string[] | undefined): readonly string[] {
    const memory = this.#memory
    const { ended, isKept, isSpooled } = load
    memory.indexLost(load.indexLost === 'made anew')
    memory.isUnsure = true
    memory.wasOpen = true
    if (isKept)
      for (const { file } of plans) {
        memory.expected.resent(file.lines)
        memory.linesLost.set(file.path, file.lines)
      }
    else begin(memory, load, plans)
    if (isSpooled) keepSpool(memory, load)
    if (load.isFollowed) {
      noteFollowed(memory, load)
      // Rotated files are loaded again, too.
      for (const { lines } of load.disk) memory.expected.begin(lines)
    }
    if (refused?.length === 0) return []
    return ended.code === undefined && ended.isKilled !== true ? judgeExit(load) : judgeFailure(memory, load, plans)
  }

  /** Judges a load that was not refused at once. */
  #loaded(load: Load, plans: readonly Plan[], after: After): readonly string[] {
    const memory = this.#memory
    const { ended, isSpooled } = load
    const isGone = load.isFollowed && memory.isGone(load.disk)
    if (isBlind(load)) {
      memory.lenient('an index that the key may not see')
      return judgeExit(load)
    }
    const counts = outcomesOf(memory, load, plans)
    const isOpen = isVague(memory, load, plans)
    if (mayLoadAnew(memory, load, plans)) {
      // Under the ids of that load.
      memory.isBlurred = true
      for (const { file } of plans) memory.expected.begin(file.lines)
    }
    // A load that was refused at its start has begun nothing.
    if (isSpooled || ended.code === undefined || (ended.thisProcess?.read ?? 0) > 0) begin(memory, load, plans)
    let problems: readonly string[]
    if (ended.isKilled === true || ended.code !== undefined) problems = judgeFailure(memory, load, plans)
    else {
      const known = {
        isGone,
        isVague: isOpen,
        counts,
        grown: after.index.length - memory.size,
        isKeyed: memory.keyed !== undefined,
        spooled: memory.spooled,
        shaping: memory.shaping,
      }
      const receipt = judgeReceipt(load, plans, known)
      finish(memory, load, plans)
      // Inputs that it did not name are as unsure as before.
      if (load.inputs.length === load.disk.length) memory.becomeSure()
      problems = [...receipt, ...judgeNamed(memory, load, plans, after)]
    }
    if (isSpooled) keepSpool(memory, load)
    const isBegun = ended.code === undefined || (ended.thisProcess?.read ?? 0) > 0
    if (load.isFollowed && isBegun) noteFollowed(memory, load)
    return problems
  }

  verify(run: string, ended: Ended, after: After): readonly string[] {
    return judgeVerify(this.#memory, run, ended, after)
  }

  undo(run: string, ended: Ended, after: After): readonly string[] {
    return judgeUndo(this.#memory, run, ended, after)
  }

  forget(run: string, ended: Ended, after: After): readonly string[] {
    return judgeForget(this.#memory, run, ended, after)
  }

  replay(letters: readonly Dead[], ended: Ended, isNarrow: boolean, after: After): readonly string[] {
    return judgeReplay(this.#memory, letters, { ...ended, isNarrow }, after)
  }

  prefilled(after: After, numbers: readonly number[]): void {
    this.#memory.prefilled(after, numbers)
  }

  moved(from: number, to: number, isCopied: boolean): void {
    this.#memory.moved(from, to, isCopied)
  }

  stateLost(): void {
    this.#memory.stateLost()
  }

  indexLost(isMadeAnew: boolean): void {
    this.#memory.indexLost(isMadeAnew)
  }
}

/** The index may have been made anew, but the key may not see that. Sluice says so, and takes the inputs for loaded. */
function isBlind({ trouble, ended }: Load): boolean {
  return trouble === 'rights' && ended.code === undefined && ended.said.includes('cannot notice a new index')
}
