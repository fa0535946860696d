/** Reads tar archives as a stream: those of POSIX (ustar, pax), GNU and the seventh Unix. */
import { fail } from '../../../base/failure/failure.js'
import type { ByteReader } from '../byte-reader.js'
import { type ArchiveFile, isOfMacOs, shownName } from './member.js'
import { isHeader, nameIn, type PaxFacts, readPax, tarNumber, TAR_BLOCK_BYTES, textIn } from './tar-header.js'

/** Names and other facts about a file take less. */
const MOST_FACTS_BYTES = 1 << 20

/**
 * Yields the files. Archives that were joined are read to their end.
 * Throws SluiceError: INPUT_TRUNCATED if the mark of the end is missing, INPUT_UNREADABLE.
 */
export async function* readTar(input: string, reader: ByteReader): AsyncGenerator<ArchiveFile> {
  const truncated = () => fail('INPUT_TRUNCATED', { input, encoding: 'tar', bytes: reader.at })
  const facts: TarFacts = { ofAll: {}, ofNext: {} }
  let isEnded = false
  for (;;) {
    const start = reader.at
    const header = await reader.take(TAR_BLOCK_BYTES)
    if (header.length === 0 && isEnded) return
    // The bytes after the mark of the end may be shorter than a block.
    const isZero = header.every(byte => byte === 0)
    if (isZero && (header.length === TAR_BLOCK_BYTES || isEnded)) {
      isEnded = true
      continue
    }
    if (header.length < TAR_BLOCK_BYTES) throw isEnded ? corrupt(input, start) : truncated()
    if (!isHeader(header)) throw corrupt(input, start)
    isEnded = false
    const type = String.fromCharCode(header[156] ?? 0)
    const stated = tarNumber(header, 124, 12)
    if (stated === undefined) throw corrupt(input, start)
    if (FACTS.has(type)) {
      const text = await reader.take(Math.min(stated, MOST_FACTS_BYTES))
      if (text.length < stated)
        throw stated > MOST_FACTS_BYTES
          ? corrupt(input, start, 'a name or other metadata of more than 1 MiB')
          : truncated()
      if (!note(facts, type, text)) throw corrupt(input, start, 'unreadable metadata of a file')
      if (!(await reader.skip(padding(stated)))) throw truncated()
      continue
    }
    const { name = nameIn(header), size = stated, isSparse = type === 'S' } = { ...facts.ofAll, ...facts.ofNext }
    facts.ofNext = {}
    const stored = WITHOUT_BYTES.has(type) ? 0 : size
    const end = reader.at + stored
    const file = { name: shownName(name), size, type, isSparse }
    const kind = kindOf(file)
    if (kind !== 'folder')
      yield { name: file.name, ...kind, ...('bytes' in kind ? { bytes: whole(reader, size, truncated) } : {}) }
    if (!(await reader.skip(end - reader.at + padding(stored)))) throw truncated()
  }
}

/** What headers say of the files behind them. */
interface TarFacts {
  ofAll: PaxFacts
  ofNext: PaxFacts
}

/** Takes what a header of this type says. Returns false if it cannot be read. */
function note(facts: TarFacts, type: string, text: Buffer): boolean {
  const found = type === 'L' || type === 'K' ? {} : readPax(text)
  if (found === undefined) return false
  if (type === 'L') facts.ofNext.name = textIn(text, 0, text.length)
  else if (type === 'g') facts.ofAll = { ...facts.ofAll, ...found }
  else facts.ofNext = { ...facts.ofNext, ...found }
  return true
}

async function* whole(reader: ByteReader, size: number, truncated: () => Error): AsyncGenerator<Uint8Array> {
  const end = reader.at + size
  yield* reader.pass(size)
  if (reader.at < end) throw truncated()
}

/** Headers about the header behind them. */
const FACTS = new Set(['x', 'X', 'g', 'L', 'K'])
/** Links, devices, folders and pipes, whatever size their headers state. */
const WITHOUT_BYTES = new Set(['1', '2', '3', '4', '5', '6'])
const FILES = new Set(['\0', '0', '7'])

interface Entry {
  readonly name: string
  readonly size: number
  readonly type: string
  readonly isSparse: boolean
}

function kindOf({ name, size, type, isSparse }: Entry): 'folder' | Omit<ArchiveFile, 'name'> {
  // The label of a volume, and what GNU keeps of a folder. Before POSIX a folder was a file whose name ends with a slash.
  if ('5VD'.includes(type) || (FILES.has(type) && name.endsWith('/'))) return 'folder'
  if (isOfMacOs(name)) return { passedOver: 'files of macOS' }
  if (type === '1' || type === '2') return { passedOver: 'links' }
  if (WITHOUT_BYTES.has(type)) return { passedOver: 'devices' }
  if (isSparse) return { refused: 'it is stored as a sparse file' }
  if (type === 'M') return { refused: 'it continues a file of another archive' }
  if (!FILES.has(type)) return { refused: `it is of the unknown type ${JSON.stringify(type)}` }
  return size === 0 ? { passedOver: 'empty files' } : { bytes: none() }
}

async function* none(): AsyncGenerator<Uint8Array> {}

function padding(size: number): number {
  return (TAR_BLOCK_BYTES - (size % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES
}

function corrupt(input: string, at: number, what = 'other data where a file should begin'): Error {
  return fail('INPUT_UNREADABLE', { input, problem: `its tar data is corrupt (${what}, at byte ${at})` })
}
