import { open, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { DoctorReport } from '../../doctor/report.js'
import { supportBundle } from '../../doctor/support-bundle.js'
import { fail } from '../../failure/fail.js'
import { explain } from '../../failure/catalogue.js'
import { diskProblem } from '../../disk/disk-problem.js'
import { requireOptions } from '../../options/resolve.js'
import { tablesIn } from '../../options/table-names.js'
import { addOptions } from '../terminal/help.js'
import { doctorOptions } from '../doctor-flags.js'
import { interrupted, interruptible } from '../terminal/interrupt.js'
import { loadAccess, loadOptions, sayWarnings } from '../load-options.js'
import { masked } from '../terminal/mask.js'
import { serviceNowOptions } from '../servicenow-options.js'
import { showDiagnosis } from '../show/show-diagnosis.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineDoctor(command: Command, terminal: Terminal, done: (code: number) => void): void {
  const withTable = command.argument('[source]', 'servicenow:TABLE, to check it too. Default: incident')
  addOptions(withTable, 'doctor')
    .addHelpText(
      'after',
      `
Examples:
  sluice doctor
  sluice doctor --index logs-app               also check access to the index
  sluice doctor servicenow:incident            also check access to the table
  sluice doctor --support-bundle report.json   write a report without secrets
  sluice lab --register first -- sluice doctor see a blocked address`,
    )
    .action(async (source: string | undefined, flags: Record<string, unknown>) => {
      const effective = await loadOptions(flags, terminal)
      const [table] = source === undefined ? [] : tableOf(source)
      const { servicenowUrl } = effective.values
      // A table or an instance needs no cluster.
      if (table === undefined && servicenowUrl === undefined) requireOptions(effective, ['url'])
      const platform =
        table === undefined && servicenowUrl === undefined ? undefined : await serviceNowOptions(effective, terminal)
      const access = await loadAccess(effective, terminal)
      sayWarnings(effective, terminal)
      const { json, supportBundle: path } = effective.values
      // Reports an unwritable file before any request.
      if (path !== undefined) await tried(path, async () => await (await open(path, 'a', 0o600)).close())
      using interruption = interruptible(terminal, 'stopping')
      const { signal } = interruption
      const { diagnose } = await import('../../doctor/diagnose.js')
      const seen = await diagnose({ ...doctorOptions(effective, access, platform, table), signal }).catch(
        (error: unknown) => {
          throw signal.aborted ? interrupted(signal, 'not all checks were made') : error
        },
      )
      const report = maskedReport(asTypedReport(seen, terminal.manner), terminal.manner.secrets)
      if (path !== undefined) await writeBundle(path, report, command.parent?.version() ?? '')
      terminal.out(json ? `${JSON.stringify(report)}\n` : showDiagnosis(report))
      done(exitCodeOf(report))
    })
}

/** Throws SluiceError OPTION_INVALID for what is no table: the doctor looks at no file. */
function tableOf(source: string): string[] {
  const tables = tablesIn(source)
  if (tables.length > 0) return tables
  const problem = `'${source}' is not a table: pass one, as in servicenow:incident. A file needs no doctor`
  throw fail('OPTION_INVALID', { option: 'source', problem })
}

/** Advice stands in the catalogue, and holds no secret: a short one would only be taken out of its words. */
function maskedReport(report: DoctorReport, secrets: readonly string[]): DoctorReport {
  const safe = masked(report, secrets)
  return { ...safe, findings: safe.findings.map(one => ({ ...one, advice: explain(one.code).fixes })) }
}

/** Options that cannot be used are named as they were set. */
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
