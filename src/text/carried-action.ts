/**
 * Marks a line that carries its own action, so that id and routing travel with its document: the mark, the operation if it is not that
 * of the run, the address as an action line has it, the mark, then the document. No JSON begins so, and no JSON holds the mark.
 */
export const ACTION_MARK = 0x1e

const BRACE = 0x7b

/** Where the parts of such a line begin. The operation begins behind the mark. */
export interface CarriedAction {
  /** The opening brace of the address. */
  address: number
  /** The document. The mark stands before it. */
  document: number
}

/** Finds the parts of the line that begins at `from`. Returns false if it carries no action. */
export function findAction(bytes: Buffer, from: number, found: CarriedAction): boolean {
  if (bytes[from] !== ACTION_MARK) return false
  const end = bytes.indexOf(ACTION_MARK, from + 1)
  let address = from + 1
  while (address < end && bytes[address] !== BRACE) address += 1
  if (end === -1 || address === end) return false
  found.address = address
  found.document = end + 1
  return true
}
