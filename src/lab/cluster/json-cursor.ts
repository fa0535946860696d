/** The error of a strict JSON parser, with its position. Columns count from 1. */
export class NotJson extends Error {
  /** Column of the last good token. */
  readonly tokenColumn: number
  readonly column: number
  /** The text ended too early. */
  readonly isEnd: boolean
  /** Whether the cursor is before the first object or after it. */
  readonly isOutside: boolean
  /** The limit of the parser that was exceeded. */
  readonly limit: 'depth' | 'number' | undefined
  constructor(
    message: string,
    at: {
      tokenColumn: number
      column: number
      isEnd: boolean
      isOutside: boolean
      limit?: 'depth' | 'number' | undefined
    },
  ) {
    super(message)
    this.limit = at.limit
    this.tokenColumn = at.tokenColumn
    this.column = at.column
    this.isEnd = at.isEnd
    this.isOutside = at.isOutside
  }
}

const expectedValue = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"

/** Limits of Elasticsearch's parser. */
const MOST_LEVELS = 1000
const MOST_DIGITS = 1000

/** Reads strict JSON (RFC 8259) in place, token by token. Copies text only on request. */
export class JsonCursor {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
  /** The next byte to read. */
  at: number
  /** Start of the last token. */
  token: number
  /** End of the last name. */
  nameEnd = 0
  isOutside = false
  #contentFrom = 0
  #contentTo = 0
  #isPlain = true
  #depth = 0
  /** The last token is the name of the next value. */
  #isNamed = false

  constructor(bytes: Buffer, from: number, to: number) {
    this.bytes = bytes
    this.from = from
    this.to = to
    this.at = from
    this.token = from
  }

  /** Returns the next byte that is not white space, without reading it. Returns -1 at the end. */
  peek(): number {
    const { bytes, to } = this
    let at = this.at
    while (at < to) {
      const byte = bytes[at] as number
      if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09 && byte !== 0x0a) break
      at++
    }
    this.at = at
    return at < to ? (bytes[at] as number) : -1
  }

  /** Reads one byte that peek() has shown: a bracket. */
  skip(): void {
    const byte = this.bytes[this.at]
    if (byte === 0x7b || byte === 0x5b) this.#enter()
    else this.#depth -= 1
    this.#isNamed = false
    this.token = this.at++
  }

  #enter(): void {
    this.#depth += 1
    if (this.#depth > MOST_LEVELS) this.#exceed('depth', `Document nesting depth (${this.#depth})`, MOST_LEVELS)
  }

  /** The place is the name of the value, if it has one. */
  #exceed(limit: 'depth' | 'number', what: string, most: number): never {
    if (!this.#isNamed) this.token = this.at
    const from = { depth: 'getMaxNestingDepth', number: 'getMaxNumberLength' }[limit]
    const message = `${what} exceeds the maximum allowed (${most}, from \`StreamReadConstraints.${from}()\`)`
    return this.fail(message, this.token, false, limit)
  }

  /** Reads the name of a member and its colon. */
  name(): string {
    if (this.peek() !== 0x22) this.unexpected('was expecting double-quote to start field name')
    this.string()
    const name = this.text()
    this.nameEnd = this.at
    if (this.peek() !== 0x3a) this.unexpected('was expecting a colon to separate field name and value')
    this.at++
    this.#isNamed = true
    return name
  }

  /** Reads the byte after a member or element. Returns true for the closing bracket, false for a comma. */
  isLast(close: 0x7d | 0x5d): boolean {
    const next = this.peek()
    if (next === close) {
      this.skip()
      return true
    }
    const kind = close === 0x7d ? 'Object' : 'Array'
    if (next < 0) this.fail(`Unexpected end-of-input: expected close marker for ${kind}`, this.at, true)
    if (next !== 0x2c) this.unexpected(`was expecting comma to separate ${kind} entries`)
    this.at++
    return false
  }

  /** Reads a string. `text()` returns its content. */
  string(): void {
    const { bytes, to } = this
    let at = this.at + 1
    let isPlain = true
    this.#isNamed = false
    this.token = this.at
    this.#contentFrom = at
    for (;;) {
      if (at >= to) this.fail('Unexpected end-of-input in VALUE_STRING', at, true)
      const byte = bytes[at] as number
      if (byte === 0x22) break
      if (byte === 0x5c) {
        isPlain = false
        at = this.#escape(at + 1)
        continue
      }
      if (byte < 0x20) this.#control(byte, at)
      if (byte >= 0x80) isPlain = false
      at++
    }
    this.#contentTo = at
    this.#isPlain = isPlain
    this.at = at + 1
  }

  /** The content of the last string. */
  text(): string {
    if (this.#isPlain) return this.bytes.toString('latin1', this.#contentFrom, this.#contentTo)
    return JSON.parse(this.raw(this.#contentFrom - 1, this.#contentTo + 1)) as string
  }

  /** Reads a number and returns whether the number is an integer. Its text is between `token` and `at`. */
  number(): boolean {
    let at = this.at
    let isInteger = true
    if (!isDigit(this.#byte(at)) && this.#byte(at) !== 0x2d) this.literal()
    if (this.#byte(at) === 0x2d) at++
    if (this.#byte(at) === 0x30) {
      at++
      if (isDigit(this.#byte(at))) this.fail('Invalid numeric value: Leading zeroes not allowed', at)
    } else at = this.#digits(at, 'expected digit (0-9) to follow minus sign, for valid numeric value')
    if (this.#byte(at) === 0x2e) {
      isInteger = false
      at = this.#digits(at + 1, 'Decimal point not followed by a digit')
    }
    if (this.#byte(at) === 0x65 || this.#byte(at) === 0x45) {
      isInteger = false
      const sign = this.#byte(at + 1)
      at = this.#digits(sign === 0x2b || sign === 0x2d ? at + 2 : at + 1, 'Exponent indicator not followed by a digit')
    }
    const length = this.raw(this.at, at).replaceAll(/[^\d]|[eE].*/g, '').length
    if (length > MOST_DIGITS) this.#exceed('number', `Number value length (${length})`, MOST_DIGITS)
    this.#isNamed = false
    this.token = this.at
    this.at = at
    return isInteger
  }

  /** Reads `true`, `false` or `null`. */
  literal(): 'true' | 'false' | 'null' {
    let end = this.at
    while (isWord(this.#byte(end))) end++
    const word = this.bytes.toString('latin1', this.at, end)
    if (word === 'NaN') {
      this.fail("Non-standard token 'NaN': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow", end)
    }
    if (word === '') this.unexpected(`expected a valid value ${expectedValue}`)
    if (word !== 'true' && word !== 'false' && word !== 'null') {
      this.fail(`Unrecognized token '${word}': was expecting ${expectedValue}`, end)
    }
    this.#isNamed = false
    this.token = this.at
    this.at = end
    return word
  }

  /** Names the next token. Also reads the token, unless it is an object, an array or a string. */
  kind(): string {
    const first = this.peek()
    if (first === 0x7b) return 'START_OBJECT'
    if (first === 0x7d) return 'END_OBJECT'
    if (first === 0x5b) return 'START_ARRAY'
    if (first === 0x22) return 'VALUE_STRING'
    if (first === 0x2d || isDigit(first)) {
      this.number()
      return 'VALUE_NUMBER'
    }
    if (first < 0) return 'null'
    return this.literal() === 'null' ? 'VALUE_NULL' : 'VALUE_BOOLEAN'
  }

  raw(from: number, to: number): string {
    return this.bytes.toString('utf8', from, to)
  }

  /** Fails on the next byte. */
  unexpected(wanted: string): never {
    const byte = this.#byte(this.at)
    if (byte < 0) return this.fail('Unexpected end-of-input within/between Object entries', this.at, true)
    return this.fail(`Unexpected character ('${String.fromCharCode(byte)}' (code ${byte})): ${wanted}`, this.at)
  }

  fail(message: string, at: number, isEnd = false, limit?: 'depth' | 'number'): never {
    const tokenColumn = this.token - this.from + 1
    throw new NotJson(message, { tokenColumn, column: at - this.from + 1, isEnd, isOutside: this.isOutside, limit })
  }

  #byte(at: number): number {
    return at < this.to ? (this.bytes[at] as number) : -1
  }

  #digits(from: number, wanted: string): number {
    let at = from
    while (isDigit(this.#byte(at))) at++
    if (at > from) return at
    this.at = at
    const byte = this.#byte(at)
    if (byte < 0) return this.unexpected(wanted)
    return this.fail(
      `Unexpected character ('${String.fromCharCode(byte)}' (code ${byte})) in numeric value: ${wanted}`,
      at,
    )
  }

  /** Returns the offset after an escape whose letter is at `at`. */
  #escape(at: number): number {
    const letter = this.#byte(at)
    if (letter !== 0x75) {
      const known = letter >= 0 && '"\\/bfnrt'.includes(String.fromCharCode(letter))
      if (!known) this.fail(`Unrecognized character escape '${String.fromCharCode(letter)}' (code ${letter})`, at)
      return at + 1
    }
    for (let digit = at + 1; digit <= at + 4; digit++) {
      if (isHex(this.#byte(digit))) continue
      this.at = digit
      this.unexpected('expected a hex-digit for character escape sequence')
    }
    return at + 5
  }

  #control(byte: number, at: number): never {
    const wanted = 'has to be escaped using backslash to be included in string value'
    return this.fail(`Illegal unquoted character ((CTRL-CHAR, code ${byte})): ${wanted}`, at)
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

function isWord(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f
}
