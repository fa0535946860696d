import type { Evidence } from './evidence.js'

/** Everything known about one failure. */
export interface Entry {
  /** The part of the path that refused. */
  readonly stage: Stage
  /** Exit code of a run that ends with this failure. */
  readonly exit: 1 | 2 | 3 | 4 | 5 | 6 | 70
  /** Whether the same command may succeed later with nothing changed. */
  readonly retry: 'no' | 'later'
  /** Ends no run: the doctor and others report it beside the result. */
  readonly isNotice?: true
  readonly title: string
  /** States what happened, with values. `{names}` stand for evidence. */
  readonly message: string
  /** How it shows itself to somebody who uses other tools, in their words. */
  readonly observed: string
  /** In order of likelihood. */
  readonly causes: readonly string[]
  /** Changes to make, and where. */
  readonly fixes: readonly string[]
  /** Evidence of a typical case: everything that the message names. */
  readonly example: Evidence
}

/** A cause that only some messages fit: those that match `if`. */
export type PossibleCause = string | { readonly cause: string; readonly if: RegExp }

/** A fix that only some messages fit: those that match `if`. */
export type PossibleFix = string | { readonly fix: string; readonly if: RegExp }

/** An entry as the catalogue holds it. */
export interface Written extends Omit<Entry, 'causes' | 'fixes'> {
  readonly causes: readonly PossibleCause[]
  readonly fixes: readonly PossibleFix[]
}

/** The failures of one part of the path. */
export type Entries<S extends Stage> = Readonly<Record<string, Written & { readonly stage: S }>>

/** The parts of the path, in its order, as headings call them. */
export const stages = {
  options: 'Options',
  input: 'Inputs and documents',
  proxy: 'The proxy',
  egress: 'Addresses and the IP filter',
  cluster: 'The cluster',
  index: 'The index',
  servicenow: 'ServiceNow',
  run: 'The run',
} as const

type Stage = keyof typeof stages
