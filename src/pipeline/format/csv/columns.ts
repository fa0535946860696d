import { jsonFault, NO_FAULT } from '../../../base/json/json-fault.js'
import { isWhiteSpace, SPACE } from '../../../base/text/bytes.js'
import { nearest, visible } from '../../../base/text/shown.js'
import type { CellType } from '../formats.js'
import { booleanIn, decimalIn, integerIn, isInferred, MOST_DIGITS, plainNumber } from './cell-types.js'
import type { IsMissing } from './missing-values.js'
import { type NumberForm, readAs } from './number-forms.js'
import { type Quotation, unquoted } from './quotation.js'
import { DOUBLED } from './split-row.js'

/** How the cells of one column are written. */
export interface Column {
  /** For messages. */
  readonly label: string
  /** The JSON before its text: comma, name, colon and quotation mark. */
  readonly prefix: Buffer
  /** Absent: every cell stays text. */
  readonly read: ReadCell | undefined
  /** What a kernel may settle without `read`. */
  readonly usual: Usual
  /** Whether a cell that is nothing else may stand for no value. */
  readonly mayMiss: boolean
  /** The form that a cell needs. For messages about cells that do not fit. */
  readonly type: string
  /** Whether an empty cell may be written as null. */
  readonly takesNull: boolean
}

/**
 * Returns the JSON of a cell, one character for each of its bytes, or what the cell is: JSON as it stands, text, no value, or a value that
 * does not fit. `mark`: see `RowSplitter`.
 */
type ReadCell = (
  bytes: Buffer,
  start: number,
  end: number,
  mark: number,
) => string | typeof AS_IT_STANDS | typeof TEXT | typeof UNFIT | typeof MISSING
export const AS_IT_STANDS = 1
export const TEXT = 2
export const UNFIT = 3
export const MISSING = 4

/** Cells that are usual in a column: texts, numbers and truth values as JSON writes them, truth values as people do, plain numbers. */
type Usual = 'text' | 'inferred' | 'boolean' | 'other' | UsualNumber

/** Numbers that JSON writes the same way, and that surely fit. */
interface UsualNumber {
  readonly digits: number
  readonly takesPoint: boolean
  readonly takesMinus: boolean
}

interface ColumnTyping {
  readonly inferTypes: boolean
  readonly types: Readonly<Record<string, CellType>>
  /** Whether decimals may have a comma. */
  readonly takesComma: boolean
  readonly quotation: Quotation
  /** How numbers are written in columns that do not write them plainly. */
  readonly forms: ReadonlyMap<number, NumberForm>
  /** Finds the cells without a value in a column, if it may have any. */
  missingIn(column: number, type: CellType | undefined): IsMissing | undefined
}

/** `given`: columns that the file does not name. An empty one is often only a delimiter at the end of each row. */
export function columnsOf(names: readonly string[], given: ReadonlySet<number>, typing: ColumnTyping): Column[] {
  return names.map((name, at) => {
    const type = Object.hasOwn(typing.types, name) ? typing.types[name] : undefined
    const form = typing.forms.get(at)
    const isMissing = typing.missingIn(at, type)
    return {
      label: `${at + 1} (${visible(name)})`,
      prefix: Buffer.from(`,${JSON.stringify(name)}:"`),
      read: withMissing(
        type === undefined ? (typing.inferTypes ? inferredCell : undefined) : reader(type, typing, form),
        isMissing,
      ),
      usual:
        type === undefined ? (typing.inferTypes ? 'inferred' : 'text') : form === undefined ? usualOf(type) : 'other',
      mayMiss: isMissing !== undefined,
      type: type ?? 'text',
      takesNull: !given.has(at),
    }
  })
}

/** Returns why a file cannot have these columns. `ids`: those of which ids are made. */
export function columnsProblem(
  names: readonly string[],
  types: ColumnTyping['types'],
  ids: readonly string[],
): string | undefined {
  const first = new Map<string, number>()
  for (const [at, name] of names.entries()) {
    const earlier = first.get(name)
    if (earlier !== undefined) return `columns ${earlier + 1} and ${at + 1} are both called ${visible(name)}`
    first.set(name, at)
  }
  return missingColumn(first, Object.keys(types), '--types') ?? missingColumn(first, ids, '--id-field')
}

const SHORT = 3

function missingColumn(
  columns: ReadonlyMap<string, number>,
  wanted: readonly string[],
  option: string,
): string | undefined {
  const unknown = wanted.find(name => !columns.has(name))
  if (unknown === undefined) return undefined
  const names = [...columns.keys()]
  // Any short name is near another one.
  const near =
    names.find(name => name.toLowerCase() === unknown.toLowerCase()) ??
    (unknown.length < SHORT ? undefined : nearest(unknown, names))
  const hint = near === undefined ? '' : `. Did you mean ${visible(near)}?`
  return `no column is called ${visible(unknown)}, which ${option} names${hint}`
}

/** Looks for a missing value only in cells that are nothing else. */
function withMissing(read: ReadCell | undefined, isMissing: IsMissing | undefined): ReadCell | undefined {
  if (isMissing === undefined) return read
  return (bytes, start, end, mark) => {
    const value = read === undefined ? TEXT : read(bytes, start, end, mark)
    return (value === TEXT || value === UNFIT) && isMissing(bytes, start, end) ? MISSING : value
  }
}

/** Blanks around a value in JSON belong to nothing. */
function inferredCell(bytes: Buffer, start: number, end: number): typeof AS_IT_STANDS | typeof TEXT {
  let [from, to] = [start, end]
  while (from < to && bytes[from] === SPACE) from += 1
  while (to > from && bytes[to - 1] === SPACE) to -= 1
  return from < to && isInferred(bytes, from, to) ? AS_IT_STANDS : TEXT
}

function reader(
  type: CellType,
  { takesComma, quotation }: ColumnTyping,
  form: NumberForm | undefined,
): ReadCell | undefined {
  if (type === 'object') return jsonReader(quotation)
  if (form !== undefined) return formReader(type, form)
  const read = readerOf(type, takesComma)
  if (read === undefined) return undefined
  const isPlain = type === 'long' ? 'whole' : type === 'double' ? 'decimal' : undefined
  return (bytes, start, end) => {
    if (isPlain !== undefined && plainNumber(bytes, start, end) === isPlain) return AS_IT_STANDS
    return read(bytes.toString('latin1', start, end).trim()) ?? UNFIT
  }
}

/** Returns what is usual in a column of a type: whole numbers of few digits are in the range of theirs. */
function usualOf(type: CellType): Usual {
  const whole = (digits: number): Usual => ({ digits, takesPoint: false, takesMinus: type !== 'unsigned_long' })
  switch (type) {
    case 'byte':
      return whole(2)
    case 'short':
      return whole(4)
    case 'integer':
      return whole(9)
    case 'long':
    case 'unsigned_long':
      return whole(MOST_DIGITS)
    case 'half_float':
    case 'float':
    case 'double':
    case 'scaled_float':
      return { digits: MOST_DIGITS, takesPoint: true, takesMinus: true }
    case 'boolean':
      return 'boolean'
    case 'object':
      return 'other'
    default:
      return 'text'
  }
}

/** Reads numbers in the form that their column has. */
function formReader(type: CellType, form: NumberForm): ReadCell | undefined {
  const read = readerOf(type, false)
  if (read === undefined) return undefined
  return (bytes, start, end) => {
    const number = readAs(form, bytes.toString('utf8', start, end))
    return (number === undefined ? undefined : read(number)) ?? UNFIT
  }
}

const OPENING_BRACE = 0x7b
const OPENING_BRACKET = 0x5b

/** Reads cells that hold an object or an array. */
function jsonReader(quotation: Quotation): ReadCell {
  return (bytes, start, end, mark) => {
    let first = start
    while (first < end && isWhiteSpace(bytes[first])) first += 1
    if (bytes[first] !== OPENING_BRACE && bytes[first] !== OPENING_BRACKET) return UNFIT
    let text = bytes.toString('latin1', first, end)
    if ((mark & DOUBLED) !== 0) text = unquoted(text, quotation)
    if (jsonFault(Buffer.from(text, 'latin1'), 0, text.length) !== NO_FAULT) return UNFIT
    // They stand only between its values.
    return text.replaceAll(/[\r\n]/g, ' ')
  }
}

function readerOf(type: CellType, takesComma: boolean): ((text: string) => string | undefined) | undefined {
  switch (type) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
    case 'unsigned_long':
      return text => integerIn(text, type)
    case 'half_float':
    case 'float':
    case 'double':
    case 'scaled_float':
      return text => decimalIn(takesComma ? text.replace(',', '.') : text)
    case 'boolean':
      return booleanIn
    default:
      return undefined
  }
}
