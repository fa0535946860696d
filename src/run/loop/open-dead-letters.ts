import { lstat, stat } from 'node:fs/promises'
import { basename, isAbsolute, resolve } from 'node:path'
import { fail } from '../../base/failure/failure.js'
import type { Destination, Source } from '../../base/flow.js'
import { DeadLetters, truncateDeadLetters } from '../../pipeline/ledger/dead-letters.js'
import type { DocumentSection } from '../../options/load.js'
import type { Checkpoint } from '../state/checkpoint/checkpoint.js'
import { randomToken } from '../../base/checksum/tokens.js'
import { conditionFieldsOf } from './open-batcher.js'

interface Opening {
  readonly dryRun: boolean
  readonly sources: readonly Source[]
  readonly run: string
  /** The file and its length in the last checkpoint. */
  readonly before?: Checkpoint['deadLetters']
  /** Default: as the user named it. */
  readonly index?: string
  /** Whether the files stay where they are after the run. Then the dead letters need not repeat long documents. Default false. */
  readonly filesStay?: boolean | undefined
  warn?(message: string): void
}

/** Opens dead letters that can be written, and are no input. Removes those that a resume will write again from the file first. */
export async function openDeadLetters(documents: DocumentSection, opening: Opening): Promise<DeadLetters> {
  const { dryRun, sources, run, before, index = documents.into, warn, filesStay } = opening
  const destination = destinationOf(index, documents)
  const path = dryRun ? undefined : pathOf(documents.deadLetters, run)
  const stamp = { run, writer: randomToken(), destination }
  const deadLetters = new DeadLetters(path, stamp, warn, filesStay === true ? pathsOf(sources) : undefined)
  await refuseLink(deadLetters.path)
  await refuseInput(sources, deadLetters.path)
  if (before !== undefined) {
    await tellMoved(before, deadLetters.path, warn)
    if (before.writer !== undefined)
      await truncateDeadLetters(before.path, before.length, { run, writer: before.writer })
  }
  await deadLetters.check()
  return deadLetters
}

/** Returns a function that finds the path of an input by its name, if it can be read again. */
function pathsOf(sources: readonly Source[]): (input: string) => string | undefined {
  return name => {
    const source = sources.find(one => one.name === name)
    return source === undefined || !staysReadable(source) ? undefined : source.file?.path
  }
}

/**
 * Returns whether another process on this machine can read the input again. A followed file may be deleted, Sluice deletes its own
 * copies, and a job may have workers on other machines. An object on a server has a URL for a path.
 */
function staysReadable({ file, copy, cursor, seen }: Source): boolean {
  const isOwn = copy !== undefined || cursor !== undefined || seen !== undefined
  return file !== undefined && !isOwn && file.isReadOnce !== true && isAbsolute(file.path)
}

function pathOf(deadLetters: DocumentSection['deadLetters'], run: string): string | undefined {
  return deadLetters === false ? undefined : (deadLetters ?? `${OWN_NAME}${run}.ndjson`)
}

const OWN_NAME = 'sluice-dead-letters-'

/** Returns what a replay has to know of rejected documents. */
function destinationOf(index: string, documents: DocumentSection): Destination {
  const { pipeline, ids, routingField, script } = documents
  return {
    index,
    ...(pipeline === undefined ? {} : { pipeline }),
    ...('field' in ids ? idFields(ids) : {}),
    ...(routingField === undefined ? {} : { routingField }),
    ...conditionFieldsOf(documents),
    ...(script === undefined ? {} : { script }),
  }
}

function idFields({ from, field, separator }: Extract<DocumentSection['ids'], { field: string }>) {
  return {
    ...(from === 'hash' ? { ids: from } : {}),
    idField: field,
    ...(separator === undefined ? {} : { idSeparator: separator }),
  }
}

/**
 * Refuses a link with the name that Sluice itself gives to dead letters in the working folder. The user did not ask for it, and it may lead
 * to a file that a shell runs. Throws SluiceError DEAD_LETTERS_UNWRITABLE.
 */
async function refuseLink(path: string | undefined): Promise<void> {
  if (path === undefined || path !== basename(path) || !path.startsWith(OWN_NAME)) return
  const isLink = await lstat(path).then(
    found => found.isSymbolicLink(),
    () => false,
  )
  const problem = 'it is a symbolic link. Remove it, or pass a file with --dead-letters'
  if (isLink) throw fail('DEAD_LETTERS_UNWRITABLE', { path, problem })
}

/**
 * Refuses dead letters that would go into an input, which would grow during the load. Compares inodes, not paths,
 * because a file can have several links. Throws SluiceError OPTION_INVALID.
 */
async function refuseInput(sources: readonly Source[], deadLetters: string | undefined): Promise<void> {
  const written = deadLetters === undefined ? undefined : await statOf(deadLetters)
  if (written?.isFile() !== true) return
  for (const { name, file } of sources) {
    const read = file === undefined ? await statOf(name) : { dev: file.device, ino: file.stat.inode }
    if (read?.dev !== written.dev || read.ino !== written.ino) continue
    const problem = `'${deadLetters}' is the input ${name}. Write the dead letters to another file`
    throw fail('OPTION_INVALID', { option: 'deadLetters', problem })
  }
}

/** Returns undefined if the file is missing or unreachable: the later read or write reports that. */
async function statOf(path: string) {
  return await stat(path).catch(() => undefined)
}

/** Warns of what a resume cannot put right: rejected documents of before are elsewhere, or gone. */
async function tellMoved(
  { path, length }: NonNullable<Checkpoint['deadLetters']>,
  now: string | undefined,
  warn: ((message: string) => void) | undefined,
): Promise<void> {
  if (length === 0) return
  const size = await stat(path).then(
    found => found.size,
    () => 0,
  )
  if (size < length) warn?.(`${path} no longer holds all documents that were rejected before`)
  else if (now === undefined || resolve(now) !== path) warn?.(`documents that were rejected before stay in ${path}`)
}
