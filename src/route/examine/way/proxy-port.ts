import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type Failure, failure } from '../../../base/failure/failure.js'
import type { ProxyUrl } from '../../proxy/proxy-url.js'
import type { Context, Probe } from '../context.js'
import { describeCertificate } from '../certificate.js'
import { askOthers, noteDate } from '../means.js'
import { knockAt, portSpeaks, type Spoken } from '../../proxy/port-speaks.js'

export const proxyAddress: Probe = {
  name: 'proxy address',
  leaveOut: ({ way }) => (way.proxy === undefined ? 'no proxy is set' : undefined),
  look: async context => {
    const { proxy } = context.way
    if (proxy === undefined) throw new Error('looked for the address of no proxy')
    const reached = askOthers(
      context,
      async until => await reach(proxy, context.limitMs, until),
      problem => problem !== undefined,
    )
    const [addresses, problem] = await Promise.all([resolve(proxy, context), reached])
    const at = `${proxy.host}:${proxy.port}`
    const resolved = isIP(proxy.host) !== 0 || addresses.length === 0 ? '' : ` (${addresses.join(', ')})`
    return {
      detail: problem?.message ?? `${at} accepts connections${resolved}`,
      failed: problem !== undefined,
      facts: { address: { addresses, failure: problem } },
    }
  },
}

/** Resolves the name for the report. A connection resolves it again. */
async function resolve({ host }: ProxyUrl, { limitMs }: Context): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  const found = await within(lookup(host, { all: true }), limitMs, []).catch(() => [])
  return found.map(({ address }) => address)
}

async function reach(proxy: ProxyUrl, limitMs: number, signal: AbortSignal): Promise<Failure | undefined> {
  using knock = knockAt(proxy, signal)
  const late = `nothing answers on that port within ${limitMs} ms`
  const problem = await within(knock.problem, limitMs, late)
  return problem === undefined ? undefined : failure('PROXY_UNREACHABLE', { proxy: proxy.display, problem })
}

/** Returns the result of some work, or `late` if it takes longer than `ms`. Late rejections are ignored. */
async function within<T>(work: Promise<T>, ms: number, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<T>(settle => (timer = setTimeout(() => settle(late), ms)))
  return await Promise.race([work, over]).finally(() => clearTimeout(timer))
}

/** A proxy answers its first bytes at once, or waits for others. */
const FIRST_BYTES_MS = 1_500

/** Compares the protocol that the port speaks with the scheme of the URL. */
export const proxyProtocol: Probe = {
  name: 'proxy protocol',
  leaveOut: ({ way }, { address }) => {
    if (way.proxy === undefined) return 'no proxy is set'
    return address?.failure === undefined ? undefined : 'the proxy cannot be reached'
  },
  look: async context => {
    const { way, limitMs, signal, requests, patience } = context
    const { proxy } = way
    if (proxy === undefined) throw new Error('asked the protocol of no proxy')
    const { host, port, scheme } = proxy
    const { spoken, isPrompt, certificate, date, webServer } = await portSpeaks(scheme, {
      host,
      port,
      // Many ports stay silent to a foreign protocol, so more patience would only cost time.
      promptMs: Math.min(limitMs, FIRST_BYTES_MS),
      limitMs: Math.min(limitMs, FIRST_BYTES_MS * patience),
      onAsk: () => void (requests.sent += 1),
      signal,
    })
    noteDate(context, date, 'the proxy')
    const problem = nameMismatch(proxy, spoken)
    return {
      detail: problem?.message ?? tell(proxy, spoken),
      failed: problem !== undefined,
      facts: {
        port: {
          spoken,
          isPrompt,
          webServer,
          failure: problem,
          certificate: certificate && describeCertificate(certificate),
        },
      },
    }
  },
}

/** A silent port is no mismatch. The connection will show what it is. */
function nameMismatch({ display: proxy, scheme }: ProxyUrl, spoken: Spoken): Failure | undefined {
  if (spoken === scheme || spoken === 'unknown') return undefined
  const observed = `it answered like ${names[spoken]}`
  const wantsSocks = scheme === 'socks5' || scheme === 'socks5s'
  const wantsTls = scheme === 'https' || scheme === 'socks5s'
  const isSocks = spoken === 'socks5' || spoken === 'socks5s'
  if (spoken !== 'tls' && wantsSocks !== isSocks) {
    return failure(wantsSocks ? 'PROXY_PORT_IS_HTTP' : 'PROXY_PORT_IS_SOCKS', { proxy, observed })
  }
  // Something inside TLS, as the scheme says, that did not show itself.
  if (spoken === 'tls' && wantsTls) return undefined
  const told = wantsTls ? 'does not speak TLS' : 'expects TLS'
  return failure('PROXY_TLS_MISMATCH', { proxy, observed: `its port ${told}, but the URL says ${scheme}://` })
}

const names: Readonly<Record<Spoken, string>> = {
  http: 'HTTP',
  https: 'HTTP inside TLS',
  socks5: 'SOCKS5',
  socks5s: 'SOCKS5 inside TLS',
  tls: 'TLS',
  unknown: 'nothing known',
}

function tell({ scheme }: ProxyUrl, spoken: Spoken): string {
  if (spoken === scheme) return `${names[spoken]}, as in the URL`
  return spoken === 'tls' ? 'TLS, as in the URL' : 'its answer does not show the protocol'
}
