import { fstatSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import { type FoundFile, findFiles } from '../source/find-files.js'

/**
 * Refuses, before anything is loaded, inputs that would be loaded wrongly without any error. Throws SluiceError:
 * INPUT_UNREADABLE where stdin is a directory, which reads as an empty stream; OPTION_INVALID where the dead letters would be
 * written into an input, which would grow while it is read; and what finding the inputs throws.
 */
export async function checkInputs(names: readonly string[], deadLetters: string | undefined): Promise<void> {
  const files = await findFiles(names, { cwd: undefined, stdin: true })
  const stdin = files.find(({ kind }) => kind === 'stdin')
  if (stdin !== undefined && fstatSync(0).isDirectory()) {
    throw new SluiceError(failure('INPUT_UNREADABLE', { input: stdin.name, problem: 'it is a directory' }))
  }
  const same = deadLetters === undefined ? undefined : await sameFile(files, deadLetters)
  if (same === undefined) return
  const problem = `'${deadLetters}' is the input ${same.name}: write the dead letters to another file`
  throw new SluiceError(failure('OPTION_INVALID', { option: '--dead-letters', problem }))
}

/** By what the file system says, not by path: links have several. */
async function sameFile(files: readonly FoundFile[], path: string): Promise<FoundFile | undefined> {
  const written = await statOf(path)
  if (written?.isFile() !== true) return undefined
  for (const file of files) {
    const read = await statOf(file.path)
    if (read?.dev === written.dev && read.ino === written.ino) return file
  }
  return undefined
}

/** Undefined for what is not there, or not to be reached: writing and reading say so themselves. */
async function statOf(path: string) {
  return await stat(path, { bigint: true }).catch(() => undefined)
}
