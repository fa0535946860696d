/** Joins the dead letters of all ranges of a job into one file. */
import { createReadStream, createWriteStream } from 'node:fs'
import { access, rename } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

interface Joined {
  /** Absent: this machine can read none of them. */
  readonly path?: string
  /** How many files this machine cannot read, by the machines that wrote them. */
  readonly elsewhere: Readonly<Record<string, number>>
}

/** `letters`: the host that wrote each file. The files stay, so that a job that continues can join them again. */
export async function joinDeadLetters(folder: string, letters: ReadonlyMap<string, string>): Promise<Joined> {
  const path = `${folder}.ndjson`
  const elsewhere: Record<string, number> = {}
  const files: string[] = []
  for (const [file, host] of letters) {
    const isHere = await access(file).then(
      () => true,
      () => false,
    )
    if (isHere) files.push(file)
    else elsewhere[host] = (elsewhere[host] ?? 0) + 1
  }
  if (files.length === 0) return { elsewhere }
  const written = `${path}.part`
  const bytes = async function* () {
    for (const file of files.toSorted()) yield* createReadStream(file)
  }
  await pipeline(bytes, createWriteStream(written))
  // Whole, or not at all.
  await rename(written, path)
  return { path, elsewhere }
}
