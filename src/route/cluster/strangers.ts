/** Knows who answers where Elasticsearch should, by the marks that others leave in their answers. */
import type { FailureCode } from '../../base/failure/failure.js'

export interface Stranger {
  /** A name for the stranger, as it follows a colon in a message. */
  readonly is: string
  /** The name of the failure, whatever the status. Absent: the status decides. */
  readonly code?: FailureCode
}

interface Mark extends Stranger {
  /** Matches the answer: `status N`, a line for each header, an empty line, the body. */
  readonly if: RegExp
}

/** The most telling first. */
const marks: readonly Mark[] = [
  {
    is: 'the port expects TLS, but the URL says http://',
    code: 'CLUSTER_TLS_MISMATCH',
    if: /plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server|speaking plain HTTP to an SSL/i,
  },
  {
    is: 'it needs a client certificate',
    code: 'CLUSTER_CLIENT_CERT',
    if: /No required SSL certificate was sent|The SSL certificate error/i,
  },
  {
    is: 'it is OpenSearch Dashboards',
    code: 'CLUSTER_NOT_ELASTICSEARCH',
    if: /^osd-name: |<title>OpenSearch Dashboards/im,
  },
  {
    is: 'it is Kibana',
    code: 'CLUSTER_NOT_ELASTICSEARCH',
    if: /^kbn-(name|license-sig|version): |^location: \S*(\/spaces\/enter|\/app\/home)|<title>(Kibana|Elastic)<|^<html>Kibana/im,
  },
  {
    is: 'it is OpenSearch',
    code: 'CLUSTER_NOT_ELASTICSEARCH',
    if: /"distribution" ?: ?"opensearch"|The OpenSearch Project|realm="OpenSearch Security"|\bes:ESHttp/i,
  },
  {
    is: 'it is a service of Amazon, which accepts only signed requests',
    code: 'CLUSTER_NOT_ELASTICSEARCH',
    if: /not a valid key=value pair \(missing equal-sign\) in Authorization header|Authorization header requires 'Credential' parameter/,
  },
  {
    is: 'it is the port of the nodes (9300), not the port for HTTP',
    code: 'CLUSTER_NOT_ELASTICSEARCH',
    if: /\n\nThis is not an HTTP port/,
  },
  {
    is: 'this network requires a login first',
    code: 'GATEWAY_REFUSED',
    if: /^status 511\n/,
  },
  {
    is: 'it is a login page',
    if: /^location: \S*(log-?in|sign-?in|\/sso|oauth|saml|authorize|auth\b)|<title>[^<]*(log ?in|sign ?in|anmelden)|<input[^<>]* type="?password/im,
  },
  {
    is: 'it is the console of Elastic Cloud',
    if: /^location: https:\/\/cloud\.elastic\.co|<title>[^<]*Elastic Cloud/im,
  },
  // Only the first empty line counts: to try each takes half a second for a page of nothing else.
  { is: 'it is a web page', if: /^status 200\n(?:.+\n)*\n\s*<(!doctype|html|head|body)\b/i },
]

/** Returns who left marks in an answer that is not Elasticsearch's. */
export function strangerIn(
  statusCode: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  text: string,
): Stranger | undefined {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
  const answer = [`status ${statusCode}`, ...lines, '', text.slice(0, 16_384)].join('\n')
  return marks.find(mark => mark.if.test(answer))
}

/** Returns what a redirect of a gateway to itself means. A redirect to another host may be a login page of any kind. */
export function redirectIn(statusCode: number, location: unknown, target: URL): Stranger | undefined {
  if (![301, 302, 307, 308].includes(statusCode) || typeof location !== 'string') return undefined
  if (!URL.canParse(location, target.href)) return undefined
  const to = new URL(location, target.href)
  if (to.hostname !== target.hostname) return undefined
  if (target.protocol === 'http:' && to.protocol === 'https:')
    return { is: `a gateway redirects to https:, but the URL says http://`, code: 'CLUSTER_TLS_MISMATCH' }
  return to.host === target.host && to.pathname !== target.pathname
    ? { is: 'it redirects to another path of the same host' }
    : undefined
}

/** Returns which logins a gateway accepts, if Sluice has none of them. */
export function loginOffered(challenges: string): string | undefined {
  const names = challenges.replaceAll(/"[^"]*"/g, '').match(/\b(ntlm|negotiate|kerberos|digest)\b(?!=)/gi) ?? []
  if (names.length === 0 || /\b(basic|apikey|bearer)\b(?!=)/i.test(challenges)) return undefined
  return `it accepts only ${[...new Set(names)].join(' or ')}, but Sluice sends an API key or Basic`
}

/** Returns the URL of the Elasticsearch beside a Kibana, if the URL shows it. */
export function elasticsearchBeside(cluster: string): string | undefined {
  const hosted = cluster.replace(/^(https:\/\/[^./]+)\.kb\./, '$1.es.')
  const usual = cluster.replace(/:5601(\/.*)?$/, ':9200')
  return [hosted, usual].find(one => one !== cluster)?.replace(/^(https?:\/\/[^/]+)\/.*$/, '$1')
}
