/** Finds out which protocol a proxy's port speaks from its first bytes, without credentials and without a target. */
import type { X509Certificate } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { type TLSSocket, connect as connectTls } from 'node:tls'
import type { ProxyScheme, ProxyUrl } from './proxy-url.js'
import { textOf } from './route-error.js'
import { authoritiesOf, established } from './tls-layer.js'

/** The fitting scheme. `tls`: TLS with something unknown inside. `unknown`: none of them. */
export type Spoken = ProxyScheme | 'tls' | 'unknown'

interface PortSeen {
  readonly spoken: Spoken
  /** The port answered the first greeting, in the expected protocol. */
  readonly isPrompt: boolean
  /** Shown by a port that speaks TLS. Not verified. */
  readonly certificate?: X509Certificate | undefined
  /** Those who signed it, and so on. */
  readonly authorities?: readonly X509Certificate[] | undefined
  readonly date?: string | undefined
  /** It answered a request without TLS, and said that it expects TLS. */
  readonly wantsTls?: boolean | undefined
  /** The name of the server, if it answers as a web server does: with a page of its own. */
  readonly webServer?: string | undefined
}

interface Asking {
  readonly host: string
  readonly port: number
  readonly limitMs: number
  /** Limit of the first connection. Default: as for the others. */
  readonly promptMs?: number
  readonly onAsk: () => void
  readonly signal: AbortSignal | undefined
}

/**
 * Greets in the expected protocol first, and in others only if the answer does not fit. So a healthy proxy sees one
 * connection, and no time is lost on a port that stays silent to a foreign protocol.
 */
export async function portSpeaks(expected: ProxyScheme, asking: Asking): Promise<PortSeen> {
  const first = await ask({ ...asking, limitMs: asking.promptMs ?? asking.limitMs }, ...greetingOf(expected))
  if (isKnown(first)) return { ...first, isPrompt: true }
  // The first that is understood settles it: the others would wait for an answer that does not come.
  const settled = new AbortController()
  const signal = AbortSignal.any([settled.signal, ...(asking.signal === undefined ? [] : [asking.signal])])
  const others = await Promise.all(
    greetings.map(async ([overTls, bytes]) => {
      const seen = await ask({ ...asking, signal }, overTls, bytes)
      // A web server with TLS answers this greeting as HTTP, and only a request in words with "use TLS".
      const isGuess = bytes === socksGreeting && seen.spoken === 'http'
      if ((isKnown(seen) && !isGuess) || seen.wantsTls) settled.abort()
      return seen
    }),
  )
  return (
    others.find(({ wantsTls }) => wantsTls) ??
    others.find(isKnown) ??
    others.find(({ spoken }) => spoken === 'tls') ??
    first
  )
}

/** Returns whether the proxy answers a greeting, which needs no target. One of two nodes may be silent to everything. */
export async function answersGreeting(
  { scheme, host, port }: ProxyUrl,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return isKnown(await ask({ host, port, limitMs, onAsk: () => {}, signal }, ...greetingOf(scheme)))
}

/** Connects to a port and says nothing. `problem` resolves to what is wrong, or to undefined. Disposal closes the connection. */
export function knockAt(
  { host, port }: Pick<ProxyUrl, 'host' | 'port'>,
  signal: AbortSignal | undefined,
): Disposable & { readonly problem: Promise<string | undefined> } {
  const socket = connect({ host, port, signal })
  return {
    problem: established(socket, 'connect').then(() => undefined, textOf),
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** Returns what a port shows of itself, its certificate among it. */
export async function lookAtPort(
  { scheme, host, port }: ProxyUrl,
  asking: Omit<Asking, 'host' | 'port'>,
): Promise<PortSeen> {
  return await ask({ ...asking, host, port }, ...greetingOf(scheme))
}

function greetingOf(scheme: ProxyScheme): readonly [isTls: boolean, bytes: Buffer] {
  const isTls = scheme === 'https' || scheme === 'socks5s'
  return [isTls, scheme === 'http' || scheme === 'https' ? httpLine : socksGreeting]
}

function isKnown({ spoken }: PortSeen): boolean {
  return spoken !== 'unknown' && spoken !== 'tls'
}

/** In origin form and for no host: a proxy refuses it, as HTTP. */
const httpLine = Buffer.from('GET / HTTP/1.1\r\nHost: proxy.invalid\r\nConnection: close\r\n\r\n')

/** Offers no authentication, and user name and password. */
const socksGreeting = Buffer.from([5, 2, 0, 2])

const greetings = [true, false].flatMap(isTls => [[isTls, httpLine] as const, [isTls, socksGreeting] as const])

/** One in the protocol of the URL. If it gets no answer, all of them. */
export const GREETINGS = 1 + greetings.length

/** Never rejects. */
async function ask(asking: Asking, isTls: boolean, bytes: Buffer): Promise<PortSeen> {
  const { host, port, limitMs, onAsk, signal } = asking
  onAsk()
  return await new Promise(resolve => {
    let heard = Buffer.alloc(0)
    let certificate: X509Certificate | undefined
    let authorities: readonly X509Certificate[] = []
    const secure: TLSSocket | undefined = isTls
      ? // Nothing is trusted and nothing is told: any certificate will do as an answer.
        connectTls({ host, port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
      : undefined
    const socket: Socket = secure ?? connect({ host, port })
    const settle = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', settle)
      socket.destroy()
      const head = heard.toString('latin1')
      const wantsTls = !isTls && tlsWanted.test(head)
      const spoken = wantsTls ? 'tls' : nameOf(heard, isTls && certificate !== undefined)
      const isPage = /^HTTP\/1\.\d ([23]\d\d|404) /.test(head)
      const webServer = isPage ? /^server: *(.+)$/im.exec(head)?.[1]?.trim() : undefined
      const date = /^date: *(.+)$/im.exec(head)?.[1]?.trim()
      resolve({
        spoken,
        wantsTls,
        isPrompt: false,
        certificate,
        authorities,
        webServer,
        date: spoken === 'unknown' ? undefined : date,
      })
    }
    const timer = setTimeout(settle, limitMs)
    signal?.addEventListener('abort', settle, { once: true })
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      certificate = secure?.getPeerX509Certificate()
      authorities = secure === undefined ? [] : authoritiesOf(secure)
      socket.write(bytes)
    })
    socket.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk])
      if (isWhole(heard)) settle()
    })
    socket.once('error', settle)
    socket.once('close', settle)
  })
}

/** Returns whether the bytes are enough. HTTP needs its whole head, because the date is in it. */
function isWhole(heard: Buffer): boolean {
  const text = heard.toString('latin1', 0, 64 * 1024)
  if (!'HTTP/'.startsWith(text.slice(0, 5))) return heard.length >= 2
  return text.includes('\r\n\r\n') || heard.length >= 64 * 1024
}

/** Matches how nginx, Go and Apache answer a request without TLS at a port with TLS. */
const tlsWanted =
  /plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server|speaking plain HTTP to an SSL/i

function nameOf(heard: Buffer, isTls: boolean): Spoken {
  if (heard.toString('latin1', 0, 5) === 'HTTP/') return isTls ? 'https' : 'http'
  if (heard[0] === 5 && heard.length >= 2) return isTls ? 'socks5s' : 'socks5'
  return isTls ? 'tls' : 'unknown'
}
