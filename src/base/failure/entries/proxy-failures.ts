import type { Entries } from '../entry.js'

/** The proxy names the logins that it accepts, and Basic is not among them. */
const onlyOthers = /accepts only .* but Sluice sends Basic/

const oldAuthority = /The authority .* expired/

/** Both sides speak TLS, and agree on no version or cipher. */
const oldTls = /versions or ciphers of TLS/

/** The URL is right, since the proxy was reached before. */
const worked = /It accepted connections before/

/** This machine, and not the proxy. */
const noNetwork = /EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH/

const lostNetwork = new RegExp(`(?:${noNetwork.source}).*${worked.source}`)

/** What helps if the proxy was reached before. */
const whenUp = {
  fix: 'Ask the provider of the proxy whether it is down. As soon as it is up, run the same command again. It continues where it stopped.',
  if: worked,
  unless: noNetwork,
}

/** The answer comes from the network that this machine is in. */
const ofNetwork = /status (200|3\d\d|511)/

/** Refused or broken at the proxy, before the cluster saw anything. */
export const proxyEntries = {
  PROXY_UNREACHABLE: {
    exit: 4,
    retry: 'later',
    title: 'Sluice cannot reach the proxy',
    message: 'cannot connect to the proxy {proxy}: {problem}',
    observed: 'ECONNREFUSED, ENOTFOUND, EHOSTUNREACH or ECONNRESET, usually without any mention of the proxy.',
    causes: [
      { cause: 'The host of the proxy URL is wrong.', if: /ENOTFOUND|EAI_AGAIN|resolve|unknown/i, unless: worked },
      {
        cause: 'The port of the proxy URL is wrong.',
        if: /ECONNREFUSED|nothing answers|ETIMEDOUT|within/,
        unless: worked,
      },
      {
        cause: 'A firewall blocks connections between this machine and the proxy.',
        if: /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|nothing answers|within|ECONNRESET/,
        unless: worked,
      },
      {
        cause:
          'The scheme does not fit the port. A port that expects TLS closes http:// connections without an answer.',
        if: /ECONNRESET|closed|hung up|ended/i,
        unless: worked,
      },
      {
        cause: 'This machine has lost its network or its name server.',
        if: lostNetwork,
      },
      {
        cause: 'The proxy, or one of its nodes, is down.',
        if: /ECONNREFUSED|EHOSTUNREACH|ETIMEDOUT|ECONNRESET|closed|nothing answers|within|broke/,
      },
    ],
    fixes: [
      {
        fix: 'Compare the host and port of STATIC_PROXY_URL with the dashboard of your proxy. For QuotaGuard, port 9293 is HTTP, 9294 HTTPS and 1080 SOCKS5.',
        unless: worked,
      },
      {
        fix: 'Open outbound TCP to that host and port in the firewall of the network where Sluice runs.',
        unless: worked,
      },
      whenUp,
      {
        fix: 'Check the network and the name server of this machine, and run the same command again. It continues where it stopped.',
        if: lostNetwork,
      },
    ],
    example: { proxy: 'http://proxy.example:9293', problem: 'connect ECONNREFUSED 203.0.113.20:9293' },
  },
  PROXY_TIMEOUT: {
    exit: 4,
    retry: 'later',
    title: 'The proxy does not answer in time',
    message: 'the proxy {proxy} did not answer within {limitMs} ms after {after}',
    observed: 'A request that hangs, for minutes or forever. "Connect Timeout Error", "Proxy connection timed out".',
    causes: [
      { cause: 'The scheme does not fit the port, so that both sides wait for each other.', unless: worked },
      'The target does not answer the proxy. The cluster URL has a wrong port, or the cluster drops the connection.',
      'A firewall drops the packets.',
      'The proxy is overloaded.',
    ],
    fixes: [
      {
        fix: 'Check the scheme and port of STATIC_PROXY_URL. For QuotaGuard, port 9293 needs http://, 9294 https:// and 1080 socks5://.',
        unless: worked,
      },
      {
        fix: 'Check the port of ELASTICSEARCH_URL too. The Elastic Cloud console shows it: 443 or 9243.',
        unless: worked,
      },
      whenUp,
    ],
    example: {
      proxy: 'socks5://proxy.example:9293',
      limitMs: 10_000,
      after: 'Sluice asked it to connect to the target',
    },
  },
  PROXY_AUTH_REJECTED: {
    title: 'The proxy refuses the credentials',
    message: 'the proxy {proxy} refused the credentials ({observed})',
    observed:
      'Status 407 "Proxy Authentication Required". Clients for Node often report "Request aborted" and hide the status. A JDK reports "Unable to tunnel".',
    causes: [
      { cause: 'The username or password is missing, wrong, or was rotated.', unless: onlyOthers },
      { cause: 'A character of the password is not URL-encoded.', unless: onlyOthers },
      { cause: 'The URL belongs to another subscription.', unless: onlyOthers },
      { cause: 'The URL leads to a company proxy, not to a static-IP proxy.', if: onlyOthers },
    ],
    fixes: [
      {
        fix: 'Copy the whole proxy URL from the dashboard of your proxy (QuotaGuard, Fixie) to STATIC_PROXY_URL.',
        unless: onlyOthers,
      },
      {
        fix: "Encode the password: node -p 'encodeURIComponent(process.argv[1])' 'PASSWORD'.",
        unless: onlyOthers,
      },
      {
        fix: 'Set STATIC_PROXY_URL to a proxy that accepts Basic authentication, as QuotaGuard and Fixie do. Or ask the administrators of this proxy to accept Basic.',
        if: onlyOthers,
      },
    ],
    example: { proxy: 'http://proxy.example:9293', observed: 'status 407' },
  },
  PROXY_PORT_IS_SOCKS: {
    title: 'The port speaks SOCKS5, not HTTP',
    message: 'the proxy {proxy} does not speak HTTP ({observed})',
    observed: '"Parse Error: Expected HTTP/", "Received HTTP/0.9 when not allowed", or a request that never ends.',
    causes: ['An http:// proxy URL has the SOCKS5 port 1080.'],
    fixes: ['In STATIC_PROXY_URL, use socks5:// with port 1080, or http:// with the HTTP port (QuotaGuard: 9293).'],
    example: { proxy: 'http://proxy.example:1080', observed: 'it answered with byte 05, like SOCKS5' },
  },
  PROXY_PORT_IS_HTTP: {
    title: 'The port speaks HTTP, not SOCKS5',
    message: 'the proxy {proxy} does not speak SOCKS5 ({observed})',
    observed:
      '"SOCKS5 proxy server sent invalid data", "Proxy connection timed out", or a request that hangs. An HTTP proxy waits for a whole line.',
    causes: ['A socks5:// proxy URL has the HTTP port of the proxy.'],
    fixes: ['In STATIC_PROXY_URL, use socks5:// with port 1080, or http:// with the HTTP port (QuotaGuard: 9293).'],
    example: { proxy: 'socks5://proxy.example:9293', observed: 'it answered "HTTP/1.1 400 Bad Request"' },
  },
  PROXY_TLS_MISMATCH: {
    title: 'The proxy URL and the proxy port disagree about TLS',
    message: 'the proxy {proxy}: {observed}',
    observed:
      'ERR_SSL_WRONG_VERSION_NUMBER, "wrong version number", "packet length too long". In the opposite case ECONNRESET.',
    causes: [
      {
        cause: 'An https:// proxy URL has a port without TLS (QuotaGuard: 9293).',
        if: /https:\/\//,
        unless: oldTls,
      },
      { cause: 'An http:// proxy URL has a port with TLS (QuotaGuard: 9294).', if: /http:\/\// },
      {
        cause: 'A socks5s:// proxy URL has a port without TLS (QuotaGuard: 1080).',
        if: /socks5s:\/\//,
        unless: oldTls,
      },
      { cause: 'A socks5:// proxy URL has a port with TLS.', if: /socks5:\/\// },
      { cause: 'The proxy is old, or a firewall on the route opens TLS with an old version.', if: oldTls },
    ],
    fixes: [
      {
        fix: 'Copy STATIC_PROXY_URL from the dashboard of your proxy. For QuotaGuard, use http:// with port 9293, or https:// with port 9294.',
        if: /https?:\/\//,
        unless: oldTls,
      },
      {
        fix: 'Copy STATIC_PROXY_URL from the dashboard of your proxy. Use socks5s:// for SOCKS5 with TLS, and socks5:// without (QuotaGuard: port 1080). If the port belongs to an HTTP proxy, use https:// with TLS, and http:// without.',
        if: /socks5s?:\/\//,
        unless: oldTls,
      },
      {
        fix: 'Ask the administrators of the proxy to allow TLS 1.2 or 1.3. Or use the port without TLS: http:// (QuotaGuard: 9293).',
        if: oldTls,
      },
    ],
    example: {
      proxy: 'https://proxy.example:9293',
      observed: 'the port does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER)',
    },
  },
  PROXY_CERT_INVALID: {
    title: "The proxy's certificate is not trusted",
    message: 'the certificate of the proxy {proxy} is not trusted: {problem}',
    observed:
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE, ERR_TLS_CERT_ALTNAME_INVALID or CERT_HAS_EXPIRED. Nothing shows that it is the proxy's certificate and not the cluster's.",
    causes: [
      { cause: 'The proxy uses a private certificate authority (CA).', if: /SELF_SIGNED|UNABLE_TO|UNTRUSTED/ },
      { cause: 'A firewall or gateway on the route intercepts TLS.', if: /SELF_SIGNED|UNABLE_TO|UNTRUSTED/ },
      { cause: 'The host in the URL is not in the certificate.', if: /ALTNAME|HOSTNAME/ },
      {
        cause: 'The proxy does not send an intermediate certificate.',
        if: /sends no certificate of this issuer|UNABLE_TO_VERIFY_LEAF|UNABLE_TO_GET_ISSUER/,
      },
      { cause: 'The certificate has expired, or the clock of this machine is wrong.', if: /EXPIRED|NOT_YET/ },
    ],
    fixes: [
      'In STATIC_PROXY_URL, write the host name from the dashboard of your proxy, not an IP address.',
      'If the CA is private, pass its certificate with --proxy-ca FILE (SLUICE_PROXY_CA).',
      {
        fix: 'Check that the clock of this machine is right. If it is, ask the administrators of the proxy to renew the certificate.',
        unless: oldAuthority,
      },
      {
        fix: 'Ask the administrators of the proxy to send the whole chain of certificates. Or add the certificate of the issuer to the file of --proxy-ca.',
        if: /sends no certificate of this issuer/,
      },
      {
        fix: 'Check that the clock of this machine is right. If it is, ask the administrators of the proxy for their new authority, and pass it with --proxy-ca.',
        if: oldAuthority,
      },
    ],
    example: {
      proxy: 'https://proxy.example:9294',
      problem: 'unable to verify the first certificate (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    },
  },
  PROXY_CLIENT_CERT: {
    title: 'The proxy requires a client certificate',
    message: 'the proxy {proxy} accepts only connections with a client certificate: {observed}',
    observed:
      'An alert in the TLS handshake (certificate required, bad certificate, handshake failure). People then look for the error in the cluster.',
    causes: [
      'The proxy accepts only known client certificates, and Sluice sends none to a proxy.',
      'The proxy URL leads to a company proxy, not to a static-IP proxy.',
    ],
    fixes: [
      'Copy the whole proxy URL from the dashboard of your proxy (QuotaGuard, Fixie) to STATIC_PROXY_URL. That proxy accepts a user name and password.',
      'Or ask the administrators of this proxy for a port without client certificates.',
    ],
    example: {
      proxy: 'https://proxy.example:9294',
      observed: 'the TLS alert ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    },
  },
  PROXY_ACCOUNT_REFUSED: {
    title: 'The proxy refuses the account',
    message: 'the proxy {proxy} refuses this account, not its password ({observed})',
    observed:
      'Status 402, or 407 and 403 with words about a quota, a plan or a payment. People then change a correct password.',
    causes: [
      {
        cause: 'The traffic or the requests of the plan are used up.',
        if: /quota|bandwidth|limit|traffic|transfer|usage|509/i,
      },
      {
        cause: 'An invoice is unpaid, or the trial or subscription has ended.',
        if: /402|payment|paid|overdue|invoice|billing|trial|subscription/i,
      },
      {
        cause: 'The provider suspended or closed the account.',
        if: /suspend|deactivat|disabled|closed|cancel|expired|blocked|inactive/i,
      },
    ],
    fixes: [
      'Check the usage, the plan and the invoices in the dashboard of your proxy. Then run the same command again.',
    ],
    example: { proxy: 'http://proxy.example:9293', observed: 'status 407, "Monthly quota exceeded"' },
  },
  PROXY_LIMIT_REACHED: {
    exit: 4,
    retry: 'later',
    title: 'The proxy limits connections or requests',
    message: 'the proxy {proxy} accepts no more connections or requests for now ({observed})',
    observed:
      'Status 429, 503 with "too many connections", or connections that break as soon as several are open. People mistake it for an overloaded cluster, or for a proxy that is down.',
    causes: ['This run and others open more connections, or send more requests, than the plan of the proxy allows.'],
    fixes: [
      'Lower --concurrency and --preflight-connections, and run no other load through this proxy. Then run the same command again.',
      'If this happens every time, ask your provider for a larger plan.',
    ],
    example: { proxy: 'http://proxy.example:9293', observed: 'status 429, retry-after: 30' },
  },
  PROXY_NOT_A_PROXY: {
    title: 'The proxy URL does not lead to a proxy',
    message: '{proxy} does not answer like a proxy ({observed})',
    observed: 'Status 404, 405 or 501, a redirect, or a web page in answer to CONNECT.',
    causes: [
      {
        cause: 'The proxy URL leads to a web server, for example to the dashboard.',
        unless: /status (3\d\d|511)/,
      },
      { cause: 'The network of this machine has a login page, as hotel and guest networks do.', if: ofNetwork },
      { cause: 'The proxy URL contains the host or port of a website.', if: /status 3\d\d/ },
    ],
    fixes: [
      {
        fix: 'Open any page in a browser on this machine, and log in to the network. Then run the same command again.',
        if: ofNetwork,
      },
      'Copy the whole proxy URL from the dashboard of your proxy to STATIC_PROXY_URL. For QuotaGuard: http://USERNAME:PASSWORD@HOST:9293.',
    ],
    example: {
      proxy: 'http://proxy.example:80',
      observed: 'status 405, server: nginx, a web server answers like this',
    },
  },
  PROXY_DENIED_TARGET: {
    title: 'The proxy does not allow this destination',
    message: 'the proxy {proxy} refused to connect to {target} ({observed})',
    observed:
      'Status 403 with an HTML page. People mistake it for the IP filter. Clients for Node report "Request aborted".',
    causes: [
      "The proxy's policy forbids the port. Many proxies allow tunnels (CONNECT) only to port 443.",
      "The proxy's policy forbids the host.",
    ],
    fixes: [
      'Use port 443 in ELASTICSEARCH_URL. Elastic Cloud answers on 443 as on 9243.',
      'Or ask the support of your proxy to allow the host and port.',
    ],
    example: { proxy: 'http://proxy.example:9293', target: 'cluster.example:9200', observed: 'status 403' },
  },
  PROXY_TARGET_UNREACHABLE: {
    exit: 4,
    retry: 'later',
    title: 'The proxy cannot reach the target',
    message: 'the proxy {proxy} cannot reach {target} ({observed})',
    observed:
      'Status 500, 502, 503 or 504 with an HTML page. "Request aborted", "tunneling socket could not be established". People mistake it for an answer of the cluster.',
    causes: [
      'The host or port of the target is wrong.',
      'The target is down.',
      'The target is known only inside a private network.',
      'The target drops connections from the proxy.',
    ],
    fixes: [
      'Compare ELASTICSEARCH_URL with the endpoint in the Elastic Cloud console: the host, and port 443 or 9243. For ServiceNow, compare SERVICENOW_INSTANCE_URL with the address in a browser.',
    ],
    example: { proxy: 'http://proxy.example:9293', target: 'cluster.example:9234', observed: 'status 503' },
  },
  PROXY_NODE_FAILS: {
    isNotice: true,
    title: 'One node of the proxy fails',
    message: '{failed} of {probes} connections failed at the proxy {proxy}: {problem}. The others work',
    observed: 'About half of all new connections fail, at random. Loads work, but connecting takes longer.',
    causes: [
      { cause: 'One of the two nodes is down, or does not answer.', if: /connect|answer|closed|RESET|REFUSED/ },
      { cause: 'One of the two nodes still has an old password.', if: /credentials/ },
      { cause: 'One of the two nodes cannot reach the cluster.', if: /reach/ },
      { cause: 'One of the two nodes has other rules, or another certificate.', if: /refused to|certificate|TLS/ },
    ],
    fixes: [
      'The load works through the other node. To find out which one fails, run `sluice doctor --nodes URL,URL` with the URL of each proxy node.',
      'Report this to the support of your proxy. Sluice could check only the address of the other node.',
    ],
    example: {
      failed: 8,
      probes: 16,
      proxy: 'http://proxy.example:9293',
      problem: 'it closed the connection without an answer to CONNECT',
    },
  },
  REGION_MISMATCH: {
    isNotice: true,
    title: 'The proxy and the cluster are in different regions',
    message: 'the proxy is in {proxyRegion}, but the cluster is in {clusterRegion}',
    observed:
      'Nothing fails. Each request takes 50 to 100 ms longer than necessary, and each new connection several times that.',
    causes: [
      'The proxy was set up in a region other than that of the cluster.',
      'The cluster was moved, or the proxy was meant for a different cluster.',
    ],
    fixes: [
      "The load works as it is. To make it faster, ask your proxy's support for the region of the cluster or the nearest one.",
      'The static addresses may change with the region. Add the new pair to the IP filter policy before you change the proxy URL.',
    ],
    example: { proxyRegion: 'eu-west-1', clusterRegion: 'us-east-1' },
  },
  LATENCY_CROSS_REGION: {
    isNotice: true,
    title: 'The proxy adds the latency of another region',
    message: 'the proxy adds {addedMs} ms to a round trip ({throughMs} ms with the proxy, {directMs} ms without)',
    observed: 'Nothing fails. Loads take longer than without the proxy, above all loads of small requests.',
    causes: [
      'The proxy is not in the region of this machine or the cluster. That adds 50 to 100 ms. In the same region, the proxy adds 10 to 20 ms.',
      'The network between this machine and the proxy is slow or busy.',
    ],
    fixes: [
      "The load works as it is. To make it faster, ask your proxy's support for the region of the cluster, and run Sluice there if possible.",
      'Until then, raise --batch-bytes and --concurrency.',
    ],
    example: { addedMs: 84, throughMs: 97, directMs: 13 },
  },
} as const satisfies Entries
