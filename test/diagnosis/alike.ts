/** Causes that look the same from outside: what they have in common, and what would tell them apart. */
export interface Alike {
  readonly causes: string
  readonly why: string
  readonly tell: string
}

export const alike = {
  registration: {
    causes:
      'The static addresses are in no policy; they are mistyped there; their policy is not attached while another one is.',
    why: 'The filter answers every address that it does not let in alike, and says nothing of its policies.',
    tell: '`sluice filter show`, or the list of attached policies in the console of the hosting service.',
  },
  openness: {
    causes: "No policy is attached; one that is attached lets everybody in; one lets in this machine's own address.",
    why: 'A request from here is let in, and the answer does not say by which rule, if by any.',
    tell: '`sluice filter show`, the list of attached policies in the console, or a request from a machine in another network.',
  },
  proxyLogin: {
    causes:
      'A wrong user name; a wrong, old or missing password; one that was encoded twice or not at all; an account that is closed.',
    why: 'A proxy that tells which half is wrong would help people who guess: 407 says only that the two do not fit.',
    tell: "The proxy's dashboard.",
  },
  clusterLogin: {
    causes:
      'A key or password that is mistyped or of another cluster; a user that does not exist; no credentials at all.',
    why: 'Elasticsearch answers all of them with 401. Of a key that has expired or was revoked, and of missing credentials, it says so, and Sluice repeats it.',
    tell: "The list of API keys in the cluster's console.",
  },
  proxyGone: {
    causes:
      'The proxy is down; its port is wrong; its name is mistyped; a firewall refuses the connection, or cuts it off.',
    why: 'Nobody answers who could say so. That the name is unknown or that the connection was refused is told.',
    tell: "The proxy's dashboard; a connection to the same host and port from another network.",
  },
  silence: {
    causes: 'The proxy is overloaded; something else listens on its port and waits; a firewall swallows what follows.',
    why: 'A connection stands, and not one byte comes back.',
    tell: "The proxy's status page; another port of the same proxy.",
  },
  destination: {
    causes:
      "The cluster URL's host is mistyped; its port is wrong; the cluster is down; it drops the proxy's connections.",
    why: 'An HTTP proxy says 502, 503 or 504, SOCKS5 one of a few numbers, and not all of them keep the cases apart. What was said is told.',
    tell: 'The endpoint in the console of the hosting service.',
  },
  portFirst: {
    causes: 'A wrong scheme or port of the proxy, with or without a wrong password behind it.',
    why: 'As long as both sides speak different protocols, no password is looked at. The second cause is named once the first is mended.',
    tell: 'The next `sluice doctor`.',
  },
  loginFirst: {
    causes: 'Wrong proxy credentials, with or without something wrong behind the proxy.',
    why: 'No request gets past the proxy, so that nothing can be known of filter and cluster.',
    tell: 'The next `sluice doctor`, once the proxy takes the login.',
  },
  authority: {
    causes: 'A certificate of a private authority that was not named; one of somebody who listens in between.',
    why: 'Both are certificates that nobody trusted vouches for. Whose name they bear, and who issued them, is told.',
    tell: 'The fingerprint, compared with what the owner of the server says it is.',
  },
  block: {
    causes: 'Somebody made the index read-only; the disk of the cluster is full.',
    why: 'Both are blocks. Which setting it is, is told: read_only_allow_delete is most often the disk.',
    tell: "The cluster's disk usage in its console.",
  },
  instanceToken: {
    causes:
      'A wrong client id or secret; an entry of the application registry that is missing or inactive; a grant that it does not have; a wrong password; a user who is inactive or locked out.',
    why: 'The platform says "access_denied" and "server_error" to all of them. Where Basic authentication takes the same user, or client_credentials the same client, Sluice says which half is right.',
    tell: "The instance's application registry (System OAuth), and the user's record (Active, Locked out).",
  },
  instanceLogin: {
    causes:
      'A wrong user name or password; a user who is inactive or locked out; Basic authentication that a policy forbids, or forbids from these addresses.',
    why: 'All of them are answered with 401 "User Not Authenticated". With a client id and secret as well, the same user can ask for a token: then Basic that is forbidden, and addresses, are told apart from the rest.',
    tell: 'A login with the same user in a browser; the REST API access policies of the instance.',
  },
  instanceAddress: {
    causes:
      'The static addresses are in no Allow rule; they are mistyped there; a REST API access policy or adaptive authentication lists others, or asks for a role.',
    why: 'The platform names no rule. What is told is how it refuses: everything with 403, the login page too, or only what shows credentials that are right.',
    tell: "The instance's IP Address Access Control and its authentication policies.",
  },
} as const satisfies Record<string, Alike>

export type AlikeName = keyof typeof alike
