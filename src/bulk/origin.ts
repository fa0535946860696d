import type { Input, Lines, Member, Origin } from '../flow.js'
import { placeInMember } from './members.js'

interface Place {
  readonly input: Input
  readonly kind: Lines['kind']
  readonly document: number
  readonly line: number
  readonly offset: number
  readonly member?: Member | undefined
  readonly within?: number | undefined
}

export function originOf({ input, kind, document, line, offset, member, within = 0 }: Place): Origin {
  return originIn(input.name, kind, document, line, offset, member, within + 1)
}

/** Returns the origin of a document in the input of that name. `part`: its number among those of its line. */
export function originIn(
  input: string,
  kind: Lines['kind'],
  document: number,
  line: number,
  offset: number,
  member?: Member,
  part = 1,
): Origin {
  const origin = placeOf(input, kind, document, line, offset, member)
  return part > 1 ? { ...origin, part } : origin
}

function placeOf(
  input: string,
  kind: Lines['kind'],
  document: number,
  line: number,
  offset: number,
  member: Member | undefined,
): Origin {
  if (kind === 'lines') return { input, document, line, offset }
  if (kind === 'edited') return { input, document, line }
  return { input, document, ...placeInMember(member, line) }
}
