import type { Command } from 'commander'
import type { DoctorReport } from '../../doctor/report.js'
import { explain } from '../../failure/catalogue.js'
import { failure } from '../../failure/failure.js'
import { SluiceError } from '../../failure/sluice-error.js'
import { requireOptions } from '../../options/require.js'
import { addOptions } from '../add-options.js'
import { columns } from '../columns.js'
import { connectOptions } from '../ingest-options.js'
import { interruptible } from '../interrupt.js'
import { loadAccess, loadOptions, sayWarnings } from '../load-options.js'
import { duration } from '../quantities.js'
import { masked } from '../mask.js'
import type { Terminal } from '../terminal.js'

export function define(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'doctor')
    .addHelpText(
      'after',
      `
Examples:
  sluice doctor
  sluice doctor --json | jq '.findings[].code'
  sluice lab --register first -- sluice doctor   see what a missing address looks like`,
    )
    .action(async (flags: Record<string, unknown>) => {
      const effective = await loadOptions(flags, terminal)
      requireOptions(effective, ['url'])
      const access = await loadAccess(effective, terminal)
      sayWarnings(effective, terminal)
      using interruption = interruptible(terminal, 'stopping')
      const { signal } = interruption
      const { diagnose } = await import('../../doctor/diagnose.js')
      const seen = await diagnose({ ...connectOptions(effective, access), signal }).catch((error: unknown) => {
        throw signal.aborted ? interrupted(signal) : error
      })
      const report = masked(seen, terminal.manner.secrets)
      terminal.out(effective.values.json ? `${JSON.stringify(report)}\n` : showReport(report))
      done(exitCodeOf(report))
    })
}

function interrupted({ reason }: AbortSignal): SluiceError {
  return new SluiceError(failure('RUN_INTERRUPTED', { reason: String(reason), settled: 0 }))
}

/** Of several findings the first on the path decides: it may be the cause of the others. */
function exitCodeOf({ findings }: DoctorReport): number {
  const first = findings.find(({ severity }) => severity === 'error')
  return first === undefined ? 0 : explain(first.code).exit
}

function showReport({ steps, findings, facts }: DoctorReport): string {
  return [
    `${facts.cluster.url}${facts.proxy === undefined ? ', no proxy' : ` through ${facts.proxy}`}\n\n`,
    columns(
      steps.map(({ ok, name, ms, detail }) => [
        ms === undefined ? '-' : ok ? 'ok' : 'FAIL',
        name,
        ms === undefined ? '' : duration(ms),
        detail,
      ]),
      '  ',
    ),
    ...findings.flatMap(({ code, severity, message, advice }) => [
      `\n${severity} ${code}: ${message}\n`,
      ...advice.map(line => `  fix:  ${line}\n`),
      `  more: sluice explain ${code}\n`,
    ]),
    findings.length === 0 ? '\nNothing is in the way.\n' : '',
  ].join('')
}
