import { isSluiceError } from '../../../src/base/failure/failure.js'
import type { Source } from '../../../src/base/flow.js'
import { decode } from '../../../src/pipeline/format/decode.js'
import type { CsvOptions } from '../../../src/pipeline/format/formats.js'
import { refusedLineIn } from '../../../src/base/text/bytes.js'

/** Bytes in chunks of a size, each of which is overwritten when the next one is asked for, as a source may do. */
async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) {
    const chunk = Buffer.from(bytes.subarray(from, from + size))
    yield chunk
    chunk.fill('!')
  }
}

export interface CsvRead {
  readonly found: string | undefined
  /** Documents, `''` for blank lines, and refused rows as [reason, cells]. */
  readonly rows: unknown[]
  /** Why reading ended early. */
  readonly failure?: { readonly code: string; readonly message: string }
}

/** Reads CSV as an input is read. */
export async function readCsv(
  input: string | Uint8Array,
  { size = 1 << 20, name = 'a.csv', ...csv }: CsvOptions & { readonly size?: number; readonly name?: string } = {},
): Promise<CsvRead> {
  const source: Source = { id: 0, name, open: () => chunksOf(Buffer.alloc(0), 1) }
  const parts: Buffer[] = []
  let found: string | undefined
  let failure: CsvRead['failure']
  try {
    const lines = await decode(source, chunksOf(Buffer.from(input as string), size), { format: 'csv', csv })
    found = lines.found
    for await (const part of lines.bytes) parts.push(Buffer.from(part))
  } catch (error) {
    if (!isSluiceError(error)) throw error
    failure = { code: error.code, message: error.message }
  }
  const rows = linesOf(Buffer.concat(parts)).map(rowOf)
  return { found, rows, ...(failure === undefined ? {} : { failure }) }
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(0x0a, from)
    lines.push(bytes.subarray(from, end))
    from = end + 1
  }
  return lines
}

function rowOf(line: Buffer): unknown {
  if (line.length === 0) return ''
  const refused = refusedLineIn(line, 0, line.length)
  if (refused === undefined) return JSON.parse(line.toString())
  return [refused.problem, JSON.parse(line.toString('latin1', refused.from))]
}
