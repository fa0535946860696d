import type { Line, Stored } from '../facts.js'

/** What an index may hold. Lines come and go by these words. */
export interface Expected {
  /** They are being sent. `isCopy`: of another file, so that their ids may be new. */
  begin(lines: readonly Line[], isCopy?: boolean): void
  /** They may be stored, and if they are sent once more, that is under the same ids. */
  resent(lines: readonly Line[]): void
  /** From now on, they get other ids if they are sent once more. */
  forgetIds(): void
  /** What was begun is settled. */
  finish(lines: readonly Line[]): void
  /** What was begun is settled, and nobody can know whether it was stored before. */
  atLeastOnce(lines: readonly Line[]): void
  /** They were deleted. `isSure`: all of them. */
  takeBack(lines: readonly Line[], isSure: boolean): void
  /** Dead letters were corrected and sent. */
  repaired(lines: readonly Line[]): void
  /** The index is gone. */
  lost(): void
  check(index: readonly Stored[]): string[]
}
