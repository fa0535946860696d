/**
 * The error table of the service's contract, a row each, in our own words. `ask`: what somebody would type who sees it.
 * A row has codes, or the reason why it is no failure of Sluice's.
 */
import type { FailureCode } from '../../../src/base/failure/failure.js'

interface ContractRow {
  readonly row: string
  readonly ask?: string
  readonly codes: readonly FailureCode[]
  readonly reason?: string
}

export const contractErrors: readonly ContractRow[] = [
  {
    row: 'the proxy answers 407: no, wrong or unencoded credentials',
    ask: '407',
    codes: ['PROXY_AUTH_REJECTED', 'PROXY_URL_INVALID'],
  },
  {
    row: 'the wrong port of the proxy, in the same row: on the wire it is no 407',
    ask: 'parse error',
    codes: ['PROXY_PORT_IS_SOCKS', 'PROXY_PORT_IS_HTTP', 'PROXY_TLS_MISMATCH', 'PROXY_TIMEOUT'],
  },
  {
    row: 'the cluster answers 403 and speaks of traffic filtering: the address is on no attached policy',
    ask: '403 filtering',
    codes: ['EGRESS_NOT_ALLOWED', 'EGRESS_UNEXPECTED', 'PROXY_NOT_USED'],
  },
  {
    row: 'the cluster answers 401: wrong, expired or revoked credentials',
    ask: '401 cluster',
    codes: ['CLUSTER_AUTH_REJECTED'],
  },
  {
    row: 'a request succeeds without the proxy',
    ask: 'without the proxy',
    codes: ['FILTER_NOT_ENFORCED', 'FILTER_COVERS_CLIENT'],
  },
  {
    row: 'telemetry arrives at the OTLP endpoint, application requests fail',
    ask: 'OTLP',
    codes: [],
    reason: 'the filter does not cover that endpoint',
  },
  { row: 'intermittent failures of the cluster', ask: 'intermittent', codes: ['EGRESS_PARTLY_ALLOWED'] },
  {
    row: 'service management: 403 or 401 with valid credentials',
    ask: '403 or 401 with valid credentials',
    codes: ['SERVICENOW_ADDRESS_REFUSED', 'SERVICENOW_PARTLY_ALLOWED'],
  },
  {
    row: 'service management: the token call fails or returns 401',
    ask: 'oauth token call fails',
    codes: ['SERVICENOW_TOKEN_REFUSED', 'SERVICENOW_ADDRESS_REFUSED'],
  },
  {
    row: 'service management: Basic authentication is rejected',
    ask: 'basic rejected',
    codes: ['SERVICENOW_BASIC_FORBIDDEN', 'SERVICENOW_AUTH_REJECTED'],
  },
  {
    row: 'service management: roughly half of the requests fail',
    ask: 'half requests fail instance',
    codes: ['SERVICENOW_PARTLY_ALLOWED'],
  },
  {
    row: 'a test returns an address that is not one of the two',
    ask: 'not one of the two',
    codes: ['EGRESS_UNEXPECTED', 'PROXY_NOT_USED'],
  },
  {
    row: 'certificate errors that appear only with the proxy',
    ask: 'certificate errors',
    codes: ['CLUSTER_URL_IS_PROXY', 'CLUSTER_CERT_INVALID'],
  },
  {
    row: 'a connection times out',
    ask: 'connection timeout',
    codes: ['CLUSTER_TIMEOUT', 'PROXY_TIMEOUT', 'PROXY_TARGET_UNREACHABLE', 'EGRESS_PARTLY_ALLOWED'],
  },
  {
    row: 'it works locally and fails after a deploy',
    ask: 'fails after deploy',
    codes: ['PROXY_NOT_USED', 'EGRESS_NOT_ALLOWED', 'FILTER_COVERS_CLIENT', 'FILTER_NOT_ENFORCED'],
  },
]
