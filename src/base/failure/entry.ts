/** Observed values of a failure. Never holds a secret or a document. */
export type Evidence = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

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

/** The messages that an advice fits: those that match `if`, except those that match `unless`. */
export type Fitting =
  | { readonly if: RegExp; readonly unless?: RegExp }
  | { readonly if?: RegExp; readonly unless: RegExp }

export type PossibleCause = string | ({ readonly cause: string } & Fitting)

export type PossibleFix = string | ({ readonly fix: string } & Fitting)

/** An entry as its file holds it. */
interface Written extends Omit<Entry, 'stage' | 'exit' | 'retry' | 'causes' | 'fixes'> {
  /** Default 3: a person has to change something. */
  readonly exit?: Entry['exit']
  /** Default `no`. */
  readonly retry?: 'later'
  readonly causes: readonly PossibleCause[]
  readonly fixes: readonly PossibleFix[]
}

/** Failures of one part of the path. */
export type Entries = Readonly<Record<string, Written>>

/** A part of the path. */
export type Stage = 'options' | 'input' | 'proxy' | 'egress' | 'cluster' | 'index' | 'servicenow' | 'queue' | 'run'
