/** Diagnoses the path of a load: what the probes saw becomes findings, and the next step. */
import type { DoctorOptions, Tools } from '../../route/examine/examine-options.js'
import { examine, type Examined, examineRefusal } from '../../route/examine/examine.js'
import { findingsOf } from './findings.js'
import { nextStep, policyNeeded } from './next-step.js'
import { type DoctorReport, finding, type Finding } from './report.js'
import { explain, type Failure } from '../../base/failure/failure.js'
import { authorityOf } from '../../base/addresses.js'

/** Diagnoses as `diagnose` does, and asks when the API key expires. */
export async function diagnoseForWatch(options: DoctorOptions, tools: Tools = {}): Promise<DoctorReport> {
  return conclude(await examine(options, 'watch', tools))
}

/**
 * Diagnoses the path to a cluster, to a ServiceNow instance, or to both. Sends no document, unless `writeCheck` is
 * set. If a proxy is set, it sends a few GET / without credentials past it: one to see whether the cluster answers,
 * and five more for the latency if it does. `directCheck: false` leaves them out. Every problem is a finding, also in
 * the options. It throws only the signal's reason for an abort.
 */
export async function diagnose(options: DoctorOptions, tools: Tools = {}): Promise<DoctorReport> {
  return conclude(await examine(options, 'load', tools))
}

/** Diagnoses only the address and the protocol of the proxy. The cluster may be unknown, and sees nothing. */
export async function diagnoseProxy(options: DoctorOptions, tools: Tools = {}): Promise<DoctorReport> {
  const { url, cloudId } = options.target
  const target = url === undefined && cloudId === undefined ? { url: 'https://localhost' } : options.target
  return conclude(await examine({ ...options, target, servicenow: undefined }, 'proxy', tools))
}

export interface Cause {
  /** The cause. If the obstacle is gone, the refusal itself, with a note about that. */
  readonly finding: Finding
  readonly next?: string | undefined
  /** The obstacle was gone at the second look. */
  readonly isOver: boolean
  readonly requests: DoctorReport['requests']
}

const ofLogins: ReadonlySet<Failure['code']> = new Set([
  'SERVICENOW_AUTH_REJECTED',
  'SERVICENOW_TOKEN_REFUSED',
  'SERVICENOW_BASIC_FORBIDDEN',
  'SERVICENOW_LOGIN_NEEDED',
])

/**
 * Runs the few probes that tell the causes of a refusal apart. Returns undefined for failures of the input, the
 * options or the run, where no probe helps. Throws the signal's reason for an abort.
 */
export async function diagnoseRefusal(
  refusal: Failure,
  options: DoctorOptions,
  tools: Tools = {},
): Promise<Cause | undefined> {
  const { stage } = explain(refusal.code)
  if (stage === 'servicenow' && options.servicenow === undefined) return undefined
  // A proxy may lead to the cluster and not to the instance.
  const isToInstance = stage === 'servicenow' || leadsToInstance(refusal, options)
  const isLogin = ofLogins.has(refusal.code)
  const asked = isToInstance ? { ...options, target: {} } : { ...options, servicenow: undefined }
  const seen = await examineRefusal(asked, { stage: isToInstance ? 'servicenow' : stage, isLogin }, tools)
  if (seen === undefined) return undefined
  const { findings, next, requests } = conclude(seen)
  const cause = findings.find(isCause)
  if (cause !== undefined) return { finding: cause, next, isOver: false, requests }
  if (isLogin) return undefined
  const now =
    'When Sluice checked again, nothing refused the request. Run the same command again. It continues where it stopped'
  return { finding: finding('error', refusal, now), isOver: true, requests }
}

/** A refusal of the proxy names the target. */
function leadsToInstance({ evidence }: Failure, { servicenow }: DoctorOptions): boolean {
  const url = String(servicenow?.url ?? '')
  return URL.canParse(url) && evidence['target'] === authorityOf(new URL(url))
}

/** A filter that is not enforced refused nothing, and a load does not use the nodes of `--nodes`. */
function isCause({ severity, code, evidence }: Finding): boolean {
  if (code === 'FILTER_NOT_ENFORCED' || evidence['origin'] === '--nodes') return false
  return severity === 'error'
}

function conclude({ facts, steps, requests }: Examined): DoctorReport {
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
