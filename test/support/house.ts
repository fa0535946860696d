interface Room {
  /** Rooms of the same district that this one may import. Circles are refused. */
  readonly beside?: string
  /** Files that other rooms may import, without `.ts`. A room that is one file is its own door. */
  readonly doors?: string
  /** Most doors that it may have. Default: `mostDoors`. Lower it with each door that closes. */
  readonly most?: number
}

/** A room with more doors than this is no room with walls. Each that has more says how many, until it has fewer. */
const mostDoors = 6

interface District {
  /** First folder of its paths. Files of the root of src have none. */
  readonly name: string
  readonly rooms: Readonly<Record<string, Room>>
}

/**
 * The plan of src, from the ground up. A file may import the doors of every district that stands above it in this list, and of the
 * rooms beside it that its room names. Nothing else: imports run one way. A room is named by its path in its district, '' for the
 * district itself.
 */
export const districts: readonly District[] = [
  {
    // The words and tools that every part uses.
    name: 'base',
    rooms: {
      'memory.ts': {},
      'caller.ts': {},
      'operation.ts': {},
      json: {
        beside: 'text',
        most: 7,
        doors:
          'json-fault parse-json same-document strict/assembly/fields strict/assembly/json strict/assembly/marks strict/layout',
      },
      text: {
        beside: 'operation.ts',
        doors: 'bytes condition glob index-pattern shown source-url',
      },
      'addresses.ts': { beside: 'failure secrets.ts' },
      'secrets.ts': { beside: 'text' },
      failure: { beside: 'text', doors: 'failure index-errors symptoms' },
      'flow.ts': { beside: 'failure json operation.ts' },
      checksum: { beside: 'memory.ts', doors: 'checksum tokens' },
      compression: { beside: 'failure memory.ts', doors: 'decompress' },
      time: { beside: 'failure flow.ts', doors: 'clock retry' },
      disk: { beside: 'failure json', doors: 'safe-files' },
      lock: { beside: 'disk flow.ts json time', doors: 'lock lock-holder' },
    },
  },
  {
    // Bytes to bodies, and the account. No socket, and no stage knows another.
    name: 'pipeline',
    rooms: {
      source: {
        doors: 'find-files generations open-sources ranges read-file stored-file',
      },
      format: { doors: 'decode formats' },
      bulk: { doors: 'action-batcher batcher dead-letter frame-lines replay-batcher slots' },
      ledger: {
        doors: 'account dead-letters ledger receipt',
      },
    },
  },
  {
    // Every option, once. Options are read at the door.
    name: 'options',
    rooms: {
      '': {
        most: 9,
        doors:
          'check-options connect-options describe-option ingest-options load names option-checks read-options run-events',
      },
    },
  },
  {
    // Everything that reaches a target. The sender asks the cluster, and never sees the proxy.
    name: 'route',
    rooms: {
      proxy: {
        most: 12,
        doors:
          'choose-proxy expects-tls fresh-connections port-speaks proxy-answer proxy-url raw-tunnels route route-error route-request tls-layer trace',
      },
      cluster: {
        beside: 'proxy',
        most: 13,
        doors:
          'answers ask-connections bulk-items client-connection credentials documents egress-check indices managed-endpoint node-connection open-cluster preflight request',
      },
      servicenow: {
        beside: 'proxy',
        most: 11,
        doors:
          'calls/instance-http calls/judge-refusal calls/persist choose-access instance login/authorization-code login/session login/token-call open-instance records refusal/look-in',
      },
      connect: {
        beside: 'cluster proxy servicenow',
        doors: 'connection-through open-servicenow open-target over-connection route-to',
      },
      gzip: { doors: 'gzip kernel/kernel' },
      examine: {
        beside: 'cluster connect proxy servicenow',
        doors: 'examine examine-options facts try-filter',
      },
      destination: {
        beside: 'cluster connect proxy servicenow',
        doors: 'destination',
      },
      sender: {
        beside: 'cluster gzip',
        doors: 'layers/access layers/limits send sender',
      },
    },
  },
  {
    // One load from start to end, and what outlives it. It names no feature.
    name: 'run',
    rooms: {
      'state/checkpoint': { most: 3, doors: 'checkpoint journal old-checkpoint' },
      'state/inputs': { beside: 'state/checkpoint', most: 4, doors: 'content known-input recognise recognised' },
      'state/runs': {
        beside: 'state/checkpoint state/inputs',
        doors: 'history open-letters prune runs state-folder',
      },
      'state/resume': {
        beside: 'state/checkpoint state/inputs state/runs',
        most: 6,
        doors: 'find-run index-watch lost-index plan run-identity state-keeper',
      },
      loop: {
        beside: 'state/checkpoint state/resume state/runs',
        doors: 'hooks moved-lines run run-record stop-signals',
      },
    },
  },
  {
    // Each hangs on a run by a hook. Only the table knows all of them, with two exceptions: the limits count for the monthly plan of
    // the proxy, and a replay writes an update by the same script as a load.
    name: 'features',
    rooms: {
      'another-cluster': { doors: 'open-origin pull-indices read-again read-indices shard-spans warn-of-pipeline' },
      destinations: { doors: 'fill-indices load-dumps load-into-queue run-script' },
      edits: { doors: 'edit-documents' },
      follow: { doors: 'follow-inputs' },
      guarded: { doors: 'guard-alias rollback' },
      'limits/traffic-plan': { doors: 'plan-use' },
      limits: { beside: 'limits/traffic-plan', doors: 'learn-limits limit-traffic' },
      mapping: { doors: 'infer-mapping map-index rehearse' },
      metrics: { doors: 'run-metrics trace-run' },
      ranges: { doors: 'range-load' },
      // It opens routes of its own, to the servers of inputs.
      remote: { doors: 'read-remote' },
      replay: { beside: 'destinations', doors: 'send-dead-letters' },
      report: { doors: 'kept-timeline record-timeline' },
      rotated: { doors: 'name-unread' },
      spool: { doors: 'segments spool-stdin' },
      tables: { doors: 'open-platform pull read-tables' },
      text: { doors: 'line-documents' },
      transform: { doors: 'transform-documents' },
      tuned: { doors: 'tune-index untune' },
      unreplayed: { doors: 'remind' },
      // The table of all features.
      '': {
        beside:
          'another-cluster destinations edits guarded limits mapping metrics ranges remote replay report rotated spool tables text transform tuned unreplayed',
        doors: 'features-of',
      },
    },
  },
  {
    // They stand beside a load.
    name: 'programs',
    rooms: {
      alarm: { doors: 'alarm' },
      doctor: { doors: 'diagnose report' },
      'doctor/watch': { beside: 'doctor', doors: 'watch' },
      filter: { doors: 'filter' },
      jobs: { doors: 'job' },
      'jobs/queue': {
        beside: 'jobs',
        most: 13,
        doors:
          'await-access check-entry check-queue give-back in-time job-state lease open-engine seal trust-job until-done worker-event worker-sign',
      },
      'jobs/budget': { beside: 'jobs jobs/queue', doors: 'budget-share budgets shared-bytes' },
      'jobs/plan': {
        beside: 'jobs',
        doors: 'ended-ranges known-ranges plan-ranges queue-ranges queued-options rate-share',
      },
      'jobs/range': {
        beside: 'jobs jobs/budget jobs/queue',
        doors: 'load-parts load-range range-end retry-ranges serve-ranges',
      },
      'jobs/control': {
        beside: 'jobs jobs/budget jobs/plan jobs/queue jobs/range',
        doors: 'coordinate-job open-jobs',
      },
      'jobs/worker': {
        beside: 'jobs jobs/budget jobs/control jobs/plan jobs/queue jobs/range',
        doors: 'run-worker',
      },
      serve: { doors: 'serve' },
      tunnel: { doors: 'open-tunnel' },
      verify: { doors: 'undo verify verify-deep' },
    },
  },
  {
    // The public doors, and what puts a run together: stages, features and a route.
    name: '',
    rooms: {
      'ingest.ts': {},
      'ingest-ranges.ts': { beside: 'ingest.ts' },
      'replay.ts': {},
      'jobs.ts': { beside: 'ingest.ts ingest-ranges.ts' },
      'connection.ts': {},
      'servicenow.ts': {},
      'index.ts': { beside: 'ingest.ts replay.ts' },
    },
  },
  {
    // The command gets what an embedder gets. `walls` names the rooms that it may not enter.
    name: 'cli',
    rooms: {
      terminal: {
        most: 12,
        doors: 'ask columns confirm help hold-back interrupt log meter progress pull-progress show-progress terminal',
      },
      show: {
        beside: 'terminal',
        doors: 'say-ending say-error say-usage-error show-diagnosis show-receipt show-run',
      },
      settings: { doors: 'library-options option-files resolve' },
      application: {
        beside: 'settings show terminal',
        most: 18,
        doors:
          'after-run ask-doctor count-traffic diagnose-queue ingest-by-workers load-options measure-worker open-alarm open-metrics open-queue open-tunnel plan-by-workers record-failure show-filter show-load start-child tune-engine watch-doctor',
      },
      commands: {
        beside: 'application settings show terminal',
        most: 24,
        doors:
          'completion config demo doctor explain filter infer ingest init jobs lab login pull replay rollback run runs serve tunnel undo untune verify version worker',
      },
      '': { beside: 'application commands show terminal' },
    },
  },
]

/** Districts that a part may not import although they stand above it. */
export const walls: Readonly<Record<string, string>> = {
  // Stages and routes are behind the library.
  cli: 'pipeline/source pipeline/format pipeline/bulk route/proxy route/cluster route/sender run/loop',
}

/** The double of the whole world must not share our bugs: it imports nothing of ours, and only the command starts it. */
export const double = { name: 'lab', door: 'index', enteredBy: 'cli' }

/** The one room that owns each package. */
export const owners: Readonly<Record<string, string>> = {
  undici: 'route/proxy',
  socks: 'route/proxy',
  '@elastic/elasticsearch': 'route/cluster',
  'p-limit': 'route/sender',
  'stream-json': 'pipeline/format',
  yauzl: 'pipeline/format',
  hyparquet: 'pipeline/format',
  'hyparquet-compressors': 'pipeline/format',
  tinyglobby: 'pipeline/source',
  commander: 'cli',
  pino: 'cli',
  'prom-client': 'features/metrics',
  // Optional: an application that wants spans has set it up.
  '@opentelemetry/api': 'features/metrics',
  '@peculiar/x509': 'lab',
  'reflect-metadata': 'lab',
  // Optional: workers that share a queue install them.
  bullmq: 'programs/jobs',
  ioredis: 'programs/jobs',
  pg: 'programs/jobs',
  // Optional: a user of S3 installs it.
  '@aws-sdk/client-s3': 'features/remote',
}

/** Embedders see the client's type: only this file may name it. */
export const clientTypeOnly = 'route/connect/open-target.ts'

const paths = districts
  .flatMap(({ name, rooms }) => Object.keys(rooms).map(room => [name, room].filter(part => part !== '').join('/')))
  .toSorted((one, other) => other.length - one.length)

/** Returns the rooms that list more doors than they may have. */
export function tooOpen(plan: readonly District[]): string[] {
  return plan.flatMap(({ name, rooms }) =>
    Object.entries(rooms).flatMap(([room, { doors = '', most = mostDoors }]) => {
      const count = doors.split(' ').filter(door => door !== '').length
      const path = [name, room].filter(part => part !== '').join('/')
      return count <= most ? [] : [`${path} has ${count} doors and may have ${most}`]
    }),
  )
}

/** Returns the room of a path relative to src: the longest that the plan has. A part that the plan does not have is its first name. */
export function roomOf(path: string): string {
  return paths.find(room => path === room || path.startsWith(`${room}/`)) ?? path.split('/')[0] ?? ''
}

/** Returns the district of a path: '' for the files of the root. */
export function districtOf(path: string): string {
  const first = path.split('/')[0] ?? ''
  return first.endsWith('.ts') ? '' : first
}

/** Returns the floor of a district. Imports run to lower floors. */
export function floorOf(district: string): number {
  return district === double.name ? 0 : districts.findIndex(({ name }) => name === district)
}

/** Files outside the command that use the process, and why. */
export const usesProcess: Readonly<Record<string, string>> = {
  'base/lock/lock-holder.ts': 'asks whether the process of a lock lives',
  'base/compression/program.ts': 'finds bzip2 and xz on the PATH',
  'run/state/runs/state-folder.ts': 'checks who owns the state folder',
  'features/follow/rounds.ts': 'measures its own CPU time',
  'features/transform/worker-thread.ts': "passes on what the user's function prints",
  'features/remote/buckets.ts': "reads the AWS keys as AWS's own tools do",
}

/** Files of the pipeline that import a module with sockets, and why. */
export const usesSocket: Readonly<Record<string, string>> = {
  'pipeline/source/read-file.ts': 'reads a named pipe, which Node opens as a socket',
}
