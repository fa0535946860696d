import type { Entries } from '../entry.js'

const instance = 'https://instance.example'

/** Refused, unreadable or slow at the service-management platform: the proxy did its part. */
export const servicenowEntries = {
  SERVICENOW_UNREACHABLE: {
    stage: 'servicenow',
    exit: 4,
    retry: 'later',
    title: 'The instance cannot be reached, or does not answer',
    message: '{instance} cannot be reached: {observed}',
    observed:
      'An unknown host, a refused or lost connection, a timeout, or statuses 500 to 504 that do not end; after five minutes the load balancer before an instance gives up with 500.',
    causes: [
      'The host name in SERVICENOW_INSTANCE_URL is wrong: it is the one in the address bar of a browser that is logged in.',
      'The instance is being upgraded, moved, cloned or restarted.',
      'The proxy may not connect to this host or port.',
    ],
    fixes: [
      'Open SERVICENOW_INSTANCE_URL in a browser; correct it, or run the same command again once the instance answers there.',
      'Run `sluice doctor`: it tells whether the proxy, the name or the instance is at fault.',
    ],
    example: { instance, observed: 'status 503 for 15 minutes' },
  },
  SERVICENOW_CERT_INVALID: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: "The instance's certificate is not trusted",
    message: '{instance} shows a certificate that is not trusted: {reason}',
    observed:
      'Certificate errors: unknown authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE, SELF_SIGNED_CERT_IN_CHAIN), expired, another host name.',
    causes: [
      'The instance has a certificate of a private authority that was not named.',
      'SERVICENOW_INSTANCE_URL names another host than the certificate is for.',
      'Something in between decrypts TLS; the static-IP proxy never does.',
    ],
    fixes: [
      'Name the PEM file of the authority with --servicenow-ca; of a certificate that you do not know, ask who runs the network.',
      'Write the host in SERVICENOW_INSTANCE_URL as the certificate has it.',
      'Have an expired certificate renewed where the instance is administered, and compare the clock of this machine.',
    ],
    example: { instance, reason: 'unable to verify the first certificate' },
  },
  SERVICENOW_NOT_AN_INSTANCE: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'What answers is no instance of the platform',
    message: '{instance} answers, but not as the service-management platform: {observed}',
    observed: 'HTML, a redirect, or JSON of another kind, where the Table API is asked.',
    causes: [
      'SERVICENOW_INSTANCE_URL names another web site: the company portal, the developer site, a custom domain that redirects.',
      'The URL has a path: the address of an instance ends with its host.',
      'A gateway or a login page of the network answers in its place.',
      'The instance does not exist any more, and its host leads somewhere else.',
    ],
    fixes: [
      'Set SERVICENOW_INSTANCE_URL to the address of the instance itself, without a path: host and https:// as the address bar of a browser shows them once you are logged in.',
    ],
    example: { instance, observed: 'status 200, text/html' },
  },
  SERVICENOW_AUTH_REJECTED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The instance refuses the credentials',
    message: '{instance} was reached and refused the credentials (401): {reason}',
    observed: 'Status 401 "User Not Authenticated". It is not the proxy (407), and no address rule (403).',
    causes: [
      'The user name or password is wrong, or the password has to be changed at the next login.',
      'The user is inactive, or locked out after too many wrong passwords.',
      'A REST API access policy forbids Basic authentication, or lists other addresses: its answer is the same.',
      'The access token was revoked, and there is nothing to renew it with.',
    ],
    fixes: [
      'Log in to the instance with the same user, or have an administrator look at it in sys_user (Active, Locked out); then correct SERVICENOW_USERNAME and SERVICENOW_PASSWORD.',
      'Set SERVICENOW_CLIENT_ID and SERVICENOW_CLIENT_SECRET as well, and run `sluice doctor`: with a token it tells wrong credentials from a policy that refuses them.',
    ],
    example: { instance, reason: 'User Not Authenticated' },
  },
  SERVICENOW_TOKEN_REFUSED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The instance gives no OAuth token',
    message: '{instance} refused the token call of the {grant} grant: {reason}',
    observed:
      'Status 401 of /oauth_token.do with "access_denied" and "server_error", which it says for almost every cause: no fault of the server, and nothing that passes.',
    causes: [
      'Client id or secret is wrong, or the entry in the application registry is missing or inactive.',
      'User name or password is wrong, or the user is inactive or locked out (password grant).',
      'The refresh token has expired, was revoked, or was replaced when somebody else used it.',
      'The grant does not fit the entry; client_credentials needs the property glide.oauth.inbound.client.credential.grant_type.enabled.',
      'In other programs: the token call does not go through the proxy, and comes from an address that is not registered. Sluice sends it the way of every other request.',
    ],
    fixes: [
      'Compare SERVICENOW_CLIENT_ID and SERVICENOW_CLIENT_SECRET with the entry in System OAuth > Application Registry, and see that it is active and fits SERVICENOW_GRANT.',
      'For the password grant: log in to the instance with the same user; have it unlocked or made active in sys_user.',
      'For a refused refresh token: run `sluice login servicenow` again, or set a new SERVICENOW_REFRESH_TOKEN.',
    ],
    example: { instance, grant: 'refresh_token', reason: 'access_denied' },
  },
  SERVICENOW_LOGIN_NEEDED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'Nobody has logged in yet',
    message: 'there are no tokens for {instance} in {file}',
    observed: 'The grant is authorization_code, and no tokens are kept.',
    causes: ['Nobody ran `sluice login servicenow` here, or it was another user, or another --token-file.'],
    fixes: ['Run `sluice login servicenow` once, at a machine with a browser.'],
    example: { instance, file: '/home/app/.local/state/sluice/servicenow-tokens.json' },
  },
  SERVICENOW_LOGIN_FAILED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The login in the browser led to nothing',
    message: 'nobody was logged in at {instance}: {reason}',
    observed:
      'The browser does not come back: an error page of the instance about the redirect URL, or a page that does not load. Or it comes back with "access_denied".',
    causes: [
      "The redirect URL is not registered: it is the one that was printed, with the port, in the entry's Redirect URL.",
      'The browser runs on another machine than this command, which waits for it on its own.',
      'The user did not consent, or the entry is inactive.',
    ],
    fixes: [
      'Enter the printed redirect URL in System OAuth > Application Registry, and run `sluice login servicenow` again.',
      'On a machine without a browser: log in on one that has one, and copy the token file (--token-file), which is as good as a password.',
    ],
    example: { instance, reason: 'the browser did not come back within 300 s' },
  },
  SERVICENOW_BASIC_FORBIDDEN: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The instance takes no Basic authentication',
    message: '{instance} refuses Basic authentication, whoever asks: {observed}',
    observed: 'Status 401 "User Not Authenticated" with a user name and password that are right in a browser.',
    causes: [
      'A REST API access policy of the instance forbids Basic authentication for the Table API, or for all APIs.',
    ],
    fixes: [
      'Use OAuth: set SERVICENOW_CLIENT_ID and SERVICENOW_CLIENT_SECRET of an entry in the application registry, and leave --servicenow-grant basic out.',
      'Or have an administrator permit Basic authentication in the policy of the Table API.',
    ],
    example: { instance, observed: 'the same user gets a token, and the token is taken' },
  },
  SERVICENOW_ADDRESS_REFUSED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The instance does not let the static addresses in',
    message: '{instance} refuses the address that the request came from: {observed}',
    observed:
      'Status 403 that is no JSON, for every path and whatever the credentials; or 401 with credentials that are right. The token call fails alike where it does not go through the proxy.',
    causes: [
      'A Deny rule matches the static addresses, and no Allow rule does (IP Address Access Control).',
      'A REST API access policy of the Table API, or adaptive authentication, lists other addresses.',
      'Only the addresses of the proxy host were registered, or mistyped ones.',
      'The connections did not go through the proxy: none is set, or --direct is.',
    ],
    fixes: [
      'Have an administrator add both static addresses as Allow rules in System Security > IP Address Access Control, each as a range from itself to itself.',
      'Where a REST API access policy or adaptive authentication guards the Table API, add both addresses to its IP filter criteria instead.',
      "Take the addresses from the proxy's dashboard, never from resolving its host name.",
    ],
    example: { instance, observed: 'status 403, text/html' },
  },
  SERVICENOW_PARTLY_ALLOWED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The instance lets in only one of the two static addresses',
    message: '{instance} let in {allowed} of {asked} connections and refused the address of the others',
    observed:
      'About half of all requests fail with 403 or 401, at random: a test by hand works, the next one does not. Retries hide it until they run out.',
    causes: [
      'Only one of the two static addresses is registered at the instance.',
      'One of the two is mistyped in the rule or policy.',
    ],
    fixes: [
      'Have an administrator add the other address where the first one stands (an Allow rule, or the policy of the Table API): the proxy uses either for any connection.',
    ],
    example: { instance, allowed: 9, asked: 16 },
  },
  SERVICENOW_NOT_ENFORCED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    isNotice: true,
    title: 'The instance answers without the proxy too',
    message: '{instance} answers this machine without the proxy (status {status})',
    observed:
      'Nothing fails. Asked without credentials: a REST API access policy, which comes with the credentials, may refuse this machine all the same.',
    causes: [
      'IP Address Access Control has no Deny rule: the instance is guarded by its credentials, or by the policy of an API.',
      "An Allow rule covers this machine's own address.",
    ],
    fixes: [
      'If only the static addresses are to come in, have an administrator add Allow rules for both, for everybody else who works there, and then the rule that denies 0.0.0.0 to 255.255.255.255.',
    ],
    example: { instance, status: 401 },
  },
  SERVICENOW_RATE_LIMITED: {
    stage: 'servicenow',
    exit: 4,
    retry: 'later',
    title: 'The instance limits the rate for longer than allowed',
    message: '{instance} answers 429 for longer than allowed: {observed}',
    observed:
      'Status 429: with Retry-After (up to an hour) and X-RateLimit-Limit, -Reset and -Rule for a rate rule, without them for a full queue.',
    causes: [
      'A rate limit rule counts the requests of this user by the hour, and they are spent.',
      'Many integrations ask at once: the queue of API requests (its semaphores) is full.',
    ],
    fixes: [
      'Run the same command again after the time that is told; ask for larger pages (--page-size) and fewer --fields, so that fewer requests are needed.',
      'Have an administrator raise the rule in System Web Services > REST > Rate Limit Rules for this user.',
    ],
    example: { instance, observed: 'Retry-After 1800 s' },
  },
  SERVICENOW_HIBERNATING: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The instance is hibernating',
    message: '{instance} is hibernating: every path answers with a page about it',
    observed:
      'Status 200 with HTML "Your instance is hibernating" where JSON was expected, or a redirect to the developer site; credentials and addresses make no difference.',
    causes: ['It is a developer instance that nobody used for some hours.'],
    fixes: [
      'Log in to the developer site and wake the instance up; after a few minutes run the same command again. Requests do not wake it.',
    ],
    example: { instance },
  },
  SERVICENOW_PAGE_TRUNCATED: {
    stage: 'servicenow',
    exit: 4,
    retry: 'later',
    title: 'The instance gives up on a page, even on one of a single row',
    message: '{instance} could not answer {rows} rows of {table} in its time: {reason}',
    observed: 'Status 200 with an error inside: "Transaction cancelled: maximum execution time exceeded".',
    causes: [
      'The query is slow there: no index serves it, or it looks behind references.',
      'The rows are very large, or a business rule runs for each.',
    ],
    fixes: ['Ask for fewer --fields, narrow --query, or have an index made for it; pages were halved down to one row.'],
    example: { instance, rows: 1, table: 'incident', reason: 'Transaction cancelled: maximum execution time exceeded' },
  },
  SERVICENOW_ACCESS_DENIED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The user may not do this at the instance',
    message: '{instance} refused {request} with {status}: {reason}',
    observed:
      'Status 403 with JSON, "Insufficient rights to query records" or "Operation Failed"; or 200 with fewer rows than X-Total-Count says. Address and credentials were taken.',
    causes: [
      'An access control (ACL) of the table asks for a role that the user does not have.',
      'The table is not open to web services, or only to users with a certain role.',
      'A business rule or data policy refused what was written.',
    ],
    fixes: [
      'Have an administrator grant the user the role that the ACL of the table asks for (System Security > Access Control), or name a table that it may read.',
    ],
    example: { instance, request: 'GET incident', status: 403, reason: 'Insufficient rights to query records' },
  },
  SERVICENOW_TABLE_UNKNOWN: {
    stage: 'servicenow',
    exit: 2,
    retry: 'no',
    title: 'There is no such table',
    message: '{instance} has no table {table}',
    observed: 'Status 400 "Invalid table".',
    causes: ['The name is wrong: it is that of the table, not its label.'],
    fixes: [
      'Write the name of the table, as in `servicenow:incident`; a list in the instance shows it in its URL (incident_list.do).',
    ],
    example: { instance, table: 'incidents' },
  },
  SERVICENOW_QUERY_IGNORED: {
    stage: 'servicenow',
    exit: 2,
    retry: 'no',
    title: 'The instance would leave out a part of what is asked',
    message: '{instance} does not understand {part}, asked of {table}: {problem}',
    observed:
      'Nothing: the platform drops what it does not understand and answers with more rows; with none, where the property glide.invalid_query.returns_no_rows is set.',
    causes: [
      'A field that the table does not have, or that the user may not read.',
      'A misspelt operator.',
      'Something on the way changes or drops sysparm_query, where rows come that do not follow the last one.',
    ],
    fixes: [
      'Correct --query or --fields: build the list in the instance, and copy its query from the breadcrumb.',
      'Have the user given the role that may read the field.',
    ],
    example: { instance, part: 'actve=true', table: 'incident', problem: 'there is no field actve' },
  },
  SERVICENOW_REQUEST_REFUSED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The instance refuses the request',
    message: '{instance} refused {request} with status {status}: {reason}',
    observed: 'Another 4xx of the Table API.',
    causes: ['The request does not fit the table or the record.'],
    fixes: ['Correct what the reason names; `sluice doctor` tells whether the instance takes requests at all.'],
    example: { instance, request: 'PATCH incident', status: 400, reason: 'Invalid field' },
  },
  DELETIONS_TOO_MANY: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'More documents would be deleted than is allowed',
    message:
      '{absent} of {documents} documents in {index} have no row in what was read; no more than {allowed} are deleted ({limit}), so none was',
    observed: 'Nothing: tools that compare without a limit empty the index.',
    causes: [
      'The user at the instance lost a role, or its domain changed: rows that it may no longer see look deleted.',
      '--query was narrowed: what it leaves out now has no row any more.',
      'The index also holds other documents.',
      'So many rows were really deleted.',
    ],
    fixes: [
      'Compare the number of documents with that of the rows which the user sees in the list of the instance.',
      'Where so many are really gone, allow it for one run: --max-deleted 40%, or a number.',
      'Load other documents into another index, or take --deletions audit, which deletes only what the platform names.',
    ],
    example: { absent: 4100, documents: 10_000, index: 'incidents', allowed: 1000, limit: '10%' },
  },
  DELETIONS_INDEX_SHARED: {
    stage: 'servicenow',
    exit: 3,
    retry: 'no',
    title: 'The index also holds what another run loaded',
    message: '--deletions reconcile would take for deleted what {index} holds besides: it was loaded from {other}',
    observed: 'Nothing: tools that compare an index with one of two tables delete the rows of the other.',
    causes: ['Two commands load different tables, files or selections of rows into the same index.'],
    fixes: [
      'Load each into an index of its own, or all tables by one command: they are compared together.',
      'Or take --deletions audit, which deletes only what the platform names.',
      'Where nothing of that run is in the index any more, have it forgotten: sluice runs rm.',
    ],
    example: { index: 'tasks', other: 'servicenow:problem at https://instance.example' },
  },
} as const satisfies Entries<'servicenow'>
