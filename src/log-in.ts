import { failure } from './failure/failure.js'
import { SluiceError } from './failure/sluice-error.js'
import { type InstanceOptions, instanceSettings } from './open-instance.js'
import { beginAttempt } from './servicenow/authorization-code.js'
import { listenForRedirect } from './servicenow/loopback-redirect.js'
import { openInstance } from './servicenow/open-instance.js'
import { systemClock } from './system-clock.js'

export interface LogInOptions extends InstanceOptions {
  /** Of the redirect URI `http://127.0.0.1:PORT/callback`, which has to be registered at the instance. 0: any. */
  readonly port: number
  /** Has the URL opened in a browser, whose traffic is the user's own: it does not go through the proxy. */
  readonly open: (url: string, redirectUri: string) => void
  /** How long the browser may take, in milliseconds. Default 300,000. */
  readonly waitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What is kept after a login. */
export interface LoggedIn {
  /** Scheme, host and port. */
  readonly instance: string
  /** Where the tokens are. */
  readonly tokenFile: string
  /** Whether they can be renewed without another login. */
  readonly isRenewable: boolean
}

/**
 * Has a person log in at the instance with a browser, and keeps the tokens: the authorization code grant with PKCE. The code is
 * exchanged through the proxy. Throws SluiceError: OPTION_INVALID, SERVICENOW_LOGIN_FAILED, SERVICENOW_TOKEN_REFUSED, STATE_UNWRITABLE,
 * RUN_INTERRUPTED, and what else stands in the way.
 */
export async function logIn(options: LogInOptions): Promise<LoggedIn> {
  const { port, open, clock = systemClock, waitMs = 300_000 } = options
  const settings = instanceSettings({ ...options, servicenow: { ...options.servicenow, grant: 'authorization_code' } })
  const { access, tokens: kept } = settings
  if (access.grant !== 'authorization_code' || kept === undefined) throw invalid('servicenow.tokenFile', 'is not set')
  await using instance = openInstance(settings)
  await using redirect = await listen(port)
  const attempt = beginAttempt(instance.display, access.client.id, redirect.uri)
  const { signal, [Symbol.dispose]: _ } = limited(options.signal)
  open(attempt.url, redirect.uri)
  const brought = await redirect.wait(attempt, signal)
  return { instance: instance.display, tokenFile: kept.place, isRenewable: brought.is === 'code' && clock.now() > waitMs }
}
