import { open, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { DoctorReport } from '../../programs/doctor/report.js'
import { supportBundle } from './support-bundle.js'
import { fail } from '../../base/failure/failure.js'
import { diskProblem } from '../../base/disk/safe-files.js'
import { requireOptions } from '../settings/resolve.js'
import { invalid } from '../../options/option-checks.js'
import { tablesIn } from '../../options/names.js'
import { addOptions } from '../terminal/help.js'
import { doctorOptions } from '../application/ask-doctor.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import { loadAccess, loadOptions, sayWarnings, serviceNowOptions } from '../application/load-options.js'
import { diagnosisExitCode, safeReport, showDiagnosis } from '../show/show-diagnosis.js'
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
        const { watchDoctor } = await import('../application/watch-doctor.js')
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
      const { diagnose } = await import('../../programs/doctor/diagnose.js')
      const diagnosing = diagnose({ ...doctorOptions(effective, access, platform, table), signal })
      const seen = await unlessInterrupted(signal, diagnosing, () => 'some checks were not made')
      const { diagnoseQueue } = await import('../application/diagnose-queue.js')
      const report = safeReport(await diagnoseQueue(seen, effective, terminal), terminal)
      if (path !== undefined) await writeBundle(path, report, command.parent?.version() ?? '')
      terminal.out(json ? `${JSON.stringify(report)}\n` : showDiagnosis(report))
      done(diagnosisExitCode(report))
    })
}

/** The doctor checks tables, but no files. Throws SluiceError OPTION_INVALID. */
function tableOf(source: string): string[] {
  const tables = tablesIn(source)
  if (tables.length > 0) return tables
  const problem = `'${source}' is not a table. Pass a table, as in servicenow:incident. The doctor does not check files`
  throw fail('OPTION_INVALID', { option: 'source', problem })
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
