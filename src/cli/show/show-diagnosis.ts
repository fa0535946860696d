import type { DoctorReport, Finding } from '../../programs/doctor/report.js'
import type { Step } from '../../route/examine/facts.js'
import { asSet, explain, fixesFor } from '../../base/failure/failure.js'
import { masked } from '../../base/secrets.js'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from '../terminal/terminal.js'
import { columns, plural, showDuration } from '../terminal/columns.js'

/** Makes a report that may be shown: without secrets, and with options named as the user set them. */
export function safeReport(report: DoctorReport, { manner }: Terminal): DoctorReport {
  return maskedReport(asTypedReport(report, manner), manner.secrets)
}

/** Restores advice, which contains no secret: masking could damage words that contain a short secret. */
function maskedReport(report: DoctorReport, secrets: readonly string[]): DoctorReport {
  const safe = masked(report, secrets)
  return { ...safe, findings: safe.findings.map(one => ({ ...one, advice: adviceOf(one) })) }
}

function adviceOf({ code, message, evidence }: Finding, next?: string): readonly string[] {
  return fixesFor(code, message, next, evidence['proxySetBy'])
}

/** Names options as the user set them. */
function asTypedReport(given: DoctorReport, { typed }: Terminal['manner']): DoctorReport {
  if (typed === undefined) return given
  const findings = given.findings.map(one => {
    const { exit, retry } = explain(one.code)
    return { ...one, evidence: typed({ ...one, exit, retry }).evidence }
  })
  const [first] = findings
  const { next } = given
  const named = next === undefined ? {} : { next: asSet(next, first?.evidence['proxySetBy']) }
  const report = { ...given, findings, ...named }
  const { unusable } = report.facts
  if (unusable === undefined) return report
  const known = typed(unusable)
  return {
    ...report,
    facts: { ...report.facts, unusable: known },
    findings: report.findings.map(one => (one.message === unusable.message ? { ...one, ...known } : one)),
    steps: report.steps.map(one => (one.detail === unusable.message ? { ...one, detail: known.message } : one)),
  }
}

/** The first finding on the path decides, because it may cause the others. */
export function diagnosisExitCode({ findings }: DoctorReport): number {
  const first = findings.find(({ severity }) => severity === 'error')
  return first === undefined ? 0 : explain(first.code).exit
}

/** A report for people: each step, then what it means, then what to do. */
export function showDiagnosis({ steps, findings, facts, next, policy, requests, ok }: DoctorReport): string {
  const errors = findings.filter(({ severity }) => severity === 'error')
  // If the address pair itself is in doubt, Sluice suggests no rules with it.
  const isDoubtful = errors.some(({ code }) => code === 'EGRESS_UNEXPECTED')
  const isFilter = !isDoubtful && errors.some(({ code }) => /^(EGRESS|FILTER)_/.test(code))
  const way = facts.proxy === undefined ? (facts.unusable === undefined ? ', no proxy' : '') : ` through ${facts.proxy}`
  return [
    shown`${targetsOf(facts)}${way}\n\n`,
    columns(steps.map(showStep), '  '),
    ...findings.map((one, at) => showFinding(one, at === 0 ? next : undefined)),
    ok ? '\nNo problem found.\n' : '',
    isFilter && policy !== undefined ? showPolicy(policy) : '',
    next === undefined || isAFix(next, findings) ? '' : shown`\nNext: ${next}\n`,
    `\n${plural(requests.sent, 'request')} sent, at most ${requests.atMost} allowed.\n`,
  ].join('')
}

function targetsOf({ cluster, instance }: DoctorReport['facts']): string {
  return [cluster, instance?.url].filter(one => one !== undefined && one !== '').join(' and ')
}

export function showStep({ ok, name, ms, detail, isLeftOut }: Step): string[] {
  return [isLeftOut === true ? '-' : ok ? 'ok' : 'FAIL', name, ms === undefined ? '' : showDuration(ms), detail]
}

/** Returns whether the first finding already shows the next step, as a fix. */
function isAFix(next: string, [first]: readonly Finding[]): boolean {
  return first?.advice.includes(next) === true
}

export function showFinding(finding: Finding, next: string | undefined): string {
  const { code, severity, message } = finding
  return [
    shown`\n${severity} ${code}: ${message}`,
    ...(severity === 'info' ? [] : adviceOf(finding, next).map(line => shown`  fix:  ${line}`)),
    `  more: sluice explain ${code}`,
    '',
  ].join('\n')
}

function showPolicy({ rules, from }: NonNullable<DoctorReport['policy']>): string {
  const source =
    from === 'STATIC_IPS'
      ? 'the addresses in STATIC_IPS'
      : 'the addresses that Sluice saw. Compare them with the dashboard of your proxy'
  return `\nThe IP filter policy that this cluster needs (${source}):\n${rules.map(rule => shown`  ${rule}\n`).join('')}`
}
