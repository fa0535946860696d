/**
 * Makes a report that is safe to share. It contains only listed fields. So names of users, documents and free text of
 * clusters stay out, also in fields that later versions may add.
 */
import type { Evidence } from '../../base/failure/failure.js'
import type { DoctorReport } from '../../programs/doctor/report.js'

/** Evidence that is an address, a number or a word of a protocol. */
const evidence = [
  'addedMs', 'addresses', 'address', 'certificate', 'chance', 'cluster', 'clusterRegion', 'connections', 'direction', 'expected', 'limitMs',
  'phase', 'probes', 'proxy', 'proxyRegion', 'refused', 'requestId', 'seconds', 'seen', 'status', 'subject', 'target', 'throughMs', 'type',
  'directMs', 'missing', 'url', 'instance', 'allowed', 'asked', 'grant', 'rows',
] as const // prettier-ignore

/** Options whose values are no secret, and no name of a person. */
const settings = [
  'url', 'proxy', 'httpsProxy', 'noProxy', 'staticIps', 'ipCheckUrl', 'direct', 'requireProxy', 'preflightConnections', 'op', 'timeoutMs',
  'batchBytes', 'concurrency', 'compress', 'servicenowUrl', 'servicenowGrant',
] as const // prettier-ignore

const connection = ['layers', 'failedIn', 'broken', 'certificate', 'certificateProblem'] as const
const verdicts = ['probes', 'allowed', 'refused', 'broken', 'status', 'missChance'] as const

/** Part of the facts: groups, and in each the fields. */
const facts = {
  hosts: ['proxyRegions', 'region', 'provider', 'product', 'isPrivate', 'regions', 'clusterIsProxy'],
  address: ['addresses'],
  port: ['spoken', 'certificate'],
  connection,
  egress: ['seen', 'asked', 'missChance'],
  filter: [...verdicts, 'requestId'],
  past: ['verdict', 'status'],
  identity: ['kind'],
  index: ['exists', 'missing', 'mayCheckWrites', 'blocks', 'isDataStream'],
  instance: ['url', 'grant', 'proxy', 'table'],
  instanceConnection: connection,
  instanceAwake: ['status'],
  instanceDoor: verdicts,
  instancePast: ['verdict', 'status'],
  instanceLogin: ['isTaken', 'tried', 'tokens', 'otherwise'],
  instanceTable: [...verdicts, 'total', 'shown'],
  latency: ['throughMs', 'directMs', 'addedMs', 'share'],
  clock: ['skewMs', 'comparedWith'],
} as const

/** `about`: the program and the machine. `at` is ISO 8601. */
export function supportBundle(
  report: DoctorReport,
  about: Readonly<Record<'sluice' | 'node' | 'platform' | 'at', string>>,
): object {
  const { ok, findings, policy, requests, steps, facts: all } = report
  const { cluster, proxy, staticIps, isDirect, nodes, instanceNodes, filter } = all
  return {
    about,
    ok,
    requests,
    policy,
    findings: findings.map(({ code, severity, evidence: seen }) => ({
      code,
      severity,
      evidence: only<Evidence>(seen, evidence),
    })),
    steps: steps.map(({ name, ok: isFine, ms }) => ({ name, ok: isFine, ms })),
    settings: (all.settings ?? [])
      .filter(({ name }) => settings.some(one => one === name))
      .map(({ name, value, from }) => ({ name, value, from })),
    // For other options only the source matters.
    origins: (all.settings ?? []).filter(({ from }) => from !== 'default').map(({ name, from }) => ({ name, from })),
    facts: {
      cluster,
      proxy,
      staticIps,
      isDirect,
      version: filter?.info?.version,
      nodes: nodes?.map(({ node, address, verdict }) => ({ node, address, verdict })),
      instanceNodes: instanceNodes?.map(({ node, address, verdict }) => ({ node, address, verdict })),
      ...Object.fromEntries(
        Object.entries(facts).flatMap(([group, fields]) => {
          const part: unknown = all[group as keyof typeof facts]
          return part === undefined ? [] : [[group, only(part as Record<string, unknown>, fields)]]
        }),
      ),
    },
  }
}

function only<T extends Readonly<Record<string, unknown>>>(from: T, fields: readonly string[]): Partial<T> {
  return Object.fromEntries(
    fields.filter(name => from[name] !== undefined).map(name => [name, from[name]]),
  ) as Partial<T>
}
