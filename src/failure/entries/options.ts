import type { Entries } from '../entry.js'

/** What is wrong before anything is sent: options that cannot be used or that contradict each other. */
export const optionsEntries = {
  OPTION_INVALID: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'An option cannot be used',
    message: '{option}: {problem}',
    causes: ['The value is mistyped, missing, or contradicts another option.'],
    fixes: ['`sluice config` shows every option in force and where it came from; `sluice ingest --help` lists them.'],
  },
  RUN_OPTIONS_CHANGED: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'An unfinished run was begun with other options',
    message: 'run {run} is unfinished and was begun with other options: {differences}',
    causes: ['An option that decides how documents are read or sent was changed after the run was interrupted.'],
    fixes: [
      'Run the command as it was: it finishes the run. New options apply to what comes next.',
      'Or give the run up: `sluice runs rm RUN`. The next command loads its inputs from their start.',
    ],
  },
  INDEX_NAME_INVALID: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Elasticsearch refuses the index name',
    message: 'the index name {index} {problem}',
    causes: [
      'Index names are lower case, at most 255 bytes, without spaces or any of \\ / * ? " < > | , # : and do not start with - _ or +.',
    ],
    fixes: ['Choose another --index.'],
  },
  PROXY_URL_INVALID: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'The proxy URL cannot be used',
    message: 'the proxy URL from {origin} {problem}',
    causes: [
      'It was assembled by hand.',
      'The password holds characters that need URL encoding, such as @ : / # or %.',
      'Scheme and port belong to different protocols.',
    ],
    fixes: [
      'Copy the whole URL from the dashboard: http://USERNAME:PASSWORD@HOST:9293. Port 9293 is HTTP, 9294 HTTPS, 1080 SOCKS5.',
      "Encode the password: node -p 'encodeURIComponent(process.argv[1])' 'PASSWORD'.",
    ],
  },
  PROXY_NOT_USED: {
    stage: 'options',
    exit: 3,
    retry: 'no',
    title: 'The proxy would be bypassed',
    message: '{problem}',
    causes: ['NO_PROXY covers the cluster although a static proxy is set.', '--require-proxy is set, and no proxy is.'],
    fixes: ['Remove the cluster from NO_PROXY, set STATIC_PROXY_URL, or say --direct if the proxy is not wanted.'],
  },
  CLUSTER_URL_IS_PROXY: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: "The cluster URL is the proxy's",
    message: 'the cluster URL {url} is the address of the proxy',
    causes: ['STATIC_PROXY_URL was copied into ELASTICSEARCH_URL.'],
    fixes: ['Set the cluster endpoint as --url, and the proxy as --proxy or STATIC_PROXY_URL.'],
  },
  PLAINTEXT_CREDENTIALS: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Credentials would cross the network in clear text',
    message: 'credentials for {url} would be sent over plain http to another machine',
    causes: ['The cluster URL says http://.'],
    fixes: ['Use https://. --allow-plaintext sends them all the same.'],
  },
  UNDO_UNCONFIRMED: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Documents are deleted only when that was confirmed',
    message: 'undoing run {run} would delete {documents} documents from {index}: nothing was deleted',
    causes: ['No terminal is there to ask on, or the answer was no.'],
    fixes: ['Say --yes. --dry-run shows what would be deleted.'],
  },
} as const satisfies Entries<'options'>
