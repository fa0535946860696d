import type { Context } from './context.js'
import type { Facts } from './facts.js'
import type { Step } from './report.js'

/** The result of a probe: facts for the findings, and a line for the reader. */
export interface Seen {
  readonly detail: string
  /** A problem exists. The findings name it. */
  readonly failed?: boolean | undefined
  readonly facts?: Partial<Facts> | undefined
  /** Time of the requests. Default: time of the whole look. */
  readonly ms?: number | undefined
  /** Further steps that the probe saw. */
  readonly more?: readonly Step[] | undefined
}

/** One look at the path. It judges nothing: the findings combine the facts of all probes. */
export interface Probe {
  readonly name: string
  /** Sends nothing, so it shows no time. */
  readonly isPure?: true | undefined
  /** Returns why the look is skipped, given the facts so far. Undefined: look. */
  readonly leaveOut?: (context: Context, facts: Facts) => string | undefined
  readonly look: (context: Context, facts: Facts) => Promise<Seen> | Seen
}
