import type { Entries } from '../entry.js'

const noUrl = /the cluster URL is not set/
const setElsewhere = /sluice\.config\.json|^[A-Z]+_[A-Z_]+:/
const noRun = /there is no run '/
const notACode = /is not a failure code/

/** Problems before anything is sent: options that cannot be used, or that contradict each other. */
export const optionsEntries = {
  OPTION_INVALID: {
    exit: 2,
    title: 'An option is not valid',
    message: '{option}: {problem}',
    observed: 'Many tools ignore an option that they do not know, and then do something unexpected.',
    causes: [
      { cause: 'A name or a value is mistyped.', if: /Did you mean/ },
      { cause: 'The option contradicts another one.', if: /cannot be combined with/ },
      {
        cause: 'An environment variable or a key in sluice.config.json sets the option to this value.',
        if: setElsewhere,
        unless: /not valid JSON/,
      },
    ],
    fixes: [
      {
        fix: 'Copy the Elasticsearch endpoint from the Elastic Cloud console to ELASTICSEARCH_URL (--url).',
        if: noUrl,
      },
      { fix: 'To try Sluice without a cluster of your own, run `sluice demo`.', if: noUrl },
      { fix: 'Run `sluice runs` to list your runs.', if: noRun },
      {
        fix: 'Correct the environment variable or the file that the message names. `sluice config --help-all` lists all options.',
        if: setElsewhere,
      },
      { fix: 'Run `sluice explain` to list all codes.', if: notACode },
      {
        fix: 'Correct the command. `sluice COMMAND --help-all` lists its options, and `sluice config` shows their values.',
        unless: new RegExp(`${noUrl.source}|${setElsewhere.source}|${notACode.source}|${noRun.source}`),
      },
    ],
    example: { option: 'sluice.config.json', problem: 'unknown key batchByte. Did you mean batchBytes?' },
  },
  TRANSFORM_NOT_LOADED: {
    exit: 2,
    title: 'The module of --transform cannot be used',
    message: '{module} cannot be used: {problem}',
    observed: 'Other tools stop after some documents, or send them as they are.',
    causes: [
      { cause: 'The path is mistyped.', if: /ENOENT|ENOTDIR/ },
      { cause: 'The module exports its function under a name.', if: /default export/ },
      {
        cause: 'The module has a syntax error, imports a package that is not installed, or throws when it is loaded.',
        unless: /cannot be read|default export|within|ended/,
      },
      { cause: 'The module waits for something when it is loaded, or ends its thread.', if: /within|ended/ },
    ],
    fixes: [
      { fix: 'Correct the path. Sluice sent nothing.', if: /cannot be read/ },
      { fix: 'Write `export default function (document) { … }`. Sluice sent nothing.', if: /default export/ },
      {
        fix: 'Run `node FILE` with the module until it ends without an error. Sluice sent nothing.',
        unless: /cannot be read|default export/,
      },
    ],
    example: { module: 'shape.mjs', problem: 'its default export is not a function' },
  },
  RUN_OPTIONS_CHANGED: {
    exit: 2,
    title: 'The options differ from those of an earlier run',
    message: '{what} with other options: {differences}',
    observed: 'Other tools load the file a second time, or skip it silently. Some start again from the first document.',
    causes: [
      {
        cause:
          'Somebody changed an option that decides how Sluice reads or sends documents, after the file was loaded.',
        if: /^run .* loaded /,
      },
      {
        cause:
          'Somebody changed an option that decides how Sluice reads or sends documents, after the run was interrupted.',
        if: /^the unfinished run /,
      },
    ],
    fixes: [
      {
        fix: 'To load the file again with the new options, run the same command with `--again`. Documents are then stored a second time, unless their ids come from a field both times (`--ids field` or `--ids hash`). To remove the old ones first, run `sluice undo RUN`.',
        if: /^run .* loaded /,
      },
      {
        fix: 'Or run the command with its old options. Sluice then loads only lines that are new.',
        if: /^run .* loaded /,
      },
      {
        fix: 'Run the command with its old options to finish the run. To load all of it again with the new options after that, pass `--again`.',
        if: /^the unfinished run /,
      },
      {
        fix: 'Or forget the run with `sluice runs rm RUN`. The same command then loads its inputs from the start. Documents that the run has stored stay in the index.',
        if: /^the unfinished run /,
      },
    ],
    example: {
      what: 'run 20261121T093000Z-4f1c2a loaded logs/app.ndjson',
      differences: ['ids was run but is now field'],
    },
  },
  INDEX_NAME_INVALID: {
    exit: 2,
    title: 'Elasticsearch does not allow this index name',
    message: 'the index name "{index}" {problem}',
    observed:
      'Status 400 with invalid_index_name_exception. Loaders that check only the items repeat it for every document.',
    causes: [
      'Index names are in lower case and have at most 255 bytes. They contain no space and none of : \\ / * ? " < > | , #. They do not begin with - _ or +.',
    ],
    fixes: ['Choose another --index.'],
    example: { index: 'Logs-App', problem: 'has upper-case letters. Write logs-app' },
  },
  PROXY_URL_INVALID: {
    exit: 2,
    title: 'The proxy URL cannot be used',
    message: 'the proxy URL from {origin} {problem}',
    observed:
      'Other tools report "Invalid URL", or look for a host that is really a part of the password (ENOTFOUND), or get 407.',
    causes: [
      'The password contains characters that need URL encoding, such as @ : / # or %.',
      'Somebody wrote the URL by hand, or copied only a part of it.',
      'The value contains quotes, a space or a line break.',
    ],
    fixes: [
      'Copy the whole URL from the dashboard of your proxy. For QuotaGuard: http://USERNAME:PASSWORD@HOST:9293 (9293 is HTTP, 9294 HTTPS, 1080 SOCKS5).',
      "Encode the password: node -p 'encodeURIComponent(process.argv[1])' 'PASSWORD'.",
    ],
    example: {
      origin: 'STATIC_PROXY_URL',
      problem: 'has more than one "@". Write the one in the username or password as %40',
    },
  },
  PROXY_NOT_USED: {
    title: 'Requests would bypass the proxy',
    message: '{problem}',
    observed:
      'Other tools bypass the proxy silently. They work on a machine whose own address is allowed, but get 403 after deployment.',
    causes: [
      { cause: 'NO_PROXY covers the target although a static proxy is set.', if: /NO_PROXY/ },
      {
        cause: '--require-proxy is set, but STATIC_PROXY_URL does not reach this process.',
        if: /require/i,
      },
      { cause: 'STATIC_PROXY_URL does not reach this process.', if: /STATIC_IPS/ },
    ],
    fixes: [
      'Set STATIC_PROXY_URL in the environment of Sluice, and remove the host from NO_PROXY if it is there. If you want no proxy, pass --direct.',
      'Run `sluice config` to see which variables reach Sluice.',
    ],
    example: { problem: 'NO_PROXY (".example") covers cluster.example:9243, although STATIC_PROXY_URL is set' },
  },
  CLUSTER_URL_IS_PROXY: {
    exit: 2,
    title: 'The cluster URL is the URL of the proxy',
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
    exit: 2,
    title: 'Credentials would cross the network unencrypted',
    message: 'Sluice does not send credentials for {url} over plain http to another machine',
    observed:
      'Nothing fails. Other tools send the credentials, and the proxy and every network on the route can read them.',
    causes: ['The URL of the cluster, the ServiceNow instance or an input starts with http://.'],
    fixes: [
      'Write https:// in ELASTICSEARCH_URL (--url), SERVICENOW_INSTANCE_URL or the URL of the input. For a cluster, --allow-plaintext permits http://.',
    ],
    example: { url: 'http://cluster.example:9200' },
  },
  UNDO_UNCONFIRMED: {
    exit: 2,
    title: 'Sluice deletes documents only after you confirm',
    message: 'undo of run {run} would delete {documents} documents from {index}. Sluice deleted nothing',
    observed: 'Other tools delete by query without asking.',
    causes: ['There is no terminal for the question, or the answer was no.'],
    fixes: ['Pass --yes. --dry-run shows what undo would delete.'],
    example: { run: '20261121T093000Z-4f1c2a', documents: 48_210, index: 'logs-app' },
  },
  FILTER_UNCONFIRMED: {
    exit: 2,
    title: 'Sluice changes the IP filter only after you confirm',
    message: 'Sluice did not {what}: {consequence}',
    observed: 'Other tools change the filter at once. A wrong address then locks out every client of the deployment.',
    causes: ['There is no terminal for the question, or the answer was no.'],
    fixes: ['Pass --yes to confirm.'],
    example: {
      what: 'detach the policy office from 4fa8821e',
      consequence: 'no policy would be left, and the deployment would be open to the whole internet',
    },
  },
} as const satisfies Entries
