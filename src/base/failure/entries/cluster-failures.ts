import { onOrigin } from '../advice-on-origin.js'
import type { Entries } from '../entry.js'

const lostOnRoute = /sent credentials, but they did not arrive/
const tooManyShards = /maximum (normal |frozen )?shards open/
const kibana = /Kibana|Dashboards/
const stripped = /removed its header/
const login = /login/
const insideName = / is (a private address|a name of a private network|an address of this machine)/
const oldAuthority = /The authority .* expired/
const oldTls = /versions or ciphers of TLS/
const redirects = /redirects to https:/
const signedOnly = /signed requests/
const windowsLogin = /accepts only .* but Sluice sends/
const otherPath = /redirects to another path|status 404/

/** Refused or broken at the cluster, or at what stands right before it: the proxy did its part. */
export const clusterEntries = {
  REQUEST_REFUSED: {
    title: 'The cluster refuses the bulk request',
    message: '{cluster} refused the bulk request with status {status}: {reason}',
    observed: 'Status 400, 404 or 405 for whole requests, the same one every time. Often illegal_argument_exception.',
    causes: [
      { cause: 'The pipeline that --pipeline names does not exist.', if: /pipeline/i },
      {
        cause: 'The index does not exist, and the cluster does not create it by itself (action.auto_create_index).',
        if: /auto_create|no such index|index_not_found/i,
      },
      { cause: 'A data stream accepts only the operation create.', if: /data stream|op_type|only write ops/i },
      { cause: 'The cluster forbids an index name in the request path.', if: /explicit index|405/i },
      { cause: 'The cluster has reached its limit of shards (cluster.max_shards_per_node).', if: tooManyShards },
    ],
    fixes: [
      {
        fix: 'Correct --pipeline, --index or --op, or create the missing index or pipeline in the cluster.',
        unless: tooManyShards,
      },
      {
        fix: 'Delete indices that nobody needs, or add a node. Then run the same command again.',
        if: tooManyShards,
      },
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      status: 400,
      reason: 'illegal_argument_exception: pipeline with id [geo] does not exist',
    },
  },
  CLUSTER_AUTH_REJECTED: {
    title: 'The cluster refuses the credentials',
    message: '{cluster} {how} (401): {reason}',
    observed: 'Status 401 "Unauthorized", security_exception. The proxy answers 407 instead, the IP filter 403.',
    causes: [
      { cause: 'No credentials are set.', if: /missing authentication|none are set/i, unless: lostOnRoute },
      { cause: 'A gateway in front of the cluster removes the header Authorization.', if: lostOnRoute },
      { cause: 'A gateway in front of the cluster accepts only another kind of login.', if: windowsLogin },
      { cause: 'The API key or password is wrong, expired or revoked.', if: /unable to|invalid|expired|failed/i },
      { cause: 'The credentials belong to another cluster.', if: /unable to|invalid|failed/i },
      {
        cause: 'ELASTICSEARCH_USERNAME holds the password, or another value.',
        if: /authenticate this user|probably swapped/,
      },
    ],
    fixes: [
      {
        fix: 'Set ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD. Kibana creates API keys. Copy the encoded form.',
        unless: /sent credentials, but they did not arrive|accepts only .* but Sluice sends/,
      },
      {
        fix: 'Let the gateway in front of the cluster pass requests with the header Authorization. Or set ELASTICSEARCH_URL to the URL of the cluster itself.',
        if: windowsLogin,
      },
      {
        fix: 'Set ELASTICSEARCH_USERNAME to the user name, and ELASTICSEARCH_PASSWORD to the password.',
        if: /probably swapped|name and the password are the same/,
      },
      {
        fix: 'Let the gateway in front of the cluster pass the header Authorization. Or set ELASTICSEARCH_URL to the URL of the cluster itself.',
        if: lostOnRoute,
      },
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      how: 'refused the credentials',
      reason: 'unable to authenticate with provided credentials and anonymous access is not allowed',
    },
  },
  CLUSTER_PRIVILEGE_MISSING: {
    title: 'The credentials lack a privilege',
    message: '{cluster} refused with 403: {reason}',
    observed:
      'Status 403 with security_exception and "is unauthorized for". People mistake it for the IP filter, whose 403 has no such words.',
    causes: [
      'The role or API key does not allow this action on the index.',
      'The index does not exist yet, and the role or API key does not allow Sluice to create it.',
      'The owner of the API key lacked the privilege when the key was created.',
    ],
    fixes: [
      {
        fix: 'Create the API key under Add data in Kibana, or with the privilege event:write of the application apm. A key that is limited to indices cannot use the managed ingest endpoint.',
        if: /^\S+\/_es refused/,
      },
      {
        fix: 'Grant the credentials of --from read and view_index_metadata on the index. Also grant monitor and maintenance, so that Sluice leaves no document out while others write.',
        if: onOrigin,
      },
      'In Kibana, grant the role or API key create_doc on the index (index for --op index). If the index does not exist yet, grant auto_configure too.',
      'For --swap-alias and `sluice rollback`, in Kibana grant read, write and manage on the alias NAME and its indices NAME-*.',
      'For --tune and `sluice untune`, grant manage on the index. For --mapping, grant view_index_metadata and create_index. For --template, also the cluster privilege manage_index_templates.',
      'For `sluice verify`, grant read and view_index_metadata, and maintenance for data streams and aliases. `sluice undo` also needs delete. If an alias has a filter, grant these on the indices behind it.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      reason: 'action [indices:data/write/bulk] is unauthorized for API key id [VuaCfGcB] on indices [logs-app]',
    },
  },
  CLUSTER_UNKNOWN_HOST: {
    title: 'Elastic Cloud does not know this cluster',
    message: 'Elastic Cloud does not know {cluster}: {reason}',
    observed: 'Status 404 "Unknown resource.". People mistake it for a missing index.',
    causes: ['The host of the cluster URL is mistyped.', 'The deployment was renamed or deleted.'],
    fixes: ['Copy the Elasticsearch endpoint from the Elastic Cloud console to ELASTICSEARCH_URL (--url).'],
    example: { cluster: 'https://cluster.example:9243', reason: 'Unknown resource.' },
  },
  CLUSTER_PRIVATE_LINK: {
    title: 'The cluster URL is known only inside a private network',
    message: '{cluster} is {kind}, but {proxy} is a public proxy',
    observed:
      'The name cannot be resolved (ENOTFOUND), the proxy answers 502 or 503, or the connection times out. The cluster is healthy.',
    causes: [
      {
        cause: 'The URL is for connections inside a cloud network. Its host contains privatelink, private or vpce.',
        unless: insideName,
      },
      { cause: 'The deployment accepts only private connections.', unless: insideName },
      { cause: 'The URL names a machine, a container or a host in an office network.', if: insideName },
    ],
    fixes: [
      'Copy the public Elasticsearch endpoint from the Elastic Cloud console to ELASTICSEARCH_URL. Use an IP filter policy with the two static addresses.',
      {
        fix: 'If only the private link is allowed, run Sluice inside that network with --direct. Sluice then does not use the static addresses.',
        unless: insideName,
      },
      { fix: 'Or run Sluice inside that network with --direct, without the static addresses.', if: insideName },
    ],
    example: {
      cluster: 'https://logs.vpce.us-east-1.cluster.example:9243',
      kind: 'a private-link name',
      proxy: 'http://proxy.example:9293',
    },
  },
  CLUSTER_UNAVAILABLE: {
    exit: 4,
    retry: 'later',
    title: 'The cluster is not available',
    message: '{cluster} is not available: {observed}',
    observed:
      'ECONNRESET, "socket hang up", "other side closed", or status 502, 503 and 504. A loader that retries may store documents twice, because only the answer was lost.',
    causes: [
      { cause: 'A firewall before the cluster breaks connections from one of the two addresses.', if: /may block one/ },
      { cause: 'The cluster is starting, restarting or overloaded.', if: /status|closed|reset|refused|hang up|broke/i },
      {
        cause: 'A firewall on the route forbids this host name, and breaks the TLS handshake.',
        if: /before secure TLS connection/,
      },
      { cause: 'The network broke the connection.', if: /closed|reset|broke|hang up|EPIPE|unreach/i },
      {
        cause: 'The cluster URL says https://, but its port does not use TLS.',
        if: /SSL|TLS|EPROTO|packet length|wrong version/i,
      },
    ],
    fixes: [
      {
        fix: 'If a firewall protects the cluster, allow both addresses of the proxy there. To find out which address it blocks, run `sluice doctor --nodes URL,URL` with the URL of each proxy node.',
        if: /may block one/,
      },
      'Check the health of the cluster in the Elastic Cloud console, and the scheme and port of ELASTICSEARCH_URL. Then run the same command again. It continues where it stopped.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      observed: 'the connection broke: other side closed (UND_ERR_SOCKET)',
    },
  },
  CLUSTER_ANSWER_TOO_LONG: {
    exit: 4,
    retry: 'later',
    title: 'An answer is longer than any answer of Elasticsearch',
    message: '{cluster} sent an answer that is too long to read: {observed}',
    observed: 'An answer of many megabytes to a small bulk request, or an answer that does not end.',
    causes: ['A gateway between Sluice and the cluster changes answers.', 'The answer is not one of Elasticsearch.'],
    fixes: [
      'Ask the operator of the gateway about large answers to POST /_bulk. Then run the same command again. It continues where it stopped.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      observed: 'status 200, server: nginx, a body of more than 1,060,864 bytes',
    },
  },
  CLUSTER_OVERLOADED: {
    exit: 4,
    retry: 'later',
    title: 'The cluster is overloaded',
    message: '{cluster} is too busy (429): {reason}',
    observed:
      'Status 429 for requests, or for items inside a 200: es_rejected_execution_exception, circuit_breaking_exception. Loaders that give up early lose these documents.',
    causes: ['This run and others send too many requests at once.', 'The cluster is too small for the load.'],
    fixes: [
      'Lower --concurrency or --batch-bytes, or run the same command again later. It continues where it stopped.',
      'If this happens every time, give the deployment more memory in the Elastic Cloud console.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      reason: 'es_rejected_execution_exception: rejected execution of coordinating operation. Sluice retried for 900 s',
    },
  },
  GATEWAY_LIMITED: {
    exit: 4,
    retry: 'later',
    title: 'A gateway limits the number of requests',
    message: 'a gateway in front of {cluster} limits connections or requests: {observed}',
    observed:
      'Status 429 without the error object of Elasticsearch, or connections that break as soon as several are open. People mistake it for an overloaded cluster.',
    causes: ['A rate limit of a load balancer or a web application firewall is lower than what a load sends.'],
    fixes: [
      'Lower --concurrency, and run the same command again later. It continues where it stopped.',
      'If this happens every time, ask the administrators of the gateway for a higher limit.',
    ],
    example: { cluster: 'https://cluster.example:9243', observed: 'status 429, server: nginx' },
  },
  CLUSTER_TIMEOUT: {
    exit: 4,
    retry: 'later',
    title: 'The cluster does not answer in time',
    message: '{cluster} did not answer within {limitMs} ms',
    observed:
      '"Request timed out", ETIMEDOUT, or a request that never ends. A timeout does not show whether the documents were stored.',
    causes: [
      'The cluster is overloaded.',
      'The host or port of the cluster URL is wrong, and a firewall drops the packets.',
      'Only one of the two static addresses may connect, and a firewall drops packets from the other.',
      'A VPN or tunnel on the route loses full packets (MTU): small requests are answered, and bulk requests hang.',
    ],
    fixes: [
      'Run `sluice doctor` with --index to find out which of these causes applies.',
      'Compare ELASTICSEARCH_URL with the Elastic Cloud console. Check there that the attached IP filter policy contains both static addresses.',
      'Raise --timeout, or lower --batch-bytes.',
      'If full packets are lost, ask the administrators of the network to lower the MTU of the VPN, or to let ICMP pass.',
    ],
    example: { cluster: 'https://cluster.example:9243', limitMs: 120_000 },
  },
  CLUSTER_CERT_INVALID: {
    title: "The cluster's certificate is not trusted",
    message: 'the certificate of {cluster} is not trusted: {problem}',
    observed:
      'SELF_SIGNED_CERT_IN_CHAIN, UNABLE_TO_VERIFY_LEAF_SIGNATURE, ERR_TLS_CERT_ALTNAME_INVALID or CERT_HAS_EXPIRED. People then turn the check off, and lose its protection.',
    causes: [
      {
        cause: 'The cluster uses a private certificate authority (CA).',
        if: /SELF_SIGNED|UNABLE_TO|UNTRUSTED|FINGERPRINT/,
      },
      {
        cause: 'A proxy, firewall or gateway on the route intercepts TLS, as many companies do.',
        if: /SELF_SIGNED|UNABLE_TO|UNTRUSTED|FINGERPRINT|INVALID_|SIGNATURE/,
      },
      { cause: 'The host in the URL is not in the certificate.', if: /ALTNAME|HOSTNAME/ },
      { cause: 'The cluster URL is the URL of the proxy.', if: /ALTNAME|HOSTNAME/ },
      {
        cause: 'The server does not send an intermediate certificate.',
        if: /sends no certificate of this issuer|UNABLE_TO_VERIFY_LEAF|UNABLE_TO_GET_ISSUER/,
      },
      { cause: 'The certificate has expired, or the clock of this machine is wrong.', if: /EXPIRED|NOT_YET/ },
    ],
    fixes: [
      "Pass the CA with --ca FILE (SLUICE_CA), or the SHA-256 of a certificate with --ca-fingerprint. A static-IP proxy never decrypts, so the certificate is the cluster's own. If your company issued it, a proxy of your company opens TLS: pass the CA of your company, or take another route.",
      'In ELASTICSEARCH_URL, write the host name from the Elastic Cloud console, not the host of the proxy and not an IP address.',
      {
        fix: 'Check that the clock of this machine is right. If it is, ask the administrators of the cluster to renew the certificate.',
        unless: oldAuthority,
      },
      {
        fix: 'If the issuer is your company, a proxy of your company opens TLS: add its CA to the file of --ca, or take another route. Otherwise ask the administrators of the cluster to send the whole chain of certificates.',
        if: /sends no certificate of this issuer/,
      },
      {
        fix: 'If this proxy may read your documents, pass the CA of your company with --ca FILE. Otherwise take a route that does not open TLS, for example the static-IP proxy alone.',
        if: /on the route opens TLS/,
      },
      {
        fix: 'Check that the clock of this machine is right. If it is, ask the administrators of the cluster for their new authority, and pass it with --ca.',
        if: oldAuthority,
      },
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      problem: 'self-signed certificate in certificate chain (SELF_SIGNED_CERT_IN_CHAIN)',
    },
  },
  CLUSTER_TLS_MISMATCH: {
    title: 'The cluster URL and its port disagree about TLS',
    message: '{cluster}: {observed}',
    observed:
      'Status 400 "plain HTTP request was sent to HTTPS port", an empty reply, or ERR_SSL_WRONG_VERSION_NUMBER, "wrong version number".',
    causes: [
      { cause: 'The cluster URL says http://, but its port uses TLS.', if: /says http:/, unless: redirects },
      { cause: 'A gateway answers http:// only with a redirect to https://.', if: redirects },
      {
        cause: 'The cluster URL says https://, but its port does not use TLS.',
        unless: /says http:|versions or ciphers of TLS/,
      },
      { cause: 'The server is old, or a firewall on the route opens TLS with an old version.', if: oldTls },
    ],
    fixes: [
      { fix: 'Write https:// in ELASTICSEARCH_URL (--url).', if: /says http:/, unless: redirects },
      { fix: 'Set ELASTICSEARCH_URL (--url) to the URL that the redirect names.', if: redirects },
      {
        fix: 'Compare ELASTICSEARCH_URL with the endpoint in the Elastic Cloud console: the scheme, and port 443 or 9243.',
        unless: /says http:|versions or ciphers of TLS/,
      },
      {
        fix: 'Ask the administrators of the cluster, or of the gateway in front of it, to allow TLS 1.2 or 1.3.',
        if: oldTls,
      },
    ],
    example: {
      cluster: 'http://cluster.example:9243',
      observed: 'the port expects TLS, but the URL says http://',
    },
  },
  CLUSTER_CLIENT_CERT: {
    title: 'The cluster requires a client certificate',
    message: '{cluster} accepts only connections with a client certificate that it knows: {observed}',
    observed:
      'An alert in the TLS handshake (certificate required, bad certificate, unknown CA), or status 400 "No required SSL certificate was sent".',
    causes: [
      'The cluster, or a gateway in front of it, accepts only known client certificates.',
      'The client certificate has expired, or another authority signed it.',
    ],
    fixes: [
      'Pass the client certificate with --cert FILE and its key with --key FILE.',
      {
        fix: 'Sluice cannot send a client certificate to the cluster of --from. Use a URL of that cluster that needs none.',
        if: onOrigin,
      },
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      observed: 'the TLS alert ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    },
  },
  CLUSTER_LICENSE_ENDED: {
    title: 'The licence of the cluster has ended',
    message: '{cluster} refused with 403: {reason}',
    observed:
      'Status 403 with security_exception and "license is non-compliant". People mistake it for a missing privilege.',
    causes: ['The licence or the trial of the cluster has ended, or does not contain this feature.'],
    fixes: [
      'Renew the licence in the Elastic Cloud console, or in Kibana under Stack Management, License management. Then run the same command again.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      reason: 'current license is non-compliant for [security]',
    },
  },
  CLUSTER_NOT_ELASTICSEARCH: {
    title: 'The server does not answer like Elasticsearch',
    message: '{cluster} did not answer like Elasticsearch: {observed}',
    observed: '"The client noticed that the server is not Elasticsearch", or an HTML page instead of JSON.',
    causes: [
      { cause: 'The URL leads to Kibana, not to Elasticsearch.', if: kibana },
      { cause: 'The URL leads to OpenSearch, which is another product.', if: /it is OpenSearch,/ },
      { cause: 'The URL leads to Amazon OpenSearch Service or another service of Amazon.', if: signedOnly },
      { cause: 'The URL has the port of the nodes (9300), not the port for HTTP (9200).', if: /port of the nodes/ },
      {
        cause: 'The URL leads to a gateway or another product, or has a wrong path after the host.',
        unless: /Kibana|OpenSearch|Amazon|port of the nodes|removed its header/,
      },
      {
        cause: 'A gateway removes the header x-elastic-product from the answers of Elasticsearch.',
        unless: /Kibana|OpenSearch|Amazon|port of the nodes|page/,
      },
    ],
    fixes: [
      {
        fix: 'Copy the Elasticsearch endpoint (not that of Kibana) from the Elastic Cloud console to ELASTICSEARCH_URL.',
        unless: stripped,
      },
      {
        fix: 'Let the gateway pass the header x-elastic-product. Or set ELASTICSEARCH_URL to the URL of the cluster itself.',
        if: stripped,
      },
      {
        fix: 'Load into Elasticsearch 8 or 9. Sluice does not support OpenSearch.',
        if: /it is OpenSearch,|signed requests/,
      },
      { fix: 'Write the port for HTTP in ELASTICSEARCH_URL, most often 9200.', if: /port of the nodes/ },
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      observed: 'status 200, content-type: text/html, body: Kibana',
    },
  },
  CLUSTER_VERSION_UNSUPPORTED: {
    title: 'Sluice does not support this version of Elasticsearch',
    message: '{cluster} runs Elasticsearch {version}, but Sluice {supports}',
    observed: 'Status 406 or 400 about a media type, or errors about parameters that the cluster does not know.',
    causes: ['The cluster is older or newer than this version of Sluice.'],
    fixes: ['Upgrade the cluster in the Elastic Cloud console, or upgrade Sluice.'],
    example: {
      cluster: 'https://cluster.example:9243',
      version: '7.17.29',
      supports: 'supports only 8, 9 and serverless',
    },
  },
  GATEWAY_REFUSED: {
    title: 'A gateway in front of the cluster refuses the request',
    message: 'a gateway in front of {cluster} refused the request: {observed}',
    observed:
      'Status 403, 404 or a redirect with a page of another product. People mistake it for the IP filter or the cluster.',
    causes: [
      { cause: 'A gateway, load balancer or firewall of your own is in front of the cluster.', unless: login },
      {
        cause: 'The gateway serves Elasticsearch only under a path, and the cluster URL lacks the path.',
        if: otherPath,
        unless: login,
      },
      { cause: 'The URL leads to a page that people log in to, not to Elasticsearch.', if: /login page/ },
      {
        cause: 'The network of this machine has a login page, as hotel and guest networks do.',
        if: /network requires/,
      },
    ],
    fixes: [
      {
        fix: 'If the gateway serves Elasticsearch under a path, write the path after the host in ELASTICSEARCH_URL.',
        if: otherPath,
        unless: login,
      },
      {
        fix: 'Find the gateway, load balancer or firewall that answers like this, and allow the request there.',
        unless: login,
      },
      {
        fix: 'Copy the Elasticsearch endpoint from the Elastic Cloud console to ELASTICSEARCH_URL. Or let the gateway accept API keys without its own login.',
        if: /login page/,
      },
      {
        fix: 'Open any page in a browser on this machine, and log in to the network. Then run the same command again.',
        if: /network requires/,
      },
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      observed: 'status 403, server: nginx, content-type: text/html, body: 403 Forbidden',
    },
  },
  LOOKUP_REFUSED: {
    title: 'The cluster refuses to look up documents',
    message: '{cluster} refused to look up documents with status {status}: {reason}',
    observed: 'Status 400 or 403 for _mget or _search, while writing works.',
    causes: [
      { cause: 'The index is closed.', if: /closed/i },
      {
        cause: 'The cluster or a gateway forbids _mget or _search.',
        if: /403|404|405|forbid|unauthorized|not allowed/i,
      },
    ],
    fixes: ['Open the index (POST /<index>/_open), or allow _mget and _search.'],
    example: {
      cluster: 'https://cluster.example:9243',
      status: 400,
      reason: 'index_closed_exception: closed',
    },
  },
} as const satisfies Entries
