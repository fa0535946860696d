/** Adds up what was seen of a run, input by input. */
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import type { StillRejected } from './rejected-numbers.js'
import type { InputIds, Sighting } from './run-ids.js'
import type { DocumentCounts, VerifiedInput } from './verify-options.js'

/** The documents of all inputs in the cluster. */
export interface Tallied extends DocumentCounts {
  /**
   * Rejected documents that no dead letters name. That many of the inputs' `missing` were in fact rejected, and if ids come from fields also
   * of their `found`: other documents have the ids.
   */
  readonly unlisted: number
  /** Not there, because the ingest pipeline dropped them. That many of the inputs' `missing` were in fact dropped. */
  readonly dropped: number
  readonly inputs: readonly VerifiedInput[]
}

type Account = ReturnType<typeof emptyAccount>

interface TallyOptions {
  readonly inputs: readonly InputIds[]
  readonly counts: Checkpoint['counts']
  /** The numbers that dead letters of the run name, by token. */
  readonly rejected: ReadonlyMap<string, ReadonlySet<number>>
  /** Those that are rejected even if their id is there. Absent: an id belongs to one document, so a replay has stored it. */
  readonly still?: StillRejected | undefined
  /** Most ids of each kind and input. */
  readonly listed: number
}

export function newTally({ inputs, counts, rejected, still, listed }: TallyOptions) {
  const accounts = new Map(inputs.map(input => [input, emptyAccount(listed)]))
  const of = (input: InputIds) => accounts.get(input) as Account
  return {
    settled: (sightings: readonly Sighting[]) => {
      for (const sighting of sightings) {
        const { input, number, copies } = sighting
        const account = of(input)
        const isStill = still?.rejected.get(input.token)?.has(number) === true
        if (copies.length > 0 && !isStill) account.found += 1
        else if (isStill || rejected.get(input.token)?.has(number) === true) account.rejected += 1
        else {
          account.missing.add(sighting)
          if (number === input.last) account.endsMissing = true
        }
        if (copies.length > 1) account.doubled.add(sighting)
      }
    },
    beyond: (sightings: readonly Sighting[]) => {
      for (const sighting of sightings) {
        const { input, copies } = sighting
        const account = of(input)
        if (input.isOpen) account.unsettled += 1
        else account.foreign.add(sighting)
        if (copies.length > 1) account.doubled.add(sighting)
      }
    },
    result: (): Tallied => {
      const blank = dropBlankEnds(accounts, counts)
      const verified = inputs.map(input => show(input, of(input), blank.has(input)))
      const sum = (name: keyof DocumentCounts) => verified.reduce((total, input) => total + input[name], 0)
      const [absent, found, named] = [sum('missing'), sum('found'), sum('rejected')]
      // Rejected, and either named nowhere or named in dead letters of several runs.
      const unnamed = Math.max(0, counts.rejected - Math.max(sizeOf(rejected), sizeOf(still?.rejected)))
      const unnamedStill = Math.max(0, (still?.documents ?? 0) - sizeOf(still?.rejected))
      // Another document has the id of a document that was rejected for it.
      const ofMissing = Math.min(absent, unnamed - Math.min(unnamed, unnamedStill, still?.conflicts ?? 0))
      const ofFound = Math.min(found, Math.max(0, unnamedStill - ofMissing))
      const overlisted = Math.max(0, named - counts.rejected)
      const dropped = Math.min(absent - ofMissing + overlisted, counts.dropped)
      return {
        inputs: verified,
        documents: sum('documents'),
        found: found - ofFound,
        rejected: named + ofMissing + ofFound - overlisted,
        unlisted: ofMissing + ofFound,
        dropped,
        missing: absent - ofMissing + overlisted - dropped,
        unsettled: sum('unsettled'),
        foreign: sum('foreign'),
        doubled: sum('doubled'),
      }
    },
  }
}

function sizeOf(numbers: ReadonlyMap<string, ReadonlySet<number>> = new Map()): number {
  return [...numbers.values()].reduce((sum, { size }) => sum + size, 0)
}

function emptyAccount(listed: number) {
  const listing = () => new Listing(listed)
  return {
    found: 0,
    rejected: 0,
    unsettled: 0,
    missing: listing(),
    foreign: listing(),
    doubled: listing(),
    /** Whether the last number of the input is missing. */
    endsMissing: false,
  }
}

/** Drops a number that was no document: a blank last line without a line end. */
function dropBlankEnds(accounts: ReadonlyMap<InputIds, Account>, counts: Checkpoint['counts']): ReadonlySet<InputIds> {
  const { created, accepted, updated, dropped, duplicate, rejected } = counts
  const settled = created + accepted + updated + dropped + duplicate + rejected
  let surplus = [...accounts.keys()].reduce((sum, input) => sum + numbersIn(input), -settled)
  const blank = new Set<InputIds>()
  for (const [input, { missing, endsMissing }] of accounts) {
    if (surplus <= 0) break
    if (!input.mayEndBlank || !endsMissing) continue
    missing.takeOut(input.last)
    blank.add(input)
    surplus -= 1
  }
  return blank
}

function numbersIn({ first, last }: InputIds): number {
  return Math.max(0, last - first + 1)
}

function show(input: InputIds, account: Account, endsBlank: boolean): VerifiedInput {
  const { name, token, first, last } = input
  const { found, rejected, missing, unsettled, foreign, doubled } = account
  const ids = ({ lowest }: Listing) => lowest.map(({ number, id }) => id ?? `document ${number}`)
  return {
    name,
    token,
    documents: numbersIn(input) - (endsBlank ? 1 : 0),
    first,
    last: endsBlank ? last - 1 : last,
    found,
    rejected,
    missing: missing.count,
    unsettled,
    foreign: foreign.count,
    doubled: doubled.count,
    missingIds: ids(missing),
    foreignIds: ids(foreign),
    doubledIds: ids(doubled),
  }
}

type Listed = Pick<Sighting, 'number' | 'id'>

/** Counts documents, and keeps those with the lowest numbers. */
class Listing {
  readonly #most: number
  readonly #all: Listed[] = []
  #count = 0

  constructor(most: number) {
    this.#most = most
  }

  get count(): number {
    return this.#count
  }

  get lowest(): readonly Listed[] {
    return this.#all.toSorted(byNumber).slice(0, this.#most)
  }

  /** Numbers come nearly in order. */
  add({ number, id }: Listed): void {
    this.#count += 1
    this.#all.push({ number, id })
    if (this.#all.length <= 2 * this.#most + 1000) return
    this.#all.sort(byNumber)
    this.#all.length = this.#most
  }

  takeOut(number: number): void {
    this.#count -= 1
    const at = this.#all.findIndex(one => one.number === number)
    if (at !== -1) this.#all.splice(at, 1)
  }
}

function byNumber(one: Listed, other: Listed): number {
  return one.number - other.number
}
