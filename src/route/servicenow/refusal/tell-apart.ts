/**
 * Finds out whether a refusal is about the address or the credentials. The platform sends 403, and sometimes 401, to
 * an address outside its list, and 401 for wrong credentials. Different people fix the two. Fresh connections are
 * asked, because the proxy chooses the egress address for each one.
 */
import { type Failure, SluiceError, failure, isSluiceError } from '../../../base/failure/failure.js'
import type { Access } from '../choose-access.js'
import { ofApiKey } from '../calls/judge-refusal.js'
import type { InstanceHttp } from '../calls/instance-http.js'
import { unlessAborted } from '../calls/persist.js'
import { type AnswersSeen, lookIn } from './look-in.js'
import { type Session, firstRequest } from '../login/session.js'
import type { TokenRequest, Tokens } from '../login/token-call.js'

export interface ComparisonMeans {
  readonly line: InstanceHttp
  readonly access: Access
  readonly session: Session
  /** Requests tokens and does not keep them. Throws SluiceError. */
  callForTokens(
    request: TokenRequest,
    calling: { readonly signal?: AbortSignal | undefined; readonly isFresh?: boolean },
  ): Promise<Tokens>
}

interface TellingApart {
  /** Fresh connections at most. Default 16 through a proxy, 1 without. */
  readonly connections?: number | undefined
  /** The instance accepted these credentials before, so using them again cannot lock the user out. Default false. */
  readonly areKnown?: boolean
  readonly signal?: AbortSignal | undefined
}

/** Further logins with credentials that may be wrong. After a few more, platforms lock the user out. */
const MOST_LOGINS = 2
/** This many equal answers leave no doubt about the other address. */
const ENOUGH = 8

/**
 * Returns the failure behind SERVICENOW_ADDRESS_REFUSED, SERVICENOW_AUTH_REJECTED or SERVICENOW_TOKEN_REFUSED.
 * Returns any other failure as it is, and these too if nothing more can be learned. Undefined: the refusal has
 * passed. Sends at most `connections` requests, a few more, and two token calls. Throws SluiceError RUN_INTERRUPTED.
 */
export async function tellApart(
  means: ComparisonMeans,
  refused: Failure,
  options: TellingApart,
): Promise<Failure | undefined> {
  const { line, access, session } = means
  const most = options.connections ?? (line.route.proxy === undefined ? 1 : 16)
  const { signal } = options
  const look: Asking['look'] = async authorization =>
    await lookIn(line, { most, authorization, isSettled: isMixed, signal })
  try {
    if (refused.code === 'SERVICENOW_ADDRESS_REFUSED') return tellAddress(line, refused, await look())
    if (refused.code === 'SERVICENOW_TOKEN_REFUSED') return await tellTokenCall(means, refused, signal)
    if (refused.code !== 'SERVICENOW_AUTH_REJECTED') return refused
    if (access.grant === 'basic') return await tellBasic(means, access, refused, { ...options, most, look })
    const seen = await look(await session.authorization(signal))
    return access.grant === 'api_key' ? tellApiKey(line, refused, seen) : tellToken(line, refused, seen)
  } catch (error) {
    if (!isSluiceError(error) || error.code === 'RUN_INTERRUPTED') throw error
    return refused
  }
}

/** Looks once for the reason behind a refusal, even if many calls meet it at once. */
export class Refusals {
  /** A call has succeeded, so using the same credentials again cannot lock the user out. */
  areKnown = false
  readonly #telling = new Map<Failure['code'], Promise<Failure | undefined>>()

  constructor(
    private readonly means: ComparisonMeans,
    private readonly closing: AbortSignal,
  ) {}

  /** Returns the error to throw instead. Undefined if the refusal has passed. */
  async reasonFor(thrown: SluiceError, signal: AbortSignal | undefined): Promise<SluiceError | undefined> {
    if (signal?.aborted === true) return thrown
    const { code } = thrown
    const telling = this.#telling.get(code) ?? this.#tell(thrown.failure)
    if (isRefusal(code)) this.#telling.set(code, telling)
    const told = await unlessAborted(telling, signal)
    if (told === undefined) return undefined
    return told.message === thrown.message ? thrown : new SluiceError(told, { cause: thrown })
  }

  async #tell(refused: Failure): Promise<Failure | undefined> {
    try {
      return await tellApart(this.means, refused, { areKnown: this.areKnown, signal: this.closing })
    } finally {
      this.#telling.delete(refused.code)
    }
  }
}

/** A refusal of the caller concerns all calls. Other errors concern one request. */
function isRefusal(code: Failure['code']): boolean {
  return ['SERVICENOW_ADDRESS_REFUSED', 'SERVICENOW_AUTH_REJECTED', 'SERVICENOW_TOKEN_REFUSED'].includes(code)
}

interface Asking extends TellingApart {
  readonly most: number
  /** Asks until both kinds of answers came. */
  look(authorization?: string): Promise<AnswersSeen>
}

/** Without credentials, the application answers 401 to every accepted address. */
function tellAddress(line: InstanceHttp, refused: Failure, seen: AnswersSeen): Failure | undefined {
  if (seen.letIn > 0) return partly(line, seen.letIn, seen)
  const said = String(refused.evidence['observed'])
  const observed = line.route.proxy === undefined ? `${said.replace(/\.$/, '')}. No proxy was used` : said
  const { instance } = line
  return failure('SERVICENOW_ADDRESS_REFUSED', { ...refused.evidence, instance, observed, asked: seen.asked })
}

/** The instance has just issued this token, so a refusal is about the address. */
function tellToken(line: InstanceHttp, refused: Failure, seen: AnswersSeen): Failure | undefined {
  if (seen.known > 0) return partly(line, seen.known, seen)
  return seen.unknown === 0 ? refused : byPolicy(line, 'status 401 for a token that it issued')
}

/** An administrator may have revoked a key that worked before. */
function tellApiKey(line: InstanceHttp, refused: Failure, seen: AnswersSeen): Failure | undefined {
  if (seen.known > 0) return partly(line, seen.known, seen)
  return ofApiKey(refused)
}

async function tellBasic(
  means: ComparisonMeans,
  access: Extract<Access, { grant: 'basic' }>,
  refused: Failure,
  { most, look, areKnown = false, signal }: Asking,
): Promise<Failure | undefined> {
  const { line, session } = means
  const { username, password, client } = access
  const authorization = await session.authorization(signal)
  if (client !== undefined) {
    const token = await tokenOrNone(means, { grant: 'password', username, password }, signal)
    if (token === undefined) return refused
    const withToken = await look(`Bearer ${token.accessToken}`)
    if (withToken.known > 0 && withToken.unknown > 0) return partly(line, withToken.known, withToken)
    if (withToken.known === 0) return byPolicy(line, 'status 401, although the same user gets a token')
  } else if (!areKnown) {
    const few = Math.min(most, MOST_LOGINS)
    const seen = await lookIn(line, { most: few, authorization, isSettled: ({ known }) => known > 0, signal })
    if (seen.known === 0) return { ...refused, evidence: { ...refused.evidence, asked: seen.asked + 1 } }
  }
  // The credentials are good, whatever the instance answered.
  const seen = await look(authorization)
  if (seen.known > 0) return partly(line, seen.known, seen)
  if (client === undefined) return byPolicy(line, 'status 401 for credentials that it accepted before')
  const observed = 'the same user gets a token, and the instance accepts the token'
  return failure('SERVICENOW_BASIC_FORBIDDEN', { instance: line.instance, observed })
}

/** A policy of the token endpoint answers a refused address as it answers wrong credentials. */
async function tellTokenCall(
  means: ComparisonMeans,
  refused: Failure,
  signal: AbortSignal | undefined,
): Promise<Failure> {
  const first = firstRequest(means.access)
  if (first === undefined || first.grant !== refused.evidence['grant']) return refused
  const { instance, route } = means.line
  if (route.proxy === undefined) return refused
  for (let asked = 1; asked <= MOST_LOGINS; asked += 1) {
    const token = await tokenOrNone(means, first, signal)
    if (token !== undefined) return failure('SERVICENOW_PARTLY_ALLOWED', { instance, allowed: 1, asked: asked + 1 })
  }
  return refused
}

async function tokenOrNone(
  means: ComparisonMeans,
  request: TokenRequest,
  signal: AbortSignal | undefined,
): Promise<Tokens | undefined> {
  try {
    return await means.callForTokens(request, { signal, isFresh: true })
  } catch (error) {
    if (isSluiceError(error) && error.code === 'SERVICENOW_TOKEN_REFUSED') return undefined
    throw error
  }
}

function isMixed({ letIn, refusedAddress, known, unknown }: AnswersSeen): boolean {
  return (letIn > 0 && refusedAddress > 0) || (known > 0 && unknown > 0)
}

/** One connection was refused before. Returns undefined if enough agree now that the refusal has passed. */
function partly({ instance, route }: InstanceHttp, allowed: number, { asked }: AnswersSeen): Failure | undefined {
  if (allowed === asked && (asked >= ENOUGH || route.proxy === undefined)) return undefined
  return failure('SERVICENOW_PARTLY_ALLOWED', { instance, allowed, asked: allowed === asked ? asked + 1 : asked })
}

/** Names a refusal by a REST API access policy or by adaptive authentication. */
function byPolicy({ instance }: InstanceHttp, observed: string): Failure {
  return failure('SERVICENOW_ADDRESS_REFUSED', { instance, observed, status: 401 })
}
