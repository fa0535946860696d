import type { CommanderError } from 'commander'
import { explain } from '../failure/catalogue.js'
import { type Failure, failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { nearest } from '../options/nearest.js'
import { hidden } from '../options/secrets.js'
import { optionsOf } from '../options/view.js'
import type { Terminal } from './terminal.js'

/**
 * Says what stopped a command, and returns the exit code: on stderr the message, then hints, for a bug the stack; with
 * `--json` one object on stdout besides.
 */
export function sayError(terminal: Terminal, error: unknown): number {
  const { json, secrets } = terminal.manner
  const known = isSluiceError(error) ? error.failure : bug(error, secrets)
  const { exit } = explain(known.code)
  terminal.err(sayFailure(known))
  if (known.code === 'INTERNAL') terminal.err(`${stackOf(error, secrets)}\n`)
  if (json) terminal.out(`${JSON.stringify({ status: 'failed', failure: failureJson(known) })}\n`)
  return exit
}

/** A failure as `--json` shows it. */
export function failureJson(known: Failure) {
  const { exit, retry, fixes } = explain(known.code)
  return { code: known.code, message: known.message, exit, retry, evidence: known.evidence, fixes }
}

/** A failure for people: what happened, then what to look at and what to change, from the catalogue. */
export function sayFailure({ code, message }: Failure): string {
  const { causes, fixes } = explain(code)
  return [
    `error: ${message}`,
    ...causes.slice(0, 3).map(cause => `  cause: ${cause}`),
    ...fixes.map(fix => `  fix:   ${fix}`),
    `  more:  sluice explain ${code}`,
    '',
  ].join('\n')
}

interface Usage {
  readonly verb: string | undefined
  readonly verbs: readonly string[]
  readonly args: readonly string[]
}

/** Help and version are answers; everything else that the parser throws is wrong usage, exit 2. */
export function sayUsageError(terminal: Terminal, error: CommanderError, usage: Usage): number {
  if (error.exitCode === 0) return 0
  const { verb } = usage
  const where = verb === undefined ? 'sluice' : `sluice ${verb}`
  if (error.code === 'commander.help') {
    terminal.err(`error: no command given\n`)
    return 2
  }
  const problem = problemOf(error, usage)
  const known = failure('OPTION_INVALID', { option: where, problem })
  terminal.err(`error: ${known.message}\n  more:  ${where} --help\n`)
  if (terminal.manner.json) terminal.out(`${JSON.stringify({ status: 'failed', failure: failureJson(known) })}\n`)
  return 2
}

function problemOf(error: CommanderError, { verb, verbs, args }: Usage): string {
  if (error.code === 'commander.unknownOption') {
    // The parser's own message holds the whole argument, and with it a value that may be a secret.
    const argument = /'(-[^']*)'/.exec(error.message)?.[1] ?? ''
    const name = argument.startsWith('--') ? argument.replace(/=.*$/s, '') : argument.slice(0, 2)
    const flags =
      verb === 'ingest' || verb === 'doctor' || verb === 'config' ? optionsOf(verb).map(({ flag }) => flag ?? '') : []
    return `unknown option ${name}${meant(nearest(name, flags))}`
  }
  if (error.code === 'commander.unknownCommand' || (verb === undefined && error.code === 'commander.excessArguments')) {
    const word = args.find(arg => !arg.startsWith('-')) ?? ''
    return `unknown command '${word}'${meant(nearest(word, verbs))}`
  }
  return error.message.replace(/^error: /, '')
}

function meant(near: string | undefined): string {
  return near === undefined ? '' : `; did you mean ${near}?`
}

function bug(error: unknown, secrets: readonly string[]): Failure {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return failure('INTERNAL', { problem: without(secrets, text) })
}

function stackOf(error: unknown, secrets: readonly string[]): string {
  const stacks: string[] = []
  for (let one = error; one instanceof Error; one = one.cause) stacks.push(one.stack ?? one.message)
  return without(secrets, stacks.join('\ncaused by '))
}

function without(secrets: readonly string[], text: string): string {
  return secrets.filter(secret => secret !== '').reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
}
