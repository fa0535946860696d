import { relative } from 'node:path'
import type { Source } from '../../../base/flow.js'
import { isPath } from '../../../base/text/source-url.js'
import { localTime } from '../../../base/time/clock.js'
import type { Checkpoint } from '../checkpoint/checkpoint.js'
import type { KnownInput } from '../inputs/known-input.js'

/** Names in one note. */
const NAMED = 3

/** Collects notes on inputs, and shortens them if many inputs have the same one. */
export class InputNotes {
  readonly #moved: string[] = []
  readonly #grown: string[] = []
  readonly #begun: string[] = []
  readonly #twins: string[] = []
  readonly #changed: string[] = []
  readonly #others: string[] = []

  /** `hasMore`: lines were added since. */
  moved({ name }: Source, was: string, { run, written }: Checkpoint, isFinished: boolean, hasMore: boolean): void {
    const list = hasMore ? this.#grown : this.#moved
    if (isFinished) list.push(`${name} was loaded as ${shown(was)} by run ${run} on ${day(written)}`)
    else this.#begun.push(`${name} was begun as ${shown(was)} by run ${run} on ${day(written)}`)
  }

  twin({ name }: Source, other: string, { run, written }: Checkpoint): void {
    this.#twins.push(`${name} has the same content as ${other}, which run ${run} loaded on ${day(written)}`)
  }

  differs({ name }: Source, { run: { run, written } }: KnownInput): void {
    this.#others.push(`${name} holds something else than run ${run} loaded from it on ${day(written)}`)
  }

  changed({ name }: Source, differences: readonly string[]): void {
    this.#changed.push(`${name} was loaded with other options: ${differences.join(', ')}`)
  }

  all(): string[] {
    return [
      ...said(this.#changed, '. Its new lines get the new options. To load all of it again, pass --again'),
      ...said(this.#moved, '. To load it again, pass --again'),
      ...said(this.#grown, '. Sluice loads only its new lines'),
      ...said(this.#begun, '. Sluice continues it'),
      ...said(this.#others, '. Sluice loads all of it'),
      ...said(this.#twins, '. Both files exist, so Sluice loads both'),
    ]
  }
}

/** Returns the sentences with their end. */
export function said(sentences: readonly string[], end: string): string[] {
  const more = sentences.length - NAMED
  const shownOnes = sentences.slice(0, NAMED).map(sentence => sentence + end)
  return more > 0 ? [...shownOnes, `the same is true of ${more} more files`] : shownOnes
}

/** Returns a path as short as it can be from the working folder. */
function shown(path: string): string {
  if (!isPath(path)) return path
  const short = relative('', path)
  return short.startsWith('..') ? path : short
}

function day(time: string): string {
  return localTime(time).slice(0, 16)
}
