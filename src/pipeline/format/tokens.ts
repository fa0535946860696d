import { jsonParser } from 'stream-json/core/parser.js'
import { isWhiteSpace } from '../../base/text/bytes.js'
import type { Between } from './cut.js'
import type { ElementLines } from './elements.js'

interface Parser {
  /** Where the parser stands, if an element may begin there and nothing of it was parsed. */
  readonly place: Between | undefined
  /** Notes elements that somebody else took there. */
  pass(objects: number): void
  /** Returns the end of the piece that begins at `from`. */
  endOfPiece(bytes: Uint8Array, from: number, to: number): number
  /** Parses the text of a piece. Returns what is wrong with it, if anything is. */
  parse(piece: string): { readonly problem: string; readonly cause: unknown } | undefined
  end(): 'whole' | 'truncated' | 'malformed'
}

/**
 * Feeds a parser in small pieces. When the parser throws, the tokens of that call are lost. So at most one element ends in a piece,
 * at its very end: a piece goes up to a closing bracket, or between elements up to a comma or an opening bracket.
 */
export function tokensInto(found: ElementLines): Parser {
  const tokens = jsonParser({ packStrings: false, streamKeys: false, streamNumbers: false, jsonStreaming: true })
  // The parser's value for "no tokens" is also its mark for the end of the input.
  const nothing: unknown = tokens('')
  let tail = ''
  /** Characters since the last token: those of a name or a number. */
  let sinceToken = 0
  /** The last token, if the parser has nothing else that it waits with. */
  let last: string | undefined = ''
  /** Whether the last token was the start or a part of a string. */
  let isInString = false

  /** Returns whether there were tokens. */
  function feed(text: string): boolean {
    const result = tokens(text)
    if (typeof result === 'symbol') return false
    for (const token of result.values) found.write(token)
    last = result.values.at(-1)?.name
    if (last !== undefined) isInString = last === 'startString' || last === 'stringChunk'
    return last !== undefined
  }

  return {
    get place() {
      if (!found.isAtElement) return undefined
      switch (last) {
        case '':
          return 'top'
        case 'startArray':
          return 'first'
        case 'endObject':
        case 'endArray':
          return found.isAtTop ? 'top' : 'next'
        default:
          return undefined
      }
    },
    pass(objects) {
      // Whatever stood there: behind it the parser expects what it expects behind any element.
      if (last === 'startArray') tokens('{}')
      if (last === 'startArray') last = 'endObject'
      found.pass(objects)
      tail = ''
    },
    endOfPiece(bytes, from, to) {
      // Brackets in a string are text. To parse each in a piece of its own takes long.
      if (isInString) return endBehind(CLOSING, bytes, endOfString(bytes, from, to, tail.endsWith('\\')), to)
      const start = found.isBetween ? skipSeparators(bytes, from, to) : from
      const isDelimited = found.isBetween && !(found.isAtElement && bytes[start] === OPEN_OBJECT)
      const delimiters = isDelimited ? DELIMITERS : CLOSING
      return endBehind(delimiters, bytes, start, to)
    },
    parse(piece) {
      try {
        last = undefined
        if (feed(piece)) sinceToken = 0
        else if (piece.trim() !== '') sinceToken += piece.length
        if (sinceToken > LONGEST_LEXEME) throw new Error(`a name or a number of more than ${LONGEST_LEXEME} characters`)
        if (found.isTooDeep) throw new Error('containers inside each other more than 1,000,000 times')
      } catch (cause) {
        return { problem: problemOf(cause), cause }
      }
      tail = (tail + piece).slice(-LONGEST_LEXEME_START)
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
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const COMMA = 0x2c
const CLOSING = marked('}]')
const DELIMITERS = marked(',{}[]')

/** Returns a table of all bytes, in which some have a 1. */
function marked(bytes: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of Buffer.from(bytes)) table[byte] = 1
  return table
}

function endBehind(delimiters: Uint8Array, bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at += 1) if (delimiters[bytes[at] as number] === 1) return at + 1
  return to
}

/** Returns the offset of the first quote that may end the string. `isUnclear`: what stands before it may escape the first backslash. */
function endOfString(bytes: Uint8Array, from: number, to: number, isUnclear: boolean): number {
  for (let at = bytes.indexOf(QUOTE, from); at !== -1 && at < to; at = bytes.indexOf(QUOTE, at + 1)) {
    let text = at
    while (text > from && bytes[text - 1] === BACKSLASH) text -= 1
    if ((isUnclear && text === from) || (at - text) % 2 === 0) return at
  }
  return to
}

function skipSeparators(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && (isWhiteSpace(bytes[at]) || bytes[at] === COMMA)) at += 1
  return at
}

function problemOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/^Parser (?:cannot parse input: )?/, '')
}
