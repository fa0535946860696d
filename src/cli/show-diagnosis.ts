import type { DoctorReport, Finding, Step } from '../doctor/report.js'
import { columns } from './columns.js'
import { duration, plural } from './quantities.js'

/** A report for people: each step, then what it means, then what to do. */
export function showDiagnosis({ steps, findings, facts, next, policy, requests, ok }: DoctorReport): string {
  const errors = findings.filter(({ severity }) => severity === 'error')
  // Where the pair itself is in doubt, no rules are drawn from it.
  const isDoubtful = errors.some(({ code }) => code === 'EGRESS_UNEXPECTED')
  const isFilter = !isDoubtful && errors.some(({ code }) => /^(EGRESS|FILTER)_/.test(code))
  const way = facts.proxy === undefined ? (facts.unusable === undefined ? ', no proxy' : '') : ` through ${facts.proxy}`
  return [
    `${targetsOf(facts)}${way}\n\n`,
    columns(steps.map(showStep), '  '),
    ...findings.map(showFinding),
    ok ? '\nNothing is in the way.\n' : '',
    isFilter && policy !== undefined ? showPolicy(policy) : '',
    next === undefined ? '' : `\nNext: ${next}\n`,
    `\n${plural(requests.sent, 'request')} sent, of ${requests.atMost} at the most.\n`,
  ].join('')
}

/** What was looked at. */
function targetsOf({ cluster, instance }: DoctorReport['facts']): string {
  return [cluster, instance?.url].filter(one => one !== undefined && one !== '').join(' and ')
}

function showStep({ ok, name, ms, detail, isLeftOut }: Step): string[] {
  return [isLeftOut === true ? '-' : ok ? 'ok' : 'FAIL', name, ms === undefined ? '' : duration(ms), detail]
}

function showFinding({ code, severity, message, advice }: Finding): string {
  return [
    `\n${severity} ${code}: ${message}`,
    ...(severity === 'info' ? [] : advice.map(line => `  fix:  ${line}`)),
    `  more: sluice explain ${code}`,
    '',
  ].join('\n')
}

function showPolicy({ rules, from }: NonNullable<DoctorReport['policy']>): string {
  const source =
    from === 'STATIC_IPS'
      ? 'the addresses in STATIC_IPS'
      : 'the addresses that were seen; compare them with the dashboard'
  return `\nThe IP filter policy that this cluster needs (${source}):\n${rules.map(rule => `  ${rule}\n`).join('')}`
}
