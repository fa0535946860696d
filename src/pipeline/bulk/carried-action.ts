/** Reads what a line carries beside its document. */
import type { Refused } from '../../base/flow.js'
import { isOperation, type Operation } from '../../base/operation.js'
import { type CarriedAction, findAction } from '../../base/text/bytes.js'
import { conditionAtEnd } from '../../base/text/condition.js'

const LETTER_D = 0x64

/** Returns whether an address begins with `_id`. */
export function hasIdAt(bytes: Buffer, address: number): boolean {
  return bytes[address + 4] === LETTER_D
}

export function idIn(bytes: Buffer, found: CarriedAction): string | undefined {
  return hasIdAt(bytes, found.address) ? addressIn(bytes, found)._id : undefined
}

/** Returns undefined if the line names none. */
export function carriedOperation(bytes: Buffer, from: number, to: number): Operation | undefined {
  if (from === to) return undefined
  const name = bytes.toString('latin1', from, to)
  return isOperation(name) ? name : undefined
}

/** Takes a refused line apart: its document for the dead letters, and where that belongs, as far as the line says so. */
export function takeApart(
  line: Buffer,
): Pick<Refused, 'document'> & Partial<Pick<Refused, 'operation' | 'id' | 'routing' | 'condition' | 'index'>> {
  const found = { operationEnd: 0, condition: undefined, address: 0, document: 0 }
  if (!findAction(line, 0, found)) return { document: line }
  const { _id: id, routing, _index: index } = addressIn(line, found)
  const operation = carriedOperation(line, 1, found.operationEnd)
  const condition = conditionAtEnd(`${addressText(line, found)}}`)
  return {
    document: line.subarray(found.document),
    ...(operation === undefined ? {} : { operation }),
    ...(id === undefined ? {} : { id }),
    ...(routing === undefined ? {} : { routing }),
    ...(condition === undefined ? {} : { condition }),
    ...(index === undefined ? {} : { index }),
  }
}

function addressIn(bytes: Buffer, found: CarriedAction): { _id?: string; routing?: string; _index?: string } {
  return JSON.parse(addressText(bytes, found)) as { _id?: string; routing?: string; _index?: string }
}

function addressText(bytes: Buffer, { address, document }: CarriedAction): string {
  return bytes.toString('utf8', address, document - 1)
}
