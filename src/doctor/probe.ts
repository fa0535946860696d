import type { Context } from './context.js'
import type { Facts } from './facts.js'
import type { Step } from './report.js'

/** What a probe saw: facts for the findings, and a line for whoever reads along. */
export interface Seen {
  readonly detail: string
  /** Something is wrong; the findings say what. */
  readonly failed?: boolean
  readonly facts?: Partial<Facts>
  /** Of what was asked alone. Default: what looking took. */
  readonly ms?: number
  /** Steps that were seen on the way. */
  readonly more?: readonly Step[]
}

/** One look at the way. It judges nothing: what its facts mean together with the others is for the findings to say. */
export interface Probe {
  readonly name: string
  /** It asks nobody: no time is told. */
  readonly isPure?: true
  /** Why there is nothing to see, knowing what was seen before; undefined: look. */
  readonly leaveOut?: (context: Context, facts: Facts) => string | undefined
  readonly look: (context: Context, facts: Facts) => Promise<Seen> | Seen
}
