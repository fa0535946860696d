/** Rules for ServiceNow: its addresses, its logins, its tables. */
import { type Failure, failure } from '../failure/failure.js'
import { tellCertificate } from './certificate.js'
import type { Facts } from './facts.js'
import type { NodeSeen } from './way-facts.js'
import { finding, percent, type FindingRule } from './report.js'
import { type DoorSeen, type LoginSeen, ROWS_ASKED } from './instance-facts.js'

/** The way there, and whether what answers is an instance that works. */
export const instanceFindings: FindingRule = ({ instanceConnection: connection, instanceAwake: awake }) => {
  const { failure: failed, certificate, certificateProblem } = connection ?? {}
  if (failed === undefined) return awake?.failure === undefined ? [] : [finding('error', awake.failure)]
  if (certificate === undefined || certificateProblem === undefined) return [finding('error', failed)]
  const evidence = { ...failed.evidence, certificate: certificateProblem, subject: certificate.subject }
  return [finding('error', { ...failed, evidence }, tellCertificate(certificateProblem, certificate))]
}

/** Reports addresses that are refused before any login: IP Address Access Control, adaptive authentication. */
export const doorFindings: FindingRule = facts => {
  const { instanceDoor: door, instanceNodes: nodes = [], instanceAwake: awake } = facts
  if (door === undefined || awake?.failure !== undefined) return []
  if (door.refused === 0) return door.failure === undefined ? [] : [finding('error', door.failure)]
  if (!isAboutAddresses(facts)) return []
  const rule =
    door.status === 401
      ? 'status 401 for the login page, as from adaptive authentication'
      : `status ${door.status ?? 403} for every path, as from IP Address Access Control`
  return [addressFinding(facts, { ...door, observed: rule, refusedNodes: refused(nodes) })]
}

/** Reports refusals after a login. */
export const loginFindings: FindingRule = facts => {
  const { instanceLogin: login, instanceTable: table, instance } = facts
  if (login === undefined || isAboutAddresses(facts)) return []
  const { failure: failed, tokens } = login
  if (tokens !== undefined && tokens.given > 0 && tokens.given < tokens.asked) {
    const { asked, given: allowed } = tokens
    const evidence = { instance: instance?.url ?? '', allowed, asked, request: 'token call' }
    return [
      finding(
        'error',
        failure('SERVICENOW_PARTLY_ALLOWED', evidence),
        `It refused the token call: ${PARTLY_BY_POLICY}`,
      ),
    ]
  }
  // Basic authentication is the cause only if the same user's token works everywhere.
  if (failed === undefined || (login.otherwise === 'token' && (table?.refused ?? 0) > 0)) return []
  return [finding('error', failed, tellLogin(facts, failed, login))]
}

/** Reading a table with credentials that are right. A table that nobody named may be none of the user's business. */
export const tableFindings: FindingRule = facts => {
  const { instanceTable: seen, instance, instanceNodes: nodes = [] } = facts
  if (seen === undefined || isAboutAddresses(facts)) return []
  if (seen.refused > 0) {
    const observed = `status ${seen.status ?? 401} to correct credentials. ${BY_POLICY}`
    return [addressFinding(facts, { ...seen, observed, refusedNodes: refused(nodes) })]
  }
  const { failure: failed, total = 0, shown = 0, table } = seen
  if (failed !== undefined) {
    const isOthers = failed.code === 'SERVICENOW_ACCESS_DENIED' && instance?.table === undefined
    return isOthers ? [] : [finding('error', failed)]
  }
  if (instance?.table === undefined || total === 0 || shown > 0) return []
  const evidence = { instance: instance.url, request: `GET ${table}`, status: 200, rows: total }
  const reason = `it has ${total} rows, and this user sees none of the first ${Math.min(total, ROWS_ASKED)}`
  return [finding('warning', failure('SERVICENOW_ACCESS_DENIED', { ...evidence, reason }))]
}

/**
 * This look had no credentials, so later policies may still stop this machine. People work at ServiceNow, so their
 * network is usually meant to be let in.
 */
export const instancePastFindings: FindingRule = ({ instancePast: past, instance, instanceDoor: door }) => {
  if (past?.verdict !== 'open') return []
  const named = failure('SERVICENOW_NOT_ENFORCED', { instance: instance?.url ?? '', status: past.status ?? 0 })
  return [finding('info', named, (door?.refused ?? 0) > 0 ? 'It refuses addresses of the proxy' : '')]
}

/** A node of the pair that cannot be asked. */
export const instanceNodeFindings: FindingRule = ({ instanceNodes = [] }) =>
  instanceNodes.flatMap(({ verdict, failure: failed }) => {
    if (verdict !== 'failed' || failed === undefined) return []
    const severity = failed.code === 'PROXY_URL_INVALID' ? 'error' : 'warning'
    const evidence = { ...failed.evidence, asked: 'one node' }
    return [finding(severity, { ...failed, evidence }, 'This is one node of --nodes')]
  })

const BY_POLICY = 'A REST API access policy of the Table API allows only other addresses, or needs a role or group'
const PARTLY_BY_POLICY = 'a REST API access policy allows only one of the addresses'

/**
 * Returns whether the login page's answers are about addresses. A 401 on every connection is not, if the credentials
 * are accepted: then it is the instance's usual greeting.
 */
function isAboutAddresses({ instanceDoor: door, instanceLogin: login }: Facts): boolean {
  if (door === undefined || door.refused === 0) return false
  return door.allowed > 0 || door.status !== 401 || login?.isTaken !== true
}

interface AddressesSeen extends Pick<DoorSeen, 'probes' | 'allowed' | 'refused' | 'status' | 'missChance'> {
  readonly observed: string
  readonly refusedNodes: readonly NodeSeen[]
}

function addressFinding(
  facts: Facts,
  { allowed: passed, refused: stopped, status = 403, missChance, observed, refusedNodes }: AddressesSeen,
) {
  const { instance, instanceNodes: nodes = [], egress, notes = [] } = facts
  const allowed = passed + nodes.filter(({ verdict }) => verdict === 'allowed').length
  const asked = allowed + stopped + refusedNodes.length
  const which = refusedNodes.length === 0 ? {} : { addresses: refusedNodes.map(nameOf) }
  const evidence = { instance: instance?.url ?? '', asked, refused: asked - allowed, status, ...which }
  if (allowed > 0) {
    const named = failure('SERVICENOW_PARTLY_ALLOWED', { ...evidence, allowed, observed })
    return finding('error', named, tellWhich(refusedNodes, nodes, observed))
  }
  const addresses = Object.keys(egress?.seen ?? {}).toSorted()
  const ways =
    instance?.proxy === undefined
      ? ['No proxy was used', ...notes]
      : [
          ...(addresses.length === 0 ? [] : [`The connections left from ${addresses.join(' and ')}`]),
          `Chance that one address is still allowed: ${percent(missChance)}`,
        ]
  return finding('error', failure('SERVICENOW_ADDRESS_REFUSED', { ...evidence, observed }), ways.join('. '))
}

/** Names the refused address if it is known, else how to find it. */
function tellWhich(refusedNodes: readonly NodeSeen[], nodes: readonly NodeSeen[], observed: string): string {
  const said = refusedNodes.map(nameOf).join(' and ')
  if (refusedNodes.length > 0) return `Blocked: ${said} (${observed})`
  if (nodes.length > 0)
    return `The instance allows the nodes in --nodes, and blocks the address of another node (${observed})`
  return (
    `It answers ${observed}. To find out which address is blocked, run ` +
    '`sluice doctor --nodes URL,URL` with the URL of each proxy node'
  )
}

function refused(nodes: readonly NodeSeen[]): NodeSeen[] {
  return nodes.filter(({ verdict }) => verdict === 'refused')
}

function nameOf({ address, node }: NodeSeen): string {
  return address ?? `the address of ${node}`
}

/** Explains a refused login with the results of other logins and of the look past the proxy. */
function tellLogin({ instancePast: past }: Facts, { code }: Failure, { otherwise, tried }: LoginSeen): string {
  if (code === 'SERVICENOW_AUTH_REJECTED') {
    if (tried.includes('the token call'))
      return `It refuses ${each(tried)}. The user or the password is most likely wrong`
    return `It refuses ${each(tried)}. To find out whether it forbids Basic authentication, set a client id and secret`
  }
  if (code !== 'SERVICENOW_TOKEN_REFUSED') return ''
  const way =
    past?.verdict === 'refused'
      ? 'The token call went through the proxy, and without the proxy the instance refuses this machine'
      : undefined
  return [tellHalf(otherwise, tried), way].filter(text => text !== undefined).join('. ')
}

function tellHalf(otherwise: LoginSeen['otherwise'], tried: LoginSeen['tried']): string | undefined {
  switch (otherwise) {
    case 'user':
      return 'The user and password are right, since Basic authentication accepts them. The entry in the Application Registry, its secret or the grant is wrong'
    case 'client':
      return 'The client id and secret are right, since client_credentials gives a token. The user, the password or the grant is wrong'
    default:
      return tried.includes('Basic authentication at the Table API')
        ? 'Basic authentication refuses the same user too. The user or the password is most likely wrong'
        : undefined
  }
}

function each(tried: LoginSeen['tried']): string {
  const said = tried.map(login => login.replace(/^the /, 'a '))
  return `${said.slice(0, -1).join(', ')} and ${said.at(-1) ?? ''}, each tried once`
}
