/** Finds where a document stands in its input, and in its file if that input is an archive. */
import type { Input, Lines, Member, Origin } from '../../base/flow.js'

interface Place {
  readonly input: Input
  readonly kind: Lines['kind']
  readonly document: number
  readonly line: number
  readonly offset: number
  readonly member?: Member | undefined
  readonly within?: number | undefined
}

export function originAt({ input, kind, document, line, offset, member, within = 0 }: Place): Origin {
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
  // The documents before it were not counted.
  if (kind === 'range') return { input, offset }
  if (kind === 'edited') return { input, document, line }
  return { input, document, ...placeInMember(member, line) }
}

/** Moves a position on to the file that holds its line, and returns it. Undefined: it is in no archive. */
export function enterMember(at: { member?: Member | undefined; readonly line: number }): Member | undefined {
  return at.member === undefined ? undefined : (at.member = memberAt(at.member, at.line))
}

/** Returns where a line stands in its file. `member`: that file, or one before it. */
export function placeInMember(member: Member | undefined, line: number): Pick<Origin, 'member' | 'element' | 'line'> {
  if (member === undefined) return {}
  const { name, line: first, isLines } = memberAt(member, line)
  const number = line - first + 1
  return isLines ? { member: name, line: number } : { member: name, element: number }
}

function memberAt(from: Member, line: number): Member {
  let member = from
  while (member.next !== undefined && member.next.line <= line) member = member.next
  return member
}
