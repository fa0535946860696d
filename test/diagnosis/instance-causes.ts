/**
 * What can be wrong at the service-management platform, behind the proxy of either world. The platform is the lab's double in both:
 * no test can install one.
 */
import { readFileSync } from 'node:fs'
import type { DoctorOptions } from '../../src/route/examine/examine-options.js'
import { type IngestOptions, type ServiceNowOptions, type TableOptions, ingest } from '../../src/index.js'
import { type Lab, startLab } from '../../src/lab/index.js'
import {
  type ListedAddresses,
  type Mechanism,
  mechanisms,
  mendInstance,
  platformOf,
} from '../contracts/instance-world.js'
import type { LabWorld } from '../contracts/lab-world.js'
import { newIndex, proxyKinds } from '../contracts/options.js'
import type { World } from '../contracts/world.js'
import type { Owner } from '../real/servers/owner.js'
import { stopped, stoppedAndDiagnosed } from './ask.js'
import { type Asked, type Cause, WRONG } from './cause.js'
import { answering, closedPort } from './listeners.js'
import { by, changed } from './ways.js'

type Told = Pick<Cause, 'says' | 'alike' | 'beside'>

interface Planting {
  /** Done to the platform. */
  readonly spoil?: (lab: Lab) => void
  /** Options that differ. */
  readonly servicenow?: (lab: Lab) => Partial<ServiceNowOptions>
  readonly more?: (world: World) => Partial<DoctorOptions>
}

const wrong = (
  planted: string,
  expected: Cause['expected'],
  { spoil, servicenow, more }: Planting,
  told: Told = {},
): Cause => ({
  planted,
  on: 'the platform',
  expected,
  ...told,
  plant: async (world, owner) => {
    const lab = await platformBehind(world, owner)
    spoil?.(lab)
    const platform = platformOf(lab, servicenow?.(lab))
    return askDoctor(world, { servicenow: platform, ...more?.(world) })
  },
})

/** The lab's own platform, or one beside real servers. */
async function platformBehind(world: World, owner: Owner): Promise<Lab> {
  const lab = 'lab' in world ? (world as LabWorld).lab : await ownLab(owner)
  mendInstance(lab)
  if (lab.control.servicenow.count('incident') === 0) lab.control.servicenow.seed('incident', 20)
  return lab
}

async function ownLab(owner: Owner): Promise<Lab> {
  const lab = await startLab()
  await owner.own(Promise.resolve({ [Symbol.asyncDispose]: async () => await lab.close() }))
  return lab
}

/** The instance alone, through the proxy of this world. */
function askDoctor(world: World, options: Partial<DoctorOptions>): Asked {
  const { staticIps, ipCheckUrl, proxy } = world
  return { by: 'doctor', options: { target: {}, ...by(world, proxy.http), staticIps, ipCheckUrl, ...options } }
}

const restricted = (
  mechanism: Mechanism,
  which: Exclude<ListedAddresses, 'both'>,
  planted: string,
  told: Told = {},
): Cause =>
  wrong(
    planted,
    which === 'none' ? 'SERVICENOW_ADDRESS_REFUSED' : 'SERVICENOW_PARTLY_ALLOWED',
    {
      spoil: lab => mechanisms[mechanism](lab, which),
      more: ({ proxy }) => (which === 'none' ? {} : { nodes: proxy.nodes }),
    },
    told,
  )

const addresses: readonly Cause[] = [
  restricted('IP Address Access Control', 'first', 'the second address has no Allow rule at the platform', {
    says: 'Blocked: 127.0.0.3',
  }),
  restricted('IP Address Access Control', 'second', 'the first address has no Allow rule at the platform', {
    says: 'Blocked: 127.0.0.2',
  }),
  restricted('IP Address Access Control', 'none', 'neither address has an Allow rule at the platform', {
    says: 'IP Address Access Control',
    alike: 'instanceAddress',
  }),
  restricted('a REST API access policy', 'first', 'a REST API access policy lists the first address alone', {
    says: 'Blocked: 127.0.0.3',
  }),
  restricted('a REST API access policy', 'second', 'a REST API access policy lists the second address alone', {
    says: 'Blocked: 127.0.0.2',
  }),
  restricted('a REST API access policy', 'none', 'a REST API access policy lists other addresses', {
    says: 'REST API access policy',
    alike: 'instanceAddress',
  }),
  restricted('adaptive authentication (401)', 'first', 'adaptive authentication lists the first address alone', {
    says: 'Blocked: 127.0.0.3',
  }),
  restricted('adaptive authentication (401)', 'none', 'adaptive authentication lists other addresses (401)', {
    says: 'adaptive authentication',
    alike: 'instanceAddress',
  }),
  restricted(
    'adaptive authentication (403)',
    'second',
    'adaptive authentication lists the second address alone (403)',
    {
      says: 'Blocked: 127.0.0.2',
    },
  ),
  wrong(
    'a Deny rule that matches the second address, with Allow rules for another range',
    'SERVICENOW_PARTLY_ALLOWED',
    {
      spoil: ({ control: { servicenow } }) => {
        servicenow.register('open')
        servicenow.addAddressRule({ kind: 'allow', from: '127.0.0.1', to: '127.0.0.2' })
        servicenow.addAddressRule({ kind: 'deny', from: '127.0.0.1', to: '127.0.0.255' })
      },
    },
    { says: 'sluice doctor --nodes URL,URL' },
  ),
  wrong('one address alone is listed at the platform, asked with Basic authentication', 'SERVICENOW_PARTLY_ALLOWED', {
    spoil: lab => mechanisms['a REST API access policy'](lab, 'first'),
    servicenow: () => ({ clientId: undefined, clientSecret: undefined }),
  }),
  wrong(
    'no proxy is used, where the platform lists the static addresses',
    'SERVICENOW_ADDRESS_REFUSED',
    { more: () => ({ proxy: { direct: true } }) },
    { says: 'No proxy was used' },
  ),
  wrong('an instance that lets everybody in', 'SERVICENOW_NOT_ENFORCED', {
    spoil: ({ control }) => control.servicenow.register('open'),
  }),
]

const withoutClient = { clientId: undefined, clientSecret: undefined }
const user = ({ line }: Lab) => line.servicenow.username

const logins: readonly Cause[] = [
  wrong(
    'a client id that the application registry does not know',
    'SERVICENOW_TOKEN_REFUSED',
    { servicenow: () => ({ clientId: '0'.repeat(32) }) },
    { says: 'user and password are right', alike: 'instanceToken' },
  ),
  wrong(
    'a wrong client secret',
    'SERVICENOW_TOKEN_REFUSED',
    { servicenow: () => ({ clientSecret: WRONG }) },
    { says: 'user and password are right', alike: 'instanceToken' },
  ),
  wrong(
    'an entry of the application registry that is inactive',
    'SERVICENOW_TOKEN_REFUSED',
    { spoil: ({ control, line }) => control.servicenow.changeClient(line.servicenow.clientId, { isActive: false }) },
    { says: 'user and password are right', alike: 'instanceToken' },
  ),
  wrong(
    'a grant that the entry does not have (password)',
    'SERVICENOW_TOKEN_REFUSED',
    {
      spoil: ({ control, line }) =>
        control.servicenow.changeClient(line.servicenow.clientId, { grants: ['authorization_code'] }),
    },
    { says: 'the password grant', alike: 'instanceToken' },
  ),
  wrong(
    'a grant that the instance does not have enabled (client_credentials)',
    'SERVICENOW_TOKEN_REFUSED',
    { servicenow: () => ({ grant: 'client_credentials' }) },
    { says: 'the client_credentials grant', alike: 'instanceToken' },
  ),
  wrong(
    'a wrong password, with OAuth',
    'SERVICENOW_TOKEN_REFUSED',
    { servicenow: () => ({ password: WRONG }) },
    { says: 'The token call went through the proxy', alike: 'instanceToken' },
  ),
  wrong(
    'a wrong password, with OAuth, where client_credentials is enabled',
    'SERVICENOW_TOKEN_REFUSED',
    {
      spoil: ({ control }) => control.servicenow.allowClientCredentials(true),
      servicenow: () => ({ password: WRONG }),
    },
    { says: 'client id and secret are right', alike: 'instanceToken' },
  ),
  wrong(
    'a user who is inactive, with OAuth',
    'SERVICENOW_TOKEN_REFUSED',
    { spoil: lab => lab.control.servicenow.changeUser(user(lab), { active: false }) },
    { alike: 'instanceToken' },
  ),
  wrong(
    'a user who is locked out, with OAuth',
    'SERVICENOW_TOKEN_REFUSED',
    { spoil: lab => lab.control.servicenow.changeUser(user(lab), { lockedOut: true }) },
    { alike: 'instanceToken' },
  ),
  wrong(
    'a refresh token that is none',
    'SERVICENOW_TOKEN_REFUSED',
    { servicenow: () => ({ refreshToken: WRONG, username: undefined, password: undefined }) },
    { says: 'the refresh_token grant', alike: 'instanceToken' },
  ),
  wrong('authorization_code, without a login', 'SERVICENOW_LOGIN_NEEDED', {
    servicenow: () => ({ grant: 'authorization_code' }),
  }),
  wrong(
    'a wrong password, with Basic authentication',
    'SERVICENOW_AUTH_REJECTED',
    { servicenow: () => ({ ...withoutClient, password: WRONG }) },
    { alike: 'instanceLogin' },
  ),
  wrong(
    'a user who is locked out, with Basic authentication',
    'SERVICENOW_AUTH_REJECTED',
    {
      spoil: lab => lab.control.servicenow.changeUser(user(lab), { lockedOut: true }),
      servicenow: () => withoutClient,
    },
    { alike: 'instanceLogin' },
  ),
  wrong(
    'Basic authentication is forbidden, and there is no client to ask for a token with',
    'SERVICENOW_AUTH_REJECTED',
    { spoil: ({ control }) => control.servicenow.allowBasic(false), servicenow: () => withoutClient },
    { alike: 'instanceLogin' },
  ),
  wrong(
    'Basic authentication is forbidden, and the same user gets a token',
    'SERVICENOW_BASIC_FORBIDDEN',
    { spoil: ({ control }) => control.servicenow.allowBasic(false), servicenow: () => ({ grant: 'basic' }) },
    { says: 'the same user gets a token' },
  ),
  wrong(
    'a wrong password, where the addresses are refused as well',
    'SERVICENOW_ADDRESS_REFUSED',
    {
      spoil: lab => mechanisms['IP Address Access Control'](lab, 'none'),
      servicenow: () => ({ password: WRONG }),
    },
    { alike: 'instanceAddress' },
  ),
]

const instances: readonly Cause[] = [
  ...(['page', 'redirect'] as const).map(how =>
    wrong(`an instance that hibernates (${how})`, 'SERVICENOW_HIBERNATING', {
      spoil: ({ control }) => control.servicenow.hibernate(how),
    }),
  ),
  wrong(
    'a rate limit of the instance that is spent',
    'SERVICENOW_RATE_LIMITED',
    { spoil: ({ control }) => control.servicenow.limitRate({ requests: 0 }) },
    { says: 'Retry-After' },
  ),
  wrong(
    'a queue of the instance that is full',
    'SERVICENOW_RATE_LIMITED',
    { spoil: ({ control }) => control.servicenow.plant({ semaphore: { api: 'table' } }) },
    { says: 'without Retry-After' },
  ),
  wrong(
    'a load balancer before the instance that gives up (500)',
    'SERVICENOW_UNREACHABLE',
    { spoil: ({ control }) => control.servicenow.plant({ balancer: {} }) },
    { says: 'status 500' },
  ),
  wrong(
    'an instance that refuses the request for reasons of its own',
    'SERVICENOW_REQUEST_REFUSED',
    {
      spoil: ({ control }) => {
        const body = '{"error":{"message":"Invalid sysparm","detail":null},"status":"failure"}'
        const headers = { 'content-type': 'application/json' }
        control.servicenow.plant({ answer: { api: 'table', status: 400, body, headers } })
      },
    },
    { says: 'Invalid sysparm' },
  ),
  wrong(
    'a table that is not there',
    'SERVICENOW_TABLE_UNKNOWN',
    { more: () => ({ table: 'incidents' }) },
    { says: 'incidents' },
  ),
  wrong(
    'a table that this user may not read',
    'SERVICENOW_ACCESS_DENIED',
    { spoil: ({ control }) => control.servicenow.addAcl({ table: 'incident' }), more: () => ({ table: 'incident' }) },
    { says: 'Insufficient rights' },
  ),
  wrong(
    'a table whose every row is hidden from this user',
    'SERVICENOW_ACCESS_DENIED',
    {
      spoil: ({ control }) => control.servicenow.addAcl({ table: 'incident', query: 'sys_idISNOTEMPTY' }),
      more: () => ({ table: 'incident' }),
    },
    { says: 'sees none of the first' },
  ),
  wrong("an instance's certificate of an authority that was not named", 'SERVICENOW_CERT_INVALID', {
    servicenow: () => ({ ca: undefined }),
  }),
  wrong("the cluster's address in the place of the instance's", 'SERVICENOW_NOT_AN_INSTANCE', {
    servicenow: ({ line }) => ({ url: line.cluster.url }),
    more: () => ({ directCheck: false }),
  }),
  wrong(
    "a path in the instance's address",
    'OPTION_INVALID',
    { servicenow: ({ line }) => ({ url: `${line.servicenow.url}/now/nav` }) },
    { says: 'has a path' },
  ),
  {
    planted: 'a web site in the place of the instance',
    on: 'a server of the test',
    expected: 'SERVICENOW_NOT_AN_INSTANCE',
    says: 'status 200',
    plant: async (world, owner) => {
      const lab = await platformBehind(world, owner)
      const { port } = await owner.own(answering(200, '<html>Welcome</html>', { 'content-type': 'text/html' }))
      return askDoctor(world, { servicenow: platformOf(lab, { url: `http://127.0.0.1:${port}` }) })
    },
  },
  {
    planted: 'an instance that is not there',
    on: 'Squid',
    expected: 'PROXY_TARGET_UNREACHABLE',
    alike: 'destination',
    plant: async (world, owner) => {
      const lab = await platformBehind(world, owner)
      const url = `https://127.0.0.1:${await closedPort()}`
      return askDoctor(world, { servicenow: platformOf(lab, { url }) })
    },
  },
  wrong('a wrong proxy password, on the way to an instance', 'PROXY_AUTH_REJECTED', {
    more: world => by(world, changed(world.proxy.http, { password: WRONG })),
  }),
]

const healthy: readonly Cause[] = [
  ...proxyKinds.map(kind =>
    wrong(`nothing, over ${kind} to an instance`, 'nothing', {
      more: world => ({ ...by(world, world.proxy[kind]), nodes: world.proxy.nodes, table: 'incident' }),
    }),
  ),
  wrong('nothing: an instance, with Basic authentication', 'nothing', { servicenow: () => withoutClient }),
  wrong('nothing: a REST API access policy that lists both addresses', 'nothing', {
    spoil: lab => mechanisms['a REST API access policy'](lab, 'both'),
  }),
  wrong('nothing: adaptive authentication that lists both addresses', 'nothing', {
    spoil: lab => mechanisms['adaptive authentication (401)'](lab, 'both'),
  }),
]

/** A load of a table that is refused by the platform: the cause is looked for, as the command does. */
const loads: readonly Cause[] = [
  ['IP Address Access Control', 'first', 'SERVICENOW_PARTLY_ALLOWED'] as const,
  ['adaptive authentication (401)', 'none', 'SERVICENOW_ADDRESS_REFUSED'] as const,
].map(([mechanism, which, expected]): Cause => ({
  planted: `a load of a table, with ${which === 'none' ? 'no address' : 'one address'} listed by ${mechanism}`,
  on: 'the platform',
  expected,
  plant: async (world, owner) => {
    const lab = await platformBehind(world, owner)
    mechanisms[mechanism](lab, which)
    const servicenow = platformOf(lab)
    const { cluster } = lab.line
    const way = {
      target: { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) },
      ...by(world, world.proxy.http),
    }
    const source = 'servicenow:incident'
    const options: IngestOptions = { ...way, servicenow, source, index: newIndex('incidents'), deadLetters: false }
    const doctor: DoctorOptions = {
      ...way,
      servicenow,
      table: 'incident',
      nodes: world.proxy.nodes,
      directCheck: false,
    }
    return { by: 'ingest, then its diagnosis', run: async () => await stoppedAndDiagnosed(options, doctor) }
  },
}))

/** Past the way: what a reading meets. */
const reading = (
  planted: string,
  expected: Cause['expected'],
  { spoil, table }: { readonly spoil?: (lab: Lab) => void; readonly table?: TableOptions },
  told: Told = {},
): Cause => ({
  planted,
  on: 'the platform',
  expected,
  ...told,
  plant: async (world, owner) => {
    const lab = await platformBehind(world, owner)
    spoil?.(lab)
    const { cluster } = lab.line
    const options: IngestOptions = {
      target: { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) },
      ...by(world, world.proxy.http),
      servicenow: platformOf(lab),
      source: 'servicenow:incident',
      table,
      index: newIndex('incidents'),
      maxElapsedMs: 1_000,
      deadLetters: false,
    }
    return { by: 'ingest', run: async () => await stopped(ingest(options)) }
  },
})

const readings: readonly Cause[] = [
  reading(
    'a query with a misspelt field',
    'SERVICENOW_QUERY_IGNORED',
    { table: { query: 'actve=true' } },
    { says: 'actve' },
  ),
  reading(
    'an instance that gives up on every page, even on one of a single row',
    'SERVICENOW_PAGE_TRUNCATED',
    { spoil: ({ control }) => control.servicenow.plant({ quota: { rows: 0 } }) },
    { says: 'maximum execution time exceeded' },
  ),
]

export const instanceCauses: readonly Cause[] = [
  ...addresses,
  ...logins,
  ...instances,
  ...healthy,
  ...loads,
  ...readings,
]
