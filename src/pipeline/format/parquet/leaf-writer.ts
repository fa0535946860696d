import type { SchemaElement } from 'hyparquet'
import {
  decimalWriter,
  timestampWriter,
  timeWriter,
  type Unit,
  type Write,
  writeBinary,
  writeBoolean,
  writeDate,
  writeFloat,
  writeHalf,
  writeInteger,
  writeJsonText,
  writeMade,
  writeText,
  writeUnsigned,
  writeUuid,
} from './values.js'

/** How a column is written, and whether the decoder shall make text of its values. */
interface LeafWriter {
  readonly write: Write
  readonly isText?: true
}

const text: LeafWriter = { write: writeMade, isText: true }

/** `hasBinary`: bytes without a type are bytes, not text. Returns the name of a type that Sluice does not read. */
export function leafWriter(element: SchemaElement, hasBinary: boolean): LeafWriter | string {
  const name = element.logical_type?.type ?? element.converted_type
  if (name === undefined || name === 'NULL') return physical(element, hasBinary)
  return writers.get(name)?.(element) ?? name
}

type Leaf = (element: SchemaElement) => LeafWriter | string

const asText: Leaf = element => (element.type === 'BYTE_ARRAY' ? text : described(element))
const by = (write: Write) => (): LeafWriter => ({ write })
const ofLength =
  (length: number, write: Write): Leaf =>
  element =>
    element.type_length === length ? { write } : described(element)

/** How values of each logical type are written. */
const writers: ReadonlyMap<string, Leaf> = new Map<string, Leaf>([
  ['STRING', asText],
  ['UTF8', asText],
  ['ENUM', asText],
  ['JSON', by(writeJsonText)],
  ['UUID', ofLength(16, writeUuid)],
  ['FLOAT16', ofLength(2, writeHalf)],
  ['DECIMAL', element => ({ write: decimalWriter(scaleOf(element)) })],
  ['DATE', by(writeDate)],
  ['TIME', element => ({ write: timeWriter(timeOf(element).unit) })],
  ['TIMESTAMP', element => ({ write: timestampWriter(timeOf(element).unit, timeOf(element).isAdjustedToUTC) })],
  ['TIMESTAMP_MILLIS', by(timestampWriter('MILLIS', true))],
  ['TIMESTAMP_MICROS', by(timestampWriter('MICROS', true))],
  ['TIME_MILLIS', by(timeWriter('MILLIS'))],
  ['TIME_MICROS', by(timeWriter('MICROS'))],
  ['INTEGER', ({ logical_type: logical }) => ({ write: isUnsigned(logical) ? writeUnsigned : writeInteger })],
  ['UINT_8', by(writeUnsigned)],
  ['UINT_16', by(writeUnsigned)],
  ['UINT_32', by(writeUnsigned)],
  ['UINT_64', by(writeUnsigned)],
  ['INT_8', by(writeInteger)],
  ['INT_16', by(writeInteger)],
  ['INT_32', by(writeInteger)],
  ['INT_64', by(writeInteger)],
])

function scaleOf({ logical_type: logical, scale }: SchemaElement): number {
  return logical?.type === 'DECIMAL' ? logical.scale : (scale ?? 0)
}

function timeOf({ logical_type: logical }: SchemaElement): { readonly unit: Unit; readonly isAdjustedToUTC: boolean } {
  return logical as { readonly unit: Unit; readonly isAdjustedToUTC: boolean }
}

function isUnsigned(logical: SchemaElement['logical_type']): boolean {
  return logical?.type === 'INTEGER' && !logical.isSigned
}

function physical({ type }: SchemaElement, hasBinary: boolean): LeafWriter | string {
  switch (type) {
    case 'BOOLEAN':
      return { write: writeBoolean }
    case 'INT32':
    case 'INT64':
      return { write: writeInteger }
    // INT96 holds only timestamps. The decoder has already converted them to nanoseconds. Their zone depends on the writer.
    case 'INT96':
      return { write: timestampWriter('NANOS', false) }
    case 'FLOAT':
    case 'DOUBLE':
      return { write: writeFloat }
    case 'BYTE_ARRAY':
      return hasBinary ? { write: writeBinary } : text
    case 'FIXED_LEN_BYTE_ARRAY':
      return { write: writeBinary }
    default:
      return 'none'
  }
}

function described({ type, logical_type: logical, converted_type: converted }: SchemaElement): string {
  return `${logical?.type ?? converted} of ${type}`
}

/** Makes values without a loss of digits, in place of the decoder's own parsers. */
export const parsers = {
  stringFromBytes: writeText,
  timestampFromNanoseconds: (nanos: bigint) => nanos,
}
