interface Part {
  /** Parts that this one may import. */
  readonly imports: string
  /** Files that other parts may import, without `.ts`. A file of the root is its own door. */
  readonly doors?: string
}

/** The plan of src: each folder, and each file of the root, with what it may import and where others enter. */
export const house: Readonly<Record<string, Part>> = {
  // The catalogue of failures.
  failure: { imports: 'text', doors: 'catalogue entry failure index-errors look-up symptoms' },
  'operation.ts': { imports: '' },
  'flow.ts': { imports: 'failure operation.ts' },
  'web-assembly.ts': { imports: '' },
  'free-memory.ts': { imports: '' },
  // The strict check of JSON, for the kernels of format and bulk.
  'strict-json': {
    imports: '',
    doors: 'assembly/fields assembly/json assembly/marks assembly/numbers assembly/strings layout',
  },
  checksum: { imports: 'web-assembly.ts', doors: 'checksum file kernel/kernel' },
  time: { imports: 'flow.ts', doors: 'change-signal local-time retry system-clock' },
  text: {
    imports: 'operation.ts',
    doors:
      'source-url bytes condition field-list figures index-pattern line-part own-number marked-line misplaced parse-json json-fault value-kinds unicode valid-json visible',
  },
  disk: { imports: 'failure text', doors: 'file-stat safe-files state-unwritable' },
  // The stages. They know what crosses stages, and failures; never each other.
  // gzip, zstd, bzip2, xz, brotli -> bytes.
  compression: { imports: 'failure free-memory.ts', doors: 'decompress inflate program whole zstd' },
  source: {
    imports: 'failure flow.ts free-memory.ts checksum disk compression',
    doors: 'by-name cannot-read file-table find-files open-sources ranges read-file seen-input stored-file',
  },
  format: {
    imports: 'failure flow.ts web-assembly.ts strict-json text compression',
    doors: 'decode dump-formats csv/cell-types csv/csv-lines csv/to-utf8',
  },
  bulk: {
    imports: 'failure operation.ts flow.ts web-assembly.ts strict-json checksum text',
    doors: 'action-batcher action-line batcher dead-letter frame-lines replay-batcher slots',
  },
  sender: {
    imports: 'failure operation.ts flow.ts time text cluster',
    doors: 'deliver layers/access layers/byte-budget layers/learn layers/permit layers/rate send sender',
  },
  ledger: {
    imports: 'failure operation.ts flow.ts text disk',
    doors: 'account committed-prefix dead-letters describe-origin ledger receipt truncate-dead-letters',
  },
  // The route to a cluster or an instance.
  proxy: {
    imports: 'failure text',
    doors:
      'choose-proxy destination expects-tls fresh-connections port-speaks proxy-answer proxy-url raw-tunnels route route-error route-request tls-layer trace traffic-meter',
  },
  cluster: {
    imports: 'failure operation.ts flow.ts time text proxy',
    doors:
      'alias answers ask-connections bounds bulk-items client-connection connection-end connection-mix credentials delete-found egress-check find-documents fresh-index indices managed-endpoint many-indices may-fill node-connection load-settings write-index open-cluster preflight request walk-ids',
  },
  servicenow: {
    imports: 'failure flow.ts time text proxy',
    doors:
      'attachments/list-attachments calls/instance-http calls/judge-refusal calls/judge-table-answer calls/persist calls/secrets choose-access incidents/incidents incidents/raise-incident instance login/authorization-code login/session login/token-call open-instance records refusal/look-in table/id-set table/list-ids table/read-table table/row table/rows-so-far table/select-table table/table-source',
  },
  // Options are read once, at the door.
  options: {
    imports: 'failure operation.ts flow.ts text source format bulk ledger',
    doors:
      'check-options connect-options describe-option destinations edit-values hide-secrets ingest-options library-options listen-address listener load mapping-files mask-secrets names nearest option option-checks option-files read-options resolve run-events snapshot table urls',
  },
  connect: {
    imports: 'failure flow.ts time text disk proxy cluster servicenow options state',
    doors: 'connect connect-servicenow connection-through over-connection log-in open-servicenow open-target proxy-to',
  },
  // Outlives a process.
  state: {
    imports: 'failure flow.ts time text checksum disk ledger cluster options',
    doors:
      'checkpoint find-run index-watch history lock lock-holder lost-index named-indices plan plan-run prune run-identity run-locks runs state-folder state-keeper',
  },
  // The loop and its hooks. It names no feature.
  run: {
    imports:
      'failure operation.ts flow.ts time text source format bulk sender ledger proxy cluster options connect state',
    doors:
      'hooks line-starts load-documents locked-run moved-lines open-batcher retry-step run run-record stop-signals',
  },
  // Wings: one feature each. No wing imports another.
  spool: {
    imports: 'failure flow.ts time text disk compression source ledger options state run',
    doors: 'run-list segments spool-stdin',
  },
  guarded: {
    imports: 'failure time bulk ledger cluster options connect state run',
    doors: 'guard-alias guarded-load rollback',
  },
  tables: {
    imports: 'failure flow.ts text disk ledger cluster servicenow options connect state run',
    doors: 'open-platform pull read-tables tables-receipt',
  },
  // The one wing that opens routes of its own: to servers of inputs.
  remote: {
    imports: 'failure flow.ts free-memory.ts time text checksum compression source proxy cluster options connect run',
    doors: 'read-remote',
  },
  // Inputs that many processes share, in ranges.
  ranges: {
    imports: 'failure flow.ts text compression source format options run',
    doors: 'load-ranges plan-inputs range-load',
  },
  edits: { imports: 'flow.ts web-assembly.ts strict-json text options run', doors: 'edit-documents' },
  transform: { imports: 'failure flow.ts text bulk options run', doors: 'transform-documents' },
  dumps: { imports: 'flow.ts text format bulk options connect run', doors: 'load-dumps' },
  follow: {
    imports: 'failure flow.ts time checksum disk source format ledger connect options state run',
    doors: 'follow-inputs rounds',
  },
  'index-by-field': { imports: 'failure text cluster options state run', doors: 'fill-indices' },
  rehearsal: { imports: 'failure flow.ts cluster options run text', doors: 'rehearse' },
  infer: { imports: 'flow.ts text source format options', doors: 'infer-mapping' },
  mapped: { imports: 'failure ledger cluster options run text', doors: 'map-index' },
  tuned: {
    imports: 'failure flow.ts time text ledger cluster options connect state run',
    doors: 'tune-index tuned-index untune',
  },
  managed: { imports: 'options connect state run', doors: 'load-into-queue' },
  scripted: { imports: 'options run', doors: 'run-script' },
  limits: { imports: 'failure time disk sender options run traffic-plan', doors: 'learn-limits limit-traffic' },
  // Counts for the monthly plan of a proxy, for loads and for the command line.
  'traffic-plan': { imports: 'failure text disk options proxy', doors: 'plan-use' },
  // The time line of a run, and the page that shows it.
  report: {
    imports: 'failure disk text time ledger options state run',
    doors: 'kept-timeline record-timeline write-report',
  },
  replay: {
    imports: 'scripted failure flow.ts time format bulk cluster options state run',
    doors: 'meant-index send-dead-letters',
  },
  // Compose a run: stages and hooks.
  'ingest.ts': {
    imports:
      'ledger options connect run spool index-by-field guarded remote tables limits managed scripted dumps mapped rehearsal tuned edits follow transform metrics report',
  },
  'ingest-ranges.ts': {
    imports: 'time source ledger options connect run limits ranges ingest.ts',
  },
  'replay.ts': { imports: 'failure source ledger options connect run spool limits managed replay metrics report' },
  // Jobs that many workers load. A run of its coordinator hangs on hooks, and ranges are runs of workers.
  jobs: {
    imports: 'failure flow.ts time text source sender ledger options connect state run ranges',
    doors:
      'agree-on-name check-queue count-plan job list-jobs open-engine queued-options report-end run-worker submit-job until-done worker-event worker-sign',
  },
  'jobs.ts': { imports: 'limits options ranges jobs ingest.ts ingest-ranges.ts' },
  // Metrics for Prometheus, and the spans of OpenTelemetry.
  metrics: {
    imports: 'failure disk ledger options run',
    doors: 'metrics-server run-metrics textfile trace-run worker-metrics',
  },
  // Features beside a load. `serve` makes runs of its own.
  serve: {
    imports: 'failure flow.ts time text disk ledger cluster options connect state run limits metrics',
    doors: 'serve serve-metrics serve-options',
  },
  verify: {
    imports: 'failure flow.ts time text format sender cluster options connect state',
    doors: 'tally undo verify verify-options',
  },
  alarm: { imports: 'failure text ledger servicenow options connect', doors: 'alarm alarm-options' },
  filter: {
    imports: 'failure flow.ts time text proxy cluster options connect',
    doors: 'admin-api change-policy choose-policy judge-guard policy projects-api prove read-policy',
  },
  tunnel: {
    imports: 'failure time proxy cluster servicenow options connect',
    doors: 'child-environment open-tunnel',
  },
  // Looks, and reports.
  doctor: {
    imports: 'failure operation.ts flow.ts time text proxy cluster servicenow options connect',
    doors: 'diagnose doctor-options facts report support-bundle',
  },
  // Asks the doctor again and again.
  watch: { imports: 'flow.ts disk doctor metrics', doors: 'changes watch watch-metrics' },
  // The double of the whole world must not share our bugs.
  lab: { imports: '', doors: 'index' },
  // The public doors.
  'index.ts': {
    imports:
      'failure operation.ts flow.ts source ledger cluster options connect spool guarded tuned infer tables serve traffic-plan ingest.ts replay.ts verify alarm doctor',
  },
  'servicenow.ts': { imports: 'failure servicenow options connect tables' },
  'connection.ts': { imports: 'failure cluster connect' },
  // The command line gets what an embedder gets.
  cli: {
    imports:
      'failure time text disk ledger options connect state spool guarded tuned infer rehearsal tables serve traffic-plan ingest.ts replay.ts jobs jobs.ts verify alarm filter tunnel doctor watch lab metrics report index.ts servicenow.ts',
  },
}

/** The one folder that owns each package. */
export const owners: Readonly<Record<string, string>> = {
  undici: 'proxy',
  socks: 'proxy',
  '@elastic/elasticsearch': 'cluster',
  'p-limit': 'sender',
  'stream-json': 'format',
  yauzl: 'format',
  hyparquet: 'format',
  'hyparquet-compressors': 'format',
  tinyglobby: 'source',
  commander: 'cli',
  pino: 'cli',
  'prom-client': 'metrics',
  // Optional: whoever wants spans has set it up.
  '@opentelemetry/api': 'metrics',
  '@peculiar/x509': 'lab',
  'reflect-metadata': 'lab',
  // Optional: whoever shares a queue installs them.
  bullmq: 'jobs',
  ioredis: 'jobs',
  pg: 'jobs',
  // Optional: whoever reads from S3 installs it.
  '@aws-sdk/client-s3': 'remote',
}

/** Embedders see the client's type: only this file may name it. */
export const clientTypeOnly = 'connect/connect.ts'
