/**
 * What a contract suite needs of a service-management platform behind a static-IP proxy. The platform is always the lab's double: none
 * can be installed. The proxy is the lab's, or real servers.
 */
import { readFileSync } from 'node:fs'
import type { ConnectOptions, ServiceNowOptions } from '../../src/index.js'
import { type Lab, startLab } from '../../src/lab/index.js'
import { newOwner } from '../real/servers/owner.js'
import { findParts } from '../real/servers/parts.js'
import { startStaticProxy } from '../real/servers/static-proxy.js'
import type { World } from './world.js'

export interface InstanceWorld extends Pick<World, 'proxy' | 'proxyCaFile' | 'staticIps'>, AsyncDisposable {
  readonly name: string
  /** The platform, and a cluster to load its tables into. */
  readonly lab: Lab
}

export async function startLabInstance(): Promise<InstanceWorld> {
  const lab = await startLab()
  const { proxy, proxyCaFile, staticIps } = lab.line
  return {
    name: 'the lab',
    proxy,
    proxyCaFile,
    staticIps,
    lab,
    [Symbol.asyncDispose]: async () => await lab.close(),
  }
}

/** Squid and microsocks before the double. Throws, naming it, when a part is missing. */
export async function startRealInstance(): Promise<InstanceWorld> {
  const owner = await newOwner()
  const lab = await startLab()
  const { staticIps } = lab.line
  try {
    const proxy = await startStaticProxy(findParts(), owner, staticIps)
    return {
      name: 'Squid and microsocks',
      proxy: proxy.urls,
      proxyCaFile: proxy.caFile,
      staticIps,
      lab,
      [Symbol.asyncDispose]: async () => {
        await owner[Symbol.asyncDispose]()
        await lab.close()
      },
    }
  } catch (error) {
    await owner[Symbol.asyncDispose]()
    await lab.close()
    throw error
  }
}

/** The platform's own options, with a user and a client that are right. */
export function platformOf({ line }: Lab, more: Partial<ServiceNowOptions> = {}): ServiceNowOptions {
  const { url, username, password, clientId, clientSecret } = line.servicenow
  return { url, username, password, clientId, clientSecret, ca: readFileSync(line.cluster.caFile), ...more }
}

/** The way there, and to the cluster beside it. */
export function wayOf({ proxyCaFile, staticIps, lab }: InstanceWorld, proxy: string): ConnectOptions {
  const { cluster, ipCheckUrl } = lab.line
  return {
    target: { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) },
    proxy: { url: proxy, ca: readFileSync(proxyCaFile) },
    staticIps,
    ipCheckUrl,
  }
}

export type ListedAddresses = 'both' | 'first' | 'second' | 'none'

/** The means by which the platform restricts addresses, each listing those that are given and no others. */
export const mechanisms = {
  'IP Address Access Control': (lab, which) => lab.control.servicenow.register(which),
  'a REST API access policy': (lab, which) => {
    lab.control.servicenow.register('open')
    lab.control.servicenow.setAccessPolicy('table', ranges(lab, which))
  },
  'adaptive authentication (401)': (lab, which) => {
    lab.control.servicenow.register('open')
    lab.control.servicenow.setAdaptiveAuthentication(ranges(lab, which), 401)
  },
  'adaptive authentication (403)': (lab, which) => {
    lab.control.servicenow.register('open')
    lab.control.servicenow.setAdaptiveAuthentication(ranges(lab, which), 403)
  },
} satisfies Record<string, (lab: Lab, which: ListedAddresses) => void>

export type Mechanism = keyof typeof mechanisms

function ranges({ line }: Lab, which: ListedAddresses) {
  const [first, second] = line.staticIps
  const listed = { both: [first, second], first: [first], second: [second], none: [] }[which]
  return listed.map(address => ({ from: address, to: address }))
}

/** Takes back all that a test did to the platform, but for its rows. */
export function mendInstance({ control: { servicenow }, line }: Lab): void {
  servicenow.heal()
  servicenow.register('both')
  servicenow.setAccessPolicy('table', undefined)
  servicenow.setAccessPolicy('oauth', undefined)
  servicenow.setAdaptiveAuthentication(undefined)
  servicenow.allowBasic(true)
  servicenow.allowClientCredentials(false)
  servicenow.clearRules()
  servicenow.changeUser(line.servicenow.username, { active: true, lockedOut: false })
  servicenow.changeClient(line.servicenow.clientId, {
    isActive: true,
    grants: ['password', 'refresh_token', 'authorization_code', 'client_credentials'],
  })
  servicenow.forgetRequests()
}
