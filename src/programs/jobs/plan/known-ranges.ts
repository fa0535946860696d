/**
 * The ranges that a job has from an earlier plan. A group of small inputs that are all as they were stays as it is, so only inputs that are
 * new are grouped anew. What a new plan does not contain is removed. Holds a short key for each small input.
 */
import type { Job, Queue } from 'bullmq'
import type { FoundInput } from '../../../features/ranges/range-load.js'
import type { InputRange } from '../../../pipeline/source/ranges.js'
import { isForeignIndex } from '../../../options/names.js'
import { endedRanges } from './ended-ranges.js'
import { type Planned, type RangeData, rangeId } from '../job.js'

interface Knowing {
  readonly ranges: Queue<RangeData>
  /** The index that the job fills. What was loaded into another one does not count. */
  readonly index: string
  /** Returns whether somebody else wrote the range or its receipt. Such a range is planned again. */
  isForged(range: Job<RangeData>): boolean
  /** Repeats work on the queue until it succeeds. */
  patient<T>(work: () => Promise<T>): Promise<T>
}

/** A part of a shard. */
interface Span {
  readonly from: number
  readonly to: number
}

interface Group {
  left: number
  found: number
  bytes: number
}

/** Inputs of an earlier group that has lost others. */
export interface Remainder {
  readonly source: number
  readonly inputs: readonly InputRange[]
  readonly bytes: number
}

/** Ranges that a worker may have, or may take again. */
const underWay = ['active', 'waiting', 'delayed', 'prioritized'] as const

export class KnownRanges {
  readonly #given: Knowing
  readonly #stale = new Set<string>()
  readonly #groups = new Map<string, Group>()
  readonly #groupOf = new Map<string, string>()
  readonly #keptIds = new Set<string>()
  /** Parts of shards, in any order. */
  readonly #spans = new Map<string, Span[]>()
  #kept: Planned = { objects: 0, ranges: 0, bytes: 0 }

  private constructor(given: Knowing) {
    this.#given = given
  }

  /**
   * `isAnew`: forgets what has failed and what was not begun. Whatever of it is still to be loaded, the plan contains again.
   */
  static async read(given: Knowing, isAnew: boolean): Promise<KnownRanges> {
    const known = new KnownRanges(given)
    if (isAnew) {
      await given.patient(async () => await given.ranges.drain(true))
      await known.#remove('failed', () => true)
    }
    await known.#read()
    return known
  }

  /** Groups that stay as they are. */
  get kept(): Planned {
    return this.#kept
  }

  isKept(id: string): boolean {
    return this.#keptIds.has(id)
  }

  /** Returns whether a group has the input already, as it is now. */
  has(source: number, { name, identity, size }: FoundInput): boolean {
    const key = keyOf(source, { name, identity })
    const id = this.#groupOf.get(key)
    const group = id === undefined ? undefined : this.#groups.get(id)
    if (id === undefined || group === undefined) return false
    this.#groupOf.delete(key)
    group.found += 1
    group.left -= 1
    group.bytes += size
    if (group.left > 0) return true
    this.#groups.delete(id)
    this.#keptIds.add(id)
    this.#stale.delete(id)
    const { objects, ranges, bytes } = this.#kept
    this.#kept = { objects: objects + group.found, ranges: ranges + 1, bytes: bytes + group.bytes }
    return true
  }

  /** Returns the parts of a shard that an earlier plan contained, in their order. */
  spansOf(shard: Pick<InputRange, 'name' | 'identity'>): readonly Span[] {
    return (this.#spans.get(spanKey(shard)) ?? []).toSorted((one, other) => one.from - other.from)
  }

  /** Notes that the plan contains the range. */
  contains(id: string): void {
    this.#stale.delete(id)
  }

  /** Returns whether only an earlier plan contained the range. */
  isStale(id = ''): boolean {
    return this.#stale.has(id)
  }

  /** Yields what is left of groups of which an input was removed or replaced. */
  async *remainders(): AsyncGenerator<Remainder> {
    const { ranges, patient } = this.#given
    for (const [id, { found, bytes }] of this.#groups) {
      if (found === 0) continue
      const range = (await patient(async () => await ranges.getJob(id))) as Job<RangeData> | undefined
      if (range === undefined) continue
      const { source, inputs } = range.data
      // The key of an input that was found is no longer there.
      yield { source, inputs: inputs.filter(input => !this.#groupOf.has(keyOf(source, input))), bytes }
    }
  }

  /** Removes what only an earlier plan contained. Returns whether there was any. */
  async removeStale(): Promise<boolean> {
    if (this.#stale.size === 0) return false
    for (const state of ['completed', 'failed'] as const) await this.#remove(state, ({ id }) => this.isStale(id))
    return true
  }

  async #read(): Promise<void> {
    const { ranges, index, patient } = this.#given
    const { isForged } = this.#given
    await this.#remove('completed', range => isForged(range) || range.data.index !== index)
    await this.#remove('failed', isForged)
    // One that is forged fails, and is planned again then.
    for (const one of await patient(async () => await ranges.getJobs([...underWay]))) if (!isForged(one)) this.#add(one)
    for (const state of ['completed', 'failed'] as const)
      for await (const page of endedRanges({ ranges, state, patient })) for (const one of page) this.#add(one)
  }

  #add({ id = '', data }: Job<RangeData>): void {
    if (this.#stale.has(id)) return
    this.#stale.add(id)
    for (const input of data.inputs) {
      const { name, from, to } = input
      if (!isForeignIndex(name) || from === undefined || to === undefined || to <= from) continue
      const spans = this.#spans.get(spanKey(input)) ?? []
      spans.push({ from, to })
      this.#spans.set(spanKey(input), spans)
    }
    const whole = data.inputs.filter(({ from }) => from === undefined)
    const keys = new Set(whole.map(input => keyOf(data.source, input)).filter(key => !this.#groupOf.has(key)))
    for (const key of keys) this.#groupOf.set(key, id)
    if (keys.size > 0) this.#groups.set(id, { left: keys.size, found: 0, bytes: 0 })
  }

  async #remove(state: 'completed' | 'failed', isGone: (range: Job<RangeData>) => boolean): Promise<void> {
    const { ranges, patient } = this.#given
    // Removed only then: pages that shrink while they are read would leave some out.
    const gone: string[] = []
    for await (const page of endedRanges({ ranges, state, patient }))
      gone.push(...(page as Job<RangeData>[]).filter(isGone).map(({ id = '' }) => id))
    for (const id of gone) await patient(async () => await ranges.remove(id))
  }
}

function spanKey({ name, identity }: Pick<InputRange, 'name' | 'identity'>): string {
  return `${identity} ${name}`
}

function keyOf(source: number, { name, identity }: Pick<InputRange, 'name' | 'identity'>): string {
  return rangeId([source, name, identity])
}
