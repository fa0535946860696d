import { type Failure, failure } from '../../../failure/failure.js'
import { isSluiceError } from '../../../failure/sluice-error.js'
import { type Access, basicHeader, type Password } from '../../../servicenow/choose-access.js'
import type { TokenRequest } from '../../../servicenow/login/token-call.js'
import type { Tokens } from '../../../servicenow/login/tokens.js'
import { checkedInstance, type Context, type InstanceContext, type Probe } from '../../context.js'
import { askInstance } from '../../ask.js'
import type { Login, LoginSeen } from '../../instance-facts.js'
import { isKnown, pathOf } from './instance-table.js'
import { instanceProblem } from '../../facts.js'

/**
 * Tests the credentials. Wrong passwords lock a user out, so each kind of login is tried once: the token call, Basic
 * at the Table API, Basic at another API. Only attempts that lock nobody out are repeated.
 */
export const instanceLogin: Probe = {
  name: 'login at the instance',
  leaveOut: (_, facts) => {
    const { refused = 0, allowed = 0, status } = facts.instanceDoor ?? {}
    const isClosed = refused > 0 && (allowed > 0 || status !== 401)
    return instanceProblem(facts) ?? (isClosed ? 'the instance refuses the address before the login' : undefined)
  },
  look: async context => {
    const instance = checkedInstance(context)
    const { access } = instance.way
    const seen =
      access.grant === 'basic' ? await seeBasic(context, instance, access) : await seeToken(context, instance, access)
    return {
      detail: tell(access, seen, instance),
      failed: seen.failure !== undefined || (seen.tokens !== undefined && seen.tokens.given < seen.tokens.asked),
      facts: { instanceLogin: seen },
    }
  },
}

/** Most calls, once it is certain that they lock nobody out. */
export const TOKEN_CALLS = 8

type OauthAccess = Exclude<Access, { grant: 'basic' }>

async function seeToken(context: Context, instance: InstanceContext, access: OauthAccess): Promise<LoginSeen> {
  const tried: Login[] = ['the token call']
  const first = await askForToken(instance)
  if ('authorization' in first) {
    instance.proved.authorization = first.authorization
    return { isTaken: true, tried }
  }
  const { failure: refused } = first
  if (refused.code !== 'SERVICENOW_TOKEN_REFUSED') return { isTaken: false, tried, failure: refused }
  const otherwise = await seeOtherwise(context, instance, access, tried)
  const told = otherwise === undefined ? { tried } : { tried, otherwise }
  const isHarmless = access.grant === 'client_credentials' || otherwise === 'user'
  if (!isHarmless || instance.connections === 1) return { isTaken: false, failure: refused, ...told }
  for (let asked = 2; asked <= TOKEN_CALLS; asked += 1) {
    const next = await askForToken(instance)
    if (!('authorization' in next)) continue
    instance.proved.authorization = next.authorization
    return { isTaken: true, tokens: { asked, given: 1 }, ...told }
  }
  return { isTaken: false, failure: refused, tokens: { asked: TOKEN_CALLS, given: 0 }, ...told }
}

async function askForToken({ session }: InstanceContext): Promise<{ authorization: string } | { failure: Failure }> {
  try {
    return { authorization: await session.authorization() }
  } catch (error) {
    return { failure: failureIn(error) }
  }
}

/** Finds the right half of the credentials, as far as another kind of login shows it. */
async function seeOtherwise(
  context: Context,
  instance: InstanceContext,
  access: OauthAccess,
  tried: Login[],
): Promise<LoginSeen['otherwise']> {
  if (access.grant === 'password') {
    tried.push('Basic authentication at the Table API')
    if ((await refusalOf(context, instance, access, pathOf(instance))) === undefined) return 'user'
  }
  const { secret } = access.client
  if (access.grant === 'client_credentials' || secret === undefined) return undefined
  tried.push('a token call of client_credentials')
  return 'accessToken' in (await tokenOf(instance, { grant: 'client_credentials' })) ? 'client' : undefined
}

async function seeBasic(
  context: Context,
  instance: InstanceContext,
  access: Extract<Access, { grant: 'basic' }>,
): Promise<LoginSeen> {
  const { proved } = instance
  const tried: Login[] = ['Basic authentication at the Table API']
  const refused = await refusalOf(context, instance, access, pathOf(instance))
  if (refused === undefined) {
    proved.authorization = basicHeader(access)
    return { isTaken: true, tried }
  }
  if (refused.code !== 'SERVICENOW_AUTH_REJECTED') return { isTaken: false, tried, failure: refused }
  // A policy of the Table API refuses addresses in the same words. Another API has other policies.
  tried.push('Basic authentication at another API')
  if ((await refusalOf(context, instance, access, `/api/now/stats/${instance.table}`)) === undefined) {
    proved.authorization = basicHeader(access)
    return { isTaken: true, tried, otherwise: 'other API' }
  }
  const { client, username, password } = access
  if (client === undefined) return { isTaken: false, tried, failure: refused }
  tried.push('the token call')
  const token = await tokenOf(instance, { grant: 'password', username, password })
  if (!('accessToken' in token)) return { isTaken: false, tried, failure: refused }
  proved.authorization = `Bearer ${token.accessToken}`
  const observed = 'the same user gets a token'
  const forbidden = failure('SERVICENOW_BASIC_FORBIDDEN', { instance: instance.display, observed })
  // The use of the token decides between Basic authentication and the address.
  return { isTaken: true, tried, failure: forbidden, otherwise: 'token' }
}

async function tokenOf(instance: InstanceContext, request: TokenRequest): Promise<Tokens | Failure> {
  try {
    return await instance.callForTokens(request)
  } catch (error) {
    return failureIn(error)
  }
}

function failureIn(error: unknown): Failure {
  if (isSluiceError(error) && error.code !== 'RUN_INTERRUPTED') return error.failure
  throw error
}

/** Returns undefined if user and password are right. */
async function refusalOf(
  context: Context,
  instance: InstanceContext,
  who: Password,
  path: string,
): Promise<Failure | undefined> {
  await using line = instance.openLine()
  const { answer } = await askInstance(context, line, { path, headers: { authorization: basicHeader(who) } })
  return isKnown(answer, instance, line.judging())
}

function tell(
  { grant }: Access,
  { failure: refused, tokens, otherwise }: LoginSeen,
  instance: InstanceContext,
): string {
  if (tokens !== undefined && tokens.given > 0) return 'the instance refuses one token call and accepts the next'
  if (refused !== undefined) return refused.message
  if (grant !== 'basic')
    return instance.tokenCalls() === 0 ? 'with the stored token' : `a token from the ${grant} grant`
  return otherwise === 'other API' ? 'Basic authentication works, but not for the Table API' : 'Basic authentication'
}
