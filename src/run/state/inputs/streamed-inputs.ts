/** Recognises inputs that have no file, and may hold something else each time that they are opened. They stay open for their load. */
import { isSluiceError, type SluiceError } from '../../../base/failure/failure.js'
import type { Source } from '../../../base/flow.js'
import { ContentSum } from './content.js'
import { type InputMatch, type ContentIndex, extentOf, firstFree } from './content-index.js'
import type { KnownInput } from './known-input.js'
import type { Recognised, Streamed } from './recognised.js'
import { pathOrUrlOf, type StillThere } from './still-there.js'
import type { StreamedLines } from './streamed-lines.js'

/** Inputs that wait for their load and are open. Each takes a connection, and memory. */
const MOST_OPEN = 4

export class StreamedInputs {
  readonly #there: StillThere
  readonly #index: () => ContentIndex | undefined
  /** The newest content of each URL. */
  readonly #byAddress = new Map<string, KnownInput>()
  #open = 0

  /** `index`: makes it when it is first needed. */
  constructor(all: readonly KnownInput[], there: StillThere, index: () => ContentIndex | undefined) {
    this.#there = there
    this.#index = index
    for (const known of all) {
      const { address } = known.input
      if (address !== undefined && !this.#byAddress.has(address)) this.#byAddress.set(address, known)
    }
  }

  /** Returns undefined if it was not opened. */
  async find(source: Source, address: string): Promise<Recognised | undefined> {
    const named = this.#byAddress.get(address)
    const compared = await this.#compared(source, named)
    if (compared === undefined) return undefined
    if (compared.failed !== undefined) return asFailed(compared.failed)
    const { opened, matches } = compared
    const { match, copied: twin } = await firstFree(matches, async known => await this.#there.isFree(known, address))
    if (match !== undefined) {
      const { known, ...packed } = match
      return { ...(await this.#asKnown(known, packed, opened, address)), known, packed }
    }
    const differs = twin === undefined && named?.isClaimed === false ? named : undefined
    return { kind: 'new', twin, differs, ...(await this.#held(opened, 1)) }
  }

  async #compared(source: Source, named: KnownInput | undefined): Promise<InputMatch | undefined> {
    try {
      return await this.#index()?.compare(source)
    } catch (error) {
      if (!isSluiceError(error)) throw error
      // The load itself says what is wrong. But it must not begin a known input from its start if it can read it then.
      return named === undefined ? undefined : { failed: { error, known: named } }
    }
  }

  async #asKnown(
    known: KnownInput,
    { isWhole }: { readonly isWhole: boolean },
    opened: StreamedLines,
    address: string,
  ): Promise<{ kind: 'known'; moved?: string; streamed: Streamed }> {
    known.claim()
    const { input } = known
    const { mark, status } = input
    const begins = extentOf(input) ?? { bytes: 0, sum: '' }
    const lineEnd = isWhole ? 0 : await opened.endBehind(mark, begins.bytes)
    const isOver = isWhole && (status === 'finished' || mark.tail > 0)
    const held = isOver ? await closed(opened) : await this.#held(opened, mark.line + Math.sign(lineEnd))
    const place = pathOrUrlOf(input)
    const moved = place === undefined || place === address ? {} : { moved: place }
    return { kind: 'known', ...moved, streamed: { begins, lineEnd, ...held } }
  }

  /** Keeps it open if the load can begin with a line. */
  async #held(opened: StreamedLines, line: number): Promise<Pick<Streamed, 'opened'>> {
    if (this.#open >= MOST_OPEN || !opened.has(line)) return await closed(opened)
    this.#open += 1
    return { opened }
  }
}

async function closed(opened: StreamedLines): Promise<object> {
  await opened.close()
  return {}
}

/** Returns an input whose load fails: under new ids, it would store again what is stored. */
function asFailed({
  error,
  known,
}: {
  readonly error: SluiceError
  readonly known: KnownInput
}): Recognised | undefined {
  if (!known.claim()) return undefined
  const { mark, content = {} } = known.input
  const from = () => {
    throw error
  }
  const opened = { sum: new ContentSum(0), from, close: async () => await Promise.resolve() }
  // Bytes that were sent with their length are known by their file.
  const packed = {
    content: { ...content, ...extentOf(known.input) },
    lines: { kind: mark.kind, at: content.at ?? 0 },
    isWhole: false,
  }
  return { kind: 'known', known, packed, streamed: { opened, begins: { bytes: 0, sum: '' }, lineEnd: 0 } }
}
