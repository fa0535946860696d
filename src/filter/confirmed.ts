/** Asks a person before a change. */
import { fail } from '../failure/fail.js'
export interface Change {
  /** The change, as a sentence without its end: `add 2 rules to the policy static pair`. */
  readonly what: string
  /** Lines that begin with `+`, `-` or a blank. */
  readonly difference: readonly string[]
  /** The effect of the change. */
  readonly consequence: string
}

/** True: do it. False or undefined (nobody is there to be asked): do not. */
export type Confirm = (change: Change) => Promise<boolean | undefined>

/** Throws SluiceError FILTER_UNCONFIRMED unless the change is confirmed. */
export async function confirmed(change: Change, confirm: Confirm): Promise<void> {
  if ((await confirm(change)) === true) return
  const { what, difference, consequence } = change
  throw fail('FILTER_UNCONFIRMED', { what, consequence, difference })
}
