/**
 * Every failure that Sluice can name, as data: made where the fact is seen, thrown as the one error class, with quoted evidence. Hints,
 * `sluice explain`, the doctor, exit codes and docs/failures.md are views of the catalogue. Each part of the path has its own file of
 * entries.
 */
import { visible } from '../text/shown.js'
import { adviceOnOrigin, generalAdvice, onOrigin } from './advice-on-origin.js'
import type { Entries, Entry, Evidence, Fitting, PossibleCause, PossibleFix, Stage } from './entry.js'
import { clusterEntries } from './entries/cluster-failures.js'
import { egressEntries } from './entries/egress-failures.js'
import { filterEntries } from './entries/filter-failures.js'
import { indexEntries } from './entries/indices-failures.js'
import { inputEntries } from './entries/input-failures.js'
import { optionsEntries } from './entries/options-failures.js'
import { proxyEntries } from './entries/proxy-failures.js'
import { queueEntries } from './entries/queue-failures.js'
import { runEntries } from './entries/run-failures.js'
import { servicenowEntries } from './entries/servicenow-failures.js'
import { sourceEntries } from './entries/source-failures.js'

export type { Entry, Evidence } from './entry.js'

/** `message` says what happened, with values. `explain(code)` says what to do. `exit` and `retry` are those of the code. */
export interface Failure {
  readonly code: FailureCode
  readonly message: string
  readonly evidence: Evidence
  /** The exit code of a command that ends with it. */
  readonly exit: Entry['exit']
  /** Whether the same command may succeed later with nothing changed. */
  readonly retry: Entry['retry']
}

type Named<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never

/** The evidence that a code's message cannot do without, and any more that was seen. */
type EvidenceOf<C extends FailureCode> = Evidence &
  Readonly<Record<Named<(typeof catalogue)[C]['message']>, string | number | boolean | readonly string[]>>

/** Makes a failure: the code's message with the evidence filled in. */
export function failure<C extends FailureCode>(code: C, evidence: EvidenceOf<C>): Failure {
  const seen: Evidence = evidence
  const { message, exit, retry } = catalogue[code]
  return { code, message: say(message, seen), evidence: seen, exit, retry }
}

/** Returns the error to throw for a failure: its code, and what was seen. */
export function fail<C extends FailureCode, Receipt = unknown>(
  code: C,
  evidence: EvidenceOf<C>,
  options: { cause?: unknown; receipt?: Receipt } = {},
): SluiceError<Receipt> {
  return new SluiceError(failure(code, evidence), options)
}

const brand = Symbol.for('sluice.error')

/**
 * The only error class that Sluice throws. `instanceof` also knows an error of another copy of the package, and of the other module
 * system: `require` and `import` load different copies. `failure` is the whole finding, `cause` the error below it. `receipt` (only from `ingest`) shows what
 * was done before the run stopped. `run`: the run as `sluice runs` lists it, if it does.
 */
export class SluiceError<Receipt = unknown> extends Error {
  override readonly name = 'SluiceError'
  readonly failure: Failure
  readonly receipt: Receipt | undefined
  run: string | undefined

  constructor(finding: Failure, options: { cause?: unknown; receipt?: Receipt; run?: string | undefined } = {}) {
    super(finding.message, options.cause === undefined ? undefined : { cause: options.cause })
    // Declared, it would make types of two copies differ.
    Object.assign(this, { [brand]: true })
    this.failure = finding
    this.receipt = options.receipt
    this.run = options.run
  }

  get code(): FailureCode {
    return this.failure.code
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === SluiceError ? isSluiceError(value) : Function.prototype[Symbol.hasInstance].call(this, value)
  }
}

/** Returns whether an error is a SluiceError, of this copy of the package or another. */
export function isSluiceError(error: unknown): error is SluiceError {
  return typeof error === 'object' && error !== null && brand in error
}

/** Returns a code's message as it may be seen. */
export function exampleOf(code: FailureCode): string {
  const { message, example } = explain(code)
  return say(message, example)
}

function say(message: string, seen: Evidence): string {
  return message.replaceAll(/\{(\w+)\}/g, (_, name: string) => show(name, seen[name]))
}

function show(name: string, value: Evidence[string]): string {
  // Numbers are amounts, except for the id of a process.
  if (typeof value === 'number' && name !== 'pid') return value.toLocaleString('en-US')
  return visible(typeof value === 'object' ? value.join(', ') : String(value))
}

/** From here on others repeat what they were sent: a parser its input, a shard its request, a field its value. */
const REPEATED = /,? request: \[|\bsource\[|\bat \[Source:|\. Preview of field's value:/

/**
 * Prepares foreign text as evidence: one line of at most `length` characters, without markup, control characters, or
 * documents that Elasticsearch repeats. Masks credentials that a server may echo.
 */
export function quote(text: string, length = 200): string {
  const line = (text.slice(0, 16_384).split(REPEATED, 1)[0] ?? '')
    .replace(/<(style|script)\b.*?(?:<\/\1\s*>|$)|<!--.*?(?:-->|$)/gis, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ')
    .replace(/\b([Aa]pi[Kk]ey|[Bb]asic|[Bb]earer)(\s+)(?=\S*[A-Z\d=])[\w+/=.:~-]{8,}/g, '$1$2***')
    .trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}

export const catalogue = {
  ...at('options', optionsEntries),
  ...at('input', inputEntries),
  ...at('input', sourceEntries),
  ...at('proxy', proxyEntries),
  ...at('egress', egressEntries),
  ...at('egress', filterEntries),
  ...at('cluster', clusterEntries),
  ...at('index', indexEntries),
  ...at('servicenow', servicenowEntries),
  ...at('queue', queueEntries),
  ...at('run', runEntries),
}

/** The parts of the path, in its order, as headings call them. */
export const stages: Readonly<Record<Stage, string>> = {
  options: 'Options',
  input: 'Inputs and documents',
  proxy: 'The proxy',
  egress: 'Addresses and the IP filter',
  cluster: 'The cluster',
  index: 'The index',
  servicenow: 'ServiceNow',
  queue: 'The queue',
  run: 'The run',
}

/** Adds to entries what they share, unless they differ from it. */
function at<E extends Entries>(stage: Stage, entries: E) {
  const whole = Object.entries(entries).map(([code, entry]) => [code, { stage, exit: 3, retry: 'no', ...entry }])
  return Object.fromEntries(whole) as { readonly [Code in keyof E]: E[Code] & Pick<Entry, 'stage' | 'exit' | 'retry'> }
}

/** The stable name of a failure. */
export type FailureCode = keyof typeof catalogue

/** Returns a failure code's whole entry: title, what is seen, causes in order of likelihood, fixes, exit code. */
export function explain(code: FailureCode): Entry
// A program without types may ask for any text. Only codes have an entry.
export function explain(code: string): Entry | undefined {
  if (!Object.hasOwn(catalogue, code)) return undefined
  const entry = catalogue[code as FailureCode]
  return { ...entry, causes: entry.causes.map(causeIn), fixes: entry.fixes.map(fixIn) }
}

function causeIn(cause: PossibleCause): string {
  return typeof cause === 'string' ? cause : cause.cause
}

function fixIn(fix: PossibleFix): string {
  return typeof fix === 'string' ? fix : fix.fix
}

/** Every code, in the order of the path. */
export const failureCodes = Object.keys(catalogue) as readonly FailureCode[]

function fits(advice: string | Fitting, message: string): boolean {
  if (typeof advice === 'string') return true
  return advice.if?.test(message) !== false && advice.unless?.test(message) !== true
}

const guessAtTls = /\. A port (?:that expects|without) TLS behaves like this too/

/** Returns the failure of a proxy that was reached before as it is then told: its URL is right. Others stay as they are. */
export function reachedBefore<F extends Pick<Failure, 'code' | 'message'>>(named: F): F {
  if (named.code !== 'PROXY_UNREACHABLE' && named.code !== 'PROXY_TIMEOUT') return named
  return { ...named, message: `${named.message.replace(guessAtTls, '')}. It accepted connections before` }
}

/** Returns advice with the source of the proxy URL in place of the usual one. Advice for a load without a proxy stays. */
export function asSet(advice: string, proxySetBy: Evidence[string]): string {
  if (typeof proxySetBy !== 'string') return advice
  return advice.replaceAll(/(?<!used no proxy, set )\bSTATIC_PROXY_URL\b(?: \(--proxy\))?/g, () => proxySetBy)
}

/** Returns the advice of a code. The state of a newer version may hold a code that this one does not know. */
function adviceOf(code: FailureCode): {
  readonly causes: readonly PossibleCause[]
  readonly fixes: readonly PossibleFix[]
} {
  if (Object.hasOwn(catalogue, code)) return catalogue[code]
  return {
    causes: ['This version of Sluice does not know the code. A newer version may have written it.'],
    fixes: ['Use the newer version of Sluice here, too.'],
  }
}

/** Returns advice as it holds for what the message is about. `proxySetBy`: what set the URL of the proxy. */
function adviceOn(message: string, advice: readonly string[], proxySetBy: Evidence[string]): readonly string[] {
  const holding = onOrigin.test(message) ? advice.flatMap(one => adviceOnOrigin(one) ?? []) : advice
  return holding.map(one => asSet(one, proxySetBy))
}

/** Returns the causes that a message leaves open, most likely first. `proxySetBy`: as above. */
export function causesFor(code: FailureCode, message: string, proxySetBy?: Evidence[string]): readonly string[] {
  const causes: readonly PossibleCause[] = adviceOf(code).causes
  return adviceOn(message, causes.filter(cause => fits(cause, message)).map(causeIn), proxySetBy)
}

/** Returns the fixes that fit a message, or all if none does. The first thing to do (`next`) comes first, if it is one of them. `proxySetBy`: as above. */
export function fixesFor(
  code: FailureCode,
  message: string,
  next?: Evidence[string],
  proxySetBy?: Evidence[string],
): readonly string[] {
  const possible: readonly PossibleFix[] = adviceOf(code).fixes
  const fitting = possible.filter(fix => fits(fix, message))
  const found = adviceOn(message, (fitting.length === 0 ? possible : fitting).map(fixIn), proxySetBy)
  const fixes = found.length === 0 ? [generalAdvice] : found
  const first = typeof next === 'string' ? asSet(next, proxySetBy) : undefined
  return first !== undefined && fixes.includes(first) ? [first, ...fixes.filter(fix => fix !== first)] : fixes
}
