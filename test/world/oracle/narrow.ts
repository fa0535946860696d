/** An index that takes no documents with the rare field: they are rejected, as lines are that are no documents. */
import { isRare, type Line, type Load, type Seen } from '../facts.js'

export function isMisfit({ n }: Line, op: string): boolean {
  // A deletion has no document.
  return op !== 'delete' && isRare(n)
}

export function narrowed(load: Load): Load {
  const lines = (file: Seen): Seen => ({
    ...file,
    lines: file.lines.map(line => (isMisfit(line, load.op) ? { ...line, isBad: true } : line)),
  })
  const disk = load.disk.map(lines)
  return { ...load, disk, inputs: load.inputs.map(lines) }
}
