/** Finds the file of an archive that holds a line of it. */
import type { Member, Origin } from '../flow.js'

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
