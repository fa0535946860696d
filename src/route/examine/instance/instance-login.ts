import { type Failure, failure } from '../../../base/failure/failure.js'
import { type Access, apiKeyHeader, basicHeader, type OauthAccess } from '../../servicenow/choose-access.js'
import { checkedInstance, type Probe } from '../context.js'
import type { LoginSeen } from '../facts.js'
import type { InstanceContext } from '../instance-context.js'
import { orFailure } from '../means.js'
import { instanceProblem } from '../obstacles.js'
import { ofApiKey } from '../../servicenow/calls/judge-refusal.js'
import { pathOf, whyUnknown } from './instance-table.js'

/**
 * Tests the credentials. Wrong passwords lock a user out, so each kind of login is tried once: the token call, Basic
 * at the Table API, Basic at another API. Repeats only attempts that cannot lock the user out.
 */
export const instanceLogin: Probe = {
  name: 'login to the instance',
  leaveOut: (_, facts) => {
    const { refused = 0, allowed = 0, status } = facts.instanceDoor ?? {}
    const isClosed = refused > 0 && (allowed > 0 || status !== 401)
    return instanceProblem(facts) ?? (isClosed ? 'the instance refuses the address before the login' : undefined)
  },
  look: async context => {
    const instance = checkedInstance(context)
    const { access } = instance.way
    const seen = await seeLogin(instance, access)
    return {
      detail: tell(access, seen, instance),
      failed: seen.failure !== undefined || (seen.tokens !== undefined && seen.tokens.given < seen.tokens.asked),
      facts: { instanceLogin: seen },
    }
  },
}

/** Most calls, once it is certain that they cannot lock the user out. */
export const TOKEN_CALLS = 8

type Tried = LoginSeen['tried'][number][]

async function seeLogin(instance: InstanceContext, access: Access): Promise<LoginSeen> {
  if (access.grant === 'basic') return await seeBasic(instance, access)
  if (access.grant === 'api_key') return await seeApiKey(instance, apiKeyHeader(access.apiKey))
  return await seeToken(instance, access)
}

async function seeApiKey(instance: InstanceContext, header: string): Promise<LoginSeen> {
  const tried: Tried = ['an API key at the Table API']
  const refused = await refusalOf(instance, header, pathOf(instance.table))
  if (refused === undefined) {
    instance.proved.authorization = header
    return { isTaken: true, tried }
  }
  const isKey = refused.code === 'SERVICENOW_AUTH_REJECTED'
  return { isTaken: false, tried, failure: isKey ? ofApiKey(refused) : refused }
}

async function seeToken(instance: InstanceContext, access: OauthAccess): Promise<LoginSeen> {
  const tried: Tried = ['the token call']
  const first = await orFailure(instance.session.authorization())
  if ('given' in first) {
    instance.proved.authorization = first.given
    return { isTaken: true, tried }
  }
  const { failure: refused } = first
  if (refused.code !== 'SERVICENOW_TOKEN_REFUSED') return { isTaken: false, tried, failure: refused }
  const otherwise = await seeOtherwise(instance, access, tried)
  const isHarmless = access.grant === 'client_credentials' || otherwise === 'user'
  if (!isHarmless || instance.connections === 1) return { isTaken: false, failure: refused, tried, otherwise }
  for (let asked = 2; asked <= TOKEN_CALLS; asked += 1) {
    const next = await orFailure(instance.session.authorization())
    if ('failure' in next) continue
    instance.proved.authorization = next.given
    return { isTaken: true, tokens: { asked, given: 1 }, tried, otherwise }
  }
  return { isTaken: false, failure: refused, tokens: { asked: TOKEN_CALLS, given: 0 }, tried, otherwise }
}

/** Finds the right half of the credentials, as far as another kind of login shows it. */
async function seeOtherwise(
  instance: InstanceContext,
  access: OauthAccess,
  tried: Tried,
): Promise<LoginSeen['otherwise']> {
  if (access.grant === 'password') {
    tried.push('Basic authentication at the Table API')
    if ((await refusalOf(instance, basicHeader(access), pathOf(instance.table))) === undefined) return 'user'
  }
  const { secret } = access.client
  if (access.grant === 'client_credentials' || secret === undefined) return undefined
  tried.push('a token call with client_credentials')
  const token = await orFailure(instance.callForTokens({ grant: 'client_credentials' }))
  return 'given' in token ? 'client' : undefined
}

async function seeBasic(instance: InstanceContext, access: Extract<Access, { grant: 'basic' }>): Promise<LoginSeen> {
  const { proved, table } = instance
  const tried: Tried = ['Basic authentication at the Table API']
  const header = basicHeader(access)
  const refused = await refusalOf(instance, header, pathOf(table))
  if (refused === undefined) {
    proved.authorization = header
    return { isTaken: true, tried }
  }
  if (refused.code !== 'SERVICENOW_AUTH_REJECTED') return { isTaken: false, tried, failure: refused }
  // A policy of the Table API refuses addresses in the same words. Another API has other policies.
  tried.push('Basic authentication at another API')
  if ((await refusalOf(instance, header, `/api/now/stats/${table}`)) === undefined) {
    proved.authorization = header
    return { isTaken: true, tried, otherwise: 'other API' }
  }
  const { client, username, password } = access
  if (client === undefined) return { isTaken: false, tried, failure: refused }
  tried.push('the token call')
  const token = await orFailure(instance.callForTokens({ grant: 'password', username, password }))
  if ('failure' in token) return { isTaken: false, tried, failure: refused }
  proved.authorization = `Bearer ${token.given.accessToken}`
  const observed = 'the same user gets a token'
  const forbidden = failure('SERVICENOW_BASIC_FORBIDDEN', { instance: instance.display, observed })
  // The use of the token decides between Basic authentication and the address.
  return { isTaken: true, tried, failure: forbidden, otherwise: 'token' }
}

/** Returns undefined if the credentials are right. */
async function refusalOf(instance: InstanceContext, authorization: string, path: string): Promise<Failure | undefined> {
  await using line = instance.openLine()
  const { answer } = await line.ask(path, { authorization })
  return whyUnknown(answer, instance.table, line)
}

function tell(
  { grant }: Access,
  { failure: refused, tokens, otherwise }: LoginSeen,
  instance: InstanceContext,
): string {
  if (tokens !== undefined && tokens.given > 0) return 'the instance refuses one token call and accepts the next'
  if (refused !== undefined) return refused.message
  if (grant === 'api_key') return 'an API key'
  if (grant !== 'basic')
    return instance.tokenCalls() === 0 ? 'with the stored token' : `a token from the ${grant} grant`
  return otherwise === 'other API' ? 'Basic authentication works, but not for the Table API' : 'Basic authentication'
}
