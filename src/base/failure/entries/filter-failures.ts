import type { Entries } from '../entry.js'

/** The policies of the IP filter, and Elastic Cloud, which keeps them. */
export const filterEntries = {
  FILTER_NOT_ATTACHED: {
    title: 'No IP filter policy is attached',
    message: 'no IP filter policy is attached to {deployment}, so it is open to the whole internet',
    observed: 'Nothing fails. The deployment accepts every request from everywhere.',
    causes: ['The policy was created but not attached.', 'The last policy was detached.'],
    fixes: [
      'Run `sluice filter create`, then `sluice filter attach`. Or attach the policy in the Elastic Cloud console.',
    ],
    example: { deployment: '4fa8821e' },
  },
  FILTER_MISSES_ADDRESS: {
    title: 'The attached policies do not allow both static addresses',
    message: 'no policy attached to {deployment} allows {addresses}',
    observed: 'Status 403 for about half of all requests. If both addresses are missing, status 403 for all requests.',
    causes: [
      'The policies contain only one of the two static addresses, or one is mistyped.',
      'The policy that contains them is not attached.',
      'STATIC_IPS does not contain the two addresses in the dashboard of the proxy.',
    ],
    fixes: ['Run `sluice filter create`, which adds the missing addresses. Then run `sluice filter attach`.'],
    example: { deployment: '4fa8821e', addresses: ['203.0.113.8'] },
  },
  FILTER_TOO_PERMISSIVE: {
    title: 'An attached policy allows large parts of the internet',
    message: 'the policy {policy}, attached to {deployment}, allows {sources}, {beside}',
    observed: 'Nothing fails. A deployment with a narrow and a wide policy accepts what either of them allows.',
    causes: [
      'A policy for everybody (0.0.0.0/0) is still attached. A request passes if any policy allows it.',
      'A block is much larger than intended, such as /8 instead of /28.',
      'Elastic Cloud attaches the policy to every new deployment (applied by default).',
    ],
    fixes: ['Run `sluice filter detach --policy ID`, or narrow the rules in the Elastic Cloud console.'],
    example: {
      policy: 'everybody',
      deployment: '4fa8821e',
      sources: ['0.0.0.0/0'],
      beside: 'so the other attached policies (static addresses) have no effect',
    },
  },
  FILTER_COVERS_CLIENT: {
    isNotice: true,
    title: "The IP filter allows this machine's own address",
    message: "{cluster} allows this machine's own address: {observed}",
    observed: 'It works here even without the proxy, but fails with 403 after deployment.',
    causes: [
      'The policy allows the network of an office or a VPN, on purpose or by mistake.',
      'A block is larger than intended.',
    ],
    fixes: [
      'Run `sluice doctor` where the load will run. A load that works from here proves nothing about other machines.',
      'If the rule is not intended, remove it from the policy in the Elastic Cloud console.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      observed: 'it answers without the proxy (status 401), but refuses addresses of the proxy',
    },
  },
  FILTER_API_KEY_REJECTED: {
    title: 'Elastic Cloud refuses the key',
    message: '{api} refused the organisation key (401): {reason}',
    observed: 'Status 401 with root.unauthorized, although the same key works with the cluster.',
    causes: [
      'The key is an API key of Elasticsearch. IP filter policies need an API key of the organisation.',
      'The key is mistyped, expired or revoked.',
    ],
    fixes: [
      'In the Elastic Cloud console, create an API key of the organisation. Set it as EC_API_KEY or with --admin-key-file.',
    ],
    example: { api: 'https://api.hosting.example', reason: 'root.unauthorized: no such key' },
  },
  FILTER_API_REFUSED: {
    title: 'Elastic Cloud refuses a request about policies',
    message: '{api} refused {request} with status {status}: {reason}',
    observed:
      'Status 400, 403 or 404 with a list of errors, each with a code. The status is 403 also for policies that do not exist.',
    causes: [
      'The deployment id is wrong. Use the id in the URL of the Elastic Cloud console, not the cluster id.',
      'The role of the key does not give access to this deployment, or does not allow changes to policies.',
      { cause: 'The policy and the deployment are in different regions.', if: /region/i },
      '--admin-url is not the address of the API.',
    ],
    fixes: ['Check --deployment, --region and --admin-url.'],
    example: {
      api: 'https://api.hosting.example',
      request: 'POST /deployments/traffic-filter/rulesets',
      status: 400,
      reason: 'traffic_filter.invalid: the region is not known',
    },
  },
  FILTER_API_UNAVAILABLE: {
    exit: 4,
    retry: 'later',
    title: 'The Elastic Cloud API does not answer',
    message: 'the Elastic Cloud API {api} does not answer: {observed}',
    observed: 'ENOTFOUND, a timeout, or status 429, 502 or 503 from a host that is not the cluster.',
    causes: [
      {
        cause: 'This machine cannot reach the API directly. These requests do not go through the static-IP proxy.',
        if: /E[A-Z]{4,}|timeout|within|connect|certificate/,
      },
      { cause: 'The API is down or overloaded, or limits requests.', if: /status|429|50\d|timeout|within|answer/ },
    ],
    fixes: [
      'Run the same command again. Sluice keeps what is already done. If the API uses a private CA, set NODE_EXTRA_CA_CERTS to its PEM file.',
      'If the firewall allows only the proxy, change the policy in the Elastic Cloud console.',
    ],
    example: { api: 'https://api.hosting.example', observed: 'getaddrinfo ENOTFOUND api.hosting.example' },
  },
  FILTER_POLICY_UNKNOWN: {
    exit: 2,
    title: 'There is no such IP filter policy',
    message: 'cannot choose an IP filter policy: {problem}. Known policies: {known}',
    observed: 'Status 403 or 404 with traffic_filter.not_found.',
    causes: ['The id or name is mistyped.', 'The policy does not exist yet.', 'Several policies have the same name.'],
    fixes: ['Pass --policy with the id of a known policy, or run `sluice filter create`.'],
    example: { problem: "none has the id or name 'ofice'", known: ['office (5f3c)', 'sluice (9a1e)'] },
  },
  FILTER_CHANGED_MEANWHILE: {
    exit: 4,
    retry: 'later',
    title: 'Somebody else changed the policy',
    message: 'somebody changed the policy {policy} ({id}) while Sluice waited for your answer, so Sluice wrote nothing',
    observed: 'Tools that write the whole list of rules delete what somebody else has just added.',
    causes: ['Another administrator, or a tool such as Terraform, wrote the policy at the same time.'],
    fixes: ['Run `sluice filter create` again, and check the new difference.'],
    example: { policy: 'sluice', id: '9a1e' },
  },
} as const satisfies Entries
