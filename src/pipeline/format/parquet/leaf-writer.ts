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
  const { type, converted_type: converted, logical_type: logical } = element
  const name = logical?.type ?? converted
  const scale = logical?.type === 'DECIMAL' ? logical.scale : (element.scale ?? 0)
  switch (name) {
    case undefined:
    case 'NULL':
      return physical(element, hasBinary)
    case 'STRING':
    case 'UTF8':
    case 'ENUM':
      return type === 'BYTE_ARRAY' ? text : described(element)
    case 'JSON':
      return { write: writeJsonText }
    case 'UUID':
      return element.type_length === 16 ? { write: writeUuid } : described(element)
    case 'FLOAT16':
      return element.type_length === 2 ? { write: writeHalf } : described(element)
    case 'DECIMAL':
      return { write: decimalWriter(scale) }
    case 'DATE':
      return { write: writeDate }
    case 'TIMESTAMP':
    case 'TIME': {
      const { unit, isAdjustedToUTC } = logical as { readonly unit: Unit; readonly isAdjustedToUTC: boolean }
      return { write: name === 'TIME' ? timeWriter(unit) : timestampWriter(unit, isAdjustedToUTC) }
    }
    case 'TIMESTAMP_MILLIS':
    case 'TIMESTAMP_MICROS':
      return { write: timestampWriter(name === 'TIMESTAMP_MILLIS' ? 'MILLIS' : 'MICROS', true) }
    case 'TIME_MILLIS':
    case 'TIME_MICROS':
      return { write: timeWriter(name === 'TIME_MILLIS' ? 'MILLIS' : 'MICROS') }
    case 'INTEGER':
      return { write: logical?.type === 'INTEGER' && !logical.isSigned ? writeUnsigned : writeInteger }
    case 'UINT_8':
    case 'UINT_16':
    case 'UINT_32':
    case 'UINT_64':
      return { write: writeUnsigned }
    case 'INT_8':
    case 'INT_16':
    case 'INT_32':
    case 'INT_64':
      return { write: writeInteger }
    default:
      return name
  }
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
