import { type DoctorOptions, type DoctorSection, readDoctorOptions, type Tools } from './examine-options.js'
import { mostConnections } from '../cluster/ask-connections.js'
import { type Entry, type Failure, isSluiceError } from '../../base/failure/failure.js'
import { instanceSettings } from '../connect/open-servicenow.js'
import { proxyTo } from '../connect/route-to.js'
import { resolveTarget } from '../connect/open-target.js'
import { SURE } from '../proxy/fresh-connections.js'
import { type Context, openContext, type Probe } from './context.js'
import type { Facts, Step } from './facts.js'
import { hasCluster, type Path, pathFor, pathOfRefusal, type Question } from './paths.js'
import type { InstanceContext } from './instance-context.js'
import { TOKEN_CALLS } from './instance/instance-login.js'
import { ROUND_TRIPS } from './way/latency.js'
import { GREETINGS } from '../proxy/port-speaks.js'

/** What the probes saw. */
export interface Examined {
  readonly facts: Facts
  readonly steps: readonly Step[]
  /** Requests and greetings that were sent, and what these options could take at the most. */
  readonly requests: { readonly sent: number; readonly atMost: number }
}

/**
 * Walks the path to a target, layer by layer, and combines what the probes see. Judges nothing. Throws only the signal's reason for
 * an abort.
 */
export async function examine(options: DoctorOptions, question: Question, tools: Tools): Promise<Examined> {
  return await walk(options, pathFor(question, options), tools)
}

/**
 * Runs the few probes that tell the causes of a refusal apart, by who refused. `isLogin`: it refused the login, which is then not
 * tried again. Returns undefined if no probe helps. Throws the signal's reason for an abort.
 */
export async function examineRefusal(
  options: DoctorOptions,
  { stage, isLogin }: { readonly stage: Entry['stage']; readonly isLogin: boolean },
  tools: Tools,
): Promise<Examined | undefined> {
  const path = pathOfRefusal(stage, isLogin)
  return path && (await walk(options, path, tools))
}

async function walk(options: DoctorOptions, path: Path, tools: Tools): Promise<Examined> {
  const read = readWays(options)
  if ('code' in read) {
    const refused: Step = { name: 'options', ok: false, detail: read.message }
    return { facts: { cluster: shownUrl(options), unusable: read }, steps: [refused], requests: { sent: 0, atMost: 0 } }
  }
  const context = openContext(read.section, read, tools, options.signal)
  try {
    return await goAlong(path, context)
  } finally {
    await context.instance?.close()
  }
}

async function goAlong(path: Path, context: Context): Promise<Examined> {
  const { cluster, way, instance, signal, requests } = context
  const asked = instance && {
    url: instance.display,
    grant: instance.way.access.grant,
    unused: instance.way.unused,
    proxy: instance.way.proxy?.display,
    table: instance.isTableNamed ? instance.table : undefined,
  }
  let facts: Facts = { cluster, proxy: way.proxy?.display, instance: asked }
  const steps: Step[] = []
  for (const row of path) {
    const seen = await Promise.all(row.map(probe => take(probe, context, facts)))
    signal?.throwIfAborted()
    for (const one of seen) {
      facts = { ...facts, ...one.facts }
      steps.push(...one.steps)
    }
  }
  return { facts, steps, requests: { sent: requests.sent, atMost: mostRequests(context) } }
}

async function take(
  { name, isPure, leaveOut, look }: Probe,
  context: Context,
  facts: Facts,
): Promise<{ facts?: Partial<Facts> | undefined; steps: readonly Step[] }> {
  const reason = facts.unusable === undefined ? leaveOut?.(context, facts) : 'the options cannot be used'
  if (reason !== undefined) return { steps: [{ name, ok: true, detail: `skipped: ${reason}`, isLeftOut: true }] }
  const { clock } = context
  const startedAt = clock.now()
  try {
    const {
      detail,
      failed,
      facts: found,
      ms = Math.round(clock.now() - startedAt),
      more = [],
    } = await look(context, facts)
    const step = { name, ok: failed !== true, ms: isPure === true ? undefined : ms, detail }
    return { facts: found, steps: [step, ...more] }
  } catch (error) {
    context.signal?.throwIfAborted()
    // The first connection shows an unreadable certificate authority.
    if (!isSluiceError(error)) throw error
    return { facts: { unusable: error.failure }, steps: [{ name, ok: false, detail: error.message }] }
  }
}

function readWays(options: DoctorOptions): ({ section: DoctorSection } & Parameters<typeof openContext>[1]) | Failure {
  try {
    const section = readDoctorOptions(options)
    const { connecting, servicenow } = section
    const { proxy, staticIps } = connecting
    const instance = servicenow && instanceSettings({ servicenow, proxy, staticIps })
    if (instance === undefined || hasCluster(options)) {
      return { section, way: resolveTarget(connecting), hasCluster: true, instance }
    }
    // The path to the instance takes the place of a cluster's. It has credentials of its own.
    const { url } = instance
    return {
      section,
      way: { url, notes: proxyTo(url, proxy).notes, proxy: instance.proxy },
      hasCluster: false,
      instance,
    }
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
}

/** Returns the part of the URL that may be shown when the options cannot be used. */
function shownUrl(options: DoctorOptions): string {
  if (!hasCluster(options)) return ''
  const text = String(options.target.url ?? '')
  return URL.canParse(text) && /^https?:/.test(text) ? new URL(text).origin : 'the cluster'
}

/** Connections that one question takes at the most, if each breaks. */
const ATTEMPTS = SURE

/** Returns how many requests and greetings a walk can take, with every retry. */
function mostRequests(context: Context): number {
  const { way, connections, options, instance, cluster } = context
  const { connecting, nodes, index, directCheck, writeCheck } = options
  const toInstance = instance === undefined ? 0 : mostToInstance(context, instance)
  const checks = connecting.ipCheckUrl === undefined ? 0 : 1
  const toProxy = way.proxy === undefined ? 0 : GREETINGS + checks * connections
  if (cluster === '') return toProxy + toInstance
  // One connection is traced, others if it fails, and again, with the proxy and without, if its certificate is refused. A silent port is greeted twice.
  const always = SURE + 4 + mostConnections(connections)
  const identity = way.credentials === undefined ? 0 : (index === undefined ? 2 : 5) * SURE
  const write = writeCheck ? 3 : 0
  const past = directCheck ? 1 + ROUND_TRIPS : 0
  // If the proxy forwards, the login travels with a request.
  const byProxy = way.proxy === undefined ? 0 : SURE + nodes.length * (1 + checks) + past + ROUND_TRIPS
  return toProxy + always + byProxy + identity + write + toInstance
}

/** Wrong passwords among them: one for each kind of login. */
function mostToInstance({ options }: Context, { connections, way }: InstanceContext): number {
  const { nodes, directCheck, connecting } = options
  const connection = SURE + 2
  // Awake, Basic at two APIs, client_credentials, and the token calls.
  const logins = (4 + TOKEN_CALLS) * ATTEMPTS
  // The login page and the table. With a kept token, the first request may be repeated.
  const doors = mostConnections(connections) + (connections + 1) * ATTEMPTS
  const always = connection + logins + doors
  if (way.proxy === undefined) return always
  const each = 2 * ATTEMPTS + (connecting.ipCheckUrl === undefined ? 0 : 1)
  return always + nodes.length * each + (directCheck ? ATTEMPTS : 0)
}
