import { open, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { DoctorReport, Finding, Step } from '../../doctor/report.js'
import { supportBundle } from '../../doctor/support-bundle.js'
import { fail } from '../../failure/failure.js'
import { explain, fixesFor } from '../../failure/catalogue.js'
import { diskProblem } from '../../disk/safe-files.js'
import { requireOptions } from '../../options/resolve.js'
import { invalid } from '../../options/option-checks.js'
import { tablesIn } from '../../options/names.js'
import { addOptions } from '../terminal/help.js'
import { doctorOptions } from '../ask-doctor.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import { loadAccess, loadOptions, sayWarnings, serviceNowOptions } from '../load-options.js'
import { masked } from '../../options/mask-secrets.js'
import { columns, showDuration, plural } from '../show/columns.js'
import { shown } from '../../text/visible.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineDoctor(command: Command, terminal: Terminal, done: (code: number) => void): void {
  const withTable = command.argument('[source]', 'servicenow:TABLE to check as well. Default: servicenow:incident')
  addOptions(withTable, 'doctor')
    .addHelpText(
      'after',
      `
Examples:
  sluice doctor
  sluice doctor --index logs-app               also check access to the index
  sluice doctor servicenow:incident            also check access to the table
  sluice doctor --watch 15m                    report changes until stopped
  sluice lab --register first -- sluice doctor see a blocked address`,
    )
    .action(async (source: string | undefined, flags: Record<string, unknown>) => {
      const effective = await loadOptions(flags, terminal)
      const [table] = source === undefined ? [] : tableOf(source)
      const { servicenowUrl } = effective.values
      // A table or an instance needs no cluster.
      const isPlatform = table !== undefined || servicenowUrl !== undefined
      if (!isPlatform) requireOptions(effective, ['url'])
      const platform = isPlatform ? await serviceNowOptions(effective, terminal) : undefined
      const { watchMs, onChange } = effective.values
      if (onChange !== undefined && watchMs === undefined) throw invalid('--on-change', 'needs --watch')
      if (watchMs !== undefined) {
        const { watchDoctor } = await import('../watch-doctor.js')
        const read = async () => doctorOptions(effective, await loadAccess(effective, terminal), platform, table)
        return done(await watchDoctor(effective, terminal, watchMs, read))
      }
      const access = await loadAccess(effective, terminal)
      sayWarnings(effective, terminal)
      const { json, supportBundle: path } = effective.values
      // Reports an unwritable file before any request.
      if (path !== undefined) await tried(path, async () => await (await open(path, 'a', 0o600)).close())
      using interruption = interruptible(terminal, 'stopping')
      const { signal } = interruption
      const { diagnose } = await import('../../doctor/diagnose.js')
      const diagnosing = diagnose({ ...doctorOptions(effective, access, platform, table), signal })
      const seen = await unlessInterrupted(signal, diagnosing, () => 'some checks were not made')
      const report = maskedReport(asTypedReport(seen, terminal.manner), terminal.manner.secrets)
      if (path !== undefined) await writeBundle(path, report, command.parent?.version() ?? '')
      terminal.out(json ? `${JSON.stringify(report)}\n` : showDiagnosis(report))
      done(exitCodeOf(report))
    })
}

/** The doctor checks tables, but no files. Throws SluiceError OPTION_INVALID. */
function tableOf(source: string): string[] {
  const tables = tablesIn(source)
  if (tables.length > 0) return tables
  const problem = `'${source}' is not a table. Pass a table, as in servicenow:incident. The doctor does not check files`
  throw fail('OPTION_INVALID', { option: 'source', problem })
}

/** Restores advice, which contains no secret: masking could damage words that contain a short secret. */
function maskedReport(report: DoctorReport, secrets: readonly string[]): DoctorReport {
  const safe = masked(report, secrets)
  return { ...safe, findings: safe.findings.map(one => ({ ...one, advice: fixesFor(one.code, one.message) })) }
}

/** Names unusable options as the user set them. */
function asTypedReport(report: DoctorReport, { typed }: Terminal['manner']): DoctorReport {
  const { unusable } = report.facts
  if (unusable === undefined || typed === undefined) return report
  const known = typed(unusable)
  return {
    ...report,
    facts: { ...report.facts, unusable: known },
    findings: report.findings.map(one => (one.message === unusable.message ? { ...one, ...known } : one)),
    steps: report.steps.map(one => (one.detail === unusable.message ? { ...one, detail: known.message } : one)),
  }
}

/** The first finding on the path decides, because it may cause the others. */
function exitCodeOf({ findings }: DoctorReport): number {
  const first = findings.find(({ severity }) => severity === 'error')
  return first === undefined ? 0 : explain(first.code).exit
}

/** Writes a file that only its owner can read. Throws SluiceError OPTION_INVALID. */
async function writeBundle(path: string, report: DoctorReport, sluice: string): Promise<void> {
  const { version: node, platform, arch } = process
  const at = new Date().toISOString()
  const bundle = supportBundle(report, { sluice, node, platform: `${platform} ${arch}`, at })
  await tried(path, async () => await writeFile(path, `${JSON.stringify(bundle, null, 2)}\n`, { mode: 0o600 }))
}

async function tried(path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    const problem = `cannot write ${path}: ${diskProblem(error)}`
    throw fail('OPTION_INVALID', { option: '--support-bundle', problem }, { cause: error })
  }
}

/** A report for people: each step, then what it means, then what to do. */
function showDiagnosis({ steps, findings, facts, next, policy, requests, ok }: DoctorReport): string {
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

function showStep({ ok, name, ms, detail, isLeftOut }: Step): string[] {
  return [isLeftOut === true ? '-' : ok ? 'ok' : 'FAIL', name, ms === undefined ? '' : showDuration(ms), detail]
}

/** Returns whether the first finding already shows the next step, as a fix. */
function isAFix(next: string, [first]: readonly Finding[]): boolean {
  return first?.advice.includes(next) === true
}

function showFinding({ code, severity, message }: Finding, next: string | undefined): string {
  return [
    shown`\n${severity} ${code}: ${message}`,
    ...(severity === 'info' ? [] : fixesFor(code, message, next).map(line => shown`  fix:  ${line}`)),
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
