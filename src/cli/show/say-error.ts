import {
  asSet,
  causesFor,
  explain,
  type Failure,
  failure,
  fixesFor,
  isSluiceError,
} from '../../base/failure/failure.js'
import { masked, withoutSecrets } from '../../base/secrets.js'
import { isoTime } from '../../base/time/clock.js'
import { visible } from '../../base/text/shown.js'
import { tell } from '../terminal/log.js'
import type { LogEntry, Terminal } from '../terminal/terminal.js'

/**
 * Reports why a command stopped, and returns the exit code. Prints the message to stderr, then hints, or the stack of
 * a bug. With `--json` also prints one object to stdout.
 */
export function sayError(terminal: Terminal, error: unknown): number {
  const { json, secrets, isMailed = false } = terminal.manner
  const known = knownFailure(terminal, error)
  const { exit } = explain(known.code)
  const run = isSluiceError(error) ? error.run : undefined
  const more = isMailed && known.code !== 'INTERNAL' ? beforeDocuments(known, run) : {}
  tell(terminal, stopOf(known, { run, text: sayFailure(known, more) }))
  if (known.code === 'INTERNAL') terminal.err(`${stackOf(error, secrets)}\n`)
  if (json) terminal.out(failedJson(terminal, known, run))
  return exit
}

/** Returns how a command stopped. `fields`: more for programs. `text`: for people, if it is not the usual one. */
export function stopOf(
  known: Failure,
  {
    run,
    fields,
    text = sayFailure(known),
  }: { run?: string | undefined; fields?: LogEntry['fields']; text?: string } = {},
): LogEntry {
  const { code, message, evidence, exit, retry } = known
  const fixes = fixesFor(code, message, evidence.next, evidence['proxySetBy'])
  const next = evidence.next ?? fixes[0] ?? nextAfter(known, false)
  const named = run === undefined ? {} : { run }
  return {
    level: 'error',
    event: 'failed',
    message,
    fields: { ...named, code, exit, retry, next, fixes, ...fields },
    text,
  }
}

/** The line of a command that failed without a receipt. `run`: its id, if `sluice runs` lists it. */
export function failedJson(terminal: Terminal, known: Failure, run?: string): string {
  const { exit } = explain(known.code)
  const ran = whatRan(terminal, exit)
  return `${JSON.stringify({ ...(run === undefined ? {} : { run }), status: 'failed', ...ran, failure: failureJson(known) })}\n`
}

/** Which command ran, when, to where, and how it ended. A receipt of a load says the same of itself. */
export function whatRan({ manner: { command, target, secrets } }: Terminal, exit: number) {
  return {
    ...(command === undefined ? {} : { command }),
    began: isoTime(performance.timeOrigin),
    ended: isoTime(new Date()),
    exit,
    ...(target === undefined || Object.keys(target).length === 0 ? {} : { target: masked(target, secrets) }),
  }
}

/** Returns why a command stopped, in a form that may be shown. */
export function knownFailure({ manner: { secrets, typed = asItIs } }: Terminal, error: unknown): Failure {
  return masked(isSluiceError(error) ? typed(error.failure) : bug(error), secrets)
}

function asItIs(known: Failure): Failure {
  return known
}

export function failureJson({ code, message, evidence }: Failure) {
  // The state of a newer version may hold a code that this one does not know.
  const known = explain(code) as Partial<ReturnType<typeof explain>> | undefined
  const { exit, retry } = known ?? {}
  return { code, message, exit, retry, evidence, fixes: fixesFor(code, message, undefined, evidence['proxySetBy']) }
}

/** Returns what a mail says about a run that has no receipt. */
function beforeDocuments(known: Failure, run: string | undefined): More {
  return {
    facts: [`  run:   ${run === undefined ? '' : `${run}: `}it ended before the first document`],
    next: nextAfter(known, false),
  }
}

/** Returns what to do after the fix. Undefined if a fix says so. `continues`: a checkpoint is kept. */
export function nextAfter({ code, message }: Failure, continues: boolean): string | undefined {
  if (fixesFor(code, message).some(fix => /same command/i.test(fix))) return undefined
  const more = continues ? ' It continues where this run stopped.' : ''
  return `${explain(code).retry === 'later' ? 'Later, run' : 'Then run'} the same command again.${more}`
}

interface More {
  /** Lines behind the causes. */
  readonly facts?: readonly string[]
  /** The last step of the fix, if the failure has none. */
  readonly next?: string | undefined
}

/** Shows a failure to people: what happened, the causes that fit, and what to do first and then. */
export function sayFailure({ code, message, evidence }: Failure, { facts = [], next: then }: More = {}): string {
  const { stoppedBy, next: first = then, proxySetBy } = evidence
  const next = typeof first === 'string' ? asSet(first, proxySetBy) : undefined
  const fixes = fixesFor(code, message, next, proxySetBy)
  return [
    `error: ${message}`,
    ...(typeof stoppedBy === 'string' ? [`  seen:  ${stoppedBy}`] : []),
    ...causesFor(code, message, proxySetBy)
      .slice(0, 3)
      .map(cause => `  cause: ${cause}`),
    ...facts,
    ...fixes.map(fix => `  fix:   ${fix}`),
    ...(next !== undefined && !fixes.includes(next) ? [`  next:  ${next}`] : []),
    `  more:  sluice explain ${code}`,
    '',
  ]
    .map(visible)
    .join('\n')
}

function bug(error: unknown): Failure {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return failure('INTERNAL', { problem: text })
}

function stackOf(error: unknown, secrets: readonly string[]): string {
  const stacks: string[] = []
  for (let one = error; one instanceof Error; one = one.cause) {
    const { message, stack = message } = one
    stacks.push(stack.replace(message, () => visible(message)))
  }
  return withoutSecrets(stacks.join('\ncaused by '), secrets)
}
