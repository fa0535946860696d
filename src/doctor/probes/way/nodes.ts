import { askAddress } from '../../../cluster/egress-check.js'
import { nameRefusal, whoAnswered } from '../../../cluster/answers.js'
import { type Failure, failure } from '../../../failure/failure.js'
import { isSluiceError } from '../../../failure/sluice-error.js'
import { parseProxyUrl, type ProxyUrl } from '../../../proxy/proxy-url.js'
import { checkedInstance, type Context, type Probe, type ProbeResult } from '../../context.js'
import { type Facts, instanceWayProblem } from '../../facts.js'
import type { NodeSeen } from '../../way-facts.js'
import { askForRow } from '../instance/instance-table.js'
import { knock } from '../instance/instance-door.js'

/** Asks each node of the pair. A node always leaves from one address, so the refused address becomes known. */
export const nodes: Probe = {
  name: 'each node alone',
  leaveOut: ({ options, way }, facts) => {
    if (way.proxy === undefined) return 'no proxy is set'
    if (options.nodes.length === 0) return 'no node is given (--nodes)'
    return facts.plaintext === undefined && facts.hosts?.clusterIsProxy !== true
      ? undefined
      : 'the cluster does not answer'
  },
  look: async context => {
    const seen = await seeNodes(context, {
      address: () => undefined,
      judge: async node => await judgeNode(context, node),
    })
    return { ...tellNodes(seen), facts: { nodes: seen } }
  },
}

interface NodeLook {
  /** Returns the egress address of a node, if an earlier probe saw it. */
  address(node: string): string | undefined
  judge(proxy: ProxyUrl): Promise<Pick<NodeSeen, 'verdict' | 'failure'>>
}

async function seeNodes(context: Context, look: NodeLook): Promise<NodeSeen[]> {
  return await Promise.all(context.options.nodes.map(async url => await seeNode(context, url, look)))
}

async function seeNode(context: Context, url: string, look: NodeLook): Promise<NodeSeen> {
  let proxy: ProxyUrl
  try {
    proxy = parseProxyUrl(url, '--nodes')
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { node: 'of --nodes', verdict: 'failed', failure: error.failure }
  }
  const [address, judged] = await Promise.all([
    look.address(proxy.display) ?? askNode(context, proxy),
    look.judge(proxy),
  ])
  return { node: proxy.display, address, ...judged }
}

/** Returns the node's egress address, or undefined if the check does not show it. */
async function askNode({ openRoute, options, limitMs, signal }: Context, proxy: ProxyUrl): Promise<string | undefined> {
  const { ipCheckUrl } = options.connecting
  if (ipCheckUrl === undefined) return undefined
  await using route = openRoute({ target: ipCheckUrl, proxy })
  try {
    const asked = await askAddress(route, { timeoutMs: limitMs, signal })
    return asked.address
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return undefined
  }
}

/** Sends no credentials: the filter comes first and judges only the address. */
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

function tellNodes(seen: readonly NodeSeen[]): Pick<ProbeResult, 'detail' | 'failed'> {
  return { detail: seen.map(tellNode).join(', '), failed: seen.some(({ verdict }) => verdict !== 'allowed') }
}

function tellNode({ node, address, verdict, failure: named }: NodeSeen): string {
  const which = address ?? node
  if (verdict === 'allowed') return `${which} is allowed`
  return verdict === 'refused' ? `${which} is blocked` : `${which}: ${named?.message ?? 'failed'}`
}

/** Asks the instance through each node, to find the refused address. */
export const instanceNodes: Probe = {
  name: 'each node, to the instance',
  leaveOut: ({ options, instance }, facts) => {
    if (instance?.way.proxy === undefined) return 'no proxy is set'
    if (options.nodes.length === 0) return 'no node is given (--nodes)'
    if (facts.instanceAwake?.failure !== undefined) return 'the instance does not answer'
    return instanceWayProblem(facts)
  },
  look: async (context, facts) => {
    const seen = await seeNodes(context, {
      address: display => facts.nodes?.find(({ node }) => node === display)?.address,
      judge: async proxy => await judgeAtInstance(context, facts, proxy),
    })
    return { ...tellNodes(seen), facts: { instanceNodes: seen } }
  },
}

async function judgeAtInstance(
  context: Context,
  { instanceLogin: login, instanceDoor: door }: Facts,
  proxy: ProxyUrl,
): Promise<Pick<NodeSeen, 'verdict' | 'failure'>> {
  const instance = checkedInstance(context)
  await using line = instance.openLine(proxy)
  const { authorization } = instance.proved
  const isGreeting = login?.isTaken === true && door?.allowed === 0
  if (authorization === undefined || login?.isTaken !== true) {
    const { verdict, failure } = await knock(context, line)
    return { verdict, failure }
  }
  const page = isGreeting ? undefined : await knock(context, line)
  if (page !== undefined && page.verdict !== 'allowed') {
    return { verdict: page.verdict, failure: page.failure }
  }
  const { verdict, failure } = await askForRow(context, instance, line, { authorization })
  return { verdict, ...(failure === undefined || verdict === 'allowed' ? {} : { failure }) }
}
