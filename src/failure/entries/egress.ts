import type { Entries } from '../entry.js'

/** The two static addresses, the IP filter that judges them, and the service that administers the filter. */
export const egressEntries = {
  EGRESS_UNEXPECTED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'An address was seen that is not one of the static pair',
    message: 'the egress check saw {seen}, the static addresses are {expected}',
    observed: 'A test of the own address shows another one than the dashboard; then 403 from the cluster, for some clients or all.',
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
      'Add the missing address as /32 to the attached IP filter policy: the proxy uses either of the two for any connection.',
    ],
    example: { cluster: 'https://cluster.example:9243', refused: 4, probes: 6 },
  },
  FILTER_NOT_ENFORCED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'The cluster answers without the proxy too',
    message: '{cluster} answers this machine without the proxy (status {status})',
    observed: 'Everything works, and so it does for the whole internet: only a request without the proxy shows it.',
    causes: [
      'No IP filter policy is attached.',
      "An attached policy covers this machine's own address.",
      'A permissive policy is attached beside the restrictive one.',
    ],
    fixes: ['Attach the policy with the two static addresses to the deployment, and detach or narrow the others.'],
    example: { cluster: 'https://cluster.example:9243', status: 401 },
  },
  FILTER_COVERS_CLIENT: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: "An IP filter policy lets this machine's own address in",
    message: 'the policy {policy} of {cluster} has the rule {rule}, which covers the address of this machine, {address}',
    observed:
      'It works here even when the proxy is not used, and fails with 403 once deployed: this machine proves nothing about the proxy.',
    causes: [
      'The address of an office or a person was added to reach the cluster by hand.',
      'The policy was made from a template that adds the address of whoever made it.',
    ],
    fixes: [
      'In the cluster console, remove the rule, or move it to a policy of its own that is attached only while it is needed.',
      'If the rule is meant to stay, test from another machine: `sluice doctor` there shows whether the filter stops what does not come through the proxy.',
    ],
    example: {
      policy: 'office',
      cluster: 'https://cluster.example:9243',
      rule: '198.51.100.0/24',
      address: '198.51.100.24',
    },
  },
  FILTER_TOO_PERMISSIVE: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'An IP filter policy lets far more in than the static addresses',
    message: 'the policy {policy} has the rule {rule}, which lets in {addresses} addresses',
    observed: 'Nothing fails: a deployment with a narrow and a wide policy accepts whatever matches either of them.',
    causes: [
      'A policy for everybody (0.0.0.0/0) was attached for a test, or by default, and stayed.',
      'A rule has a shorter prefix than was meant: /8 instead of /32.',
    ],
    fixes: [
      'In the cluster console, detach that policy from the deployment, or narrow the rule. What remains has to hold both static addresses, each as /32.',
    ],
    example: { policy: 'open', rule: '0.0.0.0/0', addresses: 4_294_967_296 },
  },
  FILTER_API_AUTH_REJECTED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'The hosting service refuses the key for its IP filters',
    message: '{api} refused the key (status {status}): {reason}',
    observed: 'Status 401 with the code root.unauthorized, or 403, although the same key works with the cluster.',
    causes: [
      'The key is one of the cluster: policies belong to the organisation and need a key of the hosting service.',
      'The key was revoked, has expired, or may not change network security.',
    ],
    fixes: [
      'In the console of the hosting service, make an API key for the organisation, under API keys of the account and not of the deployment.',
    ],
    example: { api: 'https://api.hosting.example', status: 401, reason: 'root.unauthorized' },
  },
  FILTER_API_REFUSED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'The hosting service refuses a change of IP filters',
    message: '{api} refused {request} with status {status}: {reason}',
    observed: 'Status 400, 403, 404 or 409 with a list of errors, each with a code.',
    causes: [
      'The policy or deployment does not exist; the hosting service answers 403 for policies that it does not know.',
      'The policy is of another region than the deployment.',
      'A rule is not an address or a block of addresses: DNS names are not taken. A policy holds at most 128 rules.',
    ],
    fixes: [
      'Read the reason. `sluice filter show` lists the policies; compare their ids and regions with the console of the hosting service.',
    ],
    example: {
      api: 'https://api.hosting.example',
      request: 'POST /deployments/traffic-filter/rulesets',
      status: 400,
      reason: 'the region does not exist',
    },
  },
  FILTER_API_UNREACHABLE: {
    stage: 'egress',
    exit: 4,
    retry: 'later',
    title: 'The hosting service that keeps the IP filters does not answer',
    message: '{api} does not answer: {observed}',
    observed: 'ENOTFOUND, a timeout, or status 502 and 503 from another host than the cluster.',
    causes: [
      'This machine may not reach the internet directly: requests to the hosting service do not go through the proxy.',
      'The hosting service is not available.',
    ],
    fixes: ['Open outbound HTTPS to that host in the firewall, or change the policy in the console of the hosting service.'],
    example: { api: 'https://api.hosting.example', observed: 'getaddrinfo ENOTFOUND api.hosting.example' },
  },
} as const satisfies Entries<'egress'>
