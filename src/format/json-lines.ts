import { jsonParser } from 'stream-json/core/parser.js'
import { type ElementLines, elements } from './elements.js'
import { utf8Text } from './utf8-text.js'
import { fail } from '../failure/failure.js'

/**
 * Writes each element of JSON documents as a line. Numbers keep their digits, duplicate keys stay, strings keep their value. Memory
 * holds one chunk and the start of one element, whatever their length.
 * Throws SluiceError after all whole elements: INPUT_MALFORMED, or INPUT_TRUNCATED if the JSON only ends too early.
 */
export async function* jsonLines(
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  pick: string | undefined,
): AsyncGenerator<Uint8Array> {
  const malformed = (problem: string, cause?: unknown) =>
    fail('INPUT_MALFORMED', { input, format: 'json', problem: `is not valid json: ${problem}` }, { cause })
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
  if (end === 'malformed') throw malformed(`its end is not a JSON value, ${after(found)}`)
  if (end === 'truncated') throw fail('INPUT_TRUNCATED', { input, encoding: 'JSON', bytes: read })
  if (decoder.isCut) throw malformed('it ends in a byte that is not UTF-8')
  if (found.lacking.values > 0)
    throw fail('INPUT_MALFORMED', { input, format: 'json', problem: withoutPath(found, pick) })
}

function withoutPath({ values, lacking }: ElementLines, pick = ''): string {
  if (values === 1) return `has no \`${pick}\`: its top level is ${lacking.kind}`
  return `has no \`${pick}\` in ${lacking.values} of its ${values} JSON documents. The first is number ${lacking.first}, ${lacking.kind}`
}

function after(found: ElementLines): string {
  return `after ${found.count} whole elements`
}

interface Fault {
  readonly problem: string
  /** Offset in the chunk before which nothing is wrong. */
  readonly byte: number
  readonly cause: unknown
}

interface Parser {
  parse(text: string): Fault | undefined
  end(): 'whole' | 'truncated' | 'malformed'
}

/**
 * Feeds a parser in small pieces. When the parser throws, the tokens of that call are lost. So at most one element ends in a piece,
 * at its very end: a piece goes up to a closing bracket, or between elements up to a comma or an opening bracket.
 */
function tokensInto(found: ElementLines): Parser {
  const tokens = jsonParser({ packStrings: false, streamKeys: false, streamNumbers: false, jsonStreaming: true })
  // The parser's value for "no tokens" is also its mark for the end of the input.
  const nothing: unknown = tokens('')
  let tail = ''
  /** Characters since the last token: those of a name or a number. */
  let sinceToken = 0

  /** Returns whether there were tokens. */
  function feed(text: string): boolean {
    const result = tokens(text)
    if (typeof result === 'symbol') return false
    for (const token of result.values) found.write(token)
    return result.values.length > 0
  }

  function feedWithin(text: string): void {
    if (feed(text)) sinceToken = 0
    else if (text.trim() !== '') sinceToken += text.length
    if (sinceToken > LONGEST_LEXEME) throw new Error(`a name or a number of more than ${LONGEST_LEXEME} characters`)
    if (found.isTooDeep) throw new Error('containers inside each other more than 1,000,000 times')
  }

  return {
    parse(text) {
      let from = 0
      try {
        while (from < text.length) {
          const to = endOfPiece(text, from, found.isBetween)
          feedWithin(text.slice(from, to))
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
        // At the end, the parser reports every fault as an early end. White space before it shows the real faults.
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
/** A name or a number is held until its end. */
const LONGEST_LEXEME = 16 << 20
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
