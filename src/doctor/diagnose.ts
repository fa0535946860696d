/**
 * Walks the path that a load takes, layer by layer, and names what is in the way: the options, the proxy and its two addresses, the
 * cluster through it, and, because a success through the proxy is only half the check, the cluster without it.
 */
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import { type Way, findWay } from '../open-target.js'
import { systemClock } from '../system-clock.js'
import { type Context, openContext } from './context.js'
import type { DoctorOptions } from './doctor-options.js'
import type { Facts } from './facts.js'
import { findingsOf } from './findings.js'
import { mostRequests } from './most-requests.js'
import { nextStep, policyNeeded } from './next-step.js'
import type { Probe } from './probe.js'
import { clockSkew } from './probes/clock-skew.js'
import { connection } from './probes/connection.js'
import { egress } from './probes/egress.js'
import { filter } from './probes/filter.js'
import { hostNames } from './probes/host-names.js'
import { latency } from './probes/latency.js'
import { nodes } from './probes/nodes.js'
import { optionsGiven } from './probes/options-given.js'
import { pastProxy } from './probes/past-proxy.js'
import { privileges } from './probes/privileges.js'
import { proxyAddress } from './probes/proxy-address.js'
import { proxyProtocol } from './probes/proxy-protocol.js'
import { writeCheck } from './probes/write-check.js'
import type { DoctorReport, Step } from './report.js'

/** In the order of the path. What stands in one row does not wait for each other. */
const path: readonly (readonly Probe[])[] = [
  [optionsGiven],
  [hostNames],
  [proxyAddress],
  [proxyProtocol],
  [connection],
  [egress, filter, nodes, pastProxy],
  [privileges],
  [writeCheck],
  [latency],
  [clockSkew],
]

interface Tools {
  readonly clock?: Clock
  /** The machine's time of day, in milliseconds since the epoch. */
  readonly today?: () => number
}

/**
 * Diagnoses the way to a cluster. Sends no document, unless `writeCheck` is set. The probe without the proxy is a GET / without
 * credentials, the only request that Sluice ever sends past a proxy that is set. Whatever is wrong, with the options too, is a
 * finding: it throws for an abort alone.
 */
export async function diagnose(options: DoctorOptions, tools: Tools = {}): Promise<DoctorReport> {
  const { clock = systemClock, today = Date.now } = tools
  const way = wayOf(options)
  if ('code' in way) return conclude({ cluster: shownUrl(options), unusable: way }, [optionsRefused(way)], { sent: 0, atMost: 0 })
  const context = openContext(options, way, { clock, today })
  const { facts, steps } = await walk(context)
  return conclude(facts, steps, { sent: context.sent(), atMost: mostRequests(context) })
}

/** Every row sees what the rows before it saw. */
async function walk(context: Context): Promise<{ facts: Facts; steps: readonly Step[] }> {
  const { cluster, way, signal } = context
  let facts: Facts = { cluster, ...(way.proxy === undefined ? {} : { proxy: way.proxy.display }) }
  const steps: Step[] = []
  for (const row of path) {
    const seen = await Promise.all(row.map(probe => take(probe, context, facts)))
    signal?.throwIfAborted()
    for (const one of seen) {
      facts = { ...facts, ...one.facts }
      steps.push(...one.steps)
    }
  }
  return { facts, steps }
}

async function take(
  { name, isPure, leaveOut, look }: Probe,
  context: Context,
  facts: Facts,
): Promise<{ facts: Partial<Facts>; steps: readonly Step[] }> {
  const reason = facts.unusable === undefined ? leaveOut?.(context, facts) : 'the options cannot be used'
  if (reason !== undefined) return { facts: {}, steps: [{ name, ok: true, detail: `left out: ${reason}` }] }
  const { clock } = context
  const startedAt = clock.now()
  try {
    const seen = await look(context, facts)
    const ms = seen.ms ?? Math.round(clock.now() - startedAt)
    const step = { name, ok: seen.failed !== true, ...(isPure === true ? {} : { ms }), detail: seen.detail }
    return { facts: seen.facts ?? {}, steps: [step, ...(seen.then ?? [])] }
  } catch (error) {
    // Of a certificate authority that cannot be read, the first connection tells.
    if (!isSluiceError(error)) throw error
    return { facts: { unusable: error.failure }, steps: [{ name, ok: false, detail: error.message }] }
  }
}

function conclude(facts: Facts, steps: readonly Step[], requests: DoctorReport['requests']): DoctorReport {
  const findings = findingsOf(facts)
  const next = nextStep(findings, facts)
  const policy = policyNeeded(facts)
  return {
    ok: findings.every(({ severity }) => severity !== 'error'),
    findings,
    ...(next === undefined ? {} : { next }),
    ...(policy === undefined ? {} : { policy }),
    facts,
    steps,
    requests,
  }
}

function wayOf(options: DoctorOptions): Way | Failure {
  try {
    return findWay(options.target, options.proxy)
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
}

function optionsRefused({ message }: Failure): Step {
  return { name: 'options', ok: false, detail: message }
}

/** Of options that cannot be used: what may be shown of the URL. */
function shownUrl({ target: { url } }: DoctorOptions): string {
  const text = String(url ?? '')
  return URL.canParse(text) && /^https?:/.test(text) ? new URL(text).origin : 'the cluster'
}
