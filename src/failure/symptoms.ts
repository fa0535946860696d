/**
 * From what somebody sees, in whatever tool, to the failures that it may be. A symptom without codes is no failure: its note
 * says why.
 */
import type { FailureCode } from './catalogue.js'

export interface Symptom {
  /** Who seems to answer. */
  readonly where: 'proxy' | 'cluster' | 'instance' | 'anywhere'
  /** What is seen. */
  readonly symptom: string
  /** What is behind it. */
  readonly when: string
  /** Most likely first. */
  readonly codes: readonly FailureCode[]
  /** What tells the codes apart. */
  readonly note: string
}

export const symptoms: readonly Symptom[] = [
  {
    where: 'proxy',
    symptom: '407 Proxy Authentication Required',
    when: 'Username or password of the proxy is missing, wrong, or not URL-encoded.',
    codes: ['PROXY_AUTH_REJECTED', 'PROXY_URL_INVALID'],
    note: 'A wrong port gives no 407, but a request that hangs or an answer that is no HTTP. In a program for the JDK, a 407 also means that the system property jdk.http.auth.tunneling.disabledSchemes is not set to an empty string: without that it sends no password through a tunnel.',
  },
  {
    where: 'proxy',
    symptom: 'A request that hangs, or an answer that is no HTTP (Parse Error, invalid data)',
    when: 'Scheme and port of the proxy URL do not fit: 9293 is HTTP, 9294 HTTPS, 1080 SOCKS5.',
    codes: ['PROXY_PORT_IS_SOCKS', 'PROXY_PORT_IS_HTTP', 'PROXY_TLS_MISMATCH', 'PROXY_TIMEOUT', 'PROXY_UNREACHABLE'],
    note: 'The first bytes of the answer tell which protocol the port speaks. A port that waits for the other side to begin says nothing: that is PROXY_TIMEOUT.',
  },
  {
    where: 'proxy',
    symptom: '"Request aborted", "tunneling socket could not be established"',
    when: 'The proxy refused the tunnel (CONNECT), and the client hides the status of its answer.',
    codes: ['PROXY_AUTH_REJECTED', 'PROXY_TARGET_UNREACHABLE', 'PROXY_DENIED_TARGET'],
    note: 'The status tells them apart: 407, 5xx, 403.',
  },
  {
    where: 'proxy',
    symptom: '"wrong version number" (ERR_SSL_WRONG_VERSION_NUMBER)',
    when: 'One side speaks TLS and the other does not.',
    codes: ['PROXY_TLS_MISMATCH', 'CLUSTER_URL_IS_PROXY', 'CLUSTER_UNAVAILABLE'],
    note: 'Which connection it was: the one to the proxy, or the one to the cluster inside the tunnel.',
  },
  {
    where: 'cluster',
    symptom: '403 Forbidden, with or without a word about traffic filtering',
    when: 'The address that the request came from is in no policy that is attached to the deployment.',
    codes: ['EGRESS_NOT_ALLOWED', 'EGRESS_PARTLY_ALLOWED', 'EGRESS_UNEXPECTED', 'PROXY_NOT_USED'],
    note: 'The body has "ok":false and no "error". All connections refused, or some: EGRESS_NOT_ALLOWED or EGRESS_PARTLY_ALLOWED. Sluice asks on up to 16 fresh connections before it says which.',
  },
  {
    where: 'cluster',
    symptom: '403 of another kind: security_exception, cluster_block_exception, an HTML page',
    when: 'The IP filter let the request through, or never saw it; somebody else refused.',
    codes: ['CLUSTER_PRIVILEGE_MISSING', 'INDEX_BLOCKED', 'PROXY_DENIED_TARGET', 'GATEWAY_REFUSED'],
    note: 'An Elasticsearch error names its type. A 403 in answer to CONNECT is the proxy. What is left is a gateway in between.',
  },
  {
    where: 'cluster',
    symptom: '401 Unauthorized',
    when: 'The cluster was reached: its credentials are wrong, expired, revoked, or those of another cluster.',
    codes: ['CLUSTER_AUTH_REJECTED', 'PROXY_AUTH_REJECTED'],
    note: 'Some proxies answer 401 instead of 407: then it comes in answer to CONNECT, before the cluster.',
  },
  {
    where: 'cluster',
    symptom: 'It succeeds without the proxy as well',
    when: 'No policy is attached, or one that is attached lets this machine in.',
    codes: ['FILTER_NOT_ENFORCED', 'FILTER_COVERS_CLIENT', 'FILTER_TOO_PERMISSIVE', 'FILTER_NOT_ATTACHED'],
    note: 'A success through the proxy is half of the check, a refusal without it the other half: `sluice doctor` tries both.',
  },
  {
    where: 'cluster',
    symptom: 'Telemetry arrives (OTLP), and application requests fail',
    when: 'The managed OTLP endpoint of a hosted deployment is not covered by IP filters.',
    codes: [],
    note: 'No fault of the filter: what arrives at the OTLP endpoint proves nothing about it. Look at the answer to the application requests alone, most often a 403 (EGRESS_NOT_ALLOWED) or 401 (CLUSTER_AUTH_REJECTED).',
  },
  {
    where: 'cluster',
    symptom: 'Intermittent failures: about half of the requests fail',
    when: 'Only one of the two static addresses is registered; the proxy uses either for any connection.',
    codes: ['EGRESS_PARTLY_ALLOWED', 'FILTER_MISSES_ADDRESS', 'EGRESS_ONE_ADDRESS'],
    note: 'Connections that stay open keep their address: the same program may work for an hour and fail after a restart.',
  },
  {
    where: 'cluster',
    symptom: '404 Not Found, "Unknown resource"',
    when: 'The hosting service knows no deployment of this name, or the cluster no such index or pipeline.',
    codes: ['CLUSTER_UNKNOWN_HOST', 'REQUEST_REFUSED', 'GATEWAY_REFUSED'],
    note: 'The answer of Elasticsearch is JSON with an error type; that of the hosting service is one sentence.',
  },
  {
    where: 'cluster',
    symptom: '429 Too Many Requests',
    when: 'The cluster has more work than it takes, or its disk is full.',
    codes: ['CLUSTER_OVERLOADED', 'INDEX_BLOCKED'],
    note: 'The error type tells: cluster_block_exception does not pass by waiting, the others do.',
  },
  {
    where: 'cluster',
    symptom: '413, or a connection that breaks while a large request is sent',
    when: 'The request is larger than the cluster or something before it takes.',
    codes: ['DOCUMENT_TOO_LARGE'],
    note: 'Sluice halves such requests by itself; the failure is left for a single document that is too large.',
  },
  {
    where: 'cluster',
    symptom: '400 for a whole bulk request',
    when: 'A line is not JSON, or name, operation or pipeline do not fit the index.',
    codes: ['REQUEST_REFUSED', 'DOCUMENT_NOT_JSON', 'INDEX_NAME_INVALID', 'IDS_REFUSED'],
    note: 'Sluice reads each line before it is sent, so that one bad line does not take its neighbours with it.',
  },
  {
    where: 'cluster',
    symptom: '500, 502, 503 or 504',
    when: 'The cluster is starting, restarting or too busy; or the proxy could not reach it.',
    codes: ['CLUSTER_UNAVAILABLE', 'PROXY_TARGET_UNREACHABLE'],
    note: 'In answer to CONNECT it is the proxy: look at host and port of the cluster URL. Otherwise it is the cluster: wait.',
  },
  {
    where: 'cluster',
    symptom: '"The client noticed that the server is not Elasticsearch", 406, HTML where JSON was expected',
    when: 'The URL leads to another product, or to a version that Sluice does not know.',
    codes: ['CLUSTER_NOT_ELASTICSEARCH', 'CLUSTER_VERSION_UNSUPPORTED'],
    note: 'Answers that Elasticsearch signs have the header x-elastic-product; the answer to GET / tells its version.',
  },
  {
    where: 'instance',
    symptom: '403 or 401 with valid credentials',
    when: 'The address that the request came from is not allowed: a Deny rule matches it and no Allow rule does, or a REST API access policy or adaptive authentication lists others.',
    codes: [
      'SERVICENOW_ADDRESS_REFUSED',
      'SERVICENOW_PARTLY_ALLOWED',
      'SERVICENOW_ACCESS_DENIED',
      'SERVICENOW_AUTH_REJECTED',
      'PROXY_NOT_USED',
    ],
    note: 'A 403 that is no JSON is about the address, one with "Insufficient rights" about the role. A 401 is about the credentials, or about a policy: a token that the instance has just given, and refuses, is not wrong.',
  },
  {
    where: 'instance',
    symptom: 'OAuth token call fails, 401 with "access_denied" and "server_error"',
    when: 'Entry of the application registry, secret, user or grant are wrong, or the user is inactive or locked; in other programs also: the token call does not go through the proxy.',
    codes: [
      'SERVICENOW_TOKEN_REFUSED',
      'SERVICENOW_ADDRESS_REFUSED',
      'SERVICENOW_PARTLY_ALLOWED',
      'SERVICENOW_LOGIN_NEEDED',
      'SERVICENOW_LOGIN_FAILED',
    ],
    note: 'The platform says the same for almost all of them, and it does not pass. Sluice sends the token call through the proxy like every other request; `sluice doctor` tries the same user with Basic authentication, once, to tell the user from the entry.',
  },
  {
    where: 'instance',
    symptom: '401 Unauthorized, "User Not Authenticated"',
    when: 'User name, password or token is wrong, expired or revoked; the user is inactive or locked; or Basic authentication is forbidden.',
    codes: [
      'SERVICENOW_AUTH_REJECTED',
      'SERVICENOW_BASIC_FORBIDDEN',
      'SERVICENOW_ADDRESS_REFUSED',
      'SERVICENOW_PARTLY_ALLOWED',
    ],
    note: 'Every wrong password counts towards a lock-out: `sluice doctor` logs in once in each way that is set, and no more.',
  },
  {
    where: 'instance',
    symptom: 'Basic Auth rejected, with a user and password that work in the browser',
    when: 'A REST API access policy forbids Basic authentication.',
    codes: ['SERVICENOW_BASIC_FORBIDDEN', 'SERVICENOW_AUTH_REJECTED', 'SERVICENOW_ADDRESS_REFUSED'],
    note: 'The answer is that of a wrong password. With a client id and secret as well, `sluice doctor` asks for a token with the same user: if that is taken, it was Basic.',
  },
  {
    where: 'instance',
    symptom: 'Roughly half of requests fail',
    when: 'Only one of the two static addresses is allowed at the instance; the proxy uses either for any connection.',
    codes: ['SERVICENOW_PARTLY_ALLOWED', 'EGRESS_ONE_ADDRESS'],
    note: 'Connections that stay open keep their address, so that it may look like a matter of time. `sluice doctor --nodes URL,URL` tells which address it is.',
  },
  {
    where: 'instance',
    symptom: 'HTML or a redirect instead of JSON',
    when: 'The instance is hibernating, or the URL leads to something that is no instance.',
    codes: ['SERVICENOW_HIBERNATING', 'SERVICENOW_NOT_AN_INSTANCE', 'SERVICENOW_ADDRESS_REFUSED'],
    note: 'The page of a hibernating instance says so, with status 200, on every path. With status 403 it is about the address.',
  },
  {
    where: 'instance',
    symptom: '429 Too Many Requests',
    when: 'A rate limit rule of the instance is spent, or its queue of API requests is full.',
    codes: ['SERVICENOW_RATE_LIMITED'],
    note: 'With Retry-After it is a rule, which counts by the hour; without, a queue, which is over in seconds.',
  },
  {
    where: 'instance',
    symptom: 'Rows are missing, or there are too many',
    when: 'An ACL hides rows from this user; or a part of the query that the platform does not understand was left out.',
    codes: [
      'SERVICENOW_ACCESS_DENIED',
      'SERVICENOW_QUERY_IGNORED',
      'SERVICENOW_TABLE_UNKNOWN',
      'SERVICENOW_PAGE_TRUNCATED',
    ],
    note: 'Neither is an error for the platform: it counts rows in X-Total-Count that it does not show, and drops conditions with a misspelt field.',
  },
  {
    where: 'instance',
    symptom: 'It answers without the proxy as well',
    when: 'No Deny rule covers this machine: access control by address is not set up, or only for single APIs.',
    codes: ['SERVICENOW_NOT_ENFORCED'],
    note: 'Asked without credentials, as `sluice doctor` does, only rules for the whole instance show.',
  },
  {
    where: 'instance',
    symptom: 'No connection, a timeout, a certificate error, 500 to 504',
    when: 'The URL is wrong, the instance is away, or its certificate is of a private authority.',
    codes: [
      'SERVICENOW_UNREACHABLE',
      'SERVICENOW_CERT_INVALID',
      'SERVICENOW_REQUEST_REFUSED',
      'PROXY_TARGET_UNREACHABLE',
    ],
    note: 'In answer to CONNECT it is the proxy that cannot reach it: look at the host in SERVICENOW_INSTANCE_URL.',
  },
  {
    where: 'anywhere',
    symptom: 'A test shows an address that is not one of the two',
    when: 'The request did not go through the proxy: it is set on some clients only, or the runtime did not take it over.',
    codes: ['EGRESS_UNEXPECTED', 'PROXY_NOT_USED'],
    note: 'In programs of your own, attach the proxy to every client; for axios, `proxy: false` and an `httpsAgent`.',
  },
  {
    where: 'anywhere',
    symptom: 'Certificate errors that appear only with the proxy',
    when: 'The proxy was asked as if it were the cluster, or TLS is spoken to the wrong port.',
    codes: ['CLUSTER_URL_IS_PROXY', 'CLUSTER_CERT_INVALID', 'PROXY_CERT_INVALID', 'PROXY_TLS_MISMATCH', 'CLOCK_SKEW'],
    note: "The proxy never decrypts: behind it stands the cluster's own certificate. Certificates that are not valid yet, or not any more, may be this machine's clock.",
  },
  {
    where: 'anywhere',
    symptom: 'Connection timeout (ETIMEDOUT)',
    when: 'Host or port is wrong, a firewall drops the packets, or only one of the two addresses may connect.',
    codes: [
      'CLUSTER_TIMEOUT',
      'PROXY_TIMEOUT',
      'PROXY_TARGET_UNREACHABLE',
      'EGRESS_PARTLY_ALLOWED',
      'CLUSTER_PRIVATE_LINK',
    ],
    note: 'Now and then: one of the addresses is not registered. Every time: host, port or firewall.',
  },
  {
    where: 'anywhere',
    symptom: 'Connection refused, host not found, connection reset (ECONNREFUSED, ENOTFOUND, ECONNRESET)',
    when: 'Nobody listens there, the name is unknown, or somebody hung up.',
    codes: ['PROXY_UNREACHABLE', 'CLUSTER_UNAVAILABLE', 'PROXY_TLS_MISMATCH'],
    note: 'Sluice says whether it was the proxy or the cluster; most clients do not.',
  },
  {
    where: 'anywhere',
    symptom: 'Works locally, fails after deploy',
    when: 'The address of the local machine was allowed, or nothing filtered at all; a deployed host has addresses that change.',
    codes: ['PROXY_NOT_USED', 'EGRESS_NOT_ALLOWED', 'FILTER_COVERS_CLIENT', 'FILTER_NOT_ENFORCED'],
    note: 'Not one failure but two, in two places: `sluice doctor` on the local machine says that it is let in without the proxy, on the deployed one that the proxy is not used or its addresses are not registered. --require-proxy (SLUICE_REQUIRE_PROXY) keeps a deployed run from going without it.',
  },
  {
    where: 'anywhere',
    symptom: 'IP filter policies cannot be read or changed',
    when: 'The hosting service keeps them, apart from the cluster, and takes keys of the organisation alone.',
    codes: [
      'FILTER_API_KEY_REJECTED',
      'FILTER_API_REFUSED',
      'FILTER_POLICY_UNKNOWN',
      'FILTER_API_UNAVAILABLE',
      'FILTER_CHANGED_MEANWHILE',
    ],
    note: 'The status of its answer tells: 401 is the key, 400 and 404 the request. Without an answer it is the way there, which does not go through the proxy.',
  },
  {
    where: 'anywhere',
    symptom: 'Everything works, but slowly',
    when: 'Proxy and cluster are far apart, or the cluster is busy.',
    codes: ['LATENCY_CROSS_REGION', 'REGION_MISMATCH', 'CLUSTER_OVERLOADED'],
    note: '10 to 20 ms more for each request are usual through a proxy in the same region, 50 to 100 ms across regions.',
  },
  {
    where: 'anywhere',
    symptom: 'Fewer documents than in the input, or more',
    when: 'Documents were refused one by one, or a load was repeated under other ids.',
    codes: ['TOO_MANY_REJECTED', 'DOCUMENT_NOT_JSON', 'DOCUMENT_ID_INVALID', 'INPUT_TRUNCATED', 'RUN_LOCKED'],
    note: 'The receipt of a run counts every document; `sluice verify RUN` looks each of them up.',
  },
]
