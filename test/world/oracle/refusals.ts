/** Whether a load that was refused or failed had a reason. */
import type { Load } from '../facts.js'
import type { Memory } from './memory.js'
import type { Plan } from './plans.js'

/** Returns problems if Sluice refused a load before it sent anything. Undefined: it did not. */
export function judgeRefusal(
  memory: Memory,
  { ended, setting, isSpooled, hasHead }: Load,
  plans: readonly Plan[],
): readonly string[] | undefined {
  if (ended.code === 'INPUT_CHANGED') {
    const isChanged =
      memory.wasOpen ||
      plans.some(({ match }) => match.kind === 'unclear') ||
      (hasHead === true && plans.some(hasGrownOpen))
    if (isChanged) memory.lenient('an input changed while its load was unfinished')
    return isChanged ? [] : [`INPUT_CHANGED, but no input changed: ${ended.said.slice(-300)}`]
  }
  const isOtherSpool = isSpooled && memory.spoolSetting !== undefined && memory.spoolSetting !== setting
  if (ended.code === 'RUN_OPTIONS_CHANGED')
    return isOtherSpool || memory.wasOpen || plans.some(plan => isOther(plan, setting))
      ? []
      : ['RUN_OPTIONS_CHANGED, but the options are those of before']
  return undefined
}

/** Whether its load was interrupted, and it has grown since. */
function hasGrownOpen({ file, match }: Plan): boolean {
  return match.kind === 'known' && match.record.isOpen && file.lines.length > match.record.lines.length
}

/** New edits apply to new lines (docs/guide/edits.md). Only an unfinished load is refused. */
export function isOther({ match }: Plan, setting: string): boolean {
  return match.kind !== 'new' && match.record.isOpen && match.record.setting !== setting
}

/** A load may only fail if something happened, now or before. */
export function judgeFailure(memory: Memory, load: Load, plans: readonly Plan[]): readonly string[] {
  const { ended } = load
  if (ended.isKilled === true) return []
  const code = ended.code ?? ''
  if (ended.exit === 0) return [`exit code 0 with ${code}`]
  if (isTooMany(memory, load, plans) || hasReason(memory, load, plans)) return []
  return [`failed with ${code} (exit code ${ended.exit}) for no reason: ${ended.said.slice(-600)}`]
}

function isTooMany(memory: Memory, load: Load, plans: readonly Plan[]): boolean {
  const { ended, maxRejected } = load
  if (maxRejected === undefined) return false
  if (ended.code !== 'TOO_MANY_REJECTED' && ended.code !== 'REJECTED_NOT_REPLAYED') return false
  const bad = plans.flatMap(({ rest }) => rest).filter(({ isBad }) => isBad).length
  // Rotated files may be loaded, too.
  const isMore = memory.isFollowVague && load.isFollowed
  const mayBe = bad > maxRejected || isMore || memory.keyed !== undefined || memory.letters.size > 0
  if (mayBe) memory.lenient('too many rejected')
  return mayBe
}

const refusing: ReadonlySet<Load['trouble']> = new Set(['filter', 'address', 'key', 'rights', 'node', 'disk'])

/** Whether the cluster takes nothing that a receiver sends. */
function isRefusing(memory: Memory, { trouble, op, indexLost }: Load): boolean {
  return refusing.has(trouble) || indexLost !== undefined || (memory.isIndexGone && ['update', 'delete'].includes(op))
}

function hasReason(memory: Memory, load: Load, plans: readonly Plan[]): boolean {
  const { ended, trouble, op } = load
  switch (ended.code) {
    case 'CLUSTER_IP_FILTERED':
    case 'EGRESS_NOT_ALLOWED':
      return trouble === 'filter' || trouble === 'address'
    case 'BYTE_BUDGET_SPENT':
    case 'PLAN_SPENT':
    case 'PLAN_LIMIT_REACHED':
    case 'TOO_MANY_INDICES':
      return trouble === 'limit'
    case 'EGRESS_PARTLY_ALLOWED':
      return trouble === 'address'
    case 'PROXY_UNREACHABLE':
      return trouble === 'node'
    case 'CLUSTER_UNAVAILABLE':
      // The node went down while it had a connection.
      return trouble === 'node'
    case 'CLUSTER_AUTH_REJECTED':
      return trouble === 'key'
    case 'STATE_UNWRITABLE':
    case 'DEAD_LETTERS_UNWRITABLE':
      return trouble === 'disk'
    case 'CLUSTER_PRIVILEGE_MISSING':
      return trouble === 'rights'
    case 'OPTION_INVALID':
      // The first checks and one document do not fit (docs/guide/limits.md).
      if (trouble === 'limit' && ended.said.includes('byte-budget')) return true
      if (
        load.isFollowed &&
        plans.some(({ file: { lines } }) => lines.length > 0 && lines.every(({ isBad }) => isBad))
      ) {
        memory.lenient('a followed file without a document')
        return true
      }
      // A repeated run with the same name stores no document twice, so it cannot be loaded again.
      return load.runId !== undefined && load.isAgain
    case 'REQUEST_REFUSED':
      if (load.indexLost !== undefined) {
        memory.lenient('a document that arrived while its index was deleted')
        return true
      }
      // Elasticsearch makes no index for an update or a delete.
      return memory.isIndexGone && ['update', 'delete'].includes(op)
    case 'INDEX_REPLACED':
      return load.indexLost !== undefined
    case 'RUN_INTERRUPTED':
      // A receiver that ends names what waits in its spool (docs/guide/serve.md).
      if (load.posted !== undefined && isRefusing(memory, load)) return true
      return trouble === 'stopped' || trouble === 'killed'
    default:
      if (trouble === 'server' && /^(?:INPUT|SERVICENOW)_/.test(ended.code ?? '')) return true
      if (!load.isSpooled || !memory.isSpoolCut || ended.exit !== 5) return false
      memory.lenient('a killed spool')
      return true
  }
}
