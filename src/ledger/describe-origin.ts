import type { Origin } from '../flow.js'
import { count } from '../text/figures.js'

/** Names the position of a document for people. */
export function describeOrigin({ input, document, member, element, line }: Origin): string {
  const name = member === undefined ? input : `${input}/${member}`
  return `${name}, ${line === undefined ? `document ${count(element ?? document)}` : `line ${count(line)}`}`
}
