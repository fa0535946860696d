/**
 * Public threads in which people could not reach Elasticsearch, Elastic Cloud or ServiceNow through a proxy, a filter, a gateway, a
 * static-IP add-on or a VPN. Only facts stand here: what a program printed, and which planted cause it was.
 */
import type { FailureCode } from '../../src/base/failure/failure.js'

export interface Thread {
  /** `owner/name#number` of an issue or pull request, or a page: its title and address. */
  readonly at: string | readonly [title: string, url: string]
  /** A line that a program printed, in part. Absent: the thread shows none. */
  readonly printed?: string
  /** A planted cause by its words, as `docs/diagnosis.md` has it. */
  readonly planted: string
  /** The failure that `sluice explain` must lead to, given what was printed. */
  readonly code?: FailureCode
}

const thread = (at: Thread['at'], planted: string, printed?: string, code?: FailureCode): Thread => ({
  at,
  planted,
  ...(printed === undefined || code === undefined ? {} : { printed, code }),
})

const login = 'a proxy URL without credentials (http)'
const wrongLogin = 'a wrong proxy password (http)'
const unused = 'no proxy is set where the load runs'
const target = 'a cluster URL with a host that does not exist'
const closed = 'a cluster URL with a port where nobody listens (http)'
const silent = 'a cluster that takes connections and never answers (https)'
const hangsUp = 'a cluster that hangs up on every connection'
const forbidden = "a port of the cluster URL that the proxy's rules forbid (https)"
const authority = 'a cluster certificate that nobody vouches for, because its authority was not named'
const plainPort = 'https:// in the cluster URL, and the port for http://'
const tlsPort = 'http:// in the cluster URL, and a TLS port that hangs up'
const oldTls = 'a cluster that offers only TLS 1.0'
const notRegistered = 'neither address is registered'
const ownLogin = 'a gateway that wants a login of its own (401)'
const amazon = 'a service of Amazon, which repeats the header Authorization'
const noAnswer = 'bulk requests that get no answer'
const small = 'nothing: a real gateway that takes requests of at most 64 KB'
const withLength = 'nothing: a real gateway that takes only requests with a length'
const instanceCert = "an instance's certificate of an authority that was not named"
const noRule = 'neither address has an Allow rule at the platform'
const otherPolicy = 'a REST API access policy lists other addresses'

export const threads: readonly Thread[] = [
  // Elasticsearch through a proxy.
  thread(
    'elastic/logstash#4083',
    wrongLogin,
    'Got error to send bulk of actions: [407] 407 Proxy Authentication Required',
    'PROXY_AUTH_REJECTED',
  ),
  thread('elastic/elasticsearch-js#1259', login),
  thread('elastic/elasticsearch-js#483', unused),
  thread('elastic/elasticsearch-js#101', unused),
  thread('elastic/elasticsearch-js#1899', unused),
  thread(
    'elastic/elasticsearch-py#275',
    unused,
    '(Caused by NewConnectionError: Failed to establish a new connection',
    'PROXY_UNREACHABLE',
  ),
  thread('elastic/elasticsearch-py#2217', unused),
  thread('elastic/elasticsearch-py-async#58', unused),
  thread(
    'elastic/elasticsearch-py#1819',
    'a cluster URL with a host that does not exist (socks5)',
    "ConnectionTimeout caused by - ConnectTimeout(SOCKSHTTPConnectionPool(host='<url>', port=9200): Max retries exceeded",
    'PROXY_TARGET_UNREACHABLE',
  ),
  thread('elastic/kibana#5211', unused, 'Request Timeout after 5000ms', 'CLUSTER_TIMEOUT'),
  thread('elastic/kibana#95306', unused),
  thread('elastic/logstash#8878', unused),
  thread('elastic/libbeat#338', unused),
  thread('elastic/beats#24751', unused, 'dial up... ERROR dial tcp 125.57.74.33:9200: i/o timeout', 'CLUSTER_TIMEOUT'),
  thread('elastic/elastic-agent#499', unused),
  thread('fluent/fluent-bit#4109', unused),
  thread('YelpArchive/elastalert#2017', unused, 'Unknow mime type html', 'CLUSTER_NOT_ELASTICSEARCH'),
  thread('loremipsumdonec/vscode-elasticdeveloper#23', unused, 'connect ETIMEDOUT <IP Add> error', 'CLUSTER_TIMEOUT'),
  thread('elastic/beats#9240', authority),
  // The IP filter, and private links.
  thread(
    'elastic/terraform-provider-elasticstack#599',
    notRegistered,
    'Unable to connect to the Elasticsearch cluster {"ok":false,"message":"Forbidden"}',
    'EGRESS_NOT_ALLOWED',
  ),
  thread(
    [
      'Secure your Elastic Cloud deployment with AWS PrivateLink traffic filter',
      'https://www.elastic.co/blog/secure-elastic-cloud-deployment-aws-privatelink-traffic-filter',
    ],
    notRegistered,
    '{"ok":false,"message":"Forbidden"}',
    'EGRESS_NOT_ALLOWED',
  ),
  thread(
    'elastic/rally#1927',
    'a cluster URL that is that of a private link',
    'NewConnectionError: Failed to establish a new connection: [Errno -2] Name or service not known',
    'CLUSTER_PRIVATE_LINK',
  ),
  thread(
    'elastic/beats#26750',
    'a host that the hosting service does not know',
    '{"ok":false,"message":"Unknown resource."}',
    'CLUSTER_UNKNOWN_HOST',
  ),
  // Certificates and TLS.
  thread(
    'wazuh/wazuh-documentation#8359',
    authority,
    'handshake... ERROR x509: certificate signed by unknown authority',
    'CLUSTER_CERT_INVALID',
  ),
  thread(
    'elastic/fleet-server#1945',
    authority,
    'Error dialing x509: certificate signed by unknown authority',
    'CLUSTER_CERT_INVALID',
  ),
  thread(
    'elastic/mcp-server-elasticsearch#15',
    authority,
    'self-signed certificate in certificate chain',
    'CLUSTER_CERT_INVALID',
  ),
  thread(
    'elasticsearch-dump/elasticsearch-dump#724',
    authority,
    'Error Emitted => self signed certificate in certificate chain',
    'CLUSTER_CERT_INVALID',
  ),
  thread(
    'dadoonet/fscrawler#853',
    authority,
    'PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target',
    'CLUSTER_CERT_INVALID',
  ),
  thread(
    'dataease/SQLBot#1056',
    authority,
    '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1016)',
    'CLUSTER_CERT_INVALID',
  ),
  thread('elastic/elasticsearch#31725', 'a cluster that does not send its intermediate certificate'),
  thread(
    'logstash-plugins/logstash-output-elasticsearch#1183',
    'a cluster certificate that has expired',
    'PKIX path validation failed: java.security.cert.CertPathValidatorException: validity check failed',
    'CLUSTER_CERT_INVALID',
  ),
  thread(
    'elastic/elasticsearch-js#1009',
    plainPort,
    'ConnectionError: write EPROTO 4392689088:error:1408F10B:SSL routines:ssl3_get_record:wrong version number',
    'CLUSTER_TLS_MISMATCH',
  ),
  thread(
    'archesproject/arches#8892',
    plainPort,
    'SSLError([SSL: WRONG_VERSION_NUMBER] wrong version number',
    'CLUSTER_TLS_MISMATCH',
  ),
  thread(
    'elastic/fleet-server#3149',
    plainPort,
    'http: server gave HTTP response to HTTPS client',
    'CLUSTER_TLS_MISMATCH',
  ),
  thread(
    'elastic/fleet-server#1253',
    plainPort,
    'curl: (35) SSL received a record that exceeded the maximum permissible length.',
    'CLUSTER_TLS_MISMATCH',
  ),
  thread('elastic/cloud-on-k8s#1776', tlsPort, 'NotSslRecordException: not an SSL/TLS record', 'CLUSTER_TLS_MISMATCH'),
  thread(
    'elastic/elasticsearch-py#1911',
    tlsPort,
    'received plaintext http traffic on an https channel, closing connection Netty4HttpChannel',
    'CLUSTER_TLS_MISMATCH',
  ),
  thread(
    'uken/fluent-plugin-elasticsearch#494',
    oldTls,
    'ssl_socket.rb / stack level too deep',
    'CLUSTER_TLS_MISMATCH',
  ),
  thread(
    'elastic/elasticsearch-net#7876',
    oldTls,
    "Authentication failed because the remote party sent a TLS alert: 'ProtocolVersion'.",
    'CLUSTER_TLS_MISMATCH',
  ),
  thread('logstash-plugins/logstash-output-elasticsearch#624', oldTls),
  thread(
    'elastic/elasticsearch#78157',
    oldTls,
    'The client supported protocol versions [TLSv1.3] are not accepted by server preferences [TLS12]',
    'CLUSTER_TLS_MISMATCH',
  ),
  // Gateways before the cluster.
  thread(
    'elastic/beats#952',
    'a gateway that redirects http:// to https://',
    'Failed to perform any bulk index operations: 308 Permanent Redirect: <html>',
    'CLUSTER_TLS_MISMATCH',
  ),
  thread('elastic/elasticsearch-py#786', 'a gateway that redirects http:// to https://'),
  thread(
    'lmenezes/elasticsearch-kopf#330',
    'a path in the cluster URL that the cluster does not know',
    'No handler found for uri [/es/_cluster/state/master_node,routing_table,blocks/] and method [GET]',
    'CLUSTER_NOT_ELASTICSEARCH',
  ),
  thread(
    'elastic/docs-content#1116',
    'a real gateway that serves the cluster only under a path',
    'unable to parse response body',
    'CLUSTER_NOT_ELASTICSEARCH',
  ),
  thread('lmenezes/cerebro#333', 'a cluster URL that leads to a login page (200)'),
  thread(
    'awesimon/elasticsearch-mcp#2',
    'a cluster of version 7.10, which signs nothing',
    'The client noticed that the server is not Elasticsearch and we do not support this unknown product.',
    'CLUSTER_VERSION_UNSUPPORTED',
  ),
  thread('jayzeng/scrapy-elasticsearch#24', 'a gateway that accepts only logins of Windows'),
  thread(
    'elastic/beats#23408',
    'no credentials for the cluster',
    '401 Unauthorized: {"error":{"root_cause":[{"type":"security_exception","reason":"missing authentication credentials for REST request [/]"',
    'CLUSTER_AUTH_REJECTED',
  ),
  thread('mobz/elasticsearch-head#327', 'a gateway that takes the credentials out of requests'),
  thread(
    'logstash-plugins/logstash-output-elasticsearch#130',
    ownLogin,
    '401 Authorization Required',
    'CLUSTER_AUTH_REJECTED',
  ),
  thread('elastic/kibana#3302', ownLogin),
  thread(
    'searchkit/searchkit#624',
    amazon,
    "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter.",
    'CLUSTER_NOT_ELASTICSEARCH',
  ),
  thread(
    'aws/serverless-application-model#3704',
    amazon,
    'User: anonymous is not authorized to perform: es:ESHttpPost because no resource-based policy allows the es:ESHttpPost action',
    'CLUSTER_NOT_ELASTICSEARCH',
  ),
  thread(
    'aws-amplify/amplify-cli#664',
    amazon,
    '{"Message":"User: anonymous is not authorized to perform: es:ESHttpGet"}',
    'CLUSTER_NOT_ELASTICSEARCH',
  ),
  thread('mongoosastic/mongoosastic#38', 'the port of the nodes of a real cluster, instead of its port for HTTP'),
  thread('10up/ElasticPress#979', small, '413 Request Entity Too Large', 'DOCUMENT_TOO_LARGE'),
  thread('AppliedTrust/traildash#37', small, '413 Request Entity Too Large', 'DOCUMENT_TOO_LARGE'),
  thread('rancher/rancher#27888', small, '413 Request Entity Too Large', 'DOCUMENT_TOO_LARGE'),
  thread('medcl/esm#38', small, '413 Request Entity Too Large', 'DOCUMENT_TOO_LARGE'),
  thread('elastic/elasticsearch#38119', small, '413 Request Entity Too Large', 'DOCUMENT_TOO_LARGE'),
  thread('jaegertracing/jaeger#1083', withLength),
  thread('olivere/elastic#565', withLength),
  thread('markkimsal/statsd-elasticsearch-backend#5', withLength),
  // No answer, and broken connections.
  thread('elastic/elasticsearch#20657', 'a VPN with a wrong MTU: full packets are lost, and small ones pass'),
  thread(
    'elastic/azure-marketplace#249',
    noAnswer,
    'Elasticsearch Unreachable: [http://10.100.24.254:9200/][Manticore::SocketTimeout] Read timed out',
    'CLUSTER_TIMEOUT',
  ),
  thread(
    'logstash-plugins/logstash-output-elasticsearch#814',
    noAnswer,
    'Elasticsearch Unreachable: [http://10.100.24.254:9200/][Manticore::SocketTimeout] Read timed out',
    'CLUSTER_TIMEOUT',
  ),
  thread(
    'logstash-plugins/logstash-output-elasticsearch#902',
    silent,
    '[Manticore::SocketTimeout] Read timed out',
    'CLUSTER_TIMEOUT',
  ),
  thread(
    'elastic/logstash#9503',
    hangsUp,
    '[Manticore::ClientProtocolException] XXX.amazonaws.com:443 failed to respond',
    'CLUSTER_UNAVAILABLE',
  ),
  thread('elastic/elasticsearch-js#521', hangsUp, 'socket hang up', 'CLUSTER_UNAVAILABLE'),
  thread('pelias/api#1140', hangsUp, 'Error: Request error, retrying => socket hang up', 'CLUSTER_UNAVAILABLE'),
  thread(
    'fluent/fluent-bit#1019',
    hangsUp,
    '[error] [http_client] broken connection to es-2c3f419e-applaudience.aivencloud.com:21291 ?',
    'CLUSTER_UNAVAILABLE',
  ),
  thread(
    'fluent/fluent-bit#1724',
    hangsUp,
    '[error] [io fd=44] error sending data to: elasticlog.example.com:80 (Broken pipe)',
    'CLUSTER_UNAVAILABLE',
  ),
  thread(
    'elastic/elasticsearch-js#286',
    target,
    'Error: Request error, retrying -- getaddrinfo ENOTFOUND ubuntulocal:80',
    'PROXY_TARGET_UNREACHABLE',
  ),
  thread(
    'pfelk/docker#14',
    closed,
    '[Manticore::SocketException] Connection refused (Connection refused)',
    'CLUSTER_UNAVAILABLE',
  ),
  // ServiceNow.
  thread('abeyahmad/servicenow-rest#8', 'no proxy is used, where the platform lists the static addresses'),
  thread(
    [
      'MID Server shows authentication error when proxy details are missing in config.xml',
      'https://support.servicenow.com/kb?id=kb_article_view&sysparm_article=KB2699917',
    ],
    'no proxy is used, where the platform lists the static addresses',
    'User cannot be authenticated or is missing the proper roles.',
    'SERVICENOW_ADDRESS_REFUSED',
  ),
  thread(
    'rbw/pysnow#111',
    instanceCert,
    "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate",
    'SERVICENOW_CERT_INVALID',
  ),
  thread(
    'ansible-collections/servicenow.itsm#258',
    instanceCert,
    '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self signed certificate in certificate chai',
    'SERVICENOW_CERT_INVALID',
  ),
  thread(
    'ServiceNowITOM/servicenow-ansible#73',
    instanceCert,
    '[SSL: CERTIFICATE_VERIFY_FAILED]',
    'SERVICENOW_CERT_INVALID',
  ),
  thread(
    'Snow-Shell/servicenow-powershell#111',
    'a wrong password, with Basic authentication',
    'The remote server returned an error: (401) Unauthorized.',
    'SERVICENOW_AUTH_REJECTED',
  ),
  thread('salcosta/vsc-servicenow-sync#18', 'a wrong password, with Basic authentication'),
  thread(
    [
      'QuotaGuard and ServiceNow Integration Guide',
      'https://www.quotaguard.com/docs/apis/servicenow/servicenow-integration/',
    ],
    noRule,
  ),
  thread(
    [
      'Inbound Web Services: No Response and Connection Failures',
      'https://support.servicenow.com/kb?id=kb_article_view&sysparm_article=KB3064934',
    ],
    noRule,
  ),
  thread(
    [
      'How to restrict inbound REST web service calls',
      'https://hi.service-now.com/kb_view.do?sysparm_article=KB0818862',
    ],
    otherPolicy,
  ),
  thread(
    [
      'Allow connection to Scripted REST API from specific IP Addresses',
      'https://www.servicenow.com/community/developer-forum/allow-connection-to-scripted-rest-api-from-specific-ip-addresses/td-p/2624660',
    ],
    otherPolicy,
  ),
  // Static-IP add-ons and proxies before other targets: the same proxies print the same lines.
  thread('theodi/shared#820', 'STATIC_IPS with two other addresses'),
  thread('Youngestdev/async-fastapi-mongo#8', unused),
  thread(
    'bda-research/node-crawler#273',
    'a proxy URL that was built from an empty variable',
    'tunneling socket could not be established, cause=getaddrinfo ENOTFOUND undefined undefined:80',
    'PROXY_URL_INVALID',
  ),
  thread(
    'koichik/node-tunnel#15',
    'a proxy URL with http:// and the port for socks5://',
    'Unhandled rejection Error: tunneling socket could not be established, cause=Parse Error',
    'PROXY_PORT_IS_SOCKS',
  ),
  thread(
    'dilame/instagram-private-api#589',
    'a proxy URL with https:// and the port for http://',
    'cause=write EPROTO 19656:error:1408F10B:SSL routines:ssl3_get_record:wrong version number',
    'PROXY_TLS_MISMATCH',
  ),
  thread(
    'sendgrid/sendgrid-nodejs#1033',
    "a guest network's redirect to its login page",
    'Error: tunneling socket could not be established, statusCode=302',
    'PROXY_NOT_A_PROXY',
  ),
  thread(
    'postmanlabs/postman-app-support#9331',
    login,
    'Error: tunneling socket could not be established, statusCode=407',
    'PROXY_AUTH_REJECTED',
  ),
  thread(
    'kuaidaili/python-sdk#8',
    target,
    "ProxyError('Unable to connect to proxy', OSError('Tunnel connection failed: 503 Service Unavailable'))",
    'PROXY_TARGET_UNREACHABLE',
  ),
  thread(
    'DoctorMcKay/node-steamcommunity#234',
    forbidden,
    'Error: tunneling socket could not be established, statusCode=502',
    'PROXY_TARGET_UNREACHABLE',
  ),
  thread(
    ['Troubleshooting: 407 Proxy Authentication Required', 'https://docs.helodata.com/troubleshooting/407'],
    'a proxy user that does not exist',
    'HTTP/1.1 407 Proxy Authentication Required',
    'PROXY_AUTH_REJECTED',
  ),
]

/** Returns where a cause was seen, for a cell of a table. */
export function seenAt(planted: string): string {
  return threads
    .filter(one => one.planted === planted)
    .map(({ at }) => (typeof at === 'string' ? linkTo(at) : `[${at[0]}](${at[1]})`))
    .join(', ')
}

function linkTo(at: string): string {
  const [repository, number] = at.split('#')
  return `[${at}](https://github.com/${repository}/issues/${number})`
}
