import type { Failure } from '../../failure/failure.js'

/** What an answer, or the lack of one, means for whoever asked. */
export type Verdict<T> = { readonly is: 'done'; readonly value: T } | Refusal

export type Refusal =
  /** It may succeed later. `undone`: what was asked has certainly not been done. `afterMs`: how long the instance wants to be left alone. */
  | { readonly is: 'later'; readonly failure: Failure; readonly undone: boolean; readonly afterMs?: number }
  /** The instance does not know who asks, or says so. Certainly not done. */
  | { readonly is: 'unauthenticated'; readonly failure: Failure }
  | { readonly is: 'stop'; readonly failure: Failure }
