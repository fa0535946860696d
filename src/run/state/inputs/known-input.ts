/** The records that runs keep of each input. Several runs may know the same one: it was appended to, continued by another run, or found again. */
import type { Checkpoint, CheckpointInput, InputList } from '../checkpoint/checkpoint.js'

/** An input in the state of a run. */
interface Seen {
  readonly run: Checkpoint
  readonly inputs: InputList
  readonly at: number
  /** See `takenUpAt`. */
  readonly time: string
}

/** There may be very many, so it parses its input each time that somebody asks for it. */
export class KnownInput {
  /** The run that took it up last, to load something of it. */
  run: Checkpoint
  /** When that was. */
  time: string
  /** Whether an input of this load is that one. */
  isClaimed = false
  #inputs: InputList
  #at: number
  /** A later run that found it again. */
  #found: Seen | undefined = undefined

  constructor({ run, inputs, at, time }: Seen) {
    this.run = run
    this.time = time
    this.#inputs = inputs
    this.#at = at
  }

  /** A file that is as it was is recognised as this, without one more object for each. */
  get kind(): 'known' {
    return 'known'
  }

  get known(): this {
    return this
  }

  /** Makes an input of this load that one. Returns false if another one is. */
  claim(): boolean {
    if (this.isClaimed) return false
    this.isClaimed = true
    return true
  }

  /** The input as its run knows it, with what a later run found: its name and times, or that nothing of it was left. */
  get input(): CheckpointInput {
    const input = this.#inputs.at(this.#at) as CheckpointInput
    const found = this.#found?.inputs.at(this.#found.at)
    // Its run may have loaded more of it since.
    if (found === undefined || found.mark.document !== input.mark.document || found.mark.line !== input.mark.line)
      return input
    const { name, status, mark, file, address, content } = found
    return { ...input, name, status, mark, file, address, content }
  }

  loadedBy({ run, inputs, at, time }: Seen): void {
    if (time <= this.time) return
    this.run = run
    this.time = time
    this.#inputs = inputs
    this.#at = at
  }

  foundBy(seen: Seen): void {
    if (seen.time > this.time) this.#found = seen
  }
}

/** Returns every input of which a run has loaded something, in the order in which they were taken up, latest first. `runs`: newest first. */
export function knownInputsOf(runs: readonly Checkpoint[]): KnownInput[] {
  const all: KnownInput[] = []
  const loaded = new Map<string, KnownInput>()
  const found = new Map<string, Seen>()
  const last = runs.findLast(run => run.inputs.length > 0)
  let isSorted = true
  for (const run of runs) {
    const inputs = run.inputs
    for (let at = inputs.length - 1; at >= 0; at -= 1) {
      const input = inputs.at(at)
      if (input === undefined) continue
      const { token } = input
      const seen = { run, inputs, at, time: takenUpAt(run, input) }
      if (isFoundAgain(input)) {
        const before = found.get(token)
        if (before === undefined || seen.time > before.time) found.set(token, seen)
        continue
      }
      isSorted &&= input.since === undefined
      const known = loaded.get(token)
      if (known === undefined) {
        const made = new KnownInput(seen)
        all.push(made)
        // No other run follows. Mostly it is the largest one.
        if (run !== last || found.has(token)) loaded.set(token, made)
      } else known.loadedBy(seen)
    }
  }
  for (const [token, seen] of found) loaded.get(token)?.foundBy(seen)
  return isSorted ? all : all.toSorted((a, b) => (a.time > b.time ? -1 : Number(a.time < b.time)))
}

/** Finds the newest states of inputs: of the run that took one up last, and of one that found it again after that. */
export function newestStates(runs: readonly Checkpoint[]): (run: Checkpoint, input: CheckpointInput) => boolean {
  const loaded = new Map<string, Pick<Seen, 'run' | 'time'>>()
  const found = new Map<string, Pick<Seen, 'run' | 'time'>>()
  for (const run of runs)
    for (const input of run.inputs) {
      const newest = isFoundAgain(input) ? found : loaded
      const time = takenUpAt(run, input)
      const before = newest.get(input.token)
      if (before === undefined || time > before.time) newest.set(input.token, { run, time })
    }
  return (run, input) => {
    const { token } = input
    const last = loaded.get(token)
    if (!isFoundAgain(input)) return last?.run === run
    const again = found.get(token)
    return again?.run === run && (last === undefined || again.time > last.time)
  }
}

/** Returns when the process began that took the input up. A run may continue after a newer one has begun. */
function takenUpAt({ began }: Checkpoint, { since }: CheckpointInput): string {
  return since ?? began
}

/** Returns whether a run found an input under another name or with other times, and had nothing of it to load. */
function isFoundAgain({ status, start, mark, read }: CheckpointInput): boolean {
  return status === 'finished' && read === 0 && start?.document === mark.document
}
