/**
 * Every failure that Sluice can name, in one place. Hints, `sluice explain`, the doctor, thrown errors, exit codes and
 * docs/failures.md are views of this list.
 *
 * `message` says what happened, with `{names}` filled from the evidence. `causes` stand in order of likelihood. `fixes` say
 * what to change and where. `retry`: whether the same command may succeed later with nothing changed.
 */
export interface Entry {
  /** The part of the path that refused. */
  readonly stage: 'options' | 'input' | 'proxy' | 'egress' | 'cluster' | 'index' | 'run'
  /** Exit code of a run that ends with this failure. */
  readonly exit: 1 | 2 | 3 | 4 | 5 | 6 | 70
  readonly retry: 'no' | 'later'
  readonly title: string
  readonly message: string
  readonly causes: readonly string[]
  readonly fixes: readonly string[]
}

const entries = {
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
  INPUT_NOT_FOUND: {
    stage: 'input',
    exit: 2,
    retry: 'no',
    title: 'An input does not exist',
    message: 'no such input: {input}',
    causes: ['The path is mistyped or relative to another folder.', 'A glob matches nothing.'],
    fixes: ['Check the path with `ls`; quote globs, so that Sluice and not the shell expands them.'],
  },
  INPUT_UNREADABLE: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input cannot be read',
    message: 'cannot read {input}: {problem}',
    causes: ['The user that runs Sluice may not read the file.', 'It is a directory, or its disk or stream failed.'],
    fixes: ["Grant read permission; name the files of a directory with a glob ('dir/*.ndjson')."],
  },
  INPUT_TRUNCATED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input ends too early',
    message:
      '{input} is truncated: its {encoding} data ends in the middle, {bytes} decoded bytes in; what was whole was loaded',
    causes: ['The file was still being written or copied.', 'A download or upload broke off.', 'The disk was full.'],
    fixes: ['Get the whole file again and run the same command: it goes on behind what was loaded.'],
  },
  INPUT_UNENDED: {
    stage: 'input',
    exit: 5,
    retry: 'later',
    title: 'Spooled stdin lacks its end',
    message: '{input} has no end: {observed}; what was whole of it is loaded',
    causes: ['The process that spooled it was stopped before it saw the end of stdin.', 'The disk was full.'],
    fixes: [
      'Load what is missing from where it came from: the receipt tells how many documents were read before it broke off.',
    ],
  },
  INPUT_MALFORMED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input is not in its format',
    message: '{input} is not valid {format}: {problem}',
    causes: ['The file is in another format than its name says.', 'The JSON breaks off or has a syntax error.'],
    fixes: [
      'Repair the file, or say what it is with --format ndjson or --format json; --pick selects an array inside a JSON document.',
    ],
  },
  INPUT_CHANGED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input changed while its run was unfinished',
    message: '{input} is not what run {run} loaded {documents} documents of: {observed}',
    causes: ['The file was replaced, rotated or edited after the run was interrupted.', 'Another file got its name.'],
    fixes: [
      'Put the old content back and run the same command: it goes on behind the last document that is settled.',
      'Or give the run up: `sluice runs rm RUN`, and load the new content from its start. What was loaded of the old one stays in the index.',
    ],
  },
  DOCUMENT_NOT_JSON: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A line is not a JSON object',
    message: 'not one JSON object: {problem}',
    causes: [
      'The line holds an array, a number, text, or broken JSON.',
      'The line is not UTF-8.',
      'A document is spread over several lines.',
    ],
    fixes: [
      'The dead letters hold the untouched line and its position. Write one JSON object a line; for a JSON array use --format json.',
    ],
  },
  DOCUMENT_TOO_LARGE: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A document is larger than a request may be',
    message: 'the document has {bytes} bytes, the limit is {limit}',
    causes: [
      'Line ends are missing.',
      'A document carries a large attachment.',
      'The cluster or a gateway lowered its request limit.',
    ],
    fixes: ['Split the document. Elasticsearch takes at most http.max_content_length (100mb) in one request.'],
  },
  DOCUMENT_ID_INVALID: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A document has no usable id',
    message: 'the field {field} {problem}',
    causes: ['The field is missing, empty, null, or not a string or number.', 'The id has more than 512 bytes.'],
    fixes: ['Choose another --id-field, or let Sluice make the ids (--ids run).'],
  },
  DEAD_LETTER_BROKEN: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A line is not a dead letter',
    message: 'not a dead letter: {problem}',
    causes: [
      'The process that wrote the line was killed, and its run was not resumed: a resume writes it anew.',
      'The line was edited, and a field that replay needs is missing or of another kind.',
    ],
    fixes: [
      'The new dead letters hold the untouched line. Resume the run that wrote the file, or repair the line: `operation` and `origin` have to be there, and `document`, `line` or `base64`.',
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
  INDEX_BLOCKED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The index takes no writes',
    message: 'the index {index} is blocked: {reason}',
    causes: ['The disk passed the flood-stage watermark.', 'index.blocks.write or read_only is set.'],
    fixes: [
      'Free disk space or remove the block: PUT /<index>/_settings {"index.blocks.write": null}. Then run the same command again: it goes on where it stopped.',
    ],
  },
  IDS_REFUSED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The index makes its ids itself',
    message: '{index} takes no ids: {reason}',
    causes: ['It is a time-series data stream, which makes the id of a document from its dimensions and its time.'],
    fixes: [
      'Load with --ids cluster. The same measurement is then never stored twice; but a document whose answer was lost counts as unknown, and the run can be neither verified nor undone.',
    ],
  },
  REQUEST_REFUSED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses the bulk request',
    message: '{cluster} refused the bulk request with status {status}: {reason}',
    causes: [
      'A pipeline, parameter or header that the cluster does not accept.',
      'The cluster forbids an index name in the request path.',
    ],
    fixes: ['Read the reason; correct --pipeline, --index or --op.'],
  },
  TOO_MANY_REJECTED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'More documents were rejected than allowed',
    message: '{rejected} documents rejected, {limit} allowed (--max-rejected)',
    causes: ['The mapping does not fit the documents.', 'The input is not what the index expects.'],
    fixes: [
      'The dead letters hold each document with its reason. Correct the mapping, or the documents in them, and send them again: sluice replay FILE.',
      'Or raise --max-rejected. An input that was corrected is another input: before it is loaded, sluice undo RUN takes away what is stored of this one.',
    ],
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
  PROXY_UNREACHABLE: {
    stage: 'proxy',
    exit: 4,
    retry: 'later',
    title: 'The proxy cannot be reached',
    message: 'cannot connect to the proxy {proxy}: {problem}',
    causes: [
      'Host or port is wrong.',
      'A firewall between this machine and the proxy.',
      'The proxy, or one of its nodes, is down.',
    ],
    fixes: [
      'Compare host and port with the dashboard; open outbound TCP to the port. Port 9293 is HTTP, 1080 is SOCKS5.',
    ],
  },
  PROXY_TIMEOUT: {
    stage: 'proxy',
    exit: 4,
    retry: 'later',
    title: 'The proxy does not answer in time',
    message: 'the proxy {proxy} did not answer within {limitMs} ms ({phase})',
    causes: [
      'The scheme does not fit the port, so that both sides wait.',
      'The destination behind the proxy does not answer.',
      'The proxy is overloaded.',
    ],
    fixes: ['Port 9293 takes http://, port 1080 takes socks5://. Check the port of the cluster URL too.'],
  },
  PROXY_AUTH_REJECTED: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The proxy refuses the credentials',
    message: 'the proxy {proxy} refused the credentials ({observed})',
    causes: [
      'Username or password is missing, wrong, or was rotated.',
      'A character of the password is not URL-encoded.',
    ],
    fixes: [
      'Copy the whole proxy URL from the dashboard into STATIC_PROXY_URL.',
      "Encode the password: node -p 'encodeURIComponent(process.argv[1])' 'PASSWORD'.",
    ],
  },
  PROXY_PORT_IS_SOCKS: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The port speaks SOCKS5, not HTTP',
    message: 'the proxy {proxy} does not speak HTTP ({observed})',
    causes: ['An http:// URL with the SOCKS5 port 1080.'],
    fixes: ['Use port 9293 with http://, or socks5:// with port 1080.'],
  },
  PROXY_PORT_IS_HTTP: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The port speaks HTTP, not SOCKS5',
    message: 'the proxy {proxy} does not speak SOCKS5 ({observed})',
    causes: ['A socks5:// URL with the HTTP port 9293.'],
    fixes: ['Use port 1080 with socks5://, or http:// with port 9293.'],
  },
  PROXY_TLS_MISMATCH: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'One side speaks TLS to the proxy port, the other does not',
    message: 'the proxy {proxy}: {observed}',
    causes: ['An https:// proxy URL for a plain port (9293).', 'An http:// proxy URL for the TLS port (9294).'],
    fixes: [
      'The standard variant is http:// with port 9293, the TLS variant https:// with port 9294. Copy the URL from the dashboard.',
    ],
  },
  PROXY_CERT_INVALID: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: "The proxy's certificate is not trusted",
    message: 'the certificate of the proxy {proxy} is not trusted: {problem}',
    causes: [
      'The proxy uses a private CA.',
      'The host in the URL is not the host in the certificate.',
      'Something in between intercepts TLS.',
    ],
    fixes: ['Name the CA with --proxy-ca FILE; use the host name from the dashboard.'],
  },
  PROXY_DENIED_TARGET: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The proxy does not allow this destination',
    message: 'the proxy {proxy} refused to connect to {target} (status {status})',
    causes: ["The proxy's policy forbids the host or its port (many proxies allow CONNECT to port 443 alone)."],
    fixes: ['Use port 443 in the cluster URL, or have the port (9243, 9200) allowed at the proxy.'],
  },
  PROXY_TARGET_UNREACHABLE: {
    stage: 'proxy',
    exit: 4,
    retry: 'later',
    title: 'The proxy cannot reach the cluster',
    message: 'the proxy {proxy} cannot reach {target} ({observed})',
    causes: [
      'The host or port of the cluster URL is wrong.',
      'The cluster is down.',
      'The cluster drops connections from the proxy.',
    ],
    fixes: ['Check the cluster URL in its console: host, and port 443 or 9243.'],
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
  EGRESS_UNEXPECTED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'An address was seen that is not one of the static pair',
    message: 'the egress check saw {seen}, the static addresses are {expected}',
    causes: [
      'The request did not go through the proxy.',
      "STATIC_IPS is not the dashboard's pair.",
      'The proxy URL belongs to another subscription.',
    ],
    fixes: ['Copy both addresses and the proxy URL from the same dashboard page.'],
  },
  EGRESS_NOT_ALLOWED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: "The cluster's IP filter refuses both addresses",
    message: 'the IP filter of {cluster} refused {refused} of {probes} connections: {observed}',
    causes: [
      'The static addresses are in no IP filter policy that is attached to this deployment.',
      'A policy holds other addresses than the dashboard shows.',
      'The policy was created but not attached, while another one is.',
      'The connections did not go through the proxy: none is set, or --direct is.',
    ],
    fixes: [
      'In the cluster console: put both static addresses, each as /32, into one IP filter policy and attach it to this deployment.',
      'Take the addresses from the dashboard of the proxy, never from resolving its host name.',
      'Set STATIC_PROXY_URL, if the way shown is direct.',
    ],
  },
  EGRESS_PARTLY_ALLOWED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: "The cluster's IP filter allows only some of the addresses",
    message: 'the IP filter of {cluster} refused {refused} of {probes} connections and let the others through',
    causes: ['Only one of the two static addresses is registered.', 'One of the two is mistyped in the policy.'],
    fixes: [
      'Add the missing address as /32 to the attached IP filter policy: the proxy uses either of the two for any connection.',
    ],
  },
  FILTER_NOT_ENFORCED: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'The cluster answers without the proxy too',
    message: '{cluster} answers this machine without the proxy (status {status})',
    causes: [
      'No IP filter policy is attached.',
      "An attached policy covers this machine's own address.",
      'A permissive policy is attached beside the restrictive one.',
    ],
    fixes: ['Attach the policy with the two static addresses to the deployment, and detach or narrow the others.'],
  },
  CLUSTER_AUTH_REJECTED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses the credentials',
    message: '{cluster} was reached and refused the credentials (401): {reason}',
    causes: [
      'The API key or password is wrong, expired or revoked.',
      'The credentials belong to another cluster.',
      'No credentials are set.',
    ],
    fixes: [
      'Set ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD. The IP filter let the request through.',
    ],
  },
  CLUSTER_PRIVILEGE_MISSING: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The credentials lack a privilege',
    message: '{cluster} refused with 403: {reason}',
    causes: ['The role or API key may not write to this index.'],
    fixes: [
      'Grant create_doc (for create) or index on the index, and auto_configure where it does not exist yet. This is not the IP filter.',
      'For --swap-alias and rollback grant read, write and manage on the alias (NAME) and on its indices (NAME-*).',
      '`sluice verify` needs read and view_index_metadata, and maintenance for data streams and aliases; `sluice undo` also delete.',
    ],
  },
  CLUSTER_UNKNOWN_HOST: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The hosting service does not know this cluster',
    message: '{cluster} is not known to the hosting service: {reason}',
    causes: ['The host of the cluster URL is mistyped.', 'The deployment was renamed or deleted.'],
    fixes: ['Copy the Elasticsearch endpoint from the cluster console.'],
  },
  CLUSTER_UNAVAILABLE: {
    stage: 'cluster',
    exit: 4,
    retry: 'later',
    title: 'The cluster is not available',
    message: '{cluster} is not available: {observed}',
    causes: ['It is starting, restarting or overloaded.', 'The connection broke.'],
    fixes: ['Look at its health in the console, then run the same command again: it goes on where it stopped.'],
  },
  CLUSTER_OVERLOADED: {
    stage: 'cluster',
    exit: 4,
    retry: 'later',
    title: 'The cluster is overloaded',
    message: '{cluster} refused work for longer than allowed ({elapsedMs} ms): {reason}',
    causes: ['Too many requests at once, from this run or others.', 'The cluster is too small for the load.'],
    fixes: ['Lower --concurrency or --batch-bytes, or run again later.'],
  },
  CLUSTER_TIMEOUT: {
    stage: 'cluster',
    exit: 4,
    retry: 'later',
    title: 'The cluster does not answer in time',
    message: '{cluster} did not answer within {limitMs} ms',
    causes: ['The cluster is overloaded.', 'The path drops packets.', 'Only one of the static addresses may connect.'],
    fixes: ['Run `sluice doctor`; raise --timeout, or lower --batch-bytes.'],
  },
  CLUSTER_CERT_INVALID: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: "The cluster's certificate is not trusted",
    message: 'the certificate of {cluster} is not trusted: {problem}',
    causes: [
      'The cluster uses a private CA.',
      'The host in the URL is not in the certificate.',
      'The proxy URL was given as the cluster URL, or TLS is intercepted.',
    ],
    fixes: [
      "Name the CA with --ca FILE, or the SHA-256 of a certificate with --ca-fingerprint. The proxy never decrypts, so the certificate must be the cluster's own.",
    ],
  },
  CLUSTER_NOT_ELASTICSEARCH: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The server is not Elasticsearch',
    message: '{cluster} answered, but not as Elasticsearch does: {observed}',
    causes: [
      'The URL points at Kibana, a gateway or another product.',
      'Something in between strips the x-elastic-product header.',
    ],
    fixes: ['Copy the Elasticsearch endpoint (not Kibana) from the cluster console.'],
  },
  CLUSTER_VERSION_UNSUPPORTED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'This version of Elasticsearch is not supported',
    message: '{cluster} runs Elasticsearch {version}; Sluice works with 8, 9 and serverless',
    causes: ['The cluster is older, or newer, than this version of Sluice.'],
    fixes: ['Upgrade the cluster or Sluice.'],
  },
  GATEWAY_REFUSED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'Something between the proxy and the cluster refused',
    message: '{cluster}: status {status} from neither the proxy, the IP filter nor Elasticsearch: {observed}',
    causes: ['A gateway, load balancer or firewall of your own stands in front of the cluster.'],
    fixes: ['Find who answers with these headers and body, and let the request through there.'],
  },
  INDEX_REQUEST_REFUSED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses a request about an index',
    message: '{cluster} refused {request} with status {status}: {reason}',
    causes: [
      '--index-body holds a setting or mapping that this cluster does not take.',
      'A setting of the index before cannot be taken over.',
      '--check-query is no query that this cluster knows.',
    ],
    fixes: [
      'Read the reason; correct --check-query, or say with --index-body how the index is to be made. The alias is where it was.',
    ],
  },
  ALIAS_CONFLICT: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The alias cannot be switched',
    message: 'the alias {alias} cannot be switched: {observed}',
    causes: [
      'Another load, a rollback or a person switched it in the meantime.',
      'The name belongs to an index or a data stream, or the alias is on several indices.',
      'An index template puts the alias on every new index.',
    ],
    fixes: [
      'Two loads at once: keep the one that was switched; give the other one up with `sluice runs rm RUN`, or switch to its index with `sluice rollback ALIAS --to INDEX`.',
      'An index of this name: copy it to another one (POST _reindex), then replace it by an alias in one step: POST _aliases {"actions":[{"remove_index":{"index":"NAME"}},{"add":{"index":"COPY","alias":"NAME"}}]}.',
      'Take the alias out of the template, or off all indices but one.',
    ],
  },
  LOAD_CHECK_FAILED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The loaded index did not pass its checks',
    message: 'the index {index} was loaded, and {alias} was not switched to it: {observed}',
    causes: [
      'Documents were rejected, and --max-rejected does not say how many may be.',
      'The index holds more or fewer documents than the run stored: something else writes to it.',
      '--check-query found too little.',
    ],
    fixes: [
      'The alias is where it was, and the new index is kept. Correct the limit, the query or the index and run the same command again: it loads nothing twice, and makes the checks anew.',
      'To take the index as it is: `sluice rollback ALIAS --to INDEX`. To give it up: `sluice runs rm RUN`, and delete the index.',
    ],
  },
  ROLLBACK_IMPOSSIBLE: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'There is nothing to roll back to',
    message: 'the alias {alias} cannot be rolled back: {observed}',
    causes: [
      'The alias was never switched by a guarded load, or its first one made it.',
      'The index before was deleted.',
      'The load into the index that was named has not finished.',
    ],
    fixes: ['Name the index that the alias is to be on: `sluice rollback ALIAS --to INDEX`.'],
  },
  RUN_INTERRUPTED: {
    stage: 'run',
    exit: 5,
    retry: 'later',
    title: 'The run was interrupted',
    message: 'interrupted ({reason}) after {settled} documents',
    causes: [
      'The process got SIGINT or SIGTERM, or the caller aborted.',
      'What was loaded came from a spool, and the process that wrote it was stopped before it saw the end of stdin.',
    ],
    fixes: [
      'Run the same command again: files go on behind the last document that is settled, and so does stdin where it was spooled (--spool). Without that, stdin starts anew, as do streams and iterables.',
      'Where the state folder does not outlive the process, name the run (--run-id): then a rerun doubles nothing either.',
    ],
  },
  RUN_NOT_FOUND: {
    stage: 'run',
    exit: 2,
    retry: 'no',
    title: 'No such run is known',
    message: 'there is no run {run} in {folder}',
    causes: [
      'The name is mistyped.',
      'The run was loaded on another machine, by another user, or with another --state-dir.',
      'Its checkpoint was replaced by the next run of the same command, or forgotten (`sluice runs rm`, `sluice undo`).',
    ],
    fixes: ['`sluice runs` lists the runs that are known. A checkpoint can also be named by its path.'],
  },
  RUN_IDS_UNKNOWN: {
    stage: 'run',
    exit: 2,
    retry: 'no',
    title: "The run's ids cannot be told without its input",
    message: 'run {run} was loaded with {ids}: without its input nothing tells which documents are its own',
    causes: [
      'Ids from a field stand in the documents alone; ids of the cluster are nowhere but there.',
      'It was a replay: its documents have the ids that they were first refused with, and belong to that run.',
    ],
    fixes: ['Compare counts, or load with --ids run (the default): its runs can be verified and undone.'],
  },
  RUN_ELSEWHERE: {
    stage: 'run',
    exit: 2,
    retry: 'no',
    title: 'The run was loaded into another cluster',
    message: 'run {run} was loaded into {loaded}, and {cluster} is another cluster',
    causes: ['--url, or ELASTICSEARCH_URL, is that of another cluster.'],
    fixes: ["Set the URL and the credentials of the run's own cluster; `sluice runs --json` tells its URL."],
  },
  LOOKUP_REFUSED: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses to look documents up',
    message: '{cluster} refused to look up documents with status {status}: {reason}',
    causes: ['The index is closed.', 'The way or the cluster forbids _mget or _search.'],
    fixes: ['Read the reason; open the index, or allow the request.'],
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
  RUN_LOCKED: {
    stage: 'run',
    exit: 6,
    retry: 'later',
    title: 'Another run is loading the same input into the same index',
    message: '{input} is being loaded into {index} by run {run}: process {pid} on {host}, since {since} (lock {lock})',
    causes: [
      'A scheduled run takes longer than the time between two of them, or a person started one by hand.',
      'Two commands name the same file, as globs that overlap do.',
      'A run was killed on another machine or in another container: from here nobody can tell whether it is gone.',
    ],
    fixes: [
      'Let that run end; then run the same command again.',
      'If that process is certainly gone, remove the file that the message names as the lock. Locks of processes that were killed on this machine need no help.',
    ],
  },
  TIME_BUDGET_SPENT: {
    stage: 'run',
    exit: 5,
    retry: 'later',
    title: 'The time budget is spent',
    message:
      'the time budget of {seconds} s is spent: {settled} documents are settled, the same command goes on behind them',
    causes: [
      'The load takes longer than --time-budget allows: the run ended in time, before a platform would end it.',
      'The cluster answers slowly or not at all: then the receipt counts documents of unknown outcome.',
    ],
    fixes: [
      'Run the same command again, until it ends with exit code 0 or 1: files go on behind the last document that is settled.',
      'A run that settles nothing needs more time than it has: for the start, the preflight and one request. Raise --time-budget.',
      'Where the state folder does not outlive the process, each run begins anew: name a --state-dir that does.',
    ],
  },
  BYTE_BUDGET_SPENT: {
    stage: 'run',
    exit: 5,
    retry: 'later',
    title: 'The byte budget is spent',
    message:
      'the byte budget of {budget} bytes is spent: {used} went over the wire, the next request needs about {needed}; {settled} documents are settled, the same command goes on behind them',
    causes: [
      'The load takes more bytes over the wire than --byte-budget allows: TLS, preflight and answers count too.',
    ],
    fixes: [
      'Run the same command again, with a budget of its own: files go on behind the last document that is settled.',
      'Let less go over the wire: --compress gzip, fewer --preflight-connections.',
      'A run that settles nothing has a budget smaller than the preflight and one request: raise it, or lower --batch-bytes.',
    ],
  },
  STATE_UNWRITABLE: {
    stage: 'run',
    exit: 3,
    retry: 'no',
    title: 'The state of the run cannot be written',
    message: 'cannot write {path}: {problem}',
    causes: ['The state folder is read-only or belongs to another user.', 'The disk is full.'],
    fixes: [
      'Name a writable folder with --state-dir (SLUICE_STATE_DIR), one that outlives the process; or free disk space. The same command then goes on.',
    ],
  },
  STATE_UNREADABLE: {
    stage: 'run',
    exit: 3,
    retry: 'no',
    title: 'The state of the run cannot be read',
    message: 'the checkpoint {path} cannot be used: {problem}',
    causes: ['A newer version of Sluice wrote it.', 'It was edited or damaged, or belongs to another user.'],
    fixes: [
      'Use the newer version; or put the file back from a backup.',
      'Deleting it makes the next run start from the beginning, under new ids: what is loaded stays, and is loaded again.',
    ],
  },
  DEAD_LETTERS_UNWRITABLE: {
    stage: 'run',
    exit: 3,
    retry: 'no',
    title: 'Rejected documents cannot be written down',
    message: 'cannot write the dead letters to {path}: {problem}',
    causes: ['The folder is read-only or missing.', 'The disk is full.'],
    fixes: ['Name a writable file with --dead-letters FILE, and free disk space.'],
  },
  INTERNAL: {
    stage: 'run',
    exit: 70,
    retry: 'no',
    title: 'A bug in Sluice',
    message: '{problem}',
    causes: ['Sluice met a state that it should never be in.'],
    fixes: ['Report it with the whole output; it holds no secrets and no documents.'],
  },
  FILTER_COVERS_CLIENT: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: "The IP filter lets this machine's own address in as well",
    message: '{cluster} answers this machine without the proxy (status {status}), and refuses addresses of the proxy',
    causes: [
      "An attached policy lists this machine's own address, or a block that holds it.",
      'What works from here may fail from anywhere else: other machines have other addresses.',
    ],
    fixes: [
      'Register both static addresses, each as /32, and take the rule out that covers this machine: then all traffic goes one way.',
    ],
  },
  EGRESS_ONE_ADDRESS: {
    stage: 'egress',
    exit: 3,
    retry: 'no',
    title: 'Only one of the two static addresses is in use',
    message:
      'all {connections} connections left from {address}; that another address is in use has a chance of {chance}',
    causes: [
      'The proxy URL is that of a single node, not of the pair.',
      'One node of the pair is away, and the other does its work.',
    ],
    fixes: [
      'Keep both addresses registered: the other one may be in use again at any time. The URL of the pair stands on the dashboard.',
    ],
  },
  CLUSTER_PRIVATE_LINK: {
    stage: 'cluster',
    exit: 3,
    retry: 'no',
    title: 'The cluster URL is that of a private link',
    message: '{cluster} is a private-link name, and {proxy} is a public proxy',
    causes: ["The private-link endpoint was copied from the cluster's console, in place of the public one."],
    fixes: [
      'Set the public Elasticsearch endpoint: no address of a public proxy is let into a private link. Or connect from inside the private network, with --direct.',
    ],
  },
  REGION_MISMATCH: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'Proxy and cluster are in different regions',
    message: 'the proxy is in {proxyRegion}, the cluster in {clusterRegion}',
    causes: ['The region of the proxy was chosen at sign-up, and the cluster was made somewhere else.'],
    fixes: [
      "The load works, and every request takes longer. The proxy's region should be the cluster's, or the nearest that there is: its support can change it.",
    ],
  },
  LATENCY_CROSS_REGION: {
    stage: 'proxy',
    exit: 3,
    retry: 'no',
    title: 'The proxy adds the latency of another region',
    message: 'the proxy adds {addedMs} ms to a round trip ({throughMs} ms with it, {directMs} ms without)',
    causes: [
      'The proxy is in another region than the application or the cluster: that adds 50 to 100 ms. Beside the application it adds 10 to 20 ms.',
    ],
    fixes: [
      'Bulk requests pay it once each: larger ones (--batch-bytes) and more at once (--concurrency) hide it. Or have the region of the proxy changed.',
    ],
  },
  CLOCK_SKEW: {
    stage: 'run',
    exit: 3,
    retry: 'no',
    title: 'The clock of this machine is wrong',
    message: 'the clock of this machine is {seconds} s {direction} that of {comparedWith}',
    causes: ['Time synchronisation is off, or the machine was suspended.'],
    fixes: ['Turn time synchronisation on (NTP). A wrong clock makes certificates look expired, or not valid yet.'],
  },
} as const satisfies Record<string, Entry>

/** The stable name of a failure. */
export type FailureCode = keyof typeof entries

export const catalogue = entries

/** A failure code's whole entry: title, causes in order of likelihood, fixes, exit code. */
export function explain(code: FailureCode): Entry {
  return entries[code]
}

/** Every code, in the order of the path. */
export const failureCodes = Object.keys(entries) as readonly FailureCode[]
