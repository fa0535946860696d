/** Whether a receipt says what happened. */
import type { Counts, Line, Load } from '../facts.js'
import type { Plan } from './plans.js'
import type { Shaping } from './shapes.js'

interface Known {
  /** How the load must be counted, if ids come from a field and only one thing is possible. */
  readonly counts: ReadonlyMap<string, number> | undefined
  /** How many documents the index has more. */
  readonly grown: number
  readonly isKeyed: boolean
  /** Whether the load may find other files too. */
  readonly isVague: boolean
  /** Whether a followed file is gone: then lines may be lost, and the receipt names it. */
  readonly isGone: boolean
  readonly spooled: readonly Line[]
  readonly shaping: Shaping
}

const kinds = ['created', 'updated', 'deleted', 'noop', 'notFound', 'rejected', 'skipped'] as const

export function judgeReceipt(load: Load, plans: readonly Plan[], known: Known): string[] {
  const { ended, trouble } = load
  const { counts, thisProcess } = ended
  if (counts === undefined || thisProcess === undefined)
    return [`no receipt, exit code ${ended.exit}: ${ended.said.slice(-400)}`]
  const isCalm =
    trouble === 'none' &&
    !known.isVague &&
    plans.every(
      ({ match }) =>
        match.kind === 'new' || (match.kind === 'known' && !match.record.isOpen && match.record.isCutShort !== true),
    ) &&
    known.spooled.length === 0
  return [
    ...(known.isGone && ended.exit === 1 ? [] : judgeExit(load)),
    ...(known.isKeyed ? [] : judgeGrowth(thisProcess, known.grown)),
    ...(isCalm && !known.isKeyed
      ? judgeCalm(
          thisProcess,
          plans.flatMap(({ rest }) => rest),
          known.shaping,
        )
      : []),
    ...(isCalm && known.counts !== undefined ? judgeKinds(thisProcess, known.counts) : []),
  ]
}

export function judgeExit({ ended, posted }: Load): string[] {
  // A receiver ends well if nothing waits (docs/guide/serve.md).
  if (posted !== undefined) return ended.exit === 0 ? [] : [`exit code ${ended.exit}: ${ended.said.slice(-300)}`]
  const { rejected = 0, unknown = 0 } = ended.counts ?? {}
  const isWell = rejected === 0 && unknown === 0
  if (isWell === (ended.exit === 0)) return []
  return [`exit code ${ended.exit} with ${rejected} rejected and ${unknown} unknown: ${ended.said.slice(-300)}`]
}

/** What the index has more is what this process created, or found stored after an answer was lost. */
function judgeGrowth({ created, duplicate, unknown }: Counts, grown: number): string[] {
  if (created <= grown && grown <= created + duplicate + unknown) return []
  return [`the receipt says ${created} created and ${duplicate} duplicate, but the index has ${grown} more`]
}

function judgeCalm({ read, created, rejected, duplicate, skipped }: Counts, lines: readonly Line[], shaping: Shaping) {
  const bad = lines.filter(({ isBad }) => isBad).length
  const good = lines.flatMap(shaping).filter(({ isBad }) => !isBad).length
  const out = lines.filter(line => shaping(line).length === 0).length
  const seen = `${read} read, ${created} created, ${rejected} rejected, ${skipped} skipped`
  const wanted = `${good + bad + out} read, ${good} created, ${bad} rejected, ${out} skipped`
  if (seen === wanted && duplicate === 0) return []
  return [`the receipt says ${seen}, ${duplicate} duplicate, and not ${wanted}`]
}

function judgeKinds(counts: Counts, expected: ReadonlyMap<string, number>): string[] {
  const wrong = kinds.filter(kind => counts[kind] !== (expected.get(kind) ?? 0))
  return wrong.map(kind => `the receipt says ${counts[kind]} ${kind}, and not ${expected.get(kind) ?? 0}`)
}
