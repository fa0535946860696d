/** Opens the administration of IP filters, and holds its tasks, one function each. */
import { type AdminApi, type AdminOptions, openAdminApi } from './admin-api.js'
import { changeAttachment, type Confirm, createPolicy } from './change-policy.js'
import { type FilterFinding, filterFinding, type Guard, judgeGuard } from './judge-guard.js'
import { findPolicy } from './choose-policy.js'
import { isPermissive, type Policy, staticRules } from './policy.js'
import { failuresOf, type Proof, prove } from './prove.js'
import { findOwnAddress } from '../../route/examine/try-filter.js'
import type { Deployment } from './read-policy.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import { readConnecting } from '../../options/read-options.js'
import { resolveTarget } from '../../route/connect/open-target.js'
import type { Settings } from '../../options/describe-option.js'

export interface FilterOptions {
  readonly admin: AdminOptions
  readonly values: Settings
  /** To the cluster, for the proof. */
  readonly way: ConnectOptions & { readonly signal: AbortSignal }
  readonly timeoutMs: number
  /** Asks before each change that may surprise. */
  readonly confirm: Confirm
}

type FilterContext = Omit<FilterOptions, 'admin'> & { readonly api: AdminApi }

interface ReportedPolicy extends Policy {
  /** It accepts so much of the internet that it guards nothing. */
  readonly isPermissive: boolean
}

export interface FilterReport {
  /** The change. Absent if nothing had to change. */
  readonly action?: 'created' | 'reused' | 'extended' | 'attached' | 'detached' | 'unchanged'
  /** The policy that it was done with. */
  readonly policy?: ReportedPolicy
  readonly deployment?: Deployment
  readonly noun?: AdminApi['noun']
  readonly policies?: readonly ReportedPolicy[]
  readonly guard?: Guard
  readonly ownAddress?: string
  readonly proof?: Proof
  readonly findings: readonly FilterFinding[]
  readonly notes: readonly string[]
}

type FilterTask = (context: FilterContext) => Promise<FilterReport>

/** The tasks of an open administration. */
export type Filter = AsyncDisposable & Readonly<Record<keyof typeof tasks, () => Promise<FilterReport>>>

/** @throws SluiceError OPTION_INVALID if the key would cross the network in clear text */
export function openFilter({ admin, ...options }: FilterOptions): Filter {
  const api = openAdminApi(admin)
  const context = { ...options, api }
  return {
    show: async () => await tasks.show(context),
    create: async () => await tasks.create(context),
    attach: async () => await tasks.attach(context),
    detach: async () => await tasks.detach(context),
    [Symbol.asyncDispose]: async () => await api[Symbol.asyncDispose](),
  }
}

/** How long a change may take to reach every edge of the service. */
const PATIENCE_MS = 30_000

const show: FilterTask = async context => {
  const deployment = await readDeployment(context)
  return await judge(context, deployment, await context.api.attachedTo(deployment.id))
}

const create: FilterTask = async context => {
  const { api, values } = context
  const { rules, warnings } = pairOf(context)
  const region = values.region ?? (idOf(values) === undefined ? undefined : (await readDeployment(context)).region)
  const { includeByDefault } = values
  const wanted = { name: values.policy ?? 'static addresses', region, rules, includeByDefault }
  const { policy, ...created } = await createPolicy(api, wanted, context.confirm)
  return { ...created, policy: reported(policy), findings: [], notes: warnings }
}

const tasks = {
  show,
  create,
  attach: async (context: FilterContext) => await change(context, 'attach'),
  detach: async (context: FilterContext) => await change(context, 'detach'),
}

async function change(context: FilterContext, act: 'attach' | 'detach'): Promise<FilterReport> {
  const { api, values, way, confirm } = context
  // Reports unusable options of the proof before any change.
  if (values.url !== undefined) resolveTarget(readConnecting(way))
  const deployment = await readDeployment(context)
  const region = values.region ?? deployment.region
  // If none is named, Sluice attaches the pair's own policy, but it detaches no policy unnamed.
  const rules = act === 'attach' && values.staticIps !== undefined ? pairOf(context).rules : []
  const policy = findPolicy(await api.policies(), { policy: values.policy, region, rules })
  const wanted = { policy, deployment: deployment.id, staticIps: values.staticIps }
  const { isChanged, attached } = await changeAttachment(api, act, wanted, confirm)
  const judged = await judge(context, deployment, attached)
  const action = isChanged ? (`${act}ed` as const) : 'unchanged'
  const report: FilterReport = { ...(await tried(context, judged)), action, policy: reported(policy) }
  return act === 'detach' ? withoutOpenness(report, api) : report
}

async function judge(
  context: FilterContext,
  deployment: Deployment,
  policies: readonly Policy[],
): Promise<FilterReport> {
  const { values, timeoutMs, way } = context
  const { ipCheckUrl, staticIps } = values
  const own =
    ipCheckUrl === undefined
      ? { problem: 'no address check is set (IP_CHECK_URL)' }
      : await findOwnAddress(new URL(ipCheckUrl), { timeoutMs, signal: way.signal })
  const ownAddress = 'address' in own ? own.address : undefined
  const guard = judgeGuard({ deployment: deployment.id, attached: policies, staticIps, ownAddress })
  return {
    deployment,
    noun: context.api.noun,
    policies: policies.map(reported),
    guard,
    ...(ownAddress === undefined ? {} : { ownAddress }),
    findings: guard.findings,
    notes: [
      ...(staticIps === undefined ? ['set STATIC_IPS to check whether the static addresses are allowed'] : []),
      ...('problem' in own ? [`this machine's own address is unknown: ${own.problem}`] : []),
    ],
  }
}

function reported(policy: Policy): ReportedPolicy {
  return { ...policy, isPermissive: isPermissive(policy) }
}

/** Tests whether the policies work, if a cluster is set. */
async function tried({ values, way }: FilterContext, report: FilterReport): Promise<FilterReport> {
  const { guard, findings, notes } = report
  if (values.url === undefined || guard === undefined) {
    return { ...report, notes: [...notes, 'Sluice tried no connection, because no cluster is set (--url)'] }
  }
  const directCheck = !values.noDirectCheck
  const proof = await prove(way, { expected: guard.expected, patienceMs: PATIENCE_MS, directCheck })
  const failures = failuresOf(proof, guard, new URL(values.url).origin)
  const { warning } = proof.through ?? {}
  return {
    ...report,
    proof,
    findings: [
      ...findings,
      ...failures.map(one => filterFinding(one, 'error')),
      ...(warning === undefined ? [] : [filterFinding(warning, 'warning')]),
    ],
    notes: [
      ...notes,
      ...(proof.through === undefined ? ['Sluice did not try the proxy, because none is set'] : []),
      ...(proof.direct === undefined ? ['Sluice did not try without the proxy, because --no-direct-check is set'] : []),
    ],
  }
}

/** An open deployment is the wanted result of a detach, so it becomes a note instead of a finding. */
function withoutOpenness(report: FilterReport, { noun }: AdminApi): FilterReport {
  const findings = report.findings.filter(({ code }) => code !== 'FILTER_NOT_ATTACHED')
  if (findings.length === report.findings.length) return report
  return { ...report, findings, notes: [...report.notes, `the ${noun} is now open to the whole internet`] }
}

function pairOf({ api, values }: FilterContext): ReturnType<typeof staticRules> {
  return staticRules(values.staticIps ?? [], { origin: 'STATIC_IPS', isLocal: api.isLocal })
}

/** Reads the deployment first, because the service answers the same for an unknown deployment as for an open one. */
async function readDeployment({ api, values }: FilterContext): Promise<Deployment> {
  return await api.deployment(idOf(values) ?? '')
}

function idOf({ deployment, project }: Settings): string | undefined {
  return project ?? deployment
}
