import type { Entries } from '../entry.js'

/** The two static addresses, and the IP filter that judges them. */
export const egressEntries = {
  EGRESS_UNEXPECTED: {
    title: 'Requests leave from an unexpected address',
    message: 'requests leave from {seen}, but the static addresses are {expected}',
    observed:
      'An address check shows an address that is not in the dashboard. The cluster then answers 403, to some clients or to all.',
    causes: [
      'The request did not go through the proxy, because no proxy is set or the client ignores the setting.',
      'STATIC_IPS does not contain the two addresses in the dashboard of the proxy.',
      'The proxy URL belongs to another subscription.',
    ],
    fixes: [
      'Copy both addresses (STATIC_IPS) and the proxy URL (STATIC_PROXY_URL) from the same dashboard of your proxy (QuotaGuard, Fixie).',
      'In your own programs, configure the proxy on every client. For axios, set `proxy: false` and an `httpsAgent`.',
    ],
    example: { seen: ['198.51.100.24'], expected: ['203.0.113.7', '203.0.113.8'] },
  },
  FILTER_NOT_APPLIED: {
    isNotice: true,
    title: 'The IP filter does not guard the managed ingest endpoint',
    message:
      'on Elastic Cloud Hosted, no IP filter guards {cluster}. The managed ingest endpoint accepts every address',
    observed:
      'Nothing fails. On Elastic Cloud Hosted, a stolen key works from everywhere at this endpoint, whatever the policies say.',
    causes: ['On Elastic Cloud Hosted, IP filter policies guard the cluster, but not its managed ingest endpoint.'],
    fixes: [
      'If only the static addresses may send, load into the Elasticsearch endpoint of the deployment. Its host has no `.ingest.`, and its URL no /_es.',
      'Otherwise keep the key of the endpoint secret, and give it only the privilege event:write of the application apm.',
    ],
    example: { cluster: 'https://logs.ingest.us-east-1.aws.elastic.example/_es' },
  },
  EGRESS_ONE_ADDRESS: {
    isNotice: true,
    title: 'Only one of the two static addresses is in use',
    message: 'all {connections} connections left from {address}. Chance that another address is in use: {chance}',
    observed: 'Nothing fails today. If only this address is allowed, every request fails once the other one is used.',
    causes: [
      'The proxy URL leads to a single node.',
      'One node of the pair is down, and the other node handles all connections.',
    ],
    fixes: [
      'Set STATIC_PROXY_URL to the URL in the dashboard of your proxy, which covers both nodes.',
      'Keep both addresses in the IP filter policy. The proxy may use the other address again at any time.',
    ],
    example: { connections: 16, address: '203.0.113.7', chance: '0.003%' },
  },
  EGRESS_NOT_ALLOWED: {
    title: "The cluster's IP filter refuses both addresses",
    message: 'the IP filter of {cluster} refused {refused} of {probes} connections: {observed}',
    observed:
      'Status 403 with {"ok":false,"message":"Forbidden"}, or with a message about traffic filtering. People mistake it for a missing privilege, but the cluster never saw the request.',
    causes: [
      'No IP filter policy that is attached to this deployment contains the static addresses.',
      'A policy contains addresses other than those in the dashboard of the proxy.',
      'The policy was created but not attached.',
    ],
    fixes: [
      'In the Elastic Cloud console, add both static addresses, each as /32, to one IP filter policy. Attach this policy to the deployment.',
      'Or let Sluice do it: `sluice filter create --deployment ID`, then `sluice filter attach --deployment ID`. Both read STATIC_IPS and an API key of the organisation (EC_API_KEY).',
      'Copy the addresses from the dashboard of your proxy (QuotaGuard, Fixie). Do not resolve its host name.',
      'If Sluice used no proxy, set STATIC_PROXY_URL.',
    ],
    example: { cluster: 'https://cluster.example:9243', refused: 16, probes: 16, observed: 'Forbidden' },
  },
  EGRESS_PARTLY_ALLOWED: {
    title: "The cluster's IP filter allows only one of the two addresses",
    message: 'the IP filter of {cluster} {how} {refused} of {probes} connections and accepted the others',
    observed:
      'About half of all requests fail with 403 or time out, at random. One manual test works and the next one fails. Retries hide it until they run out.',
    causes: [
      'The IP filter policy contains only one of the two static addresses.',
      'One of the two addresses is mistyped in the policy.',
      { cause: 'A firewall in front of the cluster drops connections from one of the two addresses.', if: /dropped/ },
    ],
    fixes: [
      'In the Elastic Cloud console, add the missing address as /32 to the attached IP filter policy. The proxy may use either address for any connection.',
      'Or let Sluice do it: `sluice filter create --deployment ID`, then `sluice filter attach --deployment ID`. Both read STATIC_IPS and an API key of the organisation (EC_API_KEY).',
      { fix: 'If a firewall of your own protects the cluster, allow both addresses there.', if: /dropped/ },
    ],
    example: { cluster: 'https://cluster.example:9243', how: 'refused', refused: 4, probes: 6 },
  },
  FILTER_NOT_ENFORCED: {
    title: 'The cluster answers without the proxy too',
    message: '{cluster} answers this machine without the proxy (status {status})',
    observed:
      'Everything works, also without the proxy. Only a machine in another network can show whether the whole internet has access.',
    causes: [
      'No IP filter policy is attached.',
      "An attached policy contains this machine's own address.",
      'A permissive policy is attached in addition to the restrictive one.',
    ],
    fixes: [
      'In the Elastic Cloud console, attach the policy with the two static addresses, and detach the others. `sluice filter show` lists what is attached.',
      "If this machine's own network is allowed on purpose, nothing is wrong. Run `sluice doctor --no-direct-check` here, or `sluice doctor` where the load will run.",
    ],
    example: { cluster: 'https://cluster.example:9243', status: 401 },
  },
} as const satisfies Entries
