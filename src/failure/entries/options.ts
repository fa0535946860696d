import type { Entries } from '../entry.js'

/** What is wrong before anything is sent: options that cannot be used, or that contradict each other. */
export const optionsEntries = {
  OPTION_INVALID: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'An option cannot be used',
    message: '{option}: {problem}',
    observed: 'Many tools ignore an option that they do not know, and then do something else than was meant.',
    causes: [
      'The value is mistyped, missing, or contradicts another option.',
      'A variable of the environment or a key of sluice.config.json sets the option without your knowing.',
    ],
    fixes: ['`sluice config` shows every option in force and where it came from; `sluice ingest --help` lists them.'],
    example: { option: 'batchByte in sluice.config.json', problem: 'is not an option; did you mean batchBytes?' },
  },
  RUN_OPTIONS_CHANGED: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'An unfinished run was begun with other options',
    message: 'run {run} is unfinished and was begun with other options: {differences}',
    observed: 'Tools that keep no position start again from the first document, under whatever options they get.',
    causes: ['An option that decides how documents are read or sent was changed after the run was interrupted.'],
    fixes: [
      'Run the command as it was: it finishes the run. New options apply to what comes next.',
      'Or give the run up: `sluice runs rm RUN`. The next command loads its inputs from their start.',
    ],
    example: { run: '20261121T093000Z-4f1c2a', differences: ['ids was run and is field'] },
  },
  INDEX_NAME_INVALID: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Elasticsearch refuses the index name',
    message: 'the index name {index} {problem}',
    observed:
      'Status 400 with invalid_index_name_exception; loaders that look at items alone repeat it for every document.',
    causes: [
      'Index names are lower case, at most 255 bytes, without spaces or any of \\ / * ? " < > | , # : and do not start with - _ or +.',
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
      'Other tools say "Invalid URL", look for a host that is a piece of the password (ENOTFOUND), or are refused with 407.',
    causes: [
      'The password holds characters that need URL encoding, such as @ : / # or %.',
      'It was assembled by hand, or copied in part.',
      'The value has quotes, a space or a line end around it.',
    ],
    fixes: [
      "Copy the whole URL from the proxy's dashboard: http://USERNAME:PASSWORD@HOST:9293. Port 9293 is HTTP, 9294 HTTPS, 1080 SOCKS5.",
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
    title: 'The proxy would be bypassed',
    message: '{problem}',
    observed:
      'Other tools go past the proxy without a word: it works from a machine whose own address is allowed, and is refused with 403 once deployed.',
    causes: [
      'NO_PROXY covers the cluster although a static proxy is set.',
      '--require-proxy is set, and no proxy is: the variable does not reach this process.',
    ],
    fixes: [
      'Remove the cluster from NO_PROXY, set STATIC_PROXY_URL in the environment that starts Sluice, or say --direct if the proxy is not wanted.',
      '`sluice config` shows which variables reach it.',
    ],
    example: { problem: 'NO_PROXY (".example") covers cluster.example:9243, although STATIC_PROXY_URL is set' },
  },
  CLUSTER_URL_IS_PROXY: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: "The cluster URL is the proxy's",
    message: 'the cluster URL {url} is the address of the proxy',
    observed:
      'Certificate errors that appear only with the proxy, or "wrong version number": the proxy was asked as if it were the cluster.',
    causes: ['STATIC_PROXY_URL was copied into ELASTICSEARCH_URL.'],
    fixes: [
      'Set the Elasticsearch endpoint of the cluster console as ELASTICSEARCH_URL (--url), and the proxy as STATIC_PROXY_URL (--proxy).',
    ],
    example: { url: 'https://proxy.example:9293' },
  },
  PLAINTEXT_CREDENTIALS: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Credentials would cross the network in clear text',
    message: 'credentials for {url} would be sent over plain http to another machine',
    observed: 'Nothing fails: other tools send them, and whoever is on the way, the proxy included, can read them.',
    causes: ["The cluster's or the instance's URL says http://."],
    fixes: [
      'Write https:// in ELASTICSEARCH_URL (--url), or in SERVICENOW_INSTANCE_URL. To a cluster, --allow-plaintext sends them all the same.',
    ],
    example: { url: 'http://cluster.example:9200' },
  },
  UNDO_UNCONFIRMED: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'Documents are deleted only when that was confirmed',
    message: 'undoing run {run} would delete {documents} documents from {index}: nothing was deleted',
    observed: 'A delete by query of another tool asks nobody.',
    causes: ['No terminal is there to ask on, or the answer was no.'],
    fixes: ['Say --yes. --dry-run shows what would be deleted.'],
    example: { run: '20261121T093000Z-4f1c2a', documents: 48_210, index: 'logs-app' },
  },
  FILTER_UNCONFIRMED: {
    stage: 'options',
    exit: 2,
    retry: 'no',
    title: 'The IP filter is changed only when that was confirmed',
    message: 'not done: {what}; {consequence}',
    observed: 'Other tools change it at once; a wrong address then locks out every client of the deployment.',
    causes: ['No terminal is there to ask on, or the answer was no.'],
    fixes: ['Say --yes, if that is what you want.'],
    example: {
      what: 'detach the policy office from 4fa8821e',
      consequence: 'no policy would be left: the deployment is then open to the whole internet',
    },
  },
} as const satisfies Entries<'options'>
