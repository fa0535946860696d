import { causesFor, explain, fixesFor } from '../../failure/catalogue.js'
import { type Failure, failure } from '../../failure/failure.js'
import { isSluiceError } from '../../failure/sluice-error.js'
import { masked, withoutSecrets } from '../terminal/mask.js'
import type { Terminal } from '../terminal/terminal.js'

/**
 * Reports why a command stopped, and returns the exit code. Prints the message to stderr, then hints, or the stack of
 * a bug. With `--json` also prints one object to stdout.
 */
export function sayError(terminal: Terminal, error: unknown): number {
  const { json, secrets } = terminal.manner
  const known = knownFailure(terminal, error)
  const { exit } = explain(known.code)
  terminal.err(sayFailure(known))
  if (known.code === 'INTERNAL') terminal.err(`${stackOf(error, secrets)}\n`)
  if (json) terminal.out(`${JSON.stringify({ status: 'failed', failure: failureJson(known) })}\n`)
  return exit
}

/** Returns why a command stopped, in a form that may be shown. */
export function knownFailure({ manner: { secrets, typed = asItIs } }: Terminal, error: unknown): Failure {
  return masked(isSluiceError(error) ? typed(error.failure) : bug(error), secrets)
}

/** Used before the options are known. */
function asItIs(known: Failure): Failure {
  return known
}

/** A failure as `--json` shows it. */
export function failureJson(known: Failure) {
  const { code, message, evidence } = known
  const { exit, retry } = explain(code)
  return { code, message, exit, retry, evidence, fixes: fixesFor(code, message) }
}

/** Shows a failure to people: what happened, the causes that fit, and what to do first and then. */
export function sayFailure({ code, message, evidence }: Failure): string {
  const { stoppedBy, next } = evidence
  const fixes = fixesFor(code, message, next)
  return [
    `error: ${message}`,
    ...(typeof stoppedBy === 'string' ? [`  seen:  ${stoppedBy}`] : []),
    ...causesFor(code, message)
      .slice(0, 3)
      .map(cause => `  cause: ${cause}`),
    ...fixes.map(fix => `  fix:   ${fix}`),
    ...(typeof next === 'string' && !fixes.includes(next) ? [`  next:  ${next}`] : []),
    `  more:  sluice explain ${code}`,
    '',
  ].join('\n')
}

function bug(error: unknown): Failure {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return failure('INTERNAL', { problem: text })
}

function stackOf(error: unknown, secrets: readonly string[]): string {
  const stacks: string[] = []
  for (let one = error; one instanceof Error; one = one.cause) stacks.push(one.stack ?? one.message)
  return withoutSecrets(stacks.join('\ncaused by '), secrets)
}
