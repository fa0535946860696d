/** Rules for ServiceNow: its addresses, its logins, its tables. */
import { type Failure, failure } from '../../base/failure/failure.js'
import { type Facts, type LoginSeen, ROWS_ASKED, type VerdictsSeen } from '../../route/examine/facts.js'
import { type Finding, finding, type FindingRule } from './report.js'
import { addressesOf, allowedOf, blockedOf, tellRoute, tellWhich } from './rules-of-the-cluster.js'
import { connectionFinding } from './rules-of-the-way.js'

export const instanceFindings: FindingRule = ({ instanceConnection: connection, instanceAwake: awake }) =>
  connection?.failure === undefined
    ? awake?.failure && finding('error', awake.failure)
    : connectionFinding(connection, connection.failure)

/** Reports addresses that are refused before any login: IP Address Access Control, adaptive authentication. */
export const doorFindings: FindingRule = facts => {
  const { instanceDoor: door, instanceAwake: awake } = facts
  if (door === undefined || awake?.failure !== undefined) return undefined
  if (door.refused === 0) return door.failure && finding('error', door.failure)
  if (!isAboutAddresses(facts)) return undefined
  const observed =
    door.status === 401
      ? 'status 401 for the login page, as from adaptive authentication'
      : `status ${door.status ?? 403} for every path, as from IP Address Access Control`
  return addressFinding(facts, door, observed)
}

/** Reports refusals after a login. */
export const loginFindings: FindingRule = facts => {
  const { instanceLogin: login, instanceTable: table, instance } = facts
  if (login === undefined || isAboutAddresses(facts)) return undefined
  const { failure: failed, tokens } = login
  if (tokens !== undefined && tokens.given > 0 && tokens.given < tokens.asked) {
    const { asked, given: allowed } = tokens
    const evidence = { instance: instance?.url ?? '', allowed, asked, request: 'token call' }
    const why = 'It refused the token call. A REST API access policy allows only one of the addresses'
    return finding('error', failure('SERVICENOW_PARTLY_ALLOWED', evidence), why)
  }
  // Basic authentication is the cause only if the same user's token works everywhere.
  if (failed === undefined || (login.otherwise === 'token' && (table?.refused ?? 0) > 0)) return undefined
  return finding('error', failed, tellLogin(facts, failed, login))
}

/** Judges a table that was read with credentials that are right. */
export const tableFindings: FindingRule = facts => {
  const { instanceTable: seen, instance } = facts
  if (seen === undefined || isAboutAddresses(facts)) return undefined
  if (seen.refused > 0) {
    const observed = `status ${seen.status ?? 401} for correct credentials. ${BY_POLICY}`
    return addressFinding(facts, seen, observed)
  }
  const { failure: failed, total = 0, shown = 0, table } = seen
  if (failed !== undefined) {
    // The user may lack access to a table that the options do not name.
    const isOthers = failed.code === 'SERVICENOW_ACCESS_DENIED' && instance?.table === undefined
    return isOthers ? undefined : finding('error', failed)
  }
  if (instance?.table === undefined || total === 0 || shown > 0) return undefined
  const evidence = { instance: instance.url, request: `GET ${table}`, status: 200, rows: total }
  const reason = `it has ${total} rows, but this user sees none of the first ${Math.min(total, ROWS_ASKED)}`
  return finding('warning', failure('SERVICENOW_ACCESS_DENIED', { ...evidence, reason }))
}

/**
 * This look had no credentials, so later policies may still stop this machine. People work at ServiceNow, so their
 * network is usually meant to be let in.
 */
export const instancePastFindings: FindingRule = ({ instancePast: past, instance, instanceDoor: door }) => {
  if (past?.verdict !== 'open') return undefined
  const named = failure('SERVICENOW_NOT_ENFORCED', { instance: instance?.url ?? '', status: past.status ?? 0 })
  return finding('info', named, (door?.refused ?? 0) > 0 ? 'It refuses addresses of the proxy' : '')
}

const BY_POLICY = 'A REST API access policy of the Table API allows only other addresses, or needs a role or group'

/**
 * Returns whether the login page's answers are about addresses. A 401 on every connection is not, if the credentials
 * are accepted: then it is the instance's usual greeting.
 */
function isAboutAddresses({ instanceDoor: door, instanceLogin: login }: Facts): boolean {
  if (door === undefined || door.refused === 0) return false
  return door.allowed > 0 || door.status !== 401 || login?.isTaken !== true
}

function addressFinding(facts: Facts, seen: VerdictsSeen, observed: string): readonly (Finding | undefined)[] {
  const { instance, instanceNodes: nodes = [] } = facts
  const { status = 403, missChance } = seen
  const blocked = blockedOf(nodes)
  const allowed = seen.allowed + allowedOf(nodes)
  const asked = allowed + seen.refused + blocked.length
  const refused = asked - allowed
  const evidence = { instance: instance?.url ?? '', asked, refused, status, ...addressesOf(blocked), observed }
  if (allowed === 0) {
    const route = tellRoute(facts, instance?.proxy, missChance)
    const unused = instance?.unused
    // The rules of the cluster may have said so already.
    const isTold = (facts.filter?.refused ?? 0) > 0 && facts.unused !== undefined
    return [
      unused === undefined || isTold ? undefined : finding('error', failure('PROXY_NOT_USED', { problem: unused })),
      finding('error', failure('SERVICENOW_ADDRESS_REFUSED', evidence), route),
    ]
  }
  const which =
    nodes.length > 0
      ? `${tellWhich(blocked, nodes, 'instance')} (${observed})`
      : `It answers ${observed}. To find out which address is blocked, run \`sluice doctor --nodes URL,URL\` with the URL of each proxy node`
  return [finding('error', failure('SERVICENOW_PARTLY_ALLOWED', { ...evidence, allowed }), which)]
}

/** Explains a refused login with the results of other logins and of the look past the proxy. */
function tellLogin({ instancePast: past }: Facts, { code }: Failure, { otherwise, tried }: LoginSeen): string {
  if (code === 'SERVICENOW_AUTH_REJECTED' && !tried.includes('an API key at the Table API')) {
    if (tried.includes('the token call'))
      return `It refuses ${each(tried)}. The user or the password is most likely wrong`
    return `It refuses ${each(tried)}. To find out whether it forbids Basic authentication, set a client id and secret`
  }
  if (code !== 'SERVICENOW_TOKEN_REFUSED') return ''
  const route = 'The token call went through the proxy. Without the proxy, the instance refuses this machine'
  return [tellHalf(otherwise, tried), past?.verdict === 'refused' ? route : ''].filter(one => one !== '').join('. ')
}

function tellHalf(otherwise: LoginSeen['otherwise'], tried: LoginSeen['tried']): string {
  if (otherwise === 'user')
    return 'The user and password are right, because Basic authentication accepts them. The entry in the Application Registry, its secret or the grant is wrong'
  if (otherwise === 'client')
    return 'The client id and secret are right, because client_credentials gives a token. The user, the password or the grant is wrong'
  return tried.includes('Basic authentication at the Table API')
    ? 'Basic authentication refuses the same user too. The user or the password is most likely wrong'
    : ''
}

function each(tried: LoginSeen['tried']): string {
  const said = tried.map(login => login.replace(/^the /, 'a '))
  return `${said.slice(0, -1).join(', ')} and ${said.at(-1) ?? ''}, each tried once`
}
