import { stat } from 'node:fs/promises'
import type { Source } from '../flow.js'
import { fail } from '../failure/fail.js'

/**
 * Refuses dead letters that would be written into an input, which would grow while it is read. By what the file system says,
 * not by path: links have several. Throws SluiceError OPTION_INVALID.
 */
export async function keepApart(sources: readonly Source[], deadLetters: string | undefined): Promise<void> {
  const written = deadLetters === undefined ? undefined : await statOf(deadLetters)
  if (written?.isFile() !== true) return
  for (const { name } of sources) {
    const read = await statOf(name)
    if (read?.dev !== written.dev || read.ino !== written.ino) continue
    const problem = `'${deadLetters}' is the input ${name}: write the dead letters to another file`
    throw fail('OPTION_INVALID', { option: 'deadLetters', problem })
  }
}

/** Undefined for what is not there, or not to be reached: writing and reading say so themselves. */
async function statOf(path: string) {
  return await stat(path, { bigint: true }).catch(() => undefined)
}
