import type { Entries } from '../entry.js'

/** Problems before anything is sent: options that cannot be used, or that contradict each other. */
export const optionsEntries = {
  OPTION_INVALID: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'An option cannot be used',
    message: '{option}: {problem}',
    observed: 'Many tools ignore an option that they do not know, and then do something unexpected.',
    causes: [
      'The value is mistyped or missing, or contradicts another option.',
      {
        cause: 'An environment variable or a key in sluice.config.json sets the option.',
        if: /sluice\.config\.json|^[A-Z]+_[A-Z_]+:/,
      },
    ],
    fixes: ['Run `sluice config` to see every option and where it comes from. `sluice ingest --help` lists them.'],
    example: { option: 'sluice.config.json', problem: 'unknown key batchByte. Did you mean batchBytes?' },
  },
  RUN_OPTIONS_CHANGED: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'An unfinished run has other options',
    message: 'the unfinished run {run} has other options: {differences}',
    observed: 'Tools that keep no position start again from the first document, whatever the options are.',
    causes: [
      'Somebody changed an option that decides how Sluice reads or sends documents, after the run was interrupted.',
    ],
    fixes: [
      'Run the command with its old options: it finishes the run. The next run may have new options.',
      'Or give the run up with `sluice runs rm RUN`. The next command loads its inputs from their start.',
    ],
    example: { run: '20261121T093000Z-4f1c2a', differences: ['ids was run and is field'] },
  },
  INDEX_NAME_INVALID: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Elasticsearch does not allow this index name',
    message: 'the index name "{index}" {problem}',
    observed:
      'Status 400 with invalid_index_name_exception. Loaders that check only the items repeat it for every document.',
    causes: [
      'Index names are lower case and at most 255 bytes long. They contain no space and none of \\ / * ? " < > | , # : and do not start with - _ or +.',
    ],
    fixes: ['Choose another --index.'],
    example: { index: 'Logs-App', problem: 'has upper-case letters: write logs-app' },
  },
  PROXY_URL_INVALID: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'The proxy URL cannot be used',
    message: 'the proxy URL from {origin} {problem}',
    observed:
      'Other tools report "Invalid URL", or look for a host that is a part of the password (ENOTFOUND), or get 407.',
    causes: [
      'The password contains characters that need URL encoding, such as @ : / # or %.',
      'The URL was put together by hand, or copied only in part.',
      'The value contains quotes, a space or a line end.',
    ],
    fixes: [
      'Copy the whole URL from the dashboard of your proxy. For QuotaGuard: http://USERNAME:PASSWORD@HOST:9293 (9293 is HTTP, 9294 HTTPS, 1080 SOCKS5).',
      "Encode the password: node -p 'encodeURIComponent(process.argv[1])' 'PASSWORD'.",
    ],
    example: {
      origin: 'STATIC_PROXY_URL',
      problem: 'has more than one "@": write the one in the username or password as %40',
    },
  },
  PROXY_NOT_USED: {
    stage: 'options',
    exit: 3,
    retry: 'no',
    title: 'Requests would bypass the proxy',
    message: '{problem}',
    observed:
      'Other tools bypass the proxy silently. They work on a machine whose own address is allowed, and get 403 once deployed.',
    causes: [
      { cause: 'NO_PROXY covers the target although a static proxy is set.', if: /NO_PROXY/ },
      {
        cause: '--require-proxy is set, and STATIC_PROXY_URL does not reach this process.',
        if: /require|no proxy is set/i,
      },
    ],
    fixes: [
      'Remove the host from NO_PROXY, and set STATIC_PROXY_URL in the environment of Sluice. If you want no proxy, pass --direct.',
      'Run `sluice config` to see which variables reach Sluice.',
    ],
    example: { problem: 'NO_PROXY (".example") covers cluster.example:9243, although STATIC_PROXY_URL is set' },
  },
  CLUSTER_URL_IS_PROXY: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'The cluster URL is that of the proxy',
    message: 'the cluster URL {url} is the address of the proxy',
    observed:
      'Certificate errors that appear only with the proxy, or "wrong version number": the client took the proxy for the cluster.',
    causes: ['STATIC_PROXY_URL was copied to ELASTICSEARCH_URL.'],
    fixes: [
      'Set ELASTICSEARCH_URL (--url) to the Elasticsearch endpoint in the Elastic Cloud console, and STATIC_PROXY_URL (--proxy) to the proxy.',
    ],
    example: { url: 'https://proxy.example:9293' },
  },
  PLAINTEXT_CREDENTIALS: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Credentials would cross the network unencrypted',
    message: 'Sluice does not send credentials for {url} over plain http to another machine',
    observed:
      'Nothing fails. Other tools send the credentials, and every network on the route, the proxy included, can read them.',
    causes: ['The URL of the cluster or the ServiceNow instance starts with http://.'],
    fixes: [
      'Write https:// in ELASTICSEARCH_URL (--url) or SERVICENOW_INSTANCE_URL. For a cluster, --allow-plaintext permits http://.',
    ],
    example: { url: 'http://cluster.example:9200' },
  },
  UNDO_UNCONFIRMED: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Sluice deletes documents only after you confirm',
    message: 'undo of run {run} would delete {documents} documents from {index}, so Sluice deleted nothing',
    observed: 'Other tools delete by query without asking.',
    causes: ['There is no terminal to ask on, or the answer was no.'],
    fixes: ['Pass --yes. --dry-run shows what undo would delete.'],
    example: { run: '20261121T093000Z-4f1c2a', documents: 48_210, index: 'logs-app' },
  },
  FILTER_UNCONFIRMED: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Sluice changes the IP filter only after you confirm',
    message: 'Sluice did not {what}: {consequence}',
    observed: 'Other tools change the filter at once. A wrong address then locks out every client of the deployment.',
    causes: ['There is no terminal to ask on, or the answer was no.'],
    fixes: ['Pass --yes to confirm.'],
    example: {
      what: 'detach the policy office from 4fa8821e',
      consequence: 'no policy would be left, and the deployment would be open to the whole internet',
    },
  },
} as const satisfies Entries<'options'>
