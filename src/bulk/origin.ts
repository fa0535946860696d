import type { Input, Lines, Member, Origin } from '../flow.js'
import { placeInMember } from './members.js'

interface Place {
  readonly input: Input
  readonly kind: Lines['kind']
  readonly document: number
  readonly line: number
  readonly offset: number
  readonly member?: Member | undefined
}

export function originOf({ input, kind, document, line, offset, member }: Place): Origin {
  return originIn(input.name, kind, document, line, offset, member)
}

/** Returns the origin of a document in the input of that name. */
export function originIn(
  input: string,
  kind: Lines['kind'],
  document: number,
  line: number,
  offset: number,
  member?: Member,
): Origin {
  if (kind === 'lines') return { input, document, line, offset }
  if (kind === 'edited') return { input, document, line }
  return { input, document, ...placeInMember(member, line) }
}
