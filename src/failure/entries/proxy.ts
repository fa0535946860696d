import type { Entries } from '../entry.js'

/** Refused or broken at the proxy, before the cluster saw anything. */
export const proxyEntries = {
  PROXY_UNREACHABLE: {
    stage: 'proxy',
    exit: 4,
    retry: 'later',
    title: 'The proxy cannot be reached',
    message: 'cannot connect to the proxy {proxy}: {problem}',
    causes: [
      'Host or port is wrong.',
      'A firewall between this machine and the proxy.',
      'The proxy, or one of its nodes, is down.',
    ],
    fixes: [
      'Compare host and port with the dashboard; open outbound TCP to the port. Port 9293 is HTTP, 1080 is SOCKS5.',
    ],
  },
  PROXY_TIMEOUT: {
    stage: 'proxy',
    exit: 4,
    retry: 'later',
    title: 'The proxy does not answer in time',
    message: 'the proxy {proxy} did not answer within {limitMs} ms ({phase})',
    causes: [
      'The scheme does not fit the port, so that both sides wait.',
      'The destination behind the proxy does not answer.',
      'The proxy is overloaded.',
    ],
    fixes: ['Port 9293 takes http://, port 1080 takes socks5://. Check the port of the cluster URL too.'],
  },
  PROXY_AUTH_REJECTED: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The proxy refuses the credentials',
    message: 'the proxy {proxy} refused the credentials ({observed})',
    causes: [
      'Username or password is missing, wrong, or was rotated.',
      'A character of the password is not URL-encoded.',
    ],
    fixes: [
      'Copy the whole proxy URL from the dashboard into STATIC_PROXY_URL.',
      "Encode the password: node -p 'encodeURIComponent(process.argv[1])' 'PASSWORD'.",
    ],
  },
  PROXY_PORT_IS_SOCKS: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The port speaks SOCKS5, not HTTP',
    message: 'the proxy {proxy} does not speak HTTP ({observed})',
    causes: ['An http:// URL with the SOCKS5 port 1080.'],
    fixes: ['Use port 9293 with http://, or socks5:// with port 1080.'],
  },
  PROXY_PORT_IS_HTTP: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The port speaks HTTP, not SOCKS5',
    message: 'the proxy {proxy} does not speak SOCKS5 ({observed})',
    causes: ['A socks5:// URL with the HTTP port 9293.'],
    fixes: ['Use port 1080 with socks5://, or http:// with port 9293.'],
  },
  PROXY_TLS_MISMATCH: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'One side speaks TLS to the proxy port, the other does not',
    message: 'the proxy {proxy}: {observed}',
    causes: ['An https:// proxy URL for a plain port (9293).', 'An http:// proxy URL for the TLS port (9294).'],
    fixes: [
      'The standard variant is http:// with port 9293, the TLS variant https:// with port 9294. Copy the URL from the dashboard.',
    ],
  },
  PROXY_CERT_INVALID: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: "The proxy's certificate is not trusted",
    message: 'the certificate of the proxy {proxy} is not trusted: {problem}',
    causes: [
      'The proxy uses a private CA.',
      'The host in the URL is not the host in the certificate.',
      'Something in between intercepts TLS.',
    ],
    fixes: ['Name the CA with --proxy-ca FILE; use the host name from the dashboard.'],
  },
  PROXY_DENIED_TARGET: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The proxy does not allow this destination',
    message: 'the proxy {proxy} refused to connect to {target} (status {status})',
    causes: ["The proxy's policy forbids the host or its port (many proxies allow CONNECT to port 443 alone)."],
    fixes: ['Use port 443 in the cluster URL, or have the port (9243, 9200) allowed at the proxy.'],
  },
  PROXY_TARGET_UNREACHABLE: {
    stage: 'proxy',
    exit: 4,
    retry: 'later',
    title: 'The proxy cannot reach the cluster',
    message: 'the proxy {proxy} cannot reach {target} ({observed})',
    causes: [
      'The host or port of the cluster URL is wrong.',
      'The cluster is down.',
      'The cluster drops connections from the proxy.',
    ],
    fixes: ['Check the cluster URL in its console: host, and port 443 or 9243.'],
  },
} as const satisfies Entries<'proxy'>
