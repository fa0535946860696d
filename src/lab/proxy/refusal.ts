/** An answer of the proxy's own. */
export interface Refusal {
  readonly status: 400 | 403 | 407 | 502 | 504
  /** For Proxy-Status (RFC 9209), which separates the proxy's answers from the target's. */
  readonly error: string
  /** Whether a planted fault refuses what is right. */
  readonly isPlanted?: boolean
}

const reasons = {
  400: 'Bad Request',
  403: 'Forbidden',
  407: 'Proxy Authentication Required',
  502: 'Bad Gateway',
  504: 'Gateway Timeout',
} as const

const meanings: Readonly<Record<string, string>> = {
  http_request_denied: 'missing or wrong user name or password',
  http_request_error: 'not a request for a proxy',
  destination_ip_prohibited: 'the lab connects only to this machine',
  destination_ip_unroutable: 'the target cannot be reached from an IPv4 address',
  dns_error: 'the proxy knows no such host',
  connection_timeout: 'the target does not answer',
  connection_refused: 'the target refuses connections',
  connection_terminated: 'the connection to the target broke',
}

/** Returns why the proxy refuses, in words. */
export function meaningOf({ error, isPlanted = false }: Omit<Refusal, 'status'>): string {
  return isPlanted ? 'a planted fault: login' : (meanings[error] ?? error)
}

/** Returns the answer for an unreachable target. */
export function refusalFor(refused: 'forbidden' | 'unknown' | 'unreachable'): Refusal {
  if (refused === 'forbidden') return { status: 403, error: 'destination_ip_prohibited' }
  return { status: 502, error: refused === 'unknown' ? 'dns_error' : 'destination_ip_unroutable' }
}

/** Header lines of a refusal, and its short body. */
export function refusalParts({ status, error }: Refusal): {
  headers: Record<string, string>
  body: string
  reason: string
} {
  const reason = reasons[status]
  const body = `${reason}: ${error}\n`
  return {
    reason,
    body,
    headers: {
      'content-type': 'text/plain',
      'content-length': String(body.length),
      'proxy-status': `sluice-lab; error=${error}`,
      ...(status === 407 && { 'proxy-authenticate': 'Basic realm="static-proxy"' }),
    },
  }
}

/** A whole answer, after which the connection ends. */
export function refusalText(refusal: Refusal): string {
  const { headers, body, reason } = refusalParts(refusal)
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${refusal.status} ${reason}\r\n${lines.join('')}\r\n${body}`
}
