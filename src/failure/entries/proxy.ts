import type { Entries } from '../entry.js'

/** Refused or broken at the proxy, before the cluster saw anything. */
export const proxyEntries = {
  PROXY_UNREACHABLE: {
    stage: 'proxy',
    exit: 4,
    retry: 'later',
    title: 'The proxy cannot be reached',
    message: 'cannot connect to the proxy {proxy}: {problem}',
    observed:
      'ECONNREFUSED, ENOTFOUND, EHOSTUNREACH or ECONNRESET, usually without a word that it is the proxy that they are about.',
    causes: [
      'Host or port of the proxy URL is wrong.',
      'A firewall between this machine and the proxy.',
      'The scheme does not fit the port: http:// at a port that expects TLS is cut off without a word.',
      'The proxy, or one of its nodes, is down.',
    ],
    fixes: [
      "Compare host and port of STATIC_PROXY_URL with the proxy's dashboard: port 9293 is HTTP, 9294 HTTPS, 1080 SOCKS5.",
      'Have outbound TCP to that host and port opened in the firewall of the network that Sluice runs in.',
    ],
    example: { proxy: 'http://proxy.example:9293', problem: 'connect ECONNREFUSED 203.0.113.20:9293' },
  },
  PROXY_TIMEOUT: {
    stage: 'proxy',
    exit: 4,
    retry: 'later',
    title: 'The proxy does not answer in time',
    message: 'the proxy {proxy} did not answer within {limitMs} ms after {after}',
    observed: 'A request that hangs, for minutes or for ever; "Connect Timeout Error", "Proxy connection timed out".',
    causes: [
      'The scheme does not fit the port, so that both sides wait for the other to begin.',
      'The destination behind the proxy does not answer: the cluster URL has a wrong port, or the cluster drops the connection.',
      'A firewall swallows the packets without refusing them.',
      'The proxy is overloaded.',
    ],
    fixes: [
      'In STATIC_PROXY_URL, port 9293 takes http://, 9294 https://, 1080 socks5://.',
      'Check the port of ELASTICSEARCH_URL too: 443 or 9243, as the cluster console shows it.',
    ],
    example: { proxy: 'socks5://proxy.example:9293', limitMs: 10_000, after: 'it was asked to connect onward' },
  },
  PROXY_AUTH_REJECTED: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The proxy refuses the credentials',
    message: 'the proxy {proxy} refused the credentials ({observed})',
    observed:
      'Status 407 "Proxy Authentication Required"; clients for Node often say "Request aborted" and hide the status, a JDK "Unable to tunnel".',
    causes: [
      'Username or password is missing, wrong, or was rotated.',
      'A character of the password is not URL-encoded.',
      'The URL belongs to another subscription.',
    ],
    fixes: [
      'Copy the whole proxy URL from the dashboard into STATIC_PROXY_URL.',
      "Encode the password: node -p 'encodeURIComponent(process.argv[1])' 'PASSWORD'.",
    ],
    example: { proxy: 'http://proxy.example:9293', observed: 'status 407' },
  },
  PROXY_PORT_IS_SOCKS: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The port speaks SOCKS5, not HTTP',
    message: 'the proxy {proxy} does not speak HTTP ({observed})',
    observed: '"Parse Error: Expected HTTP/", "Received HTTP/0.9 when not allowed", or a request that never ends.',
    causes: ['An http:// proxy URL with the SOCKS5 port 1080.'],
    fixes: ['In STATIC_PROXY_URL, use port 9293 with http://, or socks5:// with port 1080.'],
    example: { proxy: 'http://proxy.example:1080', observed: 'it answered with byte 05, as SOCKS5 does' },
  },
  PROXY_PORT_IS_HTTP: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The port speaks HTTP, not SOCKS5',
    message: 'the proxy {proxy} does not speak SOCKS5 ({observed})',
    observed:
      '"SOCKS5 proxy server sent invalid data", "Proxy connection timed out", or a wait without end: an HTTP proxy waits for a line.',
    causes: ['A socks5:// proxy URL with the HTTP port 9293.'],
    fixes: ['In STATIC_PROXY_URL, use port 1080 with socks5://, or http:// with port 9293.'],
    example: { proxy: 'socks5://proxy.example:9293', observed: 'it answered "HTTP/1.1 400 Bad Request"' },
  },
  PROXY_TLS_MISMATCH: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'One side speaks TLS to the proxy port, the other does not',
    message: 'the proxy {proxy}: {observed}',
    observed:
      'ERR_SSL_WRONG_VERSION_NUMBER, "wrong version number", "packet length too long"; the other way round ECONNRESET.',
    causes: ['An https:// proxy URL for a plain port (9293).', 'An http:// proxy URL for the TLS port (9294).'],
    fixes: [
      "In STATIC_PROXY_URL, the standard variant is http:// with port 9293, the TLS variant https:// with port 9294. Copy the URL from the proxy's dashboard.",
    ],
    example: {
      proxy: 'https://proxy.example:9293',
      observed: 'the port does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER)',
    },
  },
  PROXY_CERT_INVALID: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: "The proxy's certificate is not trusted",
    message: 'the certificate of the proxy {proxy} is not trusted: {problem}',
    observed:
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE, ERR_TLS_CERT_ALTNAME_INVALID or CERT_HAS_EXPIRED; nothing says that the certificate is the proxy's and not the cluster's.",
    causes: [
      'The proxy uses a private CA.',
      'The host in the URL is not the host in the certificate.',
      'The certificate has expired, or the clock of this machine is wrong.',
      'Something in between intercepts TLS.',
    ],
    fixes: [
      "Use the host name from the proxy's dashboard in STATIC_PROXY_URL, not an address.",
      'Name a private CA with --proxy-ca FILE (SLUICE_PROXY_CA).',
      'Have a certificate that has expired renewed where the proxy is administered; compare the clock of this machine first.',
    ],
    example: {
      proxy: 'https://proxy.example:9294',
      problem: 'unable to verify the first certificate (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    },
  },
  PROXY_DENIED_TARGET: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The proxy does not allow this destination',
    message: 'the proxy {proxy} refused to connect to {target} (status {status})',
    observed: 'Status 403 with an HTML page, easily taken for the IP filter; clients for Node say "Request aborted".',
    causes: [
      "The proxy's policy forbids the port: many proxies allow tunnels (CONNECT) to port 443 alone.",
      "The proxy's policy forbids the host.",
    ],
    fixes: [
      'Use port 443 in ELASTICSEARCH_URL: a hosted cluster answers there as on 9243.',
      'Or have host and port (9243, 9200) allowed where the proxy is administered.',
    ],
    example: { proxy: 'http://proxy.example:9293', target: 'cluster.example:9200', status: 403 },
  },
  PROXY_TARGET_UNREACHABLE: {
    stage: 'proxy',
    exit: 4,
    retry: 'later',
    title: 'The proxy cannot reach the cluster',
    message: 'the proxy {proxy} cannot reach {target} ({observed})',
    observed:
      'Status 500, 502, 503 or 504 with an HTML page; "Request aborted", "tunneling socket could not be established"; it looks as if the cluster had answered.',
    causes: [
      'The host or port of the cluster URL is wrong.',
      'The cluster is down.',
      'The cluster URL is known inside a private network alone.',
      'The cluster drops connections from the proxy.',
    ],
    fixes: ['Compare ELASTICSEARCH_URL with the endpoint in the cluster console: host, and port 443 or 9243.'],
    example: { proxy: 'http://proxy.example:9293', target: 'cluster.example:9234', observed: 'status 503' },
  },
  REGION_MISMATCH: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    isNotice: true,
    title: 'Proxy and cluster are in different regions',
    message: 'the proxy is in {proxyRegion}, the cluster in {clusterRegion}',
    observed:
      'Nothing fails. Each request takes 50 to 100 ms longer than it has to, and each new connection several times that.',
    causes: [
      'The region chosen when signing up for the proxy is not that of the cluster.',
      'The cluster was moved, or the load goes to another cluster than the proxy was meant for.',
    ],
    fixes: [
      "The load works as it is. To make it faster, ask the proxy's support for the cluster's region or the one nearest to it: the region is set at sign-up.",
      'The static addresses may change with the region: add the new pair to the IP filter policy before the proxy URL is changed.',
    ],
    example: { proxyRegion: 'eu-west-1', clusterRegion: 'us-east-1' },
  },
  LATENCY_CROSS_REGION: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    isNotice: true,
    title: 'The proxy adds the latency of another region',
    message: 'the proxy adds {addedMs} ms to a round trip ({throughMs} ms with it, {directMs} ms without)',
    observed: 'Nothing fails. Loads take longer than without the proxy, the more so the smaller the requests are.',
    causes: [
      'The proxy is in another region than this machine or the cluster: that adds 50 to 100 ms. In the same region it adds 10 to 20 ms.',
      'The way to the proxy is slow or busy at this moment.',
    ],
    fixes: [
      "The load works as it is. Ask the proxy's support for the region of the cluster, and run Sluice there where that is possible.",
      'Meanwhile, let each request carry more (--batch-bytes) and more of them be under way (--concurrency).',
    ],
    example: { addedMs: 84, throughMs: 97, directMs: 13 },
  },
} as const satisfies Entries<'proxy'>
