import type { Entries } from '../entry.js'

const input = 'https://files.example/logs/app.ndjson'

/** Inputs on a server that cannot be read. */
export const sourceEntries = {
  INPUT_REPLACED: {
    title: 'An input on a server was replaced while Sluice read it',
    message: '{input} was replaced while Sluice read it: {observed}',
    observed:
      'Other tools continue at the same offset in the new object. They load a line that is half old and half new, or one that no object contains.',
    causes: ['Another program uploaded a new object under the same name.', 'The object was cut off or appended to.'],
    fixes: [
      'Put the old content back and run the same command. It continues after the last document whose outcome is known.',
      'Or remove what was loaded of the old object with `sluice undo RUN`, then run the same command again.',
      'Upload new data under new names, so that no object changes while it is read.',
    ],
    example: { input, observed: 'it has another ETag now' },
  },
  SOURCE_REFUSED: {
    title: 'A server refuses to let Sluice read an input',
    message: 'the server refuses {input}: {observed}',
    observed: 'Status 401 or 403, AccessDenied, "403 Forbidden", "Request has expired".',
    causes: [
      {
        cause: 'The URL was signed for a limited time and has expired.',
        if: /expired|ExpiredToken|Request has/i,
      },
      { cause: 'No AWS credentials were found.', if: /credentials/i },
      {
        cause: 'The credentials are missing or wrong, or they do not permit Sluice to read this object.',
        if: /401|403|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch/,
      },
      {
        cause: 'The credentials do not permit Sluice to list the bucket: s3:ListBucket is missing.',
        if: /AccessDenied/,
      },
      { cause: 'The object is in an archive (S3 Glacier) and must be restored first.', if: /InvalidObjectState/ },
      { cause: 'The clock of this machine is wrong.', if: /RequestTimeTooSkewed/ },
      {
        cause:
          'The server, or a gateway before it, wants a person to sign in with a browser. It sends that page with status 200.',
        if: /web page/,
      },
      { cause: 'The server does not accept this kind of request.', unless: /401|403|credentials|web page/ },
    ],
    fixes: [
      {
        fix: 'For s3://, check the credentials as the AWS tools find them: `aws sts get-caller-identity`, AWS_PROFILE, AWS_ACCESS_KEY_ID.',
        if: /s3:/,
      },
      {
        fix: 'For https://, put USERNAME:PASSWORD@ before the host, or set SLUICE_SOURCE_TOKEN to a bearer token. If a presigned URL has expired, create a new one.',
        unless: /s3:/,
      },
      'If the server accepts only listed addresses, pass --source-through-proxy.',
    ],
    example: { input, observed: 'status 403' },
  },
  SOURCE_UNAVAILABLE: {
    exit: 4,
    retry: 'later',
    title: 'A server does not deliver an input',
    message: 'cannot read {input}: {observed}',
    observed: 'ECONNREFUSED, ECONNRESET, ETIMEDOUT, 429, 503 SlowDown, or a download that ends too early.',
    causes: [
      { cause: 'The host in the URL is wrong.', if: /ENOTFOUND|EAI_AGAIN/ },
      { cause: 'The server is overloaded or restarting.', if: /status|SlowDown|within/ },
      {
        cause: 'The network between this machine and the server failed.',
        if: /ECONN|broke|closed|within|ETIMEDOUT|bytes/,
      },
      { cause: 'A firewall permits this connection only through the proxy.', if: /ECONN|within|ETIMEDOUT/ },
    ],
    fixes: [
      'Run the same command again. It continues after the last document whose outcome is known.',
      'Check the URL with `curl -I URL`. If only the proxy can reach the server, pass --source-through-proxy.',
    ],
    example: { input, observed: 'status 503' },
  },
  SOURCE_CERT_INVALID: {
    title: 'The certificate of the server of an input is not trusted',
    message: 'the certificate of the server of {input} is not trusted: {problem}',
    observed:
      'Certificate errors: unknown authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE, SELF_SIGNED_CERT_IN_CHAIN), expired, or another host name.',
    causes: [
      {
        cause: 'The certificate is from a private certificate authority (CA).',
        if: /SELF_SIGNED|UNABLE_TO|verify|self-signed|issuer/i,
      },
      { cause: 'The URL names a host other than the one in the certificate.', if: /ALTNAME|HOSTNAME|altnames/i },
      { cause: 'The certificate has expired, or the clock of this machine is wrong.', if: /EXPIRED|NOT_YET|not yet/i },
    ],
    fixes: [
      'Pass the PEM file of the CA with --source-ca.',
      'In the URL, use a host name that the certificate contains.',
    ],
    example: { input, problem: 'unable to verify the first certificate' },
  },
  SOURCE_REDIRECTED: {
    title: 'A server redirects an input, and Sluice does not follow',
    message: 'the server redirects {input}: {problem}',
    observed: 'Too many redirects, or https:// that leads to http://.',
    causes: ['The URL leads to a login page.', 'Two servers redirect to each other.'],
    fixes: ['Follow the redirects with `curl -sIL URL`, and pass the last URL.'],
    example: { input, problem: 'more than 5 redirects' },
  },
  SOURCE_NEEDS_PACKAGE: {
    exit: 2,
    title: 'The package that reads S3 is not installed',
    message: 'to read {input}, Sluice needs the package @aws-sdk/client-s3: {problem}',
    observed: 'ERR_MODULE_NOT_FOUND, "Cannot find package \'@aws-sdk/client-s3\'".',
    causes: ['Sluice does not install this package, because most loads do not need it.'],
    fixes: [
      'Install it where Sluice is installed: `npm install @aws-sdk/client-s3`. Add -g if you installed Sluice with -g. Then run the same command again.',
    ],
    example: { input: 's3://logs.example/*.ndjson.gz', problem: 'it is not installed' },
  },
} as const satisfies Entries
