/**
 * From what somebody sees, in whatever tool, to the failures that it may be. A symptom without codes is no failure: its note
 * says why.
 */
import { type FailureCode, explain, failureCodes } from './failure.js'
import { type IndexError, indexErrors } from './index-errors.js'

export interface Symptom {
  /** The side that seems to answer. */
  readonly where: 'proxy' | 'cluster' | 'instance' | 'anywhere'
  /** The symptom that the user sees. */
  readonly symptom: string
  /** The situation behind it. */
  readonly when: string
  /** Most likely first. */
  readonly codes: readonly FailureCode[]
  /** The difference between the codes. */
  readonly note: string
  /** Parts of the lines that programs print for it, in lower case. */
  readonly printed?: readonly string[]
}

export const symptoms: readonly Symptom[] = [
  {
    where: 'proxy',
    symptom: '407 Proxy Authentication Required',
    when: 'The username or password of the proxy is missing, wrong, or not URL-encoded.',
    codes: ['PROXY_AUTH_REJECTED', 'PROXY_URL_INVALID', 'PROXY_ACCOUNT_REFUSED'],
    note: 'A wrong port does not cause a 407. The request hangs, or the answer is not HTTP. A program for the JDK also gets 407 if the system property jdk.http.auth.tunneling.disabledSchemes is not an empty string. Java then sends no password through a tunnel.',
    printed: [
      'proxy authentication required',
      'proxy authorization required',
      'http code 407',
      'statuscode=407',
      'status code: 407',
      'status code 407',
      '(407)',
      '[407]',
      'connection failed: 407',
      '"http/1.1 407',
    ],
  },
  {
    where: 'proxy',
    symptom: 'A request that hangs, or an answer that is not HTTP (Parse Error, invalid data)',
    when: 'The scheme and port of the proxy URL do not fit. For QuotaGuard, 9293 is HTTP, 9294 HTTPS and 1080 SOCKS5.',
    codes: ['PROXY_PORT_IS_SOCKS', 'PROXY_PORT_IS_HTTP', 'PROXY_TLS_MISMATCH', 'PROXY_TIMEOUT', 'PROXY_UNREACHABLE'],
    note: 'The first bytes of the answer show which protocol the port speaks. If the port waits for the other side to begin, there is no answer (PROXY_TIMEOUT).',
    printed: [
      'parse error',
      'received http/0.9',
      'possibly http/0.9',
      'malformed http response',
      'badstatusline',
      'socks5 proxy server sent invalid data',
      'general socks server failure',
    ],
  },
  {
    where: 'proxy',
    symptom: '"Request aborted", "tunneling socket could not be established"',
    when: 'The proxy refused the tunnel (CONNECT), and the client hides the status of its answer.',
    codes: [
      'PROXY_AUTH_REJECTED',
      'PROXY_TARGET_UNREACHABLE',
      'PROXY_DENIED_TARGET',
      'PROXY_ACCOUNT_REFUSED',
      'PROXY_LIMIT_REACHED',
      'PROXY_NOT_A_PROXY',
    ],
    note: 'The status shows the cause: 407 PROXY_AUTH_REJECTED, 5xx PROXY_TARGET_UNREACHABLE, 403 PROXY_DENIED_TARGET, 402 PROXY_ACCOUNT_REFUSED, 429 PROXY_LIMIT_REACHED, and 405, a redirect or 511 PROXY_NOT_A_PROXY.',
    printed: [
      'tunneling socket could not be established',
      'request aborted',
      'tunnel connection failed',
      'unable to tunnel through proxy',
      'err_tunnel_connection_failed',
      'from proxy after connect',
      'connect to proxy',
      'connect refused by proxy',
      'proxyerror(',
    ],
  },
  {
    where: 'proxy',
    symptom: '"wrong version number" (ERR_SSL_WRONG_VERSION_NUMBER)',
    when: 'One side speaks TLS and the other does not.',
    codes: ['PROXY_TLS_MISMATCH', 'CLUSTER_TLS_MISMATCH', 'CLUSTER_URL_IS_PROXY'],
    note: 'Find out which connection it was: the one to the proxy, or the one to the cluster inside the tunnel.',
    printed: [
      'wrong version number',
      'wrong_version_number',
      'does not look like a tls handshake',
      'server gave http response to https client',
      'exceeded the maximum permissible length',
      'not an ssl/tls record',
      'unrecognized ssl message',
      'packet length too long',
      'record layer failure',
    ],
  },
  {
    where: 'cluster',
    symptom: '403 Forbidden, with or without a message about traffic filtering',
    when: 'No policy that is attached to the deployment allows the address of the request.',
    codes: ['EGRESS_NOT_ALLOWED', 'EGRESS_PARTLY_ALLOWED', 'EGRESS_UNEXPECTED', 'PROXY_NOT_USED'],
    note: 'The body has "ok":false and no "error". If all connections are refused, it is EGRESS_NOT_ALLOWED. If some are, it is EGRESS_PARTLY_ALLOWED. Sluice opens up to 16 connections to find out.',
    printed: ['{"ok":false,"message":"forbidden"}'],
  },
  {
    where: 'cluster',
    symptom: '403 of another kind: security_exception, cluster_block_exception, an HTML page',
    when: 'The IP filter accepted the request, or never saw it. Something else refused it.',
    codes: [
      'CLUSTER_PRIVILEGE_MISSING',
      'INDEX_BLOCKED',
      'PROXY_DENIED_TARGET',
      'GATEWAY_REFUSED',
      'CLUSTER_LICENSE_ENDED',
    ],
    note: 'An Elasticsearch error names its type. A 403 in answer to CONNECT comes from the proxy. Any other 403 comes from a gateway on the route.',
    printed: ['security_exception', '403 forbidden', 'statuscode":403', 'status code 403', 'status: 403'],
  },
  {
    where: 'cluster',
    symptom: '400 "plain HTTP request was sent to HTTPS port", "No required SSL certificate was sent", or a TLS alert',
    when: 'The URL says http:// and the port uses TLS, or the cluster requires a client certificate.',
    codes: ['CLUSTER_TLS_MISMATCH', 'CLUSTER_CLIENT_CERT', 'PROXY_CLIENT_CERT'],
    note: 'A client that uses https:// and sends a certificate of its own (--cert) gets none of these errors.',
    printed: [
      'plaintext http traffic on an https channel',
      'plain http request was sent to https port',
      'http request to an https server',
      'certificate_required',
      'bad certificate',
    ],
  },
  {
    where: 'cluster',
    symptom: '401 Unauthorized',
    when: 'The cluster answered. The credentials are wrong, expired, revoked, or those of another cluster.',
    codes: ['CLUSTER_AUTH_REJECTED', 'PROXY_AUTH_REJECTED'],
    note: 'Some proxies answer 401 instead of 407. Such a 401 comes in answer to CONNECT, before the cluster.',
    printed: [
      '401 unauthorized',
      '401 authorization required',
      'missing authentication credentials',
      'unable to authenticate user',
      '[401]',
    ],
  },
  {
    where: 'cluster',
    symptom: 'It succeeds without the proxy as well',
    when: 'No policy is attached, or an attached policy allows this machine.',
    codes: [
      'FILTER_NOT_ENFORCED',
      'FILTER_COVERS_CLIENT',
      'FILTER_TOO_PERMISSIVE',
      'FILTER_NOT_ATTACHED',
      'FILTER_NOT_APPLIED',
    ],
    note: 'A filter works if requests succeed through the proxy and fail without it. `sluice doctor` tries both.',
  },
  {
    where: 'cluster',
    symptom: 'Telemetry arrives (OTLP), and application requests fail',
    when: 'IP filters do not cover the managed OTLP endpoint of an Elastic Cloud deployment.',
    codes: [],
    note: 'This is not a fault of the IP filter. Data at the OTLP endpoint proves nothing about it. Check only the answer to the application requests, most often 403 (EGRESS_NOT_ALLOWED) or 401 (CLUSTER_AUTH_REJECTED).',
  },
  {
    where: 'cluster',
    symptom: 'Intermittent failures: about half of the requests fail',
    when: 'Only one of the two static addresses is allowed, or one of the two nodes of the proxy fails.',
    codes: ['EGRESS_PARTLY_ALLOWED', 'FILTER_MISSES_ADDRESS', 'EGRESS_ONE_ADDRESS', 'PROXY_NODE_FAILS'],
    note: 'Connections that stay open keep their address. The same program may work for an hour and fail after a restart.',
  },
  {
    where: 'cluster',
    symptom: '404 Not Found, "Unknown resource"',
    when: 'Elastic Cloud has no deployment of this name, or the cluster has no such index or pipeline.',
    codes: ['CLUSTER_UNKNOWN_HOST', 'REQUEST_REFUSED', 'GATEWAY_REFUSED', 'CLUSTER_NOT_ELASTICSEARCH'],
    note: 'Elasticsearch answers JSON with an error type. Elastic Cloud answers one sentence. If GET / fails too, the URL has a path too many, or lacks the path of a gateway.',
    printed: ['"unknown resource."', 'no handler found for uri', 'no such index'],
  },
  {
    where: 'cluster',
    symptom: '429 Too Many Requests',
    when: 'The cluster has too much work, its disk is full, or the proxy or a gateway has a limit.',
    codes: ['CLUSTER_OVERLOADED', 'INDEX_BLOCKED', 'GATEWAY_LIMITED', 'PROXY_LIMIT_REACHED'],
    note: 'The error type shows the cause. A cluster_block_exception does not end by itself, but the others do. Without an error type, it is the limit of a gateway or of the proxy.',
  },
  {
    where: 'cluster',
    symptom: '413, or a connection that breaks while a large request is sent',
    when: 'The request is larger than the cluster or a gateway allows.',
    codes: ['DOCUMENT_TOO_LARGE'],
    note: 'Sluice halves such requests by itself. It reports this failure only for a single document that is too large.',
    printed: ['413 request entity too large', 'error 413', 'request size exceeded', 'request entity too large'],
  },
  {
    where: 'cluster',
    symptom: '400 for a whole bulk request',
    when: 'A line is not JSON, or the name, operation or pipeline does not fit the index.',
    codes: ['REQUEST_REFUSED', 'DOCUMENT_NOT_JSON', 'INDEX_NAME_INVALID', 'IDS_REFUSED'],
    note: 'Sluice checks each line before it sends it, so that one bad line cannot fail the whole request.',
  },
  {
    where: 'cluster',
    symptom: '500, 502, 503 or 504',
    when: 'The cluster is starting, restarting or too busy, or the proxy cannot reach it.',
    codes: ['CLUSTER_UNAVAILABLE', 'PROXY_TARGET_UNREACHABLE'],
    note: 'A status in answer to CONNECT comes from the proxy. Check the host and port of the cluster URL. Otherwise it comes from the cluster, so wait.',
    printed: [
      '502 bad gateway',
      '503 service unavailable',
      '504 gateway',
      'statuscode=502',
      'statuscode=503',
      'connection failed: 503',
    ],
  },
  {
    where: 'cluster',
    symptom: 'an answer of many megabytes, or one that does not end',
    when: 'A gateway changes the answers of the cluster.',
    codes: ['CLUSTER_ANSWER_TOO_LONG'],
    note: 'Elasticsearch quotes a value that it refuses as a whole. Sluice reads such answers, and only keeps the beginning of the value.',
  },
  {
    where: 'cluster',
    symptom: '"The client noticed that the server is not Elasticsearch", 406, HTML where JSON was expected',
    when: 'The URL leads to another product, or to a version that Sluice does not support.',
    codes: ['CLUSTER_NOT_ELASTICSEARCH', 'CLUSTER_VERSION_UNSUPPORTED'],
    note: 'Elasticsearch answers with the header x-elastic-product. The answer to GET / contains its version.',
    printed: [
      'is not elasticsearch',
      'not a supported distribution of elasticsearch',
      'unable to verify that the server is elasticsearch',
      'unknow mime',
      'unknown mime',
      'unable to parse response body',
    ],
  },
  {
    where: 'anywhere',
    symptom: '"unsupported protocol", "protocol version", "legacy renegotiation disabled", "handshake failure"',
    when: 'The other side speaks TLS, but offers only versions or ciphers that the client does not accept. Or it wants a client certificate.',
    codes: ['CLUSTER_TLS_MISMATCH', 'PROXY_TLS_MISMATCH', 'CLUSTER_CLIENT_CERT', 'PROXY_CLIENT_CERT'],
    note: 'Sluice needs TLS 1.2 or 1.3. An old server, or a firewall that opens TLS, may offer only older versions.',
    printed: [
      'unsupported protocol',
      'no protocols available',
      'protocol version',
      'protocolversion',
      'legacy renegotiation disabled',
      'handshake failure',
      'handshake_failure',
      'are not accepted by server preferences',
      'stack level too deep',
    ],
  },
  {
    where: 'cluster',
    symptom: '301, 302, 307 or 308 in place of an answer',
    when: 'A gateway redirects to https://, to another path, or to a login page. Most clients follow no redirect of a POST.',
    codes: ['CLUSTER_TLS_MISMATCH', 'GATEWAY_REFUSED', 'CLUSTER_NOT_ELASTICSEARCH', 'PROXY_NOT_A_PROXY'],
    note: 'The header location shows where to. If only http:// became https://, the scheme of the URL is wrong. A redirect in answer to CONNECT comes from the proxy, or from the network of this machine.',
    printed: [
      '308 permanent redirect',
      '301 moved permanently',
      '302 found',
      'statuscode=302',
      '307 temporary redirect',
    ],
  },
  {
    where: 'cluster',
    symptom: 'Messages about signatures: "es:ESHttpPost", "Authorization header requires \'Credential\' parameter"',
    when: 'The URL leads to Amazon OpenSearch Service, which accepts only signed requests.',
    codes: ['CLUSTER_NOT_ELASTICSEARCH'],
    note: 'Sluice loads into Elasticsearch 8 or 9, and signs no requests.',
    printed: ['es:eshttp', "authorization header requires 'credential' parameter", 'missing equal-sign'],
  },
  {
    where: 'cluster',
    symptom: 'Small requests succeed, and large requests hang or time out',
    when: 'A VPN or tunnel on the route loses full packets, because its MTU is wrong and ICMP is blocked.',
    codes: ['CLUSTER_TIMEOUT'],
    note: '`sluice doctor --index NAME` asks the same question in full packets and in a small one, and reports the difference.',
  },
  {
    where: 'instance',
    symptom: '403 or 401 with valid credentials',
    when: 'ServiceNow does not allow the address of the request. A Deny rule matches it and no Allow rule does. Or a REST API access policy or adaptive authentication allows only other addresses.',
    codes: [
      'SERVICENOW_ADDRESS_REFUSED',
      'SERVICENOW_PARTLY_ALLOWED',
      'SERVICENOW_ACCESS_DENIED',
      'SERVICENOW_AUTH_REJECTED',
      'PROXY_NOT_USED',
    ],
    note: 'A 403 without JSON is about the address. A 403 with "Insufficient rights" is about the role. A 401 is about the credentials or a policy. If the instance refuses a token that it has just given, the cause is a policy.',
    printed: ['failed to authenticate with the instance'],
  },
  {
    where: 'instance',
    symptom: 'OAuth token call fails, 401 with "access_denied" and "server_error"',
    when: 'The entry of the Application Registry, its secret, the user or the grant is wrong. Or the user is inactive or locked. In other programs, the token call may bypass the proxy.',
    codes: [
      'SERVICENOW_TOKEN_REFUSED',
      'SERVICENOW_ADDRESS_REFUSED',
      'SERVICENOW_PARTLY_ALLOWED',
      'SERVICENOW_LOGIN_NEEDED',
      'SERVICENOW_LOGIN_FAILED',
    ],
    note: 'ServiceNow answers the same for almost all of these causes. Sluice sends the token call through the proxy like every other request. `sluice doctor` tries the same user once with Basic authentication. This distinguishes a wrong user from a wrong entry.',
  },
  {
    where: 'instance',
    symptom: '401 Unauthorized, "User Not Authenticated"',
    when: 'The user name, password or token is wrong, expired or revoked. Or the user is inactive or locked, or ServiceNow forbids Basic authentication.',
    codes: [
      'SERVICENOW_AUTH_REJECTED',
      'SERVICENOW_BASIC_FORBIDDEN',
      'SERVICENOW_ADDRESS_REFUSED',
      'SERVICENOW_PARTLY_ALLOWED',
    ],
    note: 'Every wrong password counts towards a lock-out. `sluice doctor` tries each configured login only once.',
    printed: ['user not authenticated', '(401) unauthorized', 'user cannot be authenticated'],
  },
  {
    where: 'instance',
    symptom: 'Basic Auth rejected, with a user and password that work in the browser',
    when: 'A REST API access policy forbids Basic authentication.',
    codes: ['SERVICENOW_BASIC_FORBIDDEN', 'SERVICENOW_AUTH_REJECTED', 'SERVICENOW_ADDRESS_REFUSED'],
    note: 'ServiceNow answers the same for a wrong password. If a client id and secret are set, `sluice doctor` asks for a token with the same user. If the instance accepts the token, it forbids Basic authentication.',
  },
  {
    where: 'instance',
    symptom: 'Roughly half of requests fail',
    when: 'The instance allows only one of the two static addresses, and the proxy may use either for any connection.',
    codes: ['SERVICENOW_PARTLY_ALLOWED', 'EGRESS_ONE_ADDRESS'],
    note: 'Connections that stay open keep their address, so the failures may seem to depend on time. `sluice doctor --nodes URL,URL` shows which address it is.',
  },
  {
    where: 'instance',
    symptom: 'HTML or a redirect instead of JSON',
    when: 'The instance is hibernating, or the URL does not lead to a ServiceNow instance.',
    codes: ['SERVICENOW_HIBERNATING', 'SERVICENOW_NOT_AN_INSTANCE', 'SERVICENOW_ADDRESS_REFUSED'],
    note: 'A hibernating instance answers 200 and a page that says so, on every path. A 403 is about the address.',
    printed: ['instance is hibernating', 'unexpected token <'],
  },
  {
    where: 'instance',
    symptom: '429 Too Many Requests',
    when: 'A rate limit rule of the instance allows no more requests, or its queue of API requests is full.',
    codes: ['SERVICENOW_RATE_LIMITED'],
    note: 'With Retry-After, the cause is a rule, which counts per hour. Without it, the cause is a full queue, which empties in seconds.',
  },
  {
    where: 'instance',
    symptom: 'Rows are missing, or there are too many',
    when: 'An ACL hides rows from this user, or ServiceNow ignored a part of the query that it does not understand.',
    codes: [
      'SERVICENOW_ACCESS_DENIED',
      'SERVICENOW_QUERY_IGNORED',
      'SERVICENOW_TABLE_UNKNOWN',
      'SERVICENOW_PAGE_TRUNCATED',
    ],
    note: 'ServiceNow reports neither as an error. X-Total-Count includes hidden rows, and a condition with a misspelt field is dropped.',
  },
  {
    where: 'instance',
    symptom: 'It answers without the proxy as well',
    when: 'No Deny rule covers this machine. Address rules are not set up, or only for single APIs.',
    codes: ['SERVICENOW_NOT_ENFORCED'],
    note: '`sluice doctor` asks without credentials, so that it sees only rules for the whole instance.',
  },
  {
    where: 'instance',
    symptom: 'No connection, a timeout, a certificate error, 500 to 504',
    when: 'The URL is wrong, the instance is down, or its certificate is from a private authority.',
    codes: [
      'SERVICENOW_UNREACHABLE',
      'SERVICENOW_CERT_INVALID',
      'SERVICENOW_REQUEST_REFUSED',
      'PROXY_TARGET_UNREACHABLE',
    ],
    note: 'If the status comes in answer to CONNECT, the proxy cannot reach the instance. Check the host in SERVICENOW_INSTANCE_URL.',
  },
  {
    where: 'anywhere',
    symptom: 'A test shows an address that is not one of the two',
    when: 'The request did not go through the proxy, because only some clients use it or the runtime ignores the setting.',
    codes: ['EGRESS_UNEXPECTED', 'PROXY_NOT_USED'],
    note: 'In your own programs, configure the proxy on every client. For axios, set `proxy: false` and an `httpsAgent`.',
  },
  {
    where: 'anywhere',
    symptom: 'Certificate errors that appear only with the proxy',
    when: 'The client mistakes the proxy for the cluster, or speaks TLS to the wrong port.',
    codes: [
      'CLUSTER_URL_IS_PROXY',
      'CLUSTER_CERT_INVALID',
      'PROXY_CERT_INVALID',
      'SERVICENOW_CERT_INVALID',
      'PROXY_TLS_MISMATCH',
      'CLOCK_SKEW',
    ],
    note: "The proxy never decrypts, so the client sees the cluster's own certificate. If a certificate is expired or not valid yet, check the clock of this machine.",
    printed: [
      'self signed certificate',
      'self-signed certificate',
      'signed by unknown authority',
      'certificate_verify_failed',
      'certificate verify failed',
      'unable to get local issuer certificate',
      'unable to verify the first certificate',
      'pkix path',
      'unable_to_verify',
      'depth_zero_self_signed',
      'any ip sans',
      'no subject alternative',
      'certificate has expired',
      'peer not authenticated',
      'no issuer certificate found',
      'session contains no certificates',
    ],
  },
  {
    where: 'anywhere',
    symptom: 'Connection timeout (ETIMEDOUT)',
    when: 'The host or port is wrong, a firewall drops the packets, or only one of the two addresses is allowed.',
    codes: [
      'CLUSTER_TIMEOUT',
      'PROXY_TIMEOUT',
      'PROXY_TARGET_UNREACHABLE',
      'EGRESS_PARTLY_ALLOWED',
      'CLUSTER_PRIVATE_LINK',
    ],
    note: 'If it happens now and then, one of the two addresses is not allowed. If it happens every time, check host, port and firewall.',
    printed: [
      'etimedout',
      'timed out',
      'i/o timeout',
      'request timeout after',
      'requesttimeout',
      'connectiontimeout',
      'read timeout',
      'context deadline exceeded',
    ],
  },
  {
    where: 'anywhere',
    symptom: 'Connection refused, host not found, connection reset (ECONNREFUSED, ENOTFOUND, ECONNRESET)',
    when: 'No server listens there, the name is unknown, or the other side closed the connection.',
    codes: [
      'PROXY_UNREACHABLE',
      'PROXY_TARGET_UNREACHABLE',
      'CLUSTER_UNAVAILABLE',
      'CLUSTER_PRIVATE_LINK',
      'PROXY_URL_INVALID',
      'PROXY_TLS_MISMATCH',
    ],
    note: 'Sluice reports whether it was the proxy or the cluster. Most clients do not.',
    printed: [
      'econnrefused',
      'connection refused',
      'enotfound',
      'name or service not known',
      'name resolution',
      'no such host',
      'resolutionfailure',
      'eai_again',
      'could not resolve',
      'econnreset',
      'connection reset',
      'reset by peer',
      'broken pipe',
      'broken connection to',
      'socket hang up',
      'other side closed',
      'no living connections',
      'unable to revive connection',
      'failed to respond',
      'before secure tls connection',
      'failed to establish a new connection',
      'unreachable',
      'no route to host',
      'eaddrnotavail',
      'permission denied',
    ],
  },
  {
    where: 'anywhere',
    symptom: 'Works locally, fails after deploy',
    when: 'The address of the local machine was allowed, or no filter was active. A deployed host has changing addresses.',
    codes: ['PROXY_NOT_USED', 'EGRESS_NOT_ALLOWED', 'FILTER_COVERS_CLIENT', 'FILTER_NOT_ENFORCED'],
    note: 'These are two failures in two places. Run `sluice doctor` on both machines. The local machine works without the proxy. The deployed machine bypasses the proxy, or its addresses are not allowed. With --require-proxy (SLUICE_REQUIRE_PROXY), a run never bypasses the proxy.',
  },
  {
    where: 'anywhere',
    symptom: 'IP filter policies cannot be read or changed',
    when: 'Elastic Cloud keeps the policies, not the cluster, and needs an API key of the organisation.',
    codes: [
      'FILTER_API_KEY_REJECTED',
      'FILTER_API_REFUSED',
      'FILTER_POLICY_UNKNOWN',
      'FILTER_API_UNAVAILABLE',
      'FILTER_CHANGED_MEANWHILE',
    ],
    note: 'A 401 is about the key, a 400 or 404 about the request. If no answer comes, check the direct connection to the API, which does not use the proxy.',
  },
  {
    where: 'anywhere',
    symptom: 'Everything works, but slowly',
    when: 'The proxy and the cluster are far apart, or the cluster is busy.',
    codes: ['LATENCY_CROSS_REGION', 'REGION_MISMATCH', 'CLUSTER_OVERLOADED'],
    note: 'A proxy in the same region adds 10 to 20 ms to each request. A proxy in another region adds 50 to 100 ms.',
  },
  {
    where: 'anywhere',
    symptom: 'Fewer documents than in the input, or more',
    when: 'Some documents were rejected, or a load was repeated with other ids.',
    codes: ['TOO_MANY_REJECTED', 'DOCUMENT_NOT_JSON', 'DOCUMENT_ID_INVALID', 'INPUT_TRUNCATED', 'RUN_LOCKED'],
    note: 'The receipt of a run counts every document. `sluice verify RUN` looks up each of them.',
  },
]

export interface Found {
  readonly symptoms: readonly Symptom[]
  /** Failures that speak of it themselves, in the order of the path. */
  readonly codes: readonly FailureCode[]
  /** Elasticsearch's own errors for single documents. */
  readonly errors: readonly IndexError[]
}

/**
 * Finds symptoms and failures that contain every word of the text: numbers as they are, other words as the start of a
 * word. A whole line of a program also finds the symptoms that such a line stands for.
 */
export function lookUp(text: string): Found {
  const words = text
    .split(/\s+/)
    .map(word => word.replaceAll(/^\W+|\W+$/g, ''))
    .filter(word => word !== '')
  if (words.length === 0) return { symptoms: [], codes: [], errors: [] }
  const patterns = words.map(
    word => new RegExp(`\\b${word.replaceAll(/\W/g, String.raw`\$&`)}${/^\d+$/.test(word) ? '\\b' : ''}`, 'i'),
  )
  const holds = (...texts: readonly string[]) => patterns.every(pattern => pattern.test(texts.join('\n')))
  const line = text.toLowerCase().replaceAll(/\s+/g, ' ')
  const isPrinted = (printed: readonly string[] = []) => printed.some(part => line.includes(part))
  return {
    symptoms: symptoms.filter(({ symptom, when, note, printed }) => holds(symptom, when, note) || isPrinted(printed)),
    codes: failureCodes.filter(code => {
      const { title, observed, causes } = explain(code)
      return holds(code.replaceAll('_', ' '), title, observed, ...causes)
    }),
    errors: indexErrors.filter(({ type, meaning }) => holds(type, type.replaceAll('_', ' '), meaning)),
  }
}
