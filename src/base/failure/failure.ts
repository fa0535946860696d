/** Failures as data: made where the fact is seen, thrown as the one error class, with quoted evidence. */
import { type FailureCode, catalogue, explain } from './catalogue.js'
import { visible } from '../text/shown.js'
import type { Entry, Evidence } from './entry.js'

export type { Evidence } from './entry.js'

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
