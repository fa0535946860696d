/** Whether documents of a load are where the guides say: stored with their fields, or named. */
import type { After, Line, Load } from '../facts.js'
import type { Memory } from './memory.js'
import type { Plan } from './plans.js'
import { fieldsOf } from './shapes.js'

/** Of a load that stored nothing, Sluice may load everything again with other options, as soon as there is an index. */
export function mayLoadAnew(memory: Memory, { setting }: Load, plans: readonly Plan[]): boolean {
  const isOther = plans.some(({ match }) => match.kind === 'known' && match.record.setting !== setting)
  const isLeftOut = ({ match }: Plan) =>
    match.kind === 'known' &&
    match.record.setting !== setting &&
    match.record.lines.every(line => line.isBad || memory.shaping(line).length === 0)
  const mayLoad = (memory.keyed !== undefined && isOther) || plans.some(isLeftOut)
  if (mayLoad) memory.lenient('other options after all was rejected')
  return mayLoad
}

/** After the index was lost, nothing of it was stored by updates that were all rejected: then Sluice knows them still. */
export function isVague(memory: Memory, load: Load, plans: readonly Plan[]): boolean {
  const { isFollowed, op, runId } = load
  if (memory.isNameReused(runId) || memory.isUnsure || mayLoadAnew(memory, load, plans)) return true
  // Nothing of it was in the index that is lost.
  const isLeftOut = ({ file: { lines } }: Plan) => lines.every(line => memory.shaping(line).length === 0)
  if (memory.isIndexLost && plans.some(isLeftOut)) return true
  if (!memory.isFollowVague) return false
  const changes = op === 'update' || op === 'delete'
  if (changes) memory.lenient('changes of an index that was lost')
  return isFollowed || changes
}

/** How a load with ids from a field must be counted if nothing happens to it. Undefined: several things are possible. */
export function outcomesOf(
  { keyed, shaping }: Memory,
  load: Load,
  plans: readonly Plan[],
): Map<string, number> | undefined {
  // A new field makes another document of the same edition.
  const isTagged = load.tag !== undefined && ['update', 'upsert'].includes(load.op)
  if (keyed === undefined || isTagged) return undefined
  const counts = new Map<string, number>()
  const seen = new Set<number>()
  for (const { rest, match } of plans) {
    if (match.kind === 'unclear' || (match.kind === 'known' && match.record.isOpen)) return undefined
    for (const line of rest) if (shaping(line).length === 0) counts.set('skipped', (counts.get('skipped') ?? 0) + 1)
    for (const line of rest.flatMap(shaping)) {
      const outcome = line.isBad ? 'rejected' : keyed.outcome(line)
      if (outcome === undefined || seen.has(line.n)) return undefined
      seen.add(line.n)
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    }
  }
  return counts
}

/** What is new in the index has the fields that edits and a function gave it. */
export function judgeFields(memory: Memory, load: Load, plans: readonly Plan[], { index }: After): readonly string[] {
  const { tag, trouble, ended, setting } = load
  const fresh = index.filter(({ id }) => !memory.ids.has(id))
  const isOther = plans.some(({ match }) => match.kind !== 'new' && match.record.setting !== setting)
  // A row has more fields than a line.
  if (load.isTable === true) return []
  if (trouble !== 'none' || ended.exit !== 0 || isOther || memory.spooled.length > 0) return []
  return fresh.flatMap(({ n, tag: seen, fields }) => {
    const wanted = fieldsOf(n, load, memory.transforms)
    return [
      ...(seen === tag ? [] : [`document ${n} has the tag ${seen ?? 'none'}, and not ${tag ?? 'none'}`]),
      ...(fields === wanted ? [] : [`document ${n} has the fields ${fields}, and not ${wanted}`]),
    ]
  })
}

/** Each bad line is in the dead letters, and the command says so. */
export function judgeNamed(memory: Memory, load: Load, plans: readonly Plan[], { dead }: After): readonly string[] {
  const { ended, isKept } = load
  const letters = new Set(dead.map(({ n }) => n))
  const bad = plans.flatMap(({ file }) => file.lines).filter(({ isBad }) => isBad)
  const problems = bad.filter(({ n }) => !letters.has(n)).map(({ n }) => `bad line ${n} is named nowhere`)
  if (ended.exit !== 0 || bad.length === 0 || isVague(memory, load, plans)) return problems
  // What an unfinished load rejected is not rejected again.
  const isNew = (line: Line) => !memory.letters.has(line.n) && plans.some(({ rest }) => rest.includes(line))
  if (bad.some(isNew)) return [...problems, `exit code 0, but ${bad.length} lines are bad`]
  // After a replay, or if Sluice no longer knows the run, the file of dead letters names them.
  if (!isKept || memory.isReplayed || ended.unreplayed > 0 || memory.isForgotten) return problems
  return [...problems, `exit code 0, but ${bad.length} lines are bad, and no run is named that rejected them`]
}
