/** What an answer of the token endpoint means. Pure. */
import { failure } from '../../failure/failure.js'
import type { Answer } from '../calls/answer.js'
import {
  type Judging,
  describe,
  errorOf,
  isJson,
  isObject,
  judgeRefusal,
  notAnInstance,
  parse,
} from '../calls/judge-refusal.js'
import type { TokenRequest } from './token-call.js'
import { type Tokens, renewAt } from './tokens.js'
import type { Refusal, Verdict } from '../calls/verdict.js'

export function judgeTokenAnswer(answer: Answer, grant: TokenRequest['grant'], judging: Judging): Verdict<Tokens> {
  const refused = judgeRefusal(answer, judging)
  if (refused !== undefined) return refused
  const { status, text } = answer
  const { instance, quote } = judging
  if (status === 202) {
    const named = failure('SERVICENOW_UNREACHABLE', { instance, observed: 'status 202 to the token call', status })
    return { is: 'later', failure: named, undone: false }
  }
  const refuse = (reason: string): Refusal => ({
    is: 'stop',
    failure: failure('SERVICENOW_TOKEN_REFUSED', { instance, grant, reason: quote(reason), status }),
  })
  const value = isJson(answer) ? parse(text) : undefined
  const said = isObject(value) ? reasonIn(value) : undefined
  if (said !== undefined) return refuse(said)
  if (status === 200 && isObject(value) && typeof value['access_token'] === 'string') {
    const { access_token: accessToken, refresh_token: refreshToken, token_type: type, expires_in: expiresIn } = value
    if (accessToken === '' || /[^\x21-\x7e]/.test(accessToken)) return refuse('the access token fits in no header')
    if (typeof type === 'string' && type.toLowerCase() !== 'bearer') return refuse(`a token of the type ${type}`)
    const until = renewAt(expiresIn, judging.now)
    return {
      is: 'done',
      value: {
        accessToken,
        ...(typeof refreshToken === 'string' && refreshToken !== '' ? { refreshToken } : {}),
        ...(until === undefined ? {} : { renewAt: until }),
      },
    }
  }
  // Some refuse without a word of OAuth.
  if (status === 401) return refuse(describe(answer, judging))
  return { is: 'stop', failure: notAnInstance(answer, judging) }
}

/** OAuth's own error, or the envelope of the application. `server_error` is said for wrong credentials too: it does not pass. */
function reasonIn(value: Readonly<Record<string, unknown>>): string | undefined {
  const { error, error_description: description } = value
  if (typeof error !== 'string') return errorOf({ text: JSON.stringify(value) })?.reason
  return typeof description === 'string' && description !== '' ? `${description} (${error})` : error
}

/** Secrets that an answer holds, whatever else it says. */
export function tokensIn({ text }: Answer): string[] {
  const value = parse(text)
  if (!isObject(value)) return []
  return [value['access_token'], value['refresh_token']].filter(token => typeof token === 'string')
}
