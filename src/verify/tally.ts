/** Adds up what was seen of a run, input by input. */
import type { Checkpoint } from '../ledger/checkpoint.js'
import { type InputIds, idOf } from './run-ids.js'
import type { Sighting } from './sweep.js'
import type { VerifiedInput } from './verification.js'

export interface Tally {
  settled(sightings: readonly Sighting[]): void
  beyond(sightings: readonly Sighting[]): void
  result(): Tallied
}

interface Tallied {
  readonly inputs: readonly VerifiedInput[]
  readonly documents: number
  readonly found: number
  readonly rejected: number
  readonly unlisted: number
  readonly missing: number
  readonly unsettled: number
  readonly foreign: number
  readonly doubled: number
}

interface Account {
  found: number
  unsettled: number
  foreign: number
  readonly rejected: Set<number>
  readonly missing: Set<number>
  readonly doubled: Set<number>
  readonly foreignNumbers: number[]
}

export interface TallyOptions {
  readonly inputs: readonly InputIds[]
  /** What the checkpoint counts. */
  readonly counts: Checkpoint['counts']
  /** The numbers that dead letters name, by token. */
  readonly rejected: ReadonlyMap<string, ReadonlySet<number>>
  /** Most ids of each kind and input. */
  readonly listed: number
}

export function newTally({ inputs, counts, rejected, listed }: TallyOptions): Tally {
  const accounts = new Map(inputs.map(input => [input, emptyAccount()]))
  const of = (input: InputIds) => accounts.get(input) as Account
  return {
    settled: sightings => {
      for (const { input, number, copies } of sightings) {
        const account = of(input)
        if (copies.length > 0) account.found += 1
        else if (rejected.get(input.token)?.has(number) === true) account.rejected.add(number)
        else account.missing.add(number)
        if (copies.length > 1) account.doubled.add(number)
      }
    },
    beyond: sightings => {
      for (const { input, number, copies } of sightings) {
        const account = of(input)
        if (input.isOpen) account.unsettled += 1
        else {
          account.foreign += 1
          if (account.foreignNumbers.length < listed) account.foreignNumbers.push(number)
        }
        if (copies.length > 1) account.doubled.add(number)
      }
    },
    result: () => {
      const blank = dropBlankEnds(accounts, counts)
      const verified = inputs.map(input => show(input, of(input), blank.has(input), listed))
      const sum = (name: 'documents' | 'found' | 'missing' | 'rejected' | 'unsettled' | 'foreign' | 'doubled') =>
        verified.reduce((total, input) => total + input[name], 0)
      const [absent, named] = [sum('missing'), sum('rejected')]
      const namedInAll = [...rejected.values()].reduce((total, numbers) => total + numbers.size, 0)
      // Rejected, and named nowhere; or named by dead letters that several runs wrote to, and not this run's.
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

function emptyAccount(): Account {
  return {
    found: 0,
    unsettled: 0,
    foreign: 0,
    rejected: new Set(),
    missing: new Set(),
    doubled: new Set(),
    foreignNumbers: [],
  }
}

/** What the counts say was no document: the last line of an input that has no line end, and is blank. */
function dropBlankEnds(accounts: ReadonlyMap<InputIds, Account>, counts: Checkpoint['counts']): ReadonlySet<InputIds> {
  const settled = counts.created + counts.updated + counts.duplicate + counts.rejected
  let surplus = [...accounts.keys()].reduce((sum, input) => sum + numbersIn(input), -settled)
  const blank = new Set<InputIds>()
  for (const [input, { missing }] of accounts) {
    if (surplus <= 0) break
    if (!input.mayEndBlank || !missing.delete(input.last)) continue
    blank.add(input)
    surplus -= 1
  }
  return blank
}

function numbersIn({ first, last }: InputIds): number {
  return Math.max(0, last - first + 1)
}

function show(input: InputIds, account: Account, endsBlank: boolean, listed: number): VerifiedInput {
  const { name, token, first, last } = input
  const { found, rejected, missing, unsettled, foreign, doubled, foreignNumbers } = account
  const ids = (numbers: Iterable<number>) =>
    [...numbers]
      .toSorted((one, other) => one - other)
      .slice(0, listed)
      .map(number => idOf(input, number))
  return {
    name,
    token,
    documents: numbersIn(input) - (endsBlank ? 1 : 0),
    first,
    last: endsBlank ? last - 1 : last,
    found,
    rejected: rejected.size,
    missing: missing.size,
    unsettled,
    foreign,
    doubled: doubled.size,
    missingIds: ids(missing),
    foreignIds: ids(foreignNumbers),
    doubledIds: ids(doubled),
  }
}
