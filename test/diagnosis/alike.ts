/** Causes that look the same from outside: what they have in common, and what would distinguish them. */
export interface Alike {
  readonly causes: string
  readonly why: string
  readonly tell: string
}

export const alike = {
  registration: {
    causes:
      'The static addresses are in no policy; they are mistyped there; their policy is not attached, but another one is.',
    why: 'The filter gives every blocked address the same answer, and does not mention its policies.',
    tell: '`sluice filter show`, or the list of attached policies in the console of the hosting service.',
  },
  openness: {
    causes:
      "No policy is attached; an attached policy allows everybody; an attached policy allows this machine's own address.",
    why: 'The cluster accepts a request from this machine, and its answer does not show which rule allowed it.',
    tell: '`sluice filter show`, the list of attached policies in the console, or a request from a machine in another network.',
  },
  proxyLogin: {
    causes:
      'A wrong user name; a wrong, old or missing password; a password that was encoded twice or not at all; a closed account.',
    why: 'A proxy that shows which half is wrong would help attackers. Status 407 only means that the two do not fit.',
    tell: "The proxy's dashboard.",
  },
  clusterLogin: {
    causes:
      'A key or password that is mistyped or of another cluster; a user that does not exist; no credentials at all.',
    why: 'Elasticsearch answers all of them with 401. If a key has expired or was revoked, or credentials are missing, the answer says so, and Sluice repeats it.',
    tell: "The list of API keys in the cluster's console.",
  },
  proxyGone: {
    causes:
      'The proxy is down; its port is wrong; its name is mistyped; a firewall refuses the connection, or cuts it off.',
    why: 'No server answers that could name the cause. Sluice reports whether the name is unknown or the connection was refused.',
    tell: "The proxy's dashboard; a connection to the same host and port from another network.",
  },
  silence: {
    causes:
      'The proxy is overloaded; something else listens on its port and waits; a firewall drops the packets that follow.',
    why: 'The connection opens, but no byte comes back.',
    tell: "The proxy's status page; another port of the same proxy.",
  },
  destination: {
    causes:
      "The cluster URL's host is mistyped; its port is wrong; the cluster is down; it drops the proxy's connections.",
    why: 'An HTTP proxy answers 502, 503 or 504, and a SOCKS5 proxy one of a few numbers. Not all proxies distinguish the cases. Sluice reports the answer.',
    tell: 'The endpoint in the console of the hosting service.',
  },
  portFirst: {
    causes: 'A wrong scheme or port of the proxy, with or without a wrong password behind it.',
    why: 'As long as the two sides speak different protocols, the proxy checks no password. Sluice names the second cause after you repair the first.',
    tell: 'The next `sluice doctor`.',
  },
  loginFirst: {
    causes: 'Wrong proxy credentials, with or without something wrong behind the proxy.',
    why: 'No request passes the proxy, so Sluice cannot learn anything about the filter and the cluster.',
    tell: 'The next `sluice doctor`, as soon as the proxy accepts the login.',
  },
  authority: {
    causes:
      'A certificate of a private authority that Sluice does not know; a certificate of somebody who intercepts the connection.',
    why: 'No trusted authority signed either certificate. Sluice reports its name and its issuer.',
    tell: 'The fingerprint, compared with the one that the owner of the server gives you.',
  },
  block: {
    causes: 'Somebody made the index read-only; the disk of the cluster is full.',
    why: 'Both are blocks. Sluice reports the setting. If it is read_only_allow_delete, the cause is most often the disk.',
    tell: "The cluster's disk usage in its console.",
  },
  instanceToken: {
    causes:
      'A wrong client id or secret; an entry of the application registry that is missing or inactive; a grant that the entry does not have; a wrong password; a user who is inactive or locked out.',
    why: 'The platform answers all of them with "access_denied" and "server_error". If Basic authentication accepts the same user, or client_credentials the same client, Sluice reports which half is right.',
    tell: "The instance's application registry (System OAuth), and the user's record (Active, Locked out).",
  },
  instanceLogin: {
    causes:
      'A wrong user name or password; a user who is inactive or locked out; Basic authentication that a policy forbids, or forbids from these addresses.',
    why: 'The platform answers all of them with 401 "User Not Authenticated". If a client id and secret are set too, the same user can ask for a token. Sluice can then distinguish a policy from wrong credentials.',
    tell: 'A login with the same user in a browser; the REST API access policies of the instance.',
  },
  instanceAddress: {
    causes:
      'The static addresses are in no Allow rule; they are mistyped there; a REST API access policy or adaptive authentication allows only other addresses, or requires a role.',
    why: 'The platform names no rule. Sluice reports how it refuses: every request with 403, the login page included, or only requests with correct credentials.',
    tell: "The instance's IP Address Access Control and its authentication policies.",
  },
} as const satisfies Record<string, Alike>

export type AlikeName = keyof typeof alike
