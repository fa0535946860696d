interface Part {
  /** Parts that this one may import. */
  readonly imports: string
  /** Files that other parts may import, without `.ts`. A file of the root is its own door. */
  readonly doors?: string
}

/** The plan of src: each folder, and each file of the root, with what it may import and where others enter. */
export const house: Readonly<Record<string, Part>> = {
  // The catalogue of failures. Imports nothing.
  failure: { imports: '', doors: 'catalogue entry fail failure look-up quote sluice-error symptoms' },
  'flow.ts': { imports: 'failure' },
  time: { imports: 'flow.ts', doors: 'retry system-clock' },
  text: { imports: '', doors: 'bytes parse-json' },
  disk: { imports: 'text', doors: 'disk-problem folders json-file replace-file' },
  // The stages. They know what crosses stages, and failures; never each other.
  source: {
    imports: 'failure flow.ts',
    doors: 'cannot-read decompress open-sources read-file read-stream stored-file',
  },
  format: { imports: 'failure flow.ts text', doors: 'decode' },
  bulk: { imports: 'failure flow.ts text', doors: 'action-line batcher read-letters replay-batcher slots' },
  sender: { imports: 'failure flow.ts time text cluster', doors: 'deliver layers/access layers/budget sender verdict' },
  ledger: {
    imports: 'failure flow.ts text disk',
    doors: 'account committed-prefix dead-letters ledger receipt truncate-dead-letters',
  },
  // The route to a cluster or an instance.
  proxy: {
    imports: 'failure',
    doors:
      'choose-proxy destination established expects-tls fresh-connections name-error proxy-answer proxy-url route route-error route-request tls-layer trace',
  },
  cluster: {
    imports: 'failure text proxy',
    doors:
      'alias answers bounds client-connection credentials delete-documents delete-found egress-check find-documents fresh-index indices open-cluster preflight request version walk-ids',
  },
  servicenow: {
    imports: 'failure flow.ts time text proxy',
    doors:
      'calls/answer calls/instance-http calls/judge-refusal calls/judge-table-answer calls/persist calls/secrets choose-access deletions/audited-deletions deletions/id-set deletions/list-ids incidents/incidents incidents/raise-incident instance login/authorization-code login/session login/token-call login/tokens open-instance records table/read-table table/row table/rows-so-far table/select-table table/table-source',
  },
  // Options are read once, at the door.
  options: {
    imports: 'failure flow.ts text source format bulk ledger',
    doors:
      'check-ingest-options check-servicenow-options cluster-access defaults guarded hide-secrets ingest-options library-options listener load names nearest option option-checks read-options resolve servicenow-access table table-names urls view',
  },
  connect: {
    imports: 'failure flow.ts time text disk proxy cluster servicenow options state',
    doors: 'connect connect-servicenow log-in open-servicenow open-target proxy-to',
  },
  // Outlives a process.
  state: {
    imports: 'failure flow.ts time text disk ledger cluster options',
    doors:
      'checkpoint checkpoint-file earlier-checkpoints find-run known-limits lock lost-index plan plan-run run-identity run-locks state-keeper',
  },
  // The loop and its hooks. It names no feature.
  run: {
    imports: 'failure flow.ts time source format bulk sender ledger proxy cluster options connect state',
    doors: 'events hooks open-batcher retry-step run stop-signals',
  },
  // Wings: one feature each. No wing imports another.
  spool: { imports: 'failure flow.ts text disk source ledger options state run', doors: 'run-list spool-stdin' },
  guarded: {
    imports: 'failure time bulk ledger cluster options connect state run',
    doors: 'alias-receipt guard-alias rollback',
  },
  tables: {
    imports: 'failure flow.ts text disk ledger cluster servicenow options connect state run',
    doors: 'open-platform pull read-tables tables-receipt',
  },
  limits: { imports: 'failure sender cluster options state run', doors: 'byte-budget learnt-limits' },
  replay: {
    imports: 'failure flow.ts time format bulk cluster options state run',
    doors: 'meant-index send-dead-letters',
  },
  // Compose a run: stages and hooks.
  'ingest.ts': { imports: 'ledger options run spool guarded tables limits' },
  'replay.ts': { imports: 'failure source ledger options run spool limits replay' },
  // Features beside a load. `serve` makes runs of its own.
  serve: {
    imports: 'failure flow.ts time text disk ledger cluster options connect state run limits',
    doors: 'serve serve-options',
  },
  verify: {
    imports: 'failure flow.ts time text sender cluster options connect state',
    doors: 'undo verification verify verify-options',
  },
  alarm: { imports: 'failure ledger servicenow options connect', doors: 'alarm alarm-options' },
  filter: {
    imports: 'failure flow.ts time text proxy cluster options connect',
    doors: 'admin-api attach-policy choose-policy confirmed create-policy judge-guard policy probe prove read-policy',
  },
  // Looks, and reports.
  doctor: {
    imports: 'failure flow.ts time text proxy cluster servicenow options connect',
    doors: 'diagnose doctor-options facts report support-bundle',
  },
  // The double of the whole world must not share our bugs.
  lab: { imports: '', doors: 'index' },
  // The public doors.
  'index.ts': {
    imports:
      'failure flow.ts source ledger cluster options connect spool guarded tables serve ingest.ts replay.ts verify alarm doctor',
  },
  'servicenow.ts': { imports: 'failure servicenow options connect tables' },
  // The command line gets what an embedder gets.
  cli: {
    imports:
      'failure disk ledger options connect spool guarded tables serve ingest.ts replay.ts verify alarm filter doctor lab index.ts servicenow.ts',
  },
}

/** The one folder that owns each package. */
export const owners: Readonly<Record<string, string>> = {
  undici: 'proxy',
  socks: 'proxy',
  '@elastic/elasticsearch': 'cluster',
  'p-limit': 'sender',
  'stream-json': 'format',
  tinyglobby: 'source',
  commander: 'cli',
  pino: 'cli',
  '@peculiar/x509': 'lab',
  'reflect-metadata': 'lab',
}

/** Embedders see the client's type: only this file may name it. */
export const clientTypeOnly = 'connect/connect.ts'
