import { type DoctorOptions, type DoctorSection, readDoctorOptions } from './doctor-options.js'
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import { instanceSettings } from '../connect/open-servicenow.js'
import { resolveTarget } from '../connect/open-target.js'
import { proxyTo } from '../connect/proxy-to.js'
import type { ProxySection } from '../options/load.js'
import { systemClock } from '../time/system-clock.js'
import type { Context, InstanceContext, InstanceWay, Probe, Ways } from './context.js'
import { openContext } from './open-context.js'
import type { InstanceAsked } from './instance-facts.js'
import type { Facts } from './facts.js'
import { findingsOf } from './findings.js'
import { mostRequests } from './most-requests.js'
import { nextStep, policyNeeded } from './next-step.js'
import type { DoctorReport, Step } from './report.js'

/** Probes in the order of the path. Probes of one row run side by side. */
export type Path = readonly (readonly Probe[])[]

export interface Tools {
  readonly clock?: Clock
  /** The machine's time of day, in milliseconds since the epoch. */
  readonly today?: () => number
}

/** Runs every probe of a path and combines the facts. Throws only the signal's reason for an abort. */
export async function walk(options: DoctorOptions, path: Path, tools: Tools = {}): Promise<DoctorReport> {
  const { clock = systemClock, today = Date.now } = tools
  const read = readWays(options)
  if ('code' in read) {
    const refused: Step = { name: 'options', ok: false, detail: read.message }
    return conclude({ cluster: shownUrl(options), unusable: read }, [refused], { sent: 0, atMost: 0 })
  }
  const context = openContext(read.section, read.ways, { clock, today, signal: options.signal })
  try {
    return await goAlong(path, context, options.signal)
  } finally {
    await context.instance?.close()
  }
}

async function goAlong(path: Path, context: Context, signal: AbortSignal | undefined): Promise<DoctorReport> {
  const { cluster, way, instance } = context
  let facts: Facts = {
    cluster,
    proxy: way.proxy?.display,
    instance: instance && askedOf(instance),
  }
  const steps: Step[] = []
  for (const row of path) {
    const seen = await Promise.all(row.map(probe => take(probe, context, facts)))
    signal?.throwIfAborted()
    for (const one of seen) {
      facts = { ...facts, ...one.facts }
      steps.push(...one.steps)
    }
  }
  return conclude(facts, steps, { sent: context.sent(), atMost: mostRequests(context) })
}

async function take(
  { name, isPure, leaveOut, look }: Probe,
  context: Context,
  facts: Facts,
): Promise<{ facts: Partial<Facts>; steps: readonly Step[] }> {
  const reason = facts.unusable === undefined ? leaveOut?.(context, facts) : 'the options cannot be used'
  if (reason !== undefined)
    return { facts: {}, steps: [{ name, ok: true, detail: `skipped: ${reason}`, isLeftOut: true }] }
  const { clock } = context
  const startedAt = clock.now()
  try {
    const seen = await look(context, facts)
    const ms = seen.ms ?? Math.round(clock.now() - startedAt)
    const step = { name, ok: seen.failed !== true, ms: isPure === true ? undefined : ms, detail: seen.detail }
    return { facts: seen.facts ?? {}, steps: [step, ...(seen.more ?? [])] }
  } catch (error) {
    context.signal?.throwIfAborted()
    // The first connection shows an unreadable certificate authority.
    if (!isSluiceError(error)) throw error
    return { facts: { unusable: error.failure }, steps: [{ name, ok: false, detail: error.message }] }
  }
}

function conclude(facts: Facts, steps: readonly Step[], requests: DoctorReport['requests']): DoctorReport {
  const findings = findingsOf(facts)
  return {
    ok: findings.every(({ severity }) => severity !== 'error'),
    findings,
    next: nextStep(findings, facts),
    policy: policyNeeded(facts),
    facts,
    steps,
    requests,
  }
}

function askedOf({ display: url, way, isTableNamed, table }: InstanceContext): InstanceAsked {
  const { access, proxy } = way
  return { url, grant: access.grant, proxy: proxy?.display, table: isTableNamed ? table : undefined }
}

/** Returns whether a cluster is checked: yes, unless only an instance is set. */
export function hasCluster({ target: { url, cloudId }, servicenow }: DoctorOptions): boolean {
  return url !== undefined || cloudId !== undefined || servicenow === undefined
}

function readWays(options: DoctorOptions): { section: DoctorSection; ways: Ways } | Failure {
  try {
    const section = readDoctorOptions(options)
    return { section, ways: waysOf(section, hasCluster(options)) }
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
}

function waysOf({ connecting, servicenow }: DoctorSection, isClusterSet: boolean): Ways {
  const { proxy } = connecting
  const instance = servicenow === undefined ? undefined : instanceSettings({ servicenow, proxy })
  return instance === undefined || isClusterSet
    ? { way: resolveTarget(connecting), hasCluster: true, instance }
    : { way: wayTo(instance, proxy), hasCluster: false, instance }
}

/** Returns the path to the instance in place of a cluster's. It has credentials of its own. */
function wayTo({ url, proxy }: InstanceWay, given: ProxySection): Ways['way'] {
  return { url, notes: proxyTo(url, given).notes, proxy }
}

/** Returns the showable part of the URL when the options cannot be used. */
function shownUrl(options: DoctorOptions): string {
  if (!hasCluster(options)) return ''
  const { url } = options.target
  const text = String(url ?? '')
  return URL.canParse(text) && /^https?:/.test(text) ? new URL(text).origin : 'the cluster'
}
