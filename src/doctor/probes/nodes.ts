import { askAddress } from '../../cluster/egress-check.js'
import { nameRefusal } from '../../cluster/name-refusal.js'
import { whoAnswered } from '../../cluster/who-answered.js'
import { type Failure, failure } from '../../failure/failure.js'
import { isSluiceError } from '../../failure/sluice-error.js'
import { type ProxyUrl, parseProxyUrl } from '../../proxy/proxy-url.js'
import type { Context } from '../context.js'
import type { NodeSeen } from '../facts.js'
import type { Probe } from '../probe.js'

/** Each node of the pair by itself: it always leaves from one address, so that the address is known that is refused. */
export const nodes: Probe = {
  name: 'each node alone',
  leaveOut: ({ options, way }, facts) => {
    if (way.proxy === undefined) return 'no proxy is set'
    if ((options.nodes ?? []).length === 0) return 'no node is given (--nodes)'
    return facts.plaintext === undefined && facts.hosts?.clusterIsProxy !== true
      ? undefined
      : 'the cluster cannot be asked'
  },
  look: async context => {
    const seen = await Promise.all((context.options.nodes ?? []).map(url => seeNode(context, url)))
    return {
      detail: seen.map(tellNode).join(', '),
      failed: seen.some(({ verdict }) => verdict !== 'allowed'),
      facts: { nodes: seen },
    }
  },
}

async function seeNode(context: Context, url: string): Promise<NodeSeen> {
  let proxy: ProxyUrl
  try {
    proxy = parseProxyUrl(url, '--nodes')
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { node: 'of --nodes', verdict: 'failed', failure: error.failure }
  }
  const [address, judged] = await Promise.all([askNode(context, proxy), judgeNode(context, proxy)])
  return { node: proxy.display, ...(address === undefined ? {} : { address }), ...judged }
}

/** From which address it leaves; undefined where nobody tells. */
export async function askNode(
  { openRoute, options, limitMs, signal }: Context,
  proxy: ProxyUrl,
): Promise<string | undefined> {
  if (options.ipCheckUrl === undefined) return undefined
  await using route = openRoute({ target: new URL(options.ipCheckUrl), proxy })
  try {
    const asked = await askAddress(route, { timeoutMs: limitMs, ...(signal === undefined ? {} : { signal }) })
    return asked.address
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return undefined
  }
}

/** Without the cluster's credentials: a filter judges the address alone, and comes first. */
async function judgeNode(context: Context, proxy: ProxyUrl): Promise<Pick<NodeSeen, 'verdict' | 'failure'>> {
  await using route = context.openRoute({ proxy })
  const answer = await context.ask(route, { path: `${context.prefix}/` })
  if ('code' in answer) return { verdict: 'failed', failure: answer }
  const answered = whoAnswered(answer, route)
  if (answered.by === 'elasticsearch') return { verdict: 'allowed' }
  const named: Failure = nameRefusal(answer, answered, context.cluster)
  if (answered.by !== 'filter') return { verdict: 'failed', failure: named }
  return {
    verdict: 'refused',
    failure: failure('EGRESS_NOT_ALLOWED', {
      ...named.evidence,
      cluster: context.cluster,
      refused: 1,
      probes: 1,
      observed: answered.message,
    }),
  }
}

export function tellNode({ node, address, verdict, failure: named }: NodeSeen): string {
  const which = address ?? node
  if (verdict === 'allowed') return `${which} is let in`
  return verdict === 'refused' ? `${which} is refused` : `${which}: ${named?.message ?? 'failed'}`
}
