import type { Command } from 'commander'
import { type FailureCode, explain, failureCodes } from '../../failure/catalogue.js'
import { failure } from '../../failure/failure.js'
import { SluiceError } from '../../failure/sluice-error.js'
import { nearest } from '../../options/nearest.js'
import { columns } from '../columns.js'
import type { Terminal } from '../terminal.js'

export function define(command: Command, terminal: Terminal, done: (code: number) => void): void {
  command
    .argument('[code]', 'as an error names it; without one all are listed')
    .option('--json', 'one JSON object on stdout')
    .addHelpText('after', '\nExamples:\n  sluice explain EGRESS_PARTLY_ALLOWED\n  sluice explain | grep PROXY')
    .action((word: string | undefined, { json = false }: { json?: boolean }) => {
      const code = word === undefined ? undefined : findCode(word)
      terminal.out(json ? asJson(code) : code === undefined ? list() : page(code))
      done(0)
    })
}

function findCode(word: string): FailureCode {
  const wanted = word.toUpperCase().replaceAll('-', '_')
  const found = failureCodes.find(code => code === wanted)
  if (found !== undefined) return found
  const near = nearest(wanted, failureCodes)
  const problem = `'${word}' is not a failure code${near === undefined ? '' : `; did you mean ${near}?`}`
  throw new SluiceError(failure('OPTION_INVALID', { option: 'sluice explain', problem }))
}

function list(): string {
  return columns(failureCodes.map(code => [code, `exit ${explain(code).exit}`, explain(code).title]))
}

function page(code: FailureCode): string {
  const { title, causes, fixes, exit, retry } = explain(code)
  const again =
    retry === 'later' ? 'the same command may succeed later' : 'the same command fails again until something changes'
  return [
    `${code}: ${title}`,
    '',
    'Causes, most likely first',
    ...causes.map(cause => `  - ${cause}`),
    '',
    'Fixes',
    ...fixes.map(fix => `  - ${fix}`),
    '',
    `Exit code ${exit}; ${again}.`,
    '',
  ].join('\n')
}

function asJson(code: FailureCode | undefined): string {
  const all = failureCodes.map(one => ({ code: one, ...explain(one) }))
  return `${JSON.stringify(code === undefined ? { failures: all } : { code, ...explain(code) })}\n`
}
