/** Says what the signs of workers mean: who has static addresses of its own, who goes without a proxy, and whose clock is wrong. */
import { finding, type Finding } from '../../programs/doctor/report.js'
import type { Step } from '../../route/examine/facts.js'
import { failure } from '../../base/failure/failure.js'
import type { Jobs } from '../../programs/jobs/control/open-jobs.js'
import { plural } from '../terminal/columns.js'

type WorkerSign = Awaited<ReturnType<Jobs['signs']>>[number]

/** A clock that is as wrong as this makes the times of retries and of lists wrong. */
export const CLOCK_MS = 5000

interface Judged {
  readonly step: Pick<Step, 'ok' | 'detail'>
  readonly findings: readonly Finding[]
}

/** The machine of the doctor. */
interface Here {
  /** URL of its cluster without credentials. */
  readonly url: string
  /** Whether it goes to the cluster through a proxy. */
  readonly hasProxy: boolean
  /** The static addresses that are set. */
  readonly staticIps?: readonly string[] | undefined
}

export function judgeWorkers(signs: readonly WorkerSign[], here: Here): Judged {
  const isProxied = here.hasProxy || signs.some(({ way }) => way?.proxy !== undefined)
  const findings = signs.flatMap(sign => [
    ...judgeWay(sign, here, isProxied),
    ...judgeClock(sign),
    ...judgeLimits(sign),
  ])
  const told = signs.map(sign => `${nameOf(sign)} ${tellWay(sign)}`)
  const detail = told.length === 0 ? 'no worker is running' : `${plural(told.length, 'worker')}: ${told.join(', ')}`
  return { step: { ok: findings.every(({ severity }) => severity === 'info'), detail }, findings }
}

function nameOf({ host, pid }: WorkerSign): string {
  return `${host} (${pid})`
}

function tellWay({ way }: WorkerSign): string {
  if (way === undefined) return 'is still looking for its addresses'
  const through = way.proxy === undefined ? 'without a proxy' : `through ${way.proxy}`
  if (way.problem !== undefined) return `${through}, addresses unknown`
  return way.egress === undefined || way.egress.length === 0
    ? `${through}, addresses unknown`
    : `${through} from ${way.egress.join(' and ')}`
}

function judgeWay(sign: WorkerSign, here: Here, isProxied: boolean): Finding[] {
  const { way, url } = sign
  const worker = nameOf(sign)
  if (way === undefined) return []
  // If no worker uses a proxy, the cluster may have no IP filter.
  if (way.proxy === undefined && isProxied)
    return [finding('warning', failure('WORKER_WITHOUT_PROXY', { worker, url }))]
  const strangers = strangersOf(sign, here)
  if (strangers !== undefined) return [strangers]
  if (way.problem !== undefined)
    return [finding('warning', failure('WORKER_ADDRESSES_UNKNOWN', { worker, url, problem: way.problem }))]
  if (!isProxied || (way.egress?.length ?? 0) > 0) return []
  const problem = way.egress === undefined ? 'IP_CHECK_URL is not set there' : 'the address check showed none'
  return [finding('info', failure('WORKER_ADDRESSES_UNKNOWN', { worker, url, problem }))]
}

/** Workers for another cluster may have another pair. */
function strangersOf(sign: WorkerSign, { url, staticIps: expected = [] }: Here): Finding | undefined {
  const all = sign.way?.egress ?? []
  const seen = all.filter(address => sign.url === url && expected.length > 0 && !expected.includes(address))
  if (seen.length === 0) return undefined
  return finding('error', failure('WORKER_ADDRESS_UNEXPECTED', { worker: nameOf(sign), url, seen, expected }))
}

function judgeLimits(sign: WorkerSign): Finding[] {
  const { unlimited: missing = [] } = sign
  return missing.length === 0
    ? []
    : [finding('warning', failure('WORKER_UNLIMITED', { worker: nameOf(sign), missing }))]
}

function judgeClock(sign: WorkerSign): Finding[] {
  const { queueAheadMs } = sign
  if (Math.abs(queueAheadMs) < CLOCK_MS) return []
  const seconds = Math.round(Math.abs(queueAheadMs) / 1000)
  const direction = queueAheadMs > 0 ? 'behind' : 'ahead of'
  return [finding('warning', failure('WORKER_CLOCK_SKEW', { worker: nameOf(sign), seconds, direction }))]
}
