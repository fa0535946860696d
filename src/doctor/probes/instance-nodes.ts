import { isSluiceError } from '../../failure/sluice-error.js'
import { type ProxyUrl, parseProxyUrl } from '../../proxy/proxy-url.js'
import type { Context } from '../context.js'
import type { Facts, NodeSeen } from '../facts.js'
import type { Probe } from '../probe.js'
import { readTable } from '../read-table.js'
import { instanceWayProblem } from '../way-so-far.js'
import { knock } from './instance-door.js'
import { askNode, tellNode } from './nodes.js'

/** Each node of the pair by itself, to the instance: which address it is that is refused there. */
export const instanceNodes: Probe = {
  name: 'each node, to the instance',
  leaveOut: ({ options, instance }, facts) => {
    if (instance?.way.proxy === undefined) return 'no proxy is set'
    if ((options.nodes ?? []).length === 0) return 'no node is given (--nodes)'
    if (facts.instanceAwake?.failure !== undefined) return 'the instance cannot be asked'
    return instanceWayProblem(facts)
  },
  look: async (context, facts) => {
    const seen = await Promise.all((context.options.nodes ?? []).map(url => seeNode(context, facts, url)))
    return {
      detail: seen.map(tellNode).join(', '),
      failed: seen.some(({ verdict }) => verdict !== 'allowed'),
      facts: { instanceNodes: seen },
    }
  },
}

async function seeNode(context: Context, facts: Facts, url: string): Promise<NodeSeen> {
  let proxy: ProxyUrl
  try {
    proxy = parseProxyUrl(url, '--nodes')
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { node: 'of --nodes', verdict: 'failed', failure: error.failure }
  }
  const known = facts.nodes?.find(({ node }) => node === proxy.display)?.address
  const [address, judged] = await Promise.all([known ?? askNode(context, proxy), judgeNode(context, facts, proxy)])
  return { node: proxy.display, ...(address === undefined ? {} : { address }), ...judged }
}

async function judgeNode(
  context: Context,
  { instanceLogin: login, instanceDoor: door }: Facts,
  proxy: ProxyUrl,
): Promise<Pick<NodeSeen, 'verdict' | 'failure'>> {
  const { instance } = context
  if (instance === undefined) throw new Error('asked nodes for no instance')
  await using line = instance.openLine(proxy)
  const { authorization } = instance.proved
  const isGreeting = login?.isTaken === true && door?.allowed === 0
  if (authorization === undefined || login?.isTaken !== true) {
    const { verdict, failure } = await knock(context, line)
    return { verdict, ...(failure === undefined ? {} : { failure }) }
  }
  const page = isGreeting ? undefined : await knock(context, line)
  if (page !== undefined && page.verdict !== 'allowed') {
    return { verdict: page.verdict, ...(page.failure === undefined ? {} : { failure: page.failure }) }
  }
  const { verdict, failure } = await readTable(context, instance, line, { authorization })
  return { verdict, ...(failure === undefined || verdict === 'allowed' ? {} : { failure }) }
}
