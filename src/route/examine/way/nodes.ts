import { askAddress } from '../../cluster/egress-check.js'
import { nameRefusal, whoAnswered } from '../../cluster/answers.js'
import { isSluiceError } from '../../../base/failure/failure.js'
import { parseProxyUrl, type ProxyUrl } from '../../proxy/proxy-url.js'
import { checkedInstance, type Context, type Probe, type ProbeResult } from '../context.js'
import type { Facts, NodeSeen } from '../facts.js'
import { orFailure } from '../means.js'
import { instanceWayProblem } from '../obstacles.js'
import { askForRow } from '../instance/instance-table.js'
import { knock } from '../instance/instance-door.js'

/** Asks each node of the pair. A node always leaves from one address, so the refused address becomes known. */
export const nodes: Probe = {
  name: 'each node separately',
  leaveOut: ({ options, way }, facts) => {
    if (way.proxy === undefined) return 'no proxy is set'
    if (options.nodes.length === 0) return 'no node is given (--nodes)'
    return facts.plaintext === undefined && facts.hosts?.clusterIsProxy !== true
      ? undefined
      : 'the cluster does not answer'
  },
  look: async context => {
    const seen = await seeNodes(context, [], async node => await judgeNode(context, node))
    return { ...tellNodes(seen), facts: { nodes: seen } }
  },
}

type JudgeNode = (proxy: ProxyUrl) => Promise<Pick<NodeSeen, 'verdict' | 'failure'>>

/** `known`: nodes whose address an earlier probe saw. */
async function seeNodes(context: Context, known: readonly NodeSeen[], judge: JudgeNode): Promise<NodeSeen[]> {
  return await Promise.all(context.options.nodes.map(async url => await seeNode(context, url, known, judge)))
}

async function seeNode(context: Context, url: string, known: readonly NodeSeen[], judge: JudgeNode): Promise<NodeSeen> {
  let proxy: ProxyUrl
  try {
    proxy = parseProxyUrl(url, '--nodes')
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { node: 'of --nodes', verdict: 'failed', failure: error.failure }
  }
  const node = proxy.display
  const seen = known.find(one => one.node === node)?.address
  const [address, judged] = await Promise.all([seen ?? askNode(context, proxy), judge(proxy)])
  return { node, address, ...judged }
}

/** Returns the node's egress address, or undefined if the check does not show it. */
async function askNode({ openRoute, options, limitMs, signal }: Context, proxy: ProxyUrl): Promise<string | undefined> {
  const { ipCheckUrl } = options.connecting
  if (ipCheckUrl === undefined) return undefined
  await using route = openRoute({ target: ipCheckUrl, proxy })
  const seen = await orFailure(askAddress(route, { timeoutMs: limitMs, signal }))
  return 'given' in seen ? seen.given.address : undefined
}

/** Sends no credentials: the filter comes first and judges only the address. */
async function judgeNode(context: Context, proxy: ProxyUrl): Promise<Pick<NodeSeen, 'verdict' | 'failure'>> {
  await using route = context.openRoute({ proxy })
  const answer = await context.askOnce(route, { path: `${context.prefix}/` })
  if ('code' in answer) return { verdict: 'failed', failure: answer }
  const answered = whoAnswered(answer, route)
  if (answered.by === 'elasticsearch') return { verdict: 'allowed' }
  const verdict = answered.by === 'filter' ? 'refused' : 'failed'
  return { verdict, failure: nameRefusal(answer, answered, context.cluster) }
}

function tellNodes(seen: readonly NodeSeen[]): Pick<ProbeResult, 'detail' | 'failed'> {
  return { detail: seen.map(tellNode).join(', '), failed: seen.some(({ verdict }) => verdict !== 'allowed') }
}

function tellNode({ node, address, verdict, failure: named }: NodeSeen): string {
  const which = address ?? node
  if (verdict === 'allowed') return `${which} is allowed`
  return verdict === 'refused' ? `${which} is blocked` : `${which}: ${named?.message ?? 'failed'}`
}

export const instanceNodes: Probe = {
  name: 'each node, to the instance',
  leaveOut: ({ options, instance }, facts) => {
    if (instance?.way.proxy === undefined) return 'no proxy is set'
    if (options.nodes.length === 0) return 'no node is given (--nodes)'
    if (facts.instanceAwake?.failure !== undefined) return 'the instance does not answer'
    return instanceWayProblem(facts)
  },
  look: async (context, facts) => {
    const seen = await seeNodes(context, facts.nodes ?? [], async proxy => await judgeAtInstance(context, facts, proxy))
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
  const isLoggedIn = authorization !== undefined && login?.isTaken === true
  // The login page refuses everybody without a login at some instances.
  const isGreeting = isLoggedIn && door?.allowed === 0
  const page = isGreeting ? undefined : await knock(line)
  if (page !== undefined && (!isLoggedIn || page.verdict !== 'allowed')) {
    return { verdict: page.verdict, failure: page.failure }
  }
  const { verdict, failure } = await askForRow(instance, line, authorization ?? '')
  return { verdict, failure: verdict === 'allowed' ? undefined : failure }
}
