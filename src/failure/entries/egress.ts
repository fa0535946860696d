import type { Entries } from '../entry.js'

/** The two static addresses, and the IP filter that judges them. */
export const egressEntries = {
  EGRESS_UNEXPECTED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'An address was seen that is not one of the static pair',
    message: 'the address check saw {seen}; the static addresses are {expected}',
    observed:
      'A test of the own address shows another one than the dashboard; then 403 from the cluster, for some clients or all.',
    causes: [
      'The request did not go through the proxy: none is set, or a client or runtime did not take the setting over.',
      "STATIC_IPS is not the dashboard's pair.",
      'The proxy URL belongs to another subscription.',
    ],
    fixes: [
      "Copy both addresses (STATIC_IPS) and the proxy URL (STATIC_PROXY_URL) from the same page of the proxy's dashboard.",
      'In programs of your own, attach the proxy to every client: for axios, `proxy: false` and an `httpsAgent`.',
    ],
    example: { seen: ['198.51.100.24'], expected: ['203.0.113.7', '203.0.113.8'] },
  },
  EGRESS_ONE_ADDRESS: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    isNotice: true,
    title: 'Only one of the two static addresses is in use',
    message:
      'all {connections} connections left from {address}; that another address is in use has a chance of {chance}',
    observed:
      'Nothing fails today. Where only this address is registered, everything fails on the day the other one is used.',
    causes: [
      'The proxy URL is that of a single node, not of the pair.',
      'One node of the pair is away, and the other does its work.',
    ],
    fixes: [
      "Use the URL of the pair, as the proxy's dashboard shows it, in STATIC_PROXY_URL.",
      'Keep both addresses registered: the other one may be in use again at any time.',
    ],
    example: { connections: 16, address: '203.0.113.7', chance: '0.003 %' },
  },
  EGRESS_NOT_ALLOWED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: "The cluster's IP filter refuses both addresses",
    message: 'the IP filter of {cluster} refused {refused} of {probes} connections: {observed}',
    observed:
      'Status 403 with {"ok":false,"message":"Forbidden"}, or with a message about traffic filtering; it looks like a missing privilege and is none: the cluster never saw the request.',
    causes: [
      'The static addresses are in no IP filter policy that is attached to this deployment.',
      'A policy holds other addresses than the dashboard shows.',
      'The policy was created but not attached, while another one is.',
      'The connections did not go through the proxy: none is set, or --direct is.',
    ],
    fixes: [
      'In the cluster console: put both static addresses, each as /32, into one IP filter policy (also called traffic filter) and attach it to this deployment.',
      'Take the addresses from the dashboard of the proxy, never from resolving its host name.',
      'Set STATIC_PROXY_URL, if the way shown is direct.',
    ],
    example: { cluster: 'https://cluster.example:9243', refused: 16, probes: 16, observed: 'Forbidden' },
  },
  EGRESS_PARTLY_ALLOWED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: "The cluster's IP filter allows only some of the addresses",
    message: 'the IP filter of {cluster} refused {refused} of {probes} connections and let the others through',
    observed:
      'About half of all requests fail with 403 or time out, at random; a test by hand works, the next one does not. Retries hide it until they run out.',
    causes: ['Only one of the two static addresses is registered.', 'One of the two is mistyped in the policy.'],
    fixes: [
      'In the cluster console, add the missing address as /32 to the attached IP filter policy: the proxy uses either of the two for any connection.',
    ],
    example: { cluster: 'https://cluster.example:9243', refused: 4, probes: 6 },
  },
  FILTER_NOT_ENFORCED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'The cluster answers without the proxy too',
    message: '{cluster} answers this machine without the proxy (status {status})',
    observed:
      'Everything works, and from here also without the proxy; whether from the whole internet, only a machine in another network can tell.',
    causes: [
      'No IP filter policy is attached.',
      "An attached policy covers this machine's own address.",
      'A permissive policy is attached beside the restrictive one.',
    ],
    fixes: [
      'In the cluster console, attach the policy with the two static addresses to the deployment, and detach or narrow the others. `sluice filter show` tells what is attached.',
      "Where this machine's own network is registered on purpose, nothing is wrong: run `sluice doctor` where the load will run, or here with --no-direct-check.",
    ],
    example: { cluster: 'https://cluster.example:9243', status: 401 },
  },
} as const satisfies Entries<'egress'>
