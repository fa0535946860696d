import { type Failure, failure } from '../../failure/failure.js'
import { isSluiceError } from '../../failure/sluice-error.js'
import { type Access, type Password, basicHeader } from '../../servicenow/access.js'
import type { Context } from '../context.js'
import { type InstanceContext, askInstance } from '../instance-context.js'
import type { LoginSeen } from '../instance-facts.js'
import type { Probe } from '../probe.js'
import { isKnown, pathOf } from '../read-table.js'
import { instanceProblem } from '../way-so-far.js'

/**
 * Whether the credentials are taken. Wrong passwords lock a user out, so each kind of login is tried once: the token call, Basic at
 * the Table API, Basic at another API. Only what locks nobody out is tried again.
 */
export const instanceLogin: Probe = {
  name: 'login at the instance',
  leaveOut: (_, facts) => {
    const { refused = 0, allowed = 0, status } = facts.instanceDoor ?? {}
    const isClosed = refused > 0 && (allowed > 0 || status !== 401)
    return instanceProblem(facts) ?? (isClosed ? 'the address is refused: nobody is asked who it is' : undefined)
  },
  look: async context => {
    const { instance } = context
    if (instance === undefined) throw new Error('logged in at no instance')
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

/** Calls that are made in all, once it is certain that they lock nobody out. */
export const TOKEN_CALLS = 8

type OauthAccess = Exclude<Access, { grant: 'basic' }>

async function seeToken(context: Context, instance: InstanceContext, access: OauthAccess): Promise<LoginSeen> {
  const first = await askForToken(instance)
  if ('authorization' in first) {
    instance.proved.authorization = first.authorization
    return { isTaken: true }
  }
  const { failure: refused } = first
  if (refused.code !== 'SERVICENOW_TOKEN_REFUSED') return { isTaken: false, failure: refused }
  const otherwise = await seeOtherwise(context, instance, access)
  const isHarmless = access.grant === 'client_credentials' || otherwise === 'user'
  const told = otherwise === undefined ? {} : { otherwise }
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
    if (!isSluiceError(error) || error.code === 'RUN_INTERRUPTED') throw error
    return { failure: error.failure }
  }
}

/** Which half is right, as far as another kind of login tells. */
async function seeOtherwise(
  context: Context,
  instance: InstanceContext,
  access: OauthAccess,
): Promise<LoginSeen['otherwise']> {
  if (access.grant === 'password' && (await isTakenBy(context, instance, access, pathOf(instance)))) return 'user'
  if (access.grant === 'client_credentials' || access.client.secret === undefined) return undefined
  const token = await instance.callForTokens({ grant: 'client_credentials' }).catch((error: unknown) => {
    if (isSluiceError(error) && error.code !== 'RUN_INTERRUPTED') return undefined
    throw error
  })
  return token === undefined ? undefined : 'client'
}

async function seeBasic(
  context: Context,
  instance: InstanceContext,
  access: Extract<Access, { grant: 'basic' }>,
): Promise<LoginSeen> {
  const authorization = basicHeader(access)
  const taken = (otherwise?: LoginSeen['otherwise']): LoginSeen => {
    instance.proved.authorization = authorization
    return { isTaken: true, ...(otherwise === undefined ? {} : { otherwise }) }
  }
  const refused = await refusalOf(context, instance, access, pathOf(instance))
  if (refused === undefined) return taken()
  if (refused.code !== 'SERVICENOW_AUTH_REJECTED') return { isTaken: false, failure: refused }
  // A policy of the Table API refuses addresses with the same words; another API has other policies.
  if (await isTakenBy(context, instance, access, `/api/now/stats/${instance.table}`)) return taken('other API')
  const { client, username, password } = access
  if (client === undefined) return { isTaken: false, failure: refused }
  try {
    const { accessToken } = await instance.callForTokens({ grant: 'password', username, password })
    instance.proved.authorization = `Bearer ${accessToken}`
    const observed = 'the same user gets a token'
    const forbidden = failure('SERVICENOW_BASIC_FORBIDDEN', { instance: instance.display, observed })
    // What becomes of the token tells whether it is that, or the address.
    return { isTaken: true, failure: forbidden, otherwise: 'token' }
  } catch (error) {
    if (!isSluiceError(error) || error.code === 'RUN_INTERRUPTED') throw error
    return { isTaken: false, failure: refused }
  }
}

async function isTakenBy(context: Context, instance: InstanceContext, who: Password, path: string): Promise<boolean> {
  return (await refusalOf(context, instance, who, path)) === undefined
}

/** Undefined: user and password are right, whatever else was said. */
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
  if (tokens !== undefined && tokens.given > 0) return 'a token call is refused, and the same one is answered'
  if (refused !== undefined) return refused.message
  if (grant !== 'basic')
    return instance.tokenCalls() === 0 ? 'with the token that is kept' : `a token, by the ${grant} grant`
  return otherwise === 'other API' ? 'Basic authentication is taken, but not by the Table API' : 'Basic authentication'
}
