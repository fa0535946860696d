import { lookup } from 'node:dns/promises'
import { connect, isIP } from 'node:net'
import { type Failure, failure } from '../../../failure/failure.js'
import { established } from '../../../proxy/established.js'
import type { ProxyUrl } from '../../../proxy/proxy-url.js'
import { textOf } from '../../../proxy/name-error.js'
import type { Context } from '../../context.js'
import type { Probe } from '../../probe.js'

/** The proxy's name and port: DNS and TCP. */
export const proxyAddress: Probe = {
  name: 'proxy address',
  leaveOut: ({ way }) => (way.proxy === undefined ? 'no proxy is set' : undefined),
  look: async context => {
    const { proxy } = context.way
    if (proxy === undefined) throw new Error('looked for the address of no proxy')
    const [addresses, problem] = await Promise.all([resolve(proxy, context), reach(proxy, context)])
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
  const found = await within(lookup(host, { all: true }), limitMs).catch(() => undefined)
  return found?.map(({ address }) => address) ?? []
}

async function reach(proxy: ProxyUrl, { limitMs, signal }: Context): Promise<Failure | undefined> {
  const socket = connect({ host: proxy.host, port: proxy.port })
  const destroy = (): void => void socket.destroy()
  signal?.addEventListener('abort', destroy)
  try {
    const reached = await within(
      established(socket, 'connect').then(() => true),
      limitMs,
    )
    if (reached === true) return undefined
    const problem = `nothing answers on that port within ${limitMs} ms`
    return failure('PROXY_UNREACHABLE', { proxy: proxy.display, problem })
  } catch (error) {
    return failure('PROXY_UNREACHABLE', { proxy: proxy.display, problem: textOf(error) })
  } finally {
    signal?.removeEventListener('abort', destroy)
    socket.destroy()
  }
}

/** Returns the result of some work, or undefined if it takes longer than `ms`. Late rejections are ignored. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => (timer = setTimeout(() => resolve(undefined), ms)))
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
