/** Everything that a client of the lab needs. `sluice lab --json` prints it on one line. */
export interface LabLine {
  /** Complete proxy URLs with percent-encoded credentials. `nodes` are the single nodes of the pair, over http. */
  readonly proxy: {
    readonly http: string
    readonly https: string
    readonly socks5: string
    readonly socks5s: string
    readonly nodes: readonly [string, string]
  }
  /** PEM file that vouches for the proxy ports that speak TLS. */
  readonly proxyCaFile: string
  /** The pair, as the dashboard shows it. */
  readonly staticIps: readonly [string, string]
  /** GET answers `{"ip": …}` with the source address. */
  readonly ipCheckUrl: string
  /** The same over TLS, with a certificate of `cluster.caFile`. */
  readonly ipCheckHttpsUrl: string
  readonly cluster: {
    readonly url: string
    readonly httpUrl: string
    readonly caFile: string
    /** Encoded as the Authorization header takes it. */
    readonly apiKey: string
    readonly username: string
    readonly password: string
    /** May write to `least-*` indices and nothing else. */
    readonly leastPrivilegeApiKey: string
    /** `9.4.3`, or `serverless`. */
    readonly version: string
  }
  /** Another cluster, from which an index can be moved, if the lab plays two. It accepts every address. Its certificate is of `cluster.caFile`. */
  readonly otherCluster?: {
    readonly url: string
    readonly httpUrl: string
    /** Encoded as the Authorization header takes it. */
    readonly apiKey: string
    readonly username: string
    readonly password: string
  }
  /** Elastic's managed ingest endpoint in front of the cluster, if the lab plays it. No IP filter guards it. */
  readonly managed?: {
    /** Only the proxy can resolve the host, which is named as Elastic names its own. */
    readonly url: string
    /** The same port under a name that says nothing. */
    readonly plainUrl: string
    /** May send there, and nothing else. */
    readonly apiKey: string
  }
  /** The service-management platform: one instance, whose user and clients are made up for this run. */
  readonly servicenow: {
    /** Uses a certificate of `cluster.caFile`. */
    readonly url: string
    readonly httpUrl: string
    readonly username: string
    readonly password: string
    /** An OAuth client with every grant. client_credentials must be enabled first. */
    readonly clientId: string
    readonly clientSecret: string
    /** A client without a secret, for authorization_code with PKCE. */
    readonly publicClientId: string
  }
  /** The hosting service's administration of IP filter policies. */
  readonly admin: {
    /** Its base, /api/v1, is added by clients. */
    readonly url: string
    /** API key of the organisation. */
    readonly apiKey: string
    /** The id of the deployment that `cluster` is. */
    readonly deployment: string
    readonly region: string
  }
  /** `virtual`: this machine cannot bind 127.0.0.2 and .3, so that only the lab's own ports see the static addresses. */
  readonly egress: 'loopback' | 'virtual'
  /** The static inbound entry for remote callers. The control API sets its application. */
  readonly inbound: { readonly url: string; readonly address: string }
  /** Base URL of the control API. The secret in its path is the permission to use it. */
  readonly control: string
  /** The web page of the lab, if it was asked for. The part after # is the permission to use it. */
  readonly console?: string
}

/** The environment in which a command uses the lab. */
export function labEnvironment(line: LabLine): Record<string, string> {
  return {
    STATIC_PROXY_URL: line.proxy.http,
    STATIC_IPS: line.staticIps.join(','),
    IP_CHECK_URL: line.ipCheckUrl,
    ELASTICSEARCH_URL: line.cluster.url,
    ELASTICSEARCH_API_KEY: line.cluster.apiKey,
    SLUICE_CA: line.cluster.caFile,
    SLUICE_PROXY_CA: line.proxyCaFile,
    SLUICE_ADMIN_URL: line.admin.url,
    EC_API_KEY: line.admin.apiKey,
    SLUICE_DEPLOYMENT: line.admin.deployment,
    SERVICENOW_INSTANCE_URL: line.servicenow.url,
    SERVICENOW_USERNAME: line.servicenow.username,
    SERVICENOW_PASSWORD: line.servicenow.password,
    SERVICENOW_CLIENT_ID: line.servicenow.clientId,
    SERVICENOW_CLIENT_SECRET: line.servicenow.clientSecret,
    SLUICE_SERVICENOW_CA: line.cluster.caFile,
    ...(line.otherCluster && {
      OTHER_CLUSTER_URL: line.otherCluster.url,
      OTHER_CLUSTER_API_KEY: line.otherCluster.apiKey,
      SLUICE_FROM_API_KEY: line.otherCluster.apiKey,
      SLUICE_FROM_CA: line.cluster.caFile,
    }),
  }
}
