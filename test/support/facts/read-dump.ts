import { expect } from 'vitest'
import { type DecodeOptions, decode } from '../../../src/pipeline/format/decode.js'
import { isSluiceError } from '../../../src/index.js'

/** A line of a dump, as its format passes it on. */
export interface DumpLine {
  readonly operation?: string
  readonly address?: unknown
  readonly document?: string
  readonly refused?: string
  readonly line?: string
}

/** Reads a dump. `step`: bytes of a chunk. */
export async function readDump(
  text: string | Buffer,
  format: DecodeOptions['format'] = 'auto',
  step = Infinity,
): Promise<{ readonly lines: readonly DumpLine[]; readonly kind?: string; readonly code?: string }> {
  const bytes = Buffer.from(text)
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const memory = Buffer.alloc(Math.min(step, bytes.length))
    for (let at = 0; at < bytes.length; at += step) {
      // As a source does, in the same memory again.
      const length = bytes.copy(memory, 0, at)
      yield await Promise.resolve(memory.subarray(0, length))
    }
  }
  let output = ''
  let kind: string | undefined
  try {
    const decoded = await decode({ id: 0, name: 'a.dump', open: chunks }, chunks(), { format })
    kind = decoded.kind
    for await (const part of decoded.bytes) output += Buffer.from(part).toString('utf8')
    return { kind, lines: linesIn(output) }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { ...(kind === undefined ? {} : { kind }), lines: linesIn(output), code: error.code }
  }
}

function linesIn(output: string): DumpLine[] {
  return output.split('\n').slice(0, -1).map(lineOf)
}

function lineOf(line: string): DumpLine {
  const [, refused] = line.split('\u001f')
  if (refused === undefined) {
    const { rest, ...carried } = carriedIn(line)
    return { ...carried, document: rest }
  }
  const [code = '', ...problem] = refused.split(' ')
  expect(code).toBe('DOCUMENT_HIT_INVALID')
  const { rest, address, ...carried } = carriedIn(line.slice(refused.length + 2))
  const isKnown = Object.keys(address ?? {}).length > 0
  return { refused: problem.join(' '), ...carried, ...(isKnown ? { address } : {}), line: rest }
}

function carriedIn(line: string): Pick<DumpLine, 'operation' | 'address'> & { readonly rest: string } {
  const [, carried] = line.split('\u001e')
  if (carried === undefined) return { rest: line }
  const brace = carried.indexOf('{')
  return {
    ...(brace > 0 ? { operation: carried.slice(0, brace) } : {}),
    address: JSON.parse(carried.slice(brace)) as unknown,
    rest: line.slice(carried.length + 2),
  }
}
