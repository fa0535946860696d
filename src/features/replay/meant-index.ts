import { readLetters } from '../../pipeline/bulk/dead-letter.js'
import { SluiceError, fail, isSluiceError } from '../../base/failure/failure.js'
import type { Source } from '../../base/flow.js'
import { decode } from '../../pipeline/format/decode.js'
import { systemClock } from '../../base/time/clock.js'

/** The format of dead letters. */
export const letterFormat = { format: 'ndjson' } as const

/**
 * Returns the index that the first dead letter names. `index`: where all of them go. Looks at each file.
 * Throws SluiceError NOT_DEAD_LETTERS for a file that holds something else, OPTION_INVALID for stdin without an index.
 */
export async function meantIndex(sources: readonly Source[], index: string | undefined): Promise<string | undefined> {
  let found: string | undefined
  for (const source of sources) {
    if (source.file === undefined) {
      if (index !== undefined) continue
      const problem = `is not set, and ${source.name} can be read only once`
      throw fail('OPTION_INVALID', { option: 'index', problem })
    }
    const first = await firstLetter(source)
    found ??= first?.index
  }
  return found
}

/** Broken lines that are allowed before the first dead letter. */
const LINES = 1000

/** Returns the first dead letter of a file, or undefined if the file is empty. Throws SluiceError NOT_DEAD_LETTERS if it holds none. */
async function firstLetter(source: Source): Promise<{ readonly index?: string } | undefined> {
  const opened = decode(source, source.open(new AbortController().signal), letterFormat)
  const { bytes } = await opened.catch((error: unknown) => {
    const isMalformed = isSluiceError(error) && error.code === 'INPUT_MALFORMED'
    throw isMalformed
      ? notDeadLetters(source, String(error.failure.evidence['problem']).replace(/^is not valid \w+: /, ''))
      : error
  })
  let problem: string | undefined
  let lines = 0
  for await (const letter of readLetters(source.name, bytes, systemClock)) {
    if (!('problem' in letter)) return letter.destination
    problem ??= letter.problem
    lines += 1
    if (lines >= LINES || ('isLong' in letter && letter.isLong)) break
  }
  if (problem === undefined) return undefined
  throw notDeadLetters(source, `none of its lines is a dead letter. The first line: ${problem}`)
}

function notDeadLetters({ name: input }: Source, problem: string): SluiceError {
  return fail('NOT_DEAD_LETTERS', { input, problem })
}
