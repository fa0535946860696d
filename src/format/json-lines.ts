import { jsonParser } from 'stream-json/core/parser.js'
import { type Elements, elements } from './elements.js'
import { utf8Text } from './utf8-text.js'
import { fail } from '../failure/fail.js'

/**
 * The elements of JSON documents, a line each: numbers digit by digit and duplicate keys as they stood, strings of the same
 * value. Memory holds a chunk and the element that is under way, whatever the length of the array.
 * Throws SluiceError, after all whole elements: INPUT_MALFORMED, INPUT_TRUNCATED where the JSON just ends too early.
 */
export async function* jsonLines(
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  pick: string | undefined,
): AsyncGenerator<Uint8Array> {
  const malformed = (problem: string, cause?: unknown) =>
    fail('INPUT_MALFORMED', { input, format: 'json', problem }, { cause })
  const found = elements(pick)
  const parser = tokensInto(found)
  const decoder = utf8Text()
  let read = 0
  for await (const chunk of bytes) {
    const { text, isValid } = decoder.decode(chunk)
    const fault = parser.parse(text)
    const lines = found.take()
    if (lines !== undefined) yield lines
    if (fault !== undefined)
      throw malformed(`${fault.problem} near byte ${read + fault.byte}, ${after(found)}`, fault.cause)
    read += chunk.length
    if (!isValid) throw malformed(`bytes that are not UTF-8 before byte ${read}, ${after(found)}`)
  }
  const end = parser.end()
  const last = found.take()
  if (last !== undefined) yield last
  if (end === 'malformed') throw malformed(`it ends in what is no JSON value, ${after(found)}`)
  if (end === 'truncated') throw fail('INPUT_TRUNCATED', { input, encoding: 'JSON', bytes: read })
  if (decoder.isCut) throw malformed('it ends in a byte that is not UTF-8')
  if (!found.isEmpty && !found.isFound) throw malformed(`it has nothing at the path ${pick ?? ''}`)
}

function after(found: Elements): string {
  return `after ${found.count} whole elements`
}

interface Fault {
  readonly problem: string
  /** Offset in the chunk, before which all was well. */
  readonly byte: number
  readonly cause: unknown
}

interface Parser {
  parse(text: string): Fault | undefined
  end(): 'whole' | 'truncated' | 'malformed'
}

/**
 * When the parser throws, the tokens of that call are lost. So a call gets text in which at most one element ends, and
 * that at its very end: up to a closing bracket; between elements, where bare values may stand, up to a comma or opening.
 */
function tokensInto(found: Elements): Parser {
  const tokens = jsonParser({ packValues: true, streamValues: false, jsonStreaming: true })
  // What the parser returns when it has no tokens is also what it takes as the end of the input.
  const nothing: unknown = tokens('')
  let tail = ''

  function feed(text: string): void {
    const result = tokens(text)
    if (typeof result !== 'symbol') for (const token of result.values) found.write(token)
  }

  return {
    parse(text) {
      let from = 0
      try {
        while (from < text.length) {
          const to = endOfPiece(text, from, found.isBetween)
          feed(text.slice(from, to))
          from = to
        }
      } catch (cause) {
        return { problem: problemOf(cause), byte: Buffer.byteLength(text.slice(0, from)), cause }
      }
      tail = (tail + text).slice(-LONGEST_LEXEME_START)
      return undefined
    },
    end() {
      try {
        // With nothing left to wait for, the parser calls every fault an early end. White space shows the real ones.
        if (!BREAKS_OFF.test(tail)) feed(' '.repeat(LONGEST_LEXEME_START * 3))
      } catch {
        return 'malformed'
      }
      try {
        feed(nothing as string)
        return 'whole'
      } catch {
        return 'truncated'
      }
    },
  }
}

const LONGEST_LEXEME_START = 8
const BREAKS_OFF = /(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|[-+.eE]|\\(?:u[\da-fA-F]{0,3})?)$/
const CLOSING = /[}\]]/g
const DELIMITER = /[,{}[\]]/g

function endOfPiece(text: string, from: number, isBetween: boolean): number {
  const start = isBetween ? skipSeparators(text, from) : from
  const end = isBetween && text[start] !== '{' ? DELIMITER : CLOSING
  end.lastIndex = start
  return end.test(text) ? end.lastIndex : text.length
}

function skipSeparators(text: string, from: number): number {
  let at = from
  while (at < text.length && ', \n\r\t'.includes(text.charAt(at))) at++
  return at
}

function problemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/^Parser (?:cannot parse input: )?/, '')
}
