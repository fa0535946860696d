/** Looks at inputs before others load them: what stands for their content on any machine, and whether they can be cut. */
import { fail, isSluiceError } from '../../base/failure/failure.js'
import type { Source } from '../../base/flow.js'
import { decode } from '../../pipeline/format/decode.js'
import type { Load } from '../../options/load.js'
import { isCompressed } from '../../base/compression/decompress.js'
import { type CuttableFile, seenText, wholeMs } from '../../pipeline/source/stored-file.js'
import { isPath } from '../../base/text/source-url.js'

/** An input as one process found it. */
export interface FoundInput {
  /** Without the secrets of a URL. */
  readonly name: string
  /** Stored bytes. */
  readonly size: number
  /** Goes into each range of it: see `InputRange`. */
  readonly identity: string
  /** True if it is plain NDJSON that can be loaded in ranges. False for inputs of less than `cutFrom` bytes, which Sluice does not read. */
  readonly canBeCut: boolean
}

/**
 * Refuses URLs that others cannot use by their shown names, which hold neither login nor query. Secrets of inputs go into no plan.
 * Throws SluiceError OPTION_INVALID.
 */
export function refuseSecrets({ remote }: Pick<Load, 'remote'>): void {
  for (const { name, url, username } of remote?.addresses.values() ?? []) {
    const has = username !== undefined ? 'a login' : url !== undefined && url.search !== '' ? 'a query' : undefined
    if (has === undefined) continue
    const problem = `holds ${name} with ${has}, which would be a part of the plan that others read. Use s3:// or a URL without ${has}`
    throw fail('OPTION_INVALID', { option: 'source', problem })
  }
}

/** Yields one input after the other. Throws SluiceError INPUT_UNREADABLE for an input that no other process can read, SOURCE_*. */
export async function* planInputs(
  sources: AsyncIterable<Source>,
  load: Pick<Load, 'inputs' | 'edits' | 'transform'>,
  cutFrom: number,
  signal: AbortSignal,
): AsyncGenerator<FoundInput> {
  for await (const source of sources) {
    const { name } = source
    const file = cuttable(source)
    const { size } = file.stat
    const identity = await identityOf(name, file)
    const mayCut = size >= cutFrom && file.hasRanges && !isRewritten(load)
    yield { name, size, identity, canBeCut: mayCut && (await isPlain(source, file, load, signal)) }
  }
}

function cuttable({ name: input, file }: Source): CuttableFile {
  if (file !== undefined && 'between' in file) return file as CuttableFile
  const problem =
    'it can be read only once, or its length is unknown, so no other process can load it. Save it as a file first'
  throw fail('INPUT_UNREADABLE', { input, problem })
}

async function identityOf(input: string, file: CuttableFile): Promise<string> {
  const { size, mtimeMs, ctimeMs: etagNumber } = file.stat
  const modifiedMs = wholeMs(mtimeMs)
  if (isPath(input)) {
    const { head } = await file.look()
    return seenText({ kind: 'file', size, modifiedMs, content: head.sha256.slice(0, 32) })
  }
  const problem =
    'its server names neither its version (ETag) nor the time of its change, so Sluice cannot notice if it is replaced'
  if (etagNumber === 0 && modifiedMs === 0) throw fail('INPUT_UNREADABLE', { input, problem })
  return seenText({ kind: 'object', size, modifiedMs, content: String(etagNumber) })
}

function isRewritten({
  inputs: { format, pick, csv },
  edits,
  transform,
}: Pick<Load, 'inputs' | 'edits' | 'transform'>) {
  const isOther = format !== 'auto' && format !== 'ndjson'
  return isOther || pick !== undefined || csv !== undefined || edits !== undefined || transform !== undefined
}

/** Bytes that show what an input is. */
const HEAD_BYTES = (1 << 20) + 1

async function isPlain(
  { id, name }: Source,
  file: CuttableFile,
  { inputs: { format } }: Pick<Load, 'inputs'>,
  signal: AbortSignal,
): Promise<boolean> {
  const head = await headOf(file, signal)
  if (head === undefined || isCompressed(head, name)) return false
  const bytes = (async function* () {
    yield await Promise.resolve(head)
  })()
  const decoding = decode({ id, name, open: () => bytes }, bytes, { format })
  // The load of the whole input reports what is wrong with it.
  return await decoding.then(
    ({ kind }) => kind === 'lines',
    () => false,
  )
}

/** Returns undefined if offsets do not count in what the server sends. */
async function headOf(file: CuttableFile, signal: AbortSignal): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  try {
    for await (const chunk of file.between(signal, 0, HEAD_BYTES)) parts.push(Uint8Array.from(chunk))
    return Buffer.concat(parts)
  } catch (error) {
    if (isSluiceError(error) && error.code === 'INPUT_MALFORMED') return undefined
    throw error
  }
}
