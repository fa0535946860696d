import type { Entries } from '../entry.js'

/** Refused or broken at the cluster, or at what stands right before it: the proxy did its part. */
export const clusterEntries = {
  REQUEST_REFUSED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses the bulk request',
    message: '{cluster} refused the bulk request with status {status}: {reason}',
    observed: 'Status 400, 404 or 405 for whole requests, the same one every time. Often illegal_argument_exception.',
    causes: [
      { cause: 'The pipeline that --pipeline names does not exist.', if: /pipeline/i },
      {
        cause: 'The index does not exist, and the cluster may not create it (action.auto_create_index).',
        if: /auto_create|no such index|index_not_found/i,
      },
      { cause: 'A data stream accepts only the operation create.', if: /data stream|op_type|only write ops/i },
      { cause: 'The cluster forbids an index name in the request path.', if: /explicit index|405/i },
    ],
    fixes: ['Correct --pipeline, --index or --op, or create the missing index or pipeline in the cluster.'],
    example: {
      cluster: 'https://cluster.example:9243',
      status: 400,
      reason: 'illegal_argument_exception: pipeline with id [geo] does not exist',
    },
  },
  CLUSTER_AUTH_REJECTED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses the credentials',
    message: '{cluster} refused the credentials (401): {reason}',
    observed: 'Status 401 "Unauthorized", security_exception. The proxy answers 407 instead, the IP filter 403.',
    causes: [
      { cause: 'No credentials are set.', if: /missing authentication/i },
      { cause: 'The API key or password is wrong, expired or revoked.', if: /unable to|invalid|expired|failed/i },
      { cause: 'The credentials belong to another cluster.', if: /unable to|invalid|failed/i },
    ],
    fixes: [
      'Set ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD. Kibana creates API keys: copy the encoded form.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      reason: 'unable to authenticate with provided credentials and anonymous access is not allowed',
    },
  },
  CLUSTER_PRIVILEGE_MISSING: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The credentials lack a privilege',
    message: '{cluster} refused with 403: {reason}',
    observed:
      'Status 403 with security_exception and "is unauthorized for". People mistake it for the IP filter, whose 403 has no such words.',
    causes: [
      'The role or API key may not do this with this index.',
      'The role or API key may write to the index but not create it, and the index does not exist yet.',
      'The owner of the API key lacked the privilege when the key was created.',
    ],
    fixes: [
      'In Kibana, grant the role or API key create_doc on the index (index for --op index). If the index does not exist yet, grant auto_configure too.',
      'For --swap-alias and `sluice rollback`, grant read, write and manage on the alias (NAME) and its indices (NAME-*), in Kibana.',
      'For `sluice verify`, grant read and view_index_metadata, and maintenance for data streams and aliases. `sluice undo` also needs delete.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      reason: 'action [indices:data/write/bulk] is unauthorized for API key id [VuaCfGcB] on indices [logs-app]',
    },
  },
  CLUSTER_UNKNOWN_HOST: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'Elastic Cloud does not know this cluster',
    message: 'Elastic Cloud does not know {cluster}: {reason}',
    observed: 'Status 404 "Unknown resource.". People mistake it for a missing index.',
    causes: ['The host of the cluster URL is mistyped.', 'The deployment was renamed or deleted.'],
    fixes: ['Copy the Elasticsearch endpoint from the Elastic Cloud console to ELASTICSEARCH_URL (--url).'],
    example: { cluster: 'https://cluster.example:9243', reason: 'Unknown resource.' },
  },
  CLUSTER_PRIVATE_LINK: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster URL is a private-link name',
    message: '{cluster} is a private-link name, and {proxy} is a public proxy',
    observed:
      'The name cannot be resolved (ENOTFOUND), the proxy answers 502 or 503, or the connection times out, although the cluster is healthy.',
    causes: [
      'The URL is for connections inside a cloud network. Its host contains privatelink, private or vpce.',
      'The deployment accepts only private connections.',
    ],
    fixes: [
      'Copy the public Elasticsearch endpoint from the Elastic Cloud console to ELASTICSEARCH_URL. Use an IP filter policy with the two static addresses.',
      'If only the private link is allowed, run Sluice inside that network with --direct. The static addresses are not used then.',
    ],
    example: { cluster: 'https://logs.vpce.us-east-1.cluster.example:9243', proxy: 'http://proxy.example:9293' },
  },
  CLUSTER_UNAVAILABLE: {
    stage: 'cluster',
    exit: 4,
    retry: 'later',
    title: 'The cluster is not available',
    message: '{cluster} is not available: {observed}',
    observed:
      'ECONNRESET, "socket hang up", "other side closed", or status 502, 503 and 504. A loader that retries may store documents twice, since only the answer was lost.',
    causes: [
      { cause: 'The cluster is starting, restarting or overloaded.', if: /status|closed|reset|refused|hang up|broke/i },
      { cause: 'The network broke the connection.', if: /closed|reset|broke|hang up|EPIPE|unreach/i },
      {
        cause: 'The cluster URL says https://, and its port does not use TLS.',
        if: /SSL|TLS|EPROTO|packet length|wrong version/i,
      },
    ],
    fixes: [
      'Check the health of the cluster in the Elastic Cloud console, and scheme and port of ELASTICSEARCH_URL. Then run the same command again: it continues where it stopped.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      observed: 'the connection broke: other side closed (UND_ERR_SOCKET)',
    },
  },
  CLUSTER_OVERLOADED: {
    stage: 'cluster',
    exit: 4,
    retry: 'later',
    title: 'The cluster is overloaded',
    message: '{cluster} was too busy for longer than the limit of {elapsedMs} ms: {reason}',
    observed:
      'Status 429 for requests, or for items inside a 200: es_rejected_execution_exception, circuit_breaking_exception. Loaders that give up early lose these documents.',
    causes: ['This run and others send too many requests at once.', 'The cluster is too small for the load.'],
    fixes: [
      'Lower --concurrency or --batch-bytes, or run the same command again later: it continues where it stopped.',
      'If it happens every time, give the deployment more memory in the Elastic Cloud console.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      elapsedMs: 900_000,
      reason: 'es_rejected_execution_exception: rejected execution of coordinating operation',
    },
  },
  CLUSTER_TIMEOUT: {
    stage: 'cluster',
    exit: 4,
    retry: 'later',
    title: 'The cluster does not answer in time',
    message: '{cluster} did not answer within {limitMs} ms',
    observed:
      '"Request timed out", ETIMEDOUT, or a request without end. A timeout does not show whether the documents were stored.',
    causes: [
      'The cluster is overloaded.',
      'The host or port of the cluster URL is wrong, and a firewall drops the packets.',
      'Only one of the two static addresses may connect, and a firewall drops the other.',
    ],
    fixes: [
      'Run `sluice doctor`: it finds out which of these causes it is.',
      'Compare ELASTICSEARCH_URL with the Elastic Cloud console. Check there that the attached IP filter policy contains both static addresses.',
      'Raise --timeout, or lower --batch-bytes.',
    ],
    example: { cluster: 'https://cluster.example:9243', limitMs: 120_000 },
  },
  CLUSTER_CERT_INVALID: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
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
        cause: 'A firewall or gateway on the route intercepts TLS.',
        if: /SELF_SIGNED|UNABLE_TO|UNTRUSTED|FINGERPRINT/,
      },
      { cause: 'The host in the URL is not in the certificate.', if: /ALTNAME|HOSTNAME/ },
      { cause: 'The cluster URL is that of the proxy.', if: /ALTNAME|HOSTNAME/ },
      { cause: 'The certificate has expired, or the clock of this machine is wrong.', if: /EXPIRED|NOT_YET/ },
    ],
    fixes: [
      "Name the CA with --ca FILE (SLUICE_CA), or the SHA-256 of a certificate with --ca-fingerprint. The proxy never decrypts: the certificate must be the cluster's own.",
      'Set ELASTICSEARCH_URL to the host name in the Elastic Cloud console, and not to the proxy or an IP address.',
      'Compare the clock of this machine first. Then have the expired certificate renewed by those who administer the cluster.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      problem: 'self-signed certificate in certificate chain (SELF_SIGNED_CERT_IN_CHAIN)',
    },
  },
  CLUSTER_NOT_ELASTICSEARCH: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The server is not Elasticsearch',
    message: '{cluster} did not answer like Elasticsearch: {observed}',
    observed: '"The client noticed that the server is not Elasticsearch", or an HTML page instead of JSON.',
    causes: [
      'The URL points at Kibana, a gateway or another product, or has a wrong path after the host.',
      'A gateway removes the header x-elastic-product, with which Elasticsearch marks its answers.',
    ],
    fixes: [
      'Copy the Elasticsearch endpoint (not that of Kibana) from the Elastic Cloud console to ELASTICSEARCH_URL.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      observed: 'status 200, content-type: text/html, body: Kibana',
    },
  },
  CLUSTER_VERSION_UNSUPPORTED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'Sluice does not support this version of Elasticsearch',
    message: '{cluster} runs Elasticsearch {version}, and Sluice supports 8, 9 and serverless',
    observed: 'Status 406 or 400 about a media type, or errors about parameters that the cluster does not know.',
    causes: ['The cluster is older or newer than this version of Sluice.'],
    fixes: ['Upgrade the cluster in the Elastic Cloud console, or upgrade Sluice.'],
    example: { cluster: 'https://cluster.example:9243', version: '7.17.29' },
  },
  GATEWAY_REFUSED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'A gateway between the proxy and the cluster refused',
    message: 'a gateway before {cluster} refused with status {status}: {observed}',
    observed:
      'Status 403, 404 or a redirect with a page of another product. People mistake it for the IP filter or the cluster.',
    causes: ['A gateway, load balancer or firewall of your own is in front of the cluster.'],
    fixes: ['Find the gateway, load balancer or firewall that answers like this, and allow the request there.'],
    example: {
      cluster: 'https://cluster.example:9243',
      status: 403,
      observed: 'status 403, server: nginx, content-type: text/html, body: 403 Forbidden',
    },
  },
  LOOKUP_REFUSED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
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
} as const satisfies Entries<'cluster'>
