import type { DoctorReport, Finding, Step } from '../../doctor/report.js'
import { fixesFor } from '../../failure/catalogue.js'
import { columns, showDuration, plural } from './columns.js'

/** A report for people: each step, then what it means, then what to do. */
export function showDiagnosis({ steps, findings, facts, next, policy, requests, ok }: DoctorReport): string {
  const errors = findings.filter(({ severity }) => severity === 'error')
  // If the address pair itself is in doubt, Sluice suggests no rules with it.
  const isDoubtful = errors.some(({ code }) => code === 'EGRESS_UNEXPECTED')
  const isFilter = !isDoubtful && errors.some(({ code }) => /^(EGRESS|FILTER)_/.test(code))
  const way = facts.proxy === undefined ? (facts.unusable === undefined ? ', no proxy' : '') : ` through ${facts.proxy}`
  return [
    `${targetsOf(facts)}${way}\n\n`,
    columns(steps.map(showStep), '  '),
    ...findings.map((one, at) => showFinding(one, at === 0 ? next : undefined)),
    ok ? '\nNo problem found.\n' : '',
    isFilter && policy !== undefined ? showPolicy(policy) : '',
    next === undefined || isAFix(next, findings) ? '' : `\nNext: ${next}\n`,
    `\n${plural(requests.sent, 'request')} sent, at most ${requests.atMost} allowed.\n`,
  ].join('')
}

/** Returns the names of the checked targets. */
function targetsOf({ cluster, instance }: DoctorReport['facts']): string {
  return [cluster, instance?.url].filter(one => one !== undefined && one !== '').join(' and ')
}

function showStep({ ok, name, ms, detail, isLeftOut }: Step): string[] {
  return [isLeftOut === true ? '-' : ok ? 'ok' : 'FAIL', name, ms === undefined ? '' : showDuration(ms), detail]
}

/** Whether the first step already stands below the first finding, as a fix. */
function isAFix(next: string, [first]: readonly Finding[]): boolean {
  return first?.advice.includes(next) === true
}

function showFinding({ code, severity, message }: Finding, next: string | undefined): string {
  return [
    `\n${severity} ${code}: ${message}`,
    ...(severity === 'info' ? [] : fixesFor(code, message, next).map(line => `  fix:  ${line}`)),
    `  more: sluice explain ${code}`,
    '',
  ].join('\n')
}

function showPolicy({ rules, from }: NonNullable<DoctorReport['policy']>): string {
  const source =
    from === 'STATIC_IPS'
      ? 'the addresses in STATIC_IPS'
      : 'the addresses that Sluice saw. Compare them with the dashboard of your proxy'
  return `\nThe IP filter policy that this cluster needs (${source}):\n${rules.map(rule => `  ${rule}\n`).join('')}`
}
