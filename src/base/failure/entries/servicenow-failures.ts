import type { Entries } from '../entry.js'

const instance = 'https://instance.example'

/** Refused, unreadable or slow at ServiceNow: the proxy did its part. */
export const servicenowEntries = {
  SERVICENOW_UNREACHABLE: {
    exit: 4,
    retry: 'later',
    title: 'The ServiceNow instance does not answer',
    message: 'cannot reach the ServiceNow instance {instance}: {observed}',
    observed:
      'An unknown host, a refused or lost connection, a timeout, or status 500 to 504 for a long time. After five minutes, the load balancer of an instance answers 500.',
    causes: [
      {
        cause:
          'The host in SERVICENOW_INSTANCE_URL is wrong. Use the one in the address bar of a browser that is logged in.',
        if: /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|within|resolve|404/,
      },
      {
        cause: 'The instance is being upgraded, moved, cloned or restarted.',
        if: /status|ECONN|closed|broke|within|ETIMEDOUT|answer/,
      },
      { cause: 'The proxy does not allow this host or port.', if: /proxy|tunnel|40[37]/i },
    ],
    fixes: [
      'Open SERVICENOW_INSTANCE_URL in a browser. Correct the URL, or run the same command again as soon as the instance answers.',
      'Run `sluice doctor`. It shows whether the proxy, the name or the instance is the cause.',
    ],
    example: { instance, observed: 'status 503 for 15 minutes' },
  },
  SERVICENOW_CERT_INVALID: {
    title: "The ServiceNow instance's certificate is not trusted",
    message: 'the certificate of the ServiceNow instance {instance} is not trusted: {reason}',
    observed:
      'Certificate errors: unknown authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE, SELF_SIGNED_CERT_IN_CHAIN), expired, or another host name.',
    causes: [
      {
        cause: 'The certificate is from a private certificate authority (CA) that Sluice does not know.',
        if: /SELF_SIGNED|UNABLE_TO|UNTRUSTED|verify|self-signed|issuer/i,
      },
      {
        cause: 'A firewall or gateway on the route decrypts TLS. The static-IP proxy never does.',
        if: /SELF_SIGNED|UNABLE_TO|UNTRUSTED|verify|self-signed|issuer|ALTNAME/i,
      },
      {
        cause: 'SERVICENOW_INSTANCE_URL names a host other than the one in the certificate.',
        if: /ALTNAME|HOSTNAME|altnames/i,
      },
      { cause: 'The certificate has expired, or the clock of this machine is wrong.', if: /EXPIRED|NOT_YET|not yet/i },
    ],
    fixes: [
      'Pass the PEM file of the CA with --servicenow-ca. If you do not know the certificate, ask your network administrators.',
      'In SERVICENOW_INSTANCE_URL, use a host name that the certificate contains.',
      'Check that the clock of this machine is right. If it is, ask the administrators of the instance to renew the certificate.',
      {
        fix: 'If this proxy may read your data, pass the CA of your company with --servicenow-ca FILE. Otherwise take a route that does not open TLS, for example the static-IP proxy alone.',
        if: /on the route opens TLS|sends no certificate of this issuer/,
      },
    ],
    example: { instance, reason: 'unable to verify the first certificate' },
  },
  SERVICENOW_NOT_AN_INSTANCE: {
    title: 'The URL does not lead to a ServiceNow instance',
    message: '{instance} does not answer like a ServiceNow instance: {observed}',
    observed: 'HTML, a redirect, or unexpected JSON instead of an answer of the Table API.',
    causes: [
      'SERVICENOW_INSTANCE_URL leads to another website: the company portal, the developer site, or a custom domain that redirects.',
      'A gateway or a login page of the network answers instead.',
      'The instance no longer exists, and its host leads elsewhere.',
    ],
    fixes: [
      'Set SERVICENOW_INSTANCE_URL to https:// and the host of the instance, without a path. The address bar of a browser shows the host after you log in.',
    ],
    example: { instance, observed: 'status 200, text/html' },
  },
  SERVICENOW_AUTH_REJECTED: {
    title: 'ServiceNow refuses the credentials',
    message: 'the ServiceNow instance {instance} refused the credentials (401): {reason}',
    observed: 'Status 401 "User Not Authenticated". The proxy would answer 407, and an address rule 403.',
    causes: [
      {
        cause: 'The API key is wrong, inactive or expired, or its user is inactive.',
        if: /sent an API key/,
      },
      {
        cause:
          'No REST API access policy accepts API keys for the Table API, or the Auth Scope of the key leaves it out.',
        if: /sent an API key/,
      },
      {
        cause: 'The user name or password is wrong, or the password must be changed at the next login.',
        unless: /sent an API key/,
      },
      {
        cause: 'The user logs in with single sign-on or a second factor, and has no password for the REST API.',
        unless: /sent an API key/,
      },
      { cause: 'The user is inactive, or locked out after too many wrong passwords.', unless: /sent an API key/ },
      'A REST API access policy forbids Basic authentication or allows only other addresses. The instance then answers as if the password were wrong.',
      { cause: 'The access token was revoked, and Sluice cannot renew it.', unless: /sent an API key/ },
    ],
    fixes: [
      {
        fix: 'Ask an administrator to check System Web Services > API Access Policies: the REST API key (Active, Expiry, Auth Scope), and the access policy of the Table API. Correct SERVICENOW_API_KEY.',
        if: /sent an API key/,
      },
      {
        fix: 'Log in to the instance with the same user. Or ask an administrator to check the user in sys_user (Active, Locked out). Correct SERVICENOW_USERNAME and SERVICENOW_PASSWORD.',
        unless: /sent an API key/,
      },
      {
        fix: 'Set SERVICENOW_CLIENT_ID and SERVICENOW_CLIENT_SECRET as well, and run `sluice doctor`. With a token it can distinguish wrong credentials from a policy.',
        unless: /sent an API key/,
      },
    ],
    example: { instance, reason: 'User Not Authenticated' },
  },
  SERVICENOW_TOKEN_REFUSED: {
    title: 'ServiceNow refuses to issue an OAuth token',
    message: 'the ServiceNow instance {instance} refused the token call of the {grant} grant: {reason}',
    observed:
      'Status 401 from /oauth_token.do with "access_denied" and "server_error", for almost every cause. It is not a fault of the server, and it does not end by itself.',
    causes: [
      'The client id or secret is wrong, or the entry in the Application Registry is missing or inactive.',
      {
        cause: 'The user name or password is wrong, or the user is inactive or locked out.',
        if: /the password grant/,
      },
      {
        cause: 'The refresh token has expired, was revoked, or was replaced because another program used it.',
        if: /the (refresh_token|authorization_code) grant/,
      },
      {
        cause: 'The property glide.oauth.inbound.client.credential.grant_type.enabled is not set.',
        if: /the client_credentials grant/,
      },
      'The grant does not fit the entry.',
      'In other programs, the token call may bypass the proxy and leave from an address that is not allowed. Sluice sends it through the proxy, like every other request.',
    ],
    fixes: [
      'Compare SERVICENOW_CLIENT_ID and SERVICENOW_CLIENT_SECRET with the entry in System OAuth > Application Registry. Check that the entry is active and fits SERVICENOW_GRANT.',
      'For the password grant, log in to the instance with the same user. If this fails, ask an administrator to unlock or activate the user in sys_user.',
      'For a refused refresh token, run `sluice login servicenow` again, or set a new SERVICENOW_REFRESH_TOKEN.',
    ],
    example: { instance, grant: 'refresh_token', reason: 'access_denied' },
  },
  SERVICENOW_LOGIN_NEEDED: {
    title: 'Nobody has logged in to ServiceNow yet',
    message: 'there are no tokens for the ServiceNow instance {instance} in {file}',
    observed: 'The grant is authorization_code, and there are no stored tokens.',
    causes: [
      'Nobody ran `sluice login servicenow` on this machine, or they ran it as another user or with another --token-file.',
    ],
    fixes: ['Run `sluice login servicenow` once, on a machine with a browser.'],
    example: { instance, file: '/home/app/.local/state/sluice/servicenow-tokens.json' },
  },
  SERVICENOW_LOGIN_FAILED: {
    title: 'The login in the browser failed',
    message: 'the login to the ServiceNow instance {instance} failed: {reason}',
    observed:
      'The browser shows an error page of the instance about the redirect URL, or a page that does not load. Or it returns with "access_denied".',
    causes: [
      {
        cause:
          'The entry in the Application Registry does not contain the redirect URL that Sluice printed, with its port.',
        if: /did not return|redirect/,
      },
      { cause: 'The browser and this command run on different machines.', if: /did not return/ },
      { cause: 'The user did not consent, or the entry is inactive.', if: /denied|consent|did not return|invalid/ },
    ],
    fixes: [
      'Enter the printed redirect URL in System OAuth > Application Registry, and run `sluice login servicenow` again.',
      'If this machine has no browser, log in on another machine and copy the token file (--token-file). Keep that file as safe as a password.',
    ],
    example: { instance, reason: 'the browser did not return within 300 s' },
  },
  SERVICENOW_BASIC_FORBIDDEN: {
    title: 'ServiceNow accepts no Basic authentication',
    message: 'the ServiceNow instance {instance} refuses Basic authentication for every user: {observed}',
    observed: 'Status 401 "User Not Authenticated" with a user name and password that work in a browser.',
    causes: ['A REST API access policy forbids Basic authentication for the Table API, or for all APIs.'],
    fixes: [
      'To use OAuth, set SERVICENOW_CLIENT_ID and SERVICENOW_CLIENT_SECRET of an entry in the Application Registry, and remove --servicenow-grant basic.',
      'Or ask an administrator to allow Basic authentication in the policy of the Table API.',
    ],
    example: { instance, observed: 'the same user gets a token, and the instance accepts the token' },
  },
  SERVICENOW_ADDRESS_REFUSED: {
    title: 'ServiceNow does not allow the static addresses',
    message: 'the ServiceNow instance {instance} refuses the address of this request: {observed}',
    observed:
      'Status 403 without JSON, for every path and any credentials. Or 401 with correct credentials. The token call fails in the same way if it does not go through the proxy.',
    causes: [
      'A Deny rule matches the static addresses, and no Allow rule does (IP Address Access Control).',
      'A REST API access policy of the Table API, or adaptive authentication, allows only other addresses.',
      'The rules contain the addresses of the proxy host, or mistyped addresses.',
    ],
    fixes: [
      'Ask an administrator to add both static addresses in System Security > IP Address Access Control. Each is an Allow rule with the same start and end.',
      'If a REST API access policy or adaptive authentication refuses, add both addresses to its IP filter criteria.',
      'Copy the addresses from the dashboard of your proxy (QuotaGuard, Fixie). Do not resolve its host name. If Sluice used no proxy, set STATIC_PROXY_URL.',
    ],
    example: { instance, observed: 'status 403, text/html' },
  },
  SERVICENOW_PARTLY_ALLOWED: {
    title: 'ServiceNow allows only one of the two static addresses',
    message:
      'the ServiceNow instance {instance} accepted {allowed} of {asked} connections and refused the address of the others',
    observed:
      'About half of all requests fail with 403 or 401, at random. One manual test works and the next one fails. Retries hide it until they run out.',
    causes: [
      'The instance allows only one of the two static addresses.',
      'One of the two addresses is mistyped in the rule or policy.',
    ],
    fixes: [
      'Ask an administrator to add the missing address to the Allow rules, or to the policy of the Table API. The proxy may use either address for any connection.',
    ],
    example: { instance, allowed: 9, asked: 16 },
  },
  SERVICENOW_NOT_ENFORCED: {
    isNotice: true,
    title: 'ServiceNow answers without the proxy too',
    message: 'the ServiceNow instance {instance} answers this machine without the proxy (status {status})',
    observed:
      'Nothing fails. Sluice sent no credentials. A REST API access policy applies only to requests with credentials, and may still refuse this machine.',
    causes: [
      'IP Address Access Control has no Deny rule. Only credentials or an API policy protect the instance.',
      "An Allow rule covers this machine's own address.",
    ],
    fixes: [
      'To allow only the static addresses, ask an administrator for Allow rules for both, and for everybody who uses the instance. The administrator must add the Deny rule for 0.0.0.0 to 255.255.255.255 last.',
    ],
    example: { instance, status: 401 },
  },
  SERVICENOW_RATE_LIMITED: {
    exit: 4,
    retry: 'later',
    title: 'ServiceNow limits the request rate',
    message: 'the ServiceNow instance {instance} still answers 429 after the time that Sluice may wait: {observed}',
    observed:
      'Status 429. A rate rule sends Retry-After (up to an hour) and X-RateLimit-Limit, -Reset and -Rule. A full queue sends none of them.',
    causes: [
      {
        cause: 'A rate limit rule counts the requests of this user per hour, and no more are left.',
        if: /Retry-After \d/,
      },
      {
        cause: 'Many integrations send requests at once, and the queue of API requests (its semaphores) is full.',
        if: /without Retry-After/,
      },
    ],
    fixes: [
      'Run the same command again after the time in Retry-After. To send fewer requests, pass a larger --page-size.',
      'Ask an administrator to raise the limit of this user (System Web Services > REST > Rate Limit Rules).',
    ],
    example: { instance, observed: 'Retry-After 1800 s' },
  },
  SERVICENOW_HIBERNATING: {
    title: 'The ServiceNow instance is hibernating',
    message: 'the ServiceNow instance {instance} is hibernating',
    observed:
      'Status 200 with HTML "Your instance is hibernating" instead of JSON, or a redirect to the developer site. Credentials and addresses make no difference.',
    causes: ['A developer instance hibernates if nobody uses it for some hours.'],
    fixes: [
      'Log in to the ServiceNow developer site and wake the instance. Requests do not wake it. Run the same command again after a few minutes.',
    ],
    example: { instance },
  },
  SERVICENOW_PAGE_TRUNCATED: {
    exit: 4,
    retry: 'later',
    title: 'ServiceNow cannot read even one row in time',
    message:
      'the ServiceNow instance {instance} could not read a page of {table} within its time limit (sysparm_limit {rows}): {reason}',
    observed: 'Status 200 with an error inside: "Transaction cancelled: maximum execution time exceeded".',
    causes: [
      'The query is slow in the instance, because no index serves it or it follows references.',
      'The rows are very large, or a business rule runs for each row.',
    ],
    fixes: [
      'Pass fewer --fields, narrow --query, or ask an administrator for an index. Sluice has already halved the page down to one row.',
    ],
    example: { instance, rows: 1, table: 'incident', reason: 'Transaction cancelled: maximum execution time exceeded' },
  },
  SERVICENOW_ACCESS_DENIED: {
    title: 'The ServiceNow user lacks a right',
    message: 'the ServiceNow instance {instance} refused {request} with status {status}: {reason}',
    observed:
      'Status 403 with JSON, "Insufficient rights to query records" or "Operation Failed". Or 200 with fewer rows than X-Total-Count. Address and credentials were accepted.',
    causes: [
      'An access control (ACL) of the table needs a role that the user does not have.',
      'The table is not open to web services, or only to users with a certain role.',
      { cause: 'A business rule or data policy refused the new or changed record.', if: /POST|PATCH|PUT|DELETE/ },
    ],
    fixes: [
      'Ask an administrator for the role that the ACL of the table needs (System Security > Access Control). Or name a table that the user may read.',
    ],
    example: { instance, request: 'GET incident', status: 403, reason: 'Insufficient rights to query records' },
  },
  SERVICENOW_TABLE_UNKNOWN: {
    exit: 2,
    title: 'ServiceNow has no such table',
    message: 'the ServiceNow instance {instance} has no table {table}',
    observed: 'Status 400 "Invalid table".',
    causes: ['The name is wrong. Sluice needs the name of the table, not its label.'],
    fixes: [
      'Write the name of the table, as in `servicenow:incident`. The URL of a list in the instance shows it (incident_list.do).',
    ],
    example: { instance, table: 'incidents' },
  },
  SERVICENOW_QUERY_IGNORED: {
    exit: 2,
    title: 'ServiceNow would ignore a part of the query',
    message: 'the ServiceNow instance {instance} does not understand {part} for the table {table}: {problem}',
    observed:
      'Nothing fails. ServiceNow drops the part that it does not understand and answers with more rows. If glide.invalid_query.returns_no_rows is set, it answers with none.',
    causes: [
      { cause: 'The table has no such field, or the user cannot read it.', if: /field/i },
      { cause: 'An operator is misspelt.', if: /operator|query|condition/i },
      { cause: 'A gateway on the route changes or drops sysparm_query.', if: /sysparm|order|row|follow/i },
    ],
    fixes: [
      'Correct --query or --fields. Build the list in the instance, and copy its query from the breadcrumb.',
      'If the user cannot read the field, ask an administrator for the role.',
    ],
    example: { instance, part: 'actve=true', table: 'incident', problem: 'there is no field actve' },
  },
  SERVICENOW_REQUEST_REFUSED: {
    title: 'ServiceNow refuses the request',
    message: 'the ServiceNow instance {instance} refused {request} with status {status}: {reason}',
    observed: 'The Table API answers another status from 400 to 499.',
    causes: ['The request does not fit the table or the record.'],
    fixes: ['Correct what the reason names. `sluice doctor` shows whether the instance accepts requests at all.'],
    example: { instance, request: 'PATCH incident', status: 400, reason: 'Invalid field' },
  },
  DELETIONS_TOO_MANY: {
    title: 'Sluice would delete more documents than allowed',
    message:
      '{absent} of {documents} documents in {index} have no row in ServiceNow, but only {allowed} may be deleted ({limit}). Sluice deleted none',
    observed: 'Nothing fails. Tools that compare without a limit empty the index.',
    causes: [
      'The ServiceNow user lost a role, or its domain changed. Rows that the user can no longer see look deleted.',
      '--query no longer matches rows that it matched before.',
      'The index also holds other documents.',
      'Somebody really deleted this number of rows in ServiceNow.',
    ],
    fixes: [
      'Compare the number of documents with the number of rows that the user sees in the instance.',
      'If the rows are really deleted, pass --max-deleted 40% (or a number) once.',
      'Load other documents into another index.',
    ],
    example: { absent: 4100, documents: 10_000, index: 'incidents', allowed: 1000, limit: '10%' },
  },
  DELETIONS_INDEX_SHARED: {
    title: 'The index also holds documents of another run',
    message: '{index} also holds documents from {other}, which --deletions reconcile would delete',
    observed: 'Nothing fails. Tools that compare an index with one of two tables delete the rows of the other.',
    causes: ['Two commands load different tables, files or selections of rows into the same index.'],
    fixes: [
      'Give each command its own index, or load all tables with one command.',
      'If the index no longer holds documents of the other run, remove that run: `sluice runs rm RUN`.',
    ],
    example: { index: 'tasks', other: 'servicenow:problem at https://instance.example' },
  },
} as const satisfies Entries
