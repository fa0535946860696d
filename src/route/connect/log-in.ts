import type { Clock } from '../../base/flow.js'
import { type InstanceOptions, instanceSettings } from './open-servicenow.js'
import {
  type Attempt,
  beginAttempt,
  type Brought,
  listenForRedirect,
  type LoopbackRedirect,
} from '../servicenow/login/authorization-code.js'
import { abortedByCaller } from '../servicenow/calls/persist.js'
import { openInstance } from '../servicenow/open-instance.js'
import { systemClock } from '../../base/time/clock.js'
import { fail } from '../../base/failure/failure.js'

interface LogInOptions extends InstanceOptions {
  /** Port of the redirect URI `http://127.0.0.1:PORT/callback`, which the instance must know. 0: any free port. */
  readonly port: number
  /** Opens the URL in a browser. The browser's traffic does not go through the proxy. */
  readonly open: (url: string, redirectUri: string) => void
  /** How long the browser may take, in milliseconds. Default 300,000. */
  readonly waitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface LoggedIn {
  /** Scheme, host and port. */
  readonly instance: string
  readonly tokenFile: string
  /** Whether Sluice can renew the tokens without another login. */
  readonly isRenewable: boolean
}

/**
 * Lets a person log in at the instance with a browser, and keeps the tokens: the authorization code grant with PKCE. Exchanges the
 * code through the proxy. Throws SluiceError: OPTION_INVALID, SERVICENOW_LOGIN_FAILED, SERVICENOW_TOKEN_REFUSED, STATE_UNWRITABLE,
 * RUN_INTERRUPTED, or a failure of the route.
 */
export async function logIn(options: LogInOptions): Promise<LoggedIn> {
  const { port, open, clock = systemClock, waitMs = 300_000 } = options
  const settings = instanceSettings({ ...options, servicenow: { ...options.servicenow, grant: 'authorization_code' } })
  const { access, tokens: kept } = settings
  if (access.grant !== 'authorization_code' || kept === undefined) {
    throw fail('OPTION_INVALID', { option: 'servicenow.tokenFile', problem: 'is not set' })
  }
  await using instance = openInstance(settings)
  await using redirect = await listen(port)
  const { id } = access.client
  const attempt = beginAttempt(instance.display, id, redirect.uri)
  const bringing = comeBack(redirect, attempt, clock, waitMs, options.signal)
  open(attempt.url, redirect.uri)
  const brought = await bringing
  const failed = (reason: string) => fail('SERVICENOW_LOGIN_FAILED', { instance: instance.display, reason })
  if (brought === undefined) throw failed(`the browser did not return within ${Math.round(waitMs / 1000)} s`)
  if (brought.is === 'refusal') throw failed(instance.line.judging().quote(brought.reason))
  const { codeVerifier, redirectUri } = attempt
  const request = { grant: 'authorization_code', code: brought.code, redirectUri, codeVerifier } as const
  const tokens = await instance.callForTokens(request, { signal: options.signal })
  await kept.store.exclusively(async () => await Promise.resolve(tokens))
  return {
    instance: instance.display,
    tokenFile: kept.place,
    isRenewable: tokens.refreshToken !== undefined,
  }
}

/** Returns undefined if the time is over. Throws SluiceError RUN_INTERRUPTED. */
async function comeBack(
  redirect: LoopbackRedirect,
  attempt: Attempt,
  clock: Clock,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<Brought | undefined> {
  const over = new AbortController()
  const until = AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])])
  // Rejects once the login is over. By then the caller has its answer.
  void clock.sleep(waitMs, until).then(
    () => over.abort(),
    () => {},
  )
  try {
    return await redirect.wait(attempt, until)
  } catch (error) {
    if (signal?.aborted === true) throw abortedByCaller(signal)
    if (over.signal.aborted) return undefined
    throw error
  } finally {
    over.abort()
  }
}

async function listen(port: number): Promise<LoopbackRedirect> {
  try {
    return await listenForRedirect(port)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const problem =
      code === 'EADDRINUSE'
        ? `${port} is in use by another program. Choose a free one, and register its redirect URL at the instance`
        : `Sluice cannot listen on ${port} (${code})`
    throw fail('OPTION_INVALID', { option: 'port', problem }, { cause: error })
  }
}
