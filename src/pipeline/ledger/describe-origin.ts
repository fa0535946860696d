import type { Origin } from '../../base/flow.js'
import { count } from '../../base/text/figures.js'

/** Names the position of a document for people. */
export function describeOrigin({ input, document = 0, member, element = document, line, offset }: Origin): string {
  const name = member === undefined ? input : `${input}/${member}`
  if (line !== undefined) return `${name}, line ${count(line)}`
  // Digits without commas, to be copied into a command.
  return element === 0 && offset !== undefined ? `${name}, byte ${offset}` : `${name}, document ${count(element)}`
}
