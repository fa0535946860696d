/** Adds up what was seen of a run, input by input. */
import type { Checkpoint } from '../state/checkpoint.js'
import { type InputIds, idOf } from './run-ids.js'
import type { Sighting } from './sweep.js'
import type { Verification, VerifiedInput } from './verification.js'

export interface Tally {
  settled(sightings: readonly Sighting[]): void
  beyond(sightings: readonly Sighting[]): void
  result(): Tallied
}

type Tallied = Pick<
  Verification,
  'inputs' | 'documents' | 'found' | 'rejected' | 'unlisted' | 'missing' | 'unsettled' | 'foreign' | 'doubled'
>

interface Account {
  found: number
  rejected: number
  unsettled: number
  readonly missing: Listing
  readonly foreign: Listing
  readonly doubled: Listing
  /** Whether the last number of the input is missing. */
  endsMissing: boolean
}

export interface TallyOptions {
  readonly inputs: readonly InputIds[]
  /** The checkpoint's counts. */
  readonly counts: Checkpoint['counts']
  /** The numbers that dead letters name, by token. */
  readonly rejected: ReadonlyMap<string, ReadonlySet<number>>
  /** Most ids of each kind and input. */
  readonly listed: number
}

export function newTally({ inputs, counts, rejected, listed }: TallyOptions): Tally {
  const accounts = new Map(inputs.map(input => [input, emptyAccount(listed)]))
  const of = (input: InputIds) => accounts.get(input) as Account
  return {
    settled: sightings => {
      for (const { input, number, copies } of sightings) {
        const account = of(input)
        if (copies.length > 0) account.found += 1
        else if (rejected.get(input.token)?.has(number) === true) account.rejected += 1
        else {
          account.missing.add(number)
          if (number === input.last) account.endsMissing = true
        }
        if (copies.length > 1) account.doubled.add(number)
      }
    },
    beyond: sightings => {
      for (const { input, number, copies } of sightings) {
        const account = of(input)
        if (input.isOpen) account.unsettled += 1
        else account.foreign.add(number)
        if (copies.length > 1) account.doubled.add(number)
      }
    },
    result: () => {
      const blank = dropBlankEnds(accounts, counts)
      const verified = inputs.map(input => show(input, of(input), blank.has(input)))
      const sum = (name: 'documents' | 'found' | 'missing' | 'rejected' | 'unsettled' | 'foreign' | 'doubled') =>
        verified.reduce((total, input) => total + input[name], 0)
      const [absent, named] = [sum('missing'), sum('rejected')]
      const namedInAll = [...rejected.values()].reduce((total, numbers) => total + numbers.size, 0)
      // Rejected, and either named nowhere or named in dead letters of several runs.
      const unlisted = Math.min(absent, Math.max(0, counts.rejected - namedInAll))
      const overlisted = Math.max(0, named - counts.rejected)
      return {
        inputs: verified,
        documents: sum('documents'),
        found: sum('found'),
        rejected: named + unlisted - overlisted,
        unlisted,
        missing: absent - unlisted + overlisted,
        unsettled: sum('unsettled'),
        foreign: sum('foreign'),
        doubled: sum('doubled'),
      }
    },
  }
}

function emptyAccount(listed: number): Account {
  const listing = () => new Listing(listed)
  return {
    found: 0,
    rejected: 0,
    unsettled: 0,
    missing: listing(),
    foreign: listing(),
    doubled: listing(),
    endsMissing: false,
  }
}

/** Drops a number that was no document: a blank last line without a line end. */
function dropBlankEnds(accounts: ReadonlyMap<InputIds, Account>, counts: Checkpoint['counts']): ReadonlySet<InputIds> {
  const settled = counts.created + counts.updated + counts.duplicate + counts.rejected
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
  const ids = ({ lowest }: Listing) => lowest.map(number => idOf(input, number))
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

/** How many there are, and the lowest of them. */
class Listing {
  readonly #most: number
  readonly #numbers: number[] = []
  #count = 0

  constructor(most: number) {
    this.#most = most
  }

  get count(): number {
    return this.#count
  }

  get lowest(): readonly number[] {
    return this.#numbers.toSorted((one, other) => one - other).slice(0, this.#most)
  }

  /** Numbers come nearly in order. */
  add(number: number): void {
    this.#count += 1
    this.#numbers.push(number)
    if (this.#numbers.length <= 2 * this.#most + 1000) return
    this.#numbers.sort((one, other) => one - other)
    this.#numbers.length = this.#most
  }

  takeOut(number: number): void {
    this.#count -= 1
    const at = this.#numbers.indexOf(number)
    if (at !== -1) this.#numbers.splice(at, 1)
  }
}
