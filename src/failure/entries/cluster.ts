import type { Entries } from '../entry.js'

/** Refused or broken at the cluster, or at what stands right before it: the proxy did its part. */
export const clusterEntries = {
  REQUEST_REFUSED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses the bulk request',
    message: '{cluster} refused the bulk request with status {status}: {reason}',
    observed: 'Status 400, 404 or 405 for whole requests, the same one every time; illegal_argument_exception.',
    causes: [
      'A pipeline, parameter or header that the cluster does not accept: --pipeline names one that does not exist.',
      'The index does not exist, and the cluster may not make it (action.auto_create_index).',
      'The operation does not fit the target: a data stream takes create alone.',
      'The cluster forbids an index name in the request path.',
    ],
    fixes: ['Read the reason; correct --pipeline, --index or --op, or make the index or pipeline in the cluster.'],
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
    message: '{cluster} was reached and refused the credentials (401): {reason}',
    observed: 'Status 401 "Unauthorized", security_exception. It is not the proxy (407), and not the IP filter (403).',
    causes: [
      'The API key or password is wrong, expired or revoked.',
      'The credentials belong to another cluster.',
      'No credentials are set.',
    ],
    fixes: [
      'Set ELASTICSEARCH_API_KEY (in its encoded form; the cluster console makes a new one), or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD. The IP filter let the request through.',
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
      'Status 403 with security_exception and "is unauthorized for"; easily taken for the IP filter, whose 403 has no such words.',
    causes: [
      'The role or API key may not write to this index.',
      'It may write to the index but not make it, and the index does not exist yet.',
      'An API key has no more rights than its owner had when it was made.',
    ],
    fixes: [
      'In the cluster console, grant the role or API key create_doc (for create) or index on the index, and auto_configure where it does not exist yet. This is not the IP filter.',
      'For --swap-alias and rollback grant read, write and manage on the alias (NAME) and on its indices (NAME-*).',
      '`sluice verify` needs read and view_index_metadata, and maintenance for data streams and aliases; `sluice undo` also delete.',
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
    title: 'The hosting service does not know this cluster',
    message: '{cluster} is not known to the hosting service: {reason}',
    observed: 'Status 404 "Unknown resource.", easily taken for a missing index.',
    causes: ['The host of the cluster URL is mistyped.', 'The deployment was renamed or deleted.'],
    fixes: ['Copy the Elasticsearch endpoint from the cluster console into ELASTICSEARCH_URL (--url).'],
    example: { cluster: 'https://cluster.example:9243', reason: 'Unknown resource.' },
  },
  CLUSTER_PRIVATE_LINK: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster URL is that of a private link',
    message: '{cluster} is a private-link name, and {proxy} is a public proxy',
    observed:
      'Name resolution fails (ENOTFOUND), the proxy answers 502 or 503, or the connection times out, although the cluster is healthy.',
    causes: [
      'The URL is the one for connections from inside a cloud network (its host has privatelink, private or vpce in it).',
      'The deployment is open to private connections alone.',
    ],
    fixes: [
      'Copy the public Elasticsearch endpoint from the cluster console into ELASTICSEARCH_URL, and use the IP filter with the two static addresses.',
      'If only the private link may be used, run Sluice inside that network with --direct: the static addresses play no part there.',
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
      'ECONNRESET, "socket hang up", "other side closed", or status 502, 503 and 504. A loader that sends again then may double documents: the answer was lost, not the request.',
    causes: [
      'It is starting, restarting or overloaded.',
      'The connection broke on the way.',
      'The scheme of the cluster URL does not fit its port: https:// at a port without TLS.',
    ],
    fixes: [
      'Look at its health in the cluster console, and at scheme and port of ELASTICSEARCH_URL, then run the same command again: it goes on where it stopped.',
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
    message: '{cluster} refused work for longer than allowed ({elapsedMs} ms): {reason}',
    observed:
      'Status 429, for requests or for items inside a 200: es_rejected_execution_exception, circuit_breaking_exception. Loaders that give up early lose these documents.',
    causes: ['Too many requests at once, from this run or others.', 'The cluster is too small for the load.'],
    fixes: [
      'Lower --concurrency or --batch-bytes, or run again later: the same command goes on where it stopped.',
      'Where it happens every time, give the deployment more memory in the cluster console.',
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
      '"Request timed out", ETIMEDOUT, or a request without end. Whether the documents were stored, the timeout does not tell.',
    causes: [
      'The cluster is overloaded.',
      'Host or port of the cluster URL is wrong, and something on the way drops the packets.',
      'Only one of the static addresses may connect, and the other is dropped without an answer.',
    ],
    fixes: [
      'Run `sluice doctor`: it tells these causes apart.',
      'Compare ELASTICSEARCH_URL with the cluster console; see there that both static addresses are in the attached IP filter policy.',
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
      'SELF_SIGNED_CERT_IN_CHAIN, UNABLE_TO_VERIFY_LEAF_SIGNATURE, ERR_TLS_CERT_ALTNAME_INVALID or CERT_HAS_EXPIRED; people then turn the check off, and with it all safety.',
    causes: [
      'The cluster uses a private CA.',
      'The host in the URL is not in the certificate.',
      'The proxy URL was given as the cluster URL, or TLS is intercepted on the way.',
      'The certificate has expired, or the clock of this machine is wrong.',
    ],
    fixes: [
      "Name the CA with --ca FILE (SLUICE_CA), or the SHA-256 of a certificate with --ca-fingerprint. The proxy never decrypts, so the certificate must be the cluster's own.",
      'See that ELASTICSEARCH_URL holds the host name of the cluster console, and not the proxy or an address.',
      'Have a certificate that has expired renewed where the cluster is administered; compare the clock of this machine first.',
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
    message: '{cluster} answered, but not as Elasticsearch does: {observed}',
    observed: '"The client noticed that the server is not Elasticsearch", or an HTML page where JSON was expected.',
    causes: [
      'The URL points at Kibana, a gateway or another product, or has a path behind the host that leads nowhere.',
      'Something in between strips the x-elastic-product header, by which Elasticsearch signs its answers.',
    ],
    fixes: ['Copy the Elasticsearch endpoint (not that of Kibana) from the cluster console into ELASTICSEARCH_URL.'],
    example: {
      cluster: 'https://cluster.example:9243',
      observed: 'status 200; content-type: text/html; body: Kibana',
    },
  },
  CLUSTER_VERSION_UNSUPPORTED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'This version of Elasticsearch is not supported',
    message: '{cluster} runs Elasticsearch {version}; Sluice works with 8, 9 and serverless',
    observed: 'Status 406 or 400 about a media type, or errors about parameters that the cluster does not know.',
    causes: ['The cluster is older, or newer, than this version of Sluice.'],
    fixes: ['Upgrade the cluster in its console, or Sluice.'],
    example: { cluster: 'https://cluster.example:9243', version: '7.17.29' },
  },
  GATEWAY_REFUSED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'Something between the proxy and the cluster refused',
    message: '{cluster}: status {status} from neither the proxy, the IP filter nor Elasticsearch: {observed}',
    observed:
      'Status 403, 404 or a redirect with a page of some other product, easily taken for the IP filter or the cluster.',
    causes: ['A gateway, load balancer or firewall of your own stands in front of the cluster.'],
    fixes: [
      'Find the gateway, load balancer or firewall that answers with these headers and body, and let the request through there.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      status: 403,
      observed: 'status 403; server: nginx; content-type: text/html; body: 403 Forbidden',
    },
  },
  LOOKUP_REFUSED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses to look documents up',
    message: '{cluster} refused to look up documents with status {status}: {reason}',
    observed: 'Status 400 or 403 for _mget or _search, while writing works.',
    causes: ['The index is closed.', 'The way or the cluster forbids _mget or _search.'],
    fixes: ['Read the reason; open the index (POST /<index>/_open), or allow the request.'],
    example: {
      cluster: 'https://cluster.example:9243',
      status: 400,
      reason: 'index_closed_exception: closed',
    },
  },
} as const satisfies Entries<'cluster'>
