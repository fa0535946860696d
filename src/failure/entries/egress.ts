import type { Entries } from '../entry.js'

/** The two static addresses and the IP filter that judges them. */
export const egressEntries = {
  EGRESS_UNEXPECTED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'An address was seen that is not one of the static pair',
    message: 'the egress check saw {seen}, the static addresses are {expected}',
    causes: [
      'The request did not go through the proxy.',
      "STATIC_IPS is not the dashboard's pair.",
      'The proxy URL belongs to another subscription.',
    ],
    fixes: ['Copy both addresses and the proxy URL from the same dashboard page.'],
  },
  EGRESS_NOT_ALLOWED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: "The cluster's IP filter refuses both addresses",
    message: 'the IP filter of {cluster} refused {refused} of {probes} connections: {observed}',
    causes: [
      'The static addresses are in no IP filter policy that is attached to this deployment.',
      'A policy holds other addresses than the dashboard shows.',
      'The policy was created but not attached, while another one is.',
      'The connections did not go through the proxy: none is set, or --direct is.',
    ],
    fixes: [
      'In the cluster console: put both static addresses, each as /32, into one IP filter policy and attach it to this deployment.',
      'Take the addresses from the dashboard of the proxy, never from resolving its host name.',
      'Set STATIC_PROXY_URL, if the way shown is direct.',
    ],
  },
  EGRESS_PARTLY_ALLOWED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: "The cluster's IP filter allows only some of the addresses",
    message: 'the IP filter of {cluster} refused {refused} of {probes} connections and let the others through',
    causes: ['Only one of the two static addresses is registered.', 'One of the two is mistyped in the policy.'],
    fixes: [
      'Add the missing address as /32 to the attached IP filter policy: the proxy uses either of the two for any connection.',
    ],
  },
  FILTER_NOT_ENFORCED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'The cluster answers without the proxy too',
    message: '{cluster} answers this machine without the proxy (status {status})',
    causes: [
      'No IP filter policy is attached.',
      "An attached policy covers this machine's own address.",
      'A permissive policy is attached beside the restrictive one.',
    ],
    fixes: ['Attach the policy with the two static addresses to the deployment, and detach or narrow the others.'],
  },
} as const satisfies Entries<'egress'>
