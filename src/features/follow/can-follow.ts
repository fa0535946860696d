/** Looks at the first bytes of a file: only plain NDJSON can be followed. */
import { isSluiceError, type SluiceError } from '../../base/failure/failure.js'
import { decode } from '../../pipeline/format/decode.js'
import { invalid } from '../../options/option-checks.js'
import { look } from '../../pipeline/source/stored-file.js'
import type { FollowedFile } from './followed-file.js'
import { RoundInput } from './round-input.js'

/** Returns why the file cannot be followed. Notes in the file when its first line was seen. */
export async function whyNotFollowed(
  file: FollowedFile,
  { folder, format }: { readonly folder: string; readonly format: 'auto' | 'ndjson' },
): Promise<string | undefined> {
  const { path, name, stat } = file
  try {
    if ((await look(path, name, stat.size)).isCompressed) return `${name} is compressed`
    if (file.end === 0) return undefined
    const opening = new RoundInput(0, file, folder).open(new AbortController().signal)
    try {
      const { kind } = await decode({ id: 0, name, open: () => opening }, opening, { format })
      file.isChecked = true
      return kind === 'lines' ? undefined : `${name} is not plain NDJSON`
    } finally {
      await opening.return(undefined)
    }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    // It was renamed or deleted since it was found.
    return error.code === 'INPUT_NOT_FOUND' ? undefined : error.message
  }
}

/** Returns the error for a file that is there when Sluice starts. */
export function cannotFollow(problem: string): SluiceError {
  return invalid('follow', `reads only plain NDJSON files, but ${problem}`)
}
