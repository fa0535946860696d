import type { Entries } from '../entry.js'

const queue = 'redis://queue.example:6379'
const job = '20261121T093000Z-4f1c2a'

/** The queue that workers share, and the jobs on it. */
export const queueEntries = {
  QUEUE_NEEDS_PACKAGE: {
    exit: 2,
    title: 'A package that reaches the queue is not installed',
    message: 'to use the queue {queue}, Sluice needs the packages {packages}: {problem}',
    observed: 'ERR_MODULE_NOT_FOUND, "Cannot find package \'bullmq\'".',
    causes: ['Sluice does not install these packages, because most loads do not need them.'],
    fixes: [
      {
        fix: 'Install them where Sluice is installed: `npm install bullmq ioredis`. Add -g if you installed Sluice with -g. Then run the same command again.',
        if: /ioredis/,
      },
      {
        fix: 'Install them where Sluice is installed: `npm install bullmq pg`. Add -g if you installed Sluice with -g. Then run the same command again.',
        if: /pg/,
      },
    ],
    example: { queue, packages: 'bullmq and ioredis', problem: 'bullmq is not installed' },
  },
  QUEUE_UNREACHABLE: {
    exit: 4,
    retry: 'later',
    title: 'The queue cannot be reached',
    message: 'the queue {queue} cannot be reached: {problem}',
    observed: 'ECONNREFUSED, ENOTFOUND or ETIMEDOUT, and the port is that of Redis (6379) or PostgreSQL (5432).',
    causes: [
      'Redis or PostgreSQL is not running, or listens on another address.',
      'A firewall blocks connections between this machine and the queue. Sluice reaches the queue directly, never through the proxy.',
      { cause: 'The host name is mistyped.', if: /ENOTFOUND|EAI_AGAIN/ },
    ],
    fixes: [
      'Check the URL in --queue (SLUICE_QUEUE).',
      'Test the port from this machine, for example with `redis-cli -u URL ping` or `psql URL -c "select 1"`.',
    ],
    example: { queue, problem: 'connect ECONNREFUSED 203.0.113.7:6379' },
  },
  QUEUE_REFUSED: {
    title: 'The queue refuses the login',
    message: 'the queue {queue} refuses the login: {problem}',
    observed: 'NOAUTH, WRONGPASS, NOPERM, or "password authentication failed for user".',
    causes: [
      'The user name or the password in --queue is missing or wrong.',
      'The user has no right to create what the queue needs: keys that begin with sluice, or the PostgreSQL schema sluice.',
    ],
    fixes: [
      'Write the user name and the password into the URL: `redis://USERNAME:PASSWORD@HOST:6379`. Keep it in the environment (SLUICE_QUEUE).',
    ],
    example: { queue, problem: 'WRONGPASS invalid username-password pair or user is disabled.' },
  },
  QUEUE_FULL: {
    exit: 4,
    retry: 'later',
    title: 'The queue has no room left',
    message: 'the queue {queue} has no room left: {problem}',
    observed: '"OOM command not allowed when used memory > \'maxmemory\'", MISCONF, or "No space left on device".',
    causes: [
      { cause: 'The memory that Redis may use is full. A range takes about 2 kB.', if: /OOM/ },
      { cause: 'Redis cannot write to its disk, for example because the disk is full.', if: /MISCONF/ },
      { cause: 'The disk of PostgreSQL is full.', if: /space|extend/ },
    ],
    fixes: [
      {
        fix: 'Give Redis more memory: `redis-cli -u URL config set maxmemory 4gb`, and the same in redis.conf. Workers then continue.',
        if: /OOM/,
      },
      { fix: 'Make room on the disk of the queue. Workers then continue.', if: /MISCONF|space|extend/ },
    ],
    example: { queue, problem: "OOM command not allowed when used memory > 'maxmemory'." },
  },
  QUEUE_UNSAFE: {
    title: 'The queue may lose jobs',
    message: 'the queue {queue} may lose jobs: {problem}',
    observed: 'Jobs vanish from the queue after a restart of Redis, or when its memory is full.',
    causes: [
      {
        cause: 'Redis removes keys if its memory is full. Ranges of a job are then lost, and nothing reports this.',
        if: /maxmemory-policy/,
      },
      { cause: 'Redis writes nothing to its disk, so a restart forgets all jobs.', if: /appendonly/ },
      { cause: 'PostgreSQL may lose data that it has confirmed.', if: /fsync|synchronous_commit/ },
    ],
    fixes: [
      { fix: 'Set `maxmemory-policy noeviction` in redis.conf.', if: /maxmemory-policy/ },
      { fix: 'Set `appendonly yes` and `appendfsync everysec` in redis.conf.', if: /appendonly/ },
      { fix: 'Set `fsync = on` and `synchronous_commit = on` in postgresql.conf.', if: /fsync|synchronous_commit/ },
    ],
    example: { queue, problem: 'maxmemory-policy is allkeys-lru' },
  },
  WORKER_WITHOUT_PROXY: {
    isNotice: true,
    title: 'A worker connects to the cluster without a proxy',
    message: 'worker {worker} reaches {url} without a proxy, so it has no static address',
    observed: '`sluice doctor --queue` lists a worker as direct, while others use a proxy.',
    causes: [
      'STATIC_PROXY_URL is not set in the environment of this worker. The queue does not pass it to workers.',
      'NO_PROXY on that machine excludes the cluster, or --direct is set.',
    ],
    fixes: [
      'Set STATIC_PROXY_URL on that machine, for example in /etc/sluice/worker.env, and restart the worker.',
      'To prevent workers from starting without a proxy, set SLUICE_REQUIRE_PROXY=true on each machine.',
    ],
    example: { worker: 'loader-3 (4711)', url: 'https://logs.es.example:9243' },
  },
  WORKER_ADDRESS_UNEXPECTED: {
    title: 'Requests of a worker leave from an unexpected address',
    message: 'worker {worker} reaches {url} from {seen}, but the static addresses are {expected}',
    observed: '`sluice doctor --queue` lists a worker with an address that is not one of STATIC_IPS.',
    causes: [
      'STATIC_PROXY_URL of this worker and STATIC_IPS belong to different subscriptions.',
      'STATIC_IPS on the machine of the doctor does not contain the two addresses in the dashboard of the proxy.',
    ],
    fixes: [
      'Copy STATIC_PROXY_URL from the dashboard that shows the static addresses. Set it on the machine of the worker, and restart the worker.',
      'If the worker is right, copy both addresses (STATIC_IPS) from the dashboard of its proxy, and run the doctor again.',
    ],
    example: {
      worker: 'loader-3 (4711)',
      url: 'https://logs.es.example:9243',
      seen: ['198.51.100.24'],
      expected: ['203.0.113.7', '203.0.113.8'],
    },
  },
  WORKER_ADDRESSES_UNKNOWN: {
    isNotice: true,
    title: 'The addresses of a worker are unknown',
    message: 'Sluice does not know from which addresses worker {worker} reaches {url}: {problem}',
    observed: '`sluice doctor --queue` lists a worker without addresses.',
    causes: [
      { cause: 'IP_CHECK_URL is not set on that machine.', if: /IP_CHECK_URL/ },
      {
        cause:
          'The worker could not reach the cluster when it checked its addresses, for example because they are blocked.',
        unless: /IP_CHECK_URL/,
      },
    ],
    fixes: [
      { fix: 'Set IP_CHECK_URL on that machine, and restart the worker.', if: /IP_CHECK_URL/ },
      { fix: 'Run `sluice doctor` on that machine, with the environment of the worker.', unless: /IP_CHECK_URL/ },
    ],
    example: {
      worker: 'loader-3 (4711)',
      url: 'https://logs.es.example:9243',
      problem: 'IP_CHECK_URL is not set there',
    },
  },
  WORKER_CLOCK_SKEW: {
    isNotice: true,
    title: 'The clock of a worker is wrong',
    message: 'the clock of worker {worker} is {seconds} s {direction} that of the queue',
    observed: 'Ranges that are tried again begin too early or too late, and lists of jobs show wrong times.',
    causes: ['The machine of the worker, or that of the queue, does not set its clock from the network (NTP).'],
    fixes: ['Turn on time synchronisation on both machines. On Linux with systemd, run `timedatectl set-ntp true`.'],
    example: { worker: 'loader-3 (4711)', seconds: 412, direction: 'behind' },
  },
  WORKER_UNLIMITED: {
    isNotice: true,
    title: 'A worker does whatever a job on the queue asks for',
    message: 'worker {worker} has no key of the queue, and starts without {missing}',
    observed: '`sluice worker` warns when it starts, and `sluice doctor --queue` lists the worker.',
    causes: [
      'Without limits, anyone who can write to the queue can make the worker load any file that it can read, into any index that its key may fill.',
    ],
    fixes: [
      'Start the worker with limits: `sluice worker --only-inputs PATTERNS --only-index PATTERNS --letters-folder FOLDER`.',
      'Share a key between all processes of the queue: `openssl rand -hex 32 > queue.key`, then set SLUICE_QUEUE_KEY_FILE on each machine.',
    ],
    example: { worker: 'loader-3 (4711)', missing: ['--only-inputs', '--only-index', '--letters-folder'] },
  },
  JOB_SIGNATURE_WRONG: {
    title: 'A job has the wrong signature',
    message: 'Sluice does not trust job {job}: {problem}',
    observed: 'A worker with --queue-key-file leaves a job to other workers, or a command refuses to join it.',
    causes: [
      'The processes of the queue do not all have the same --queue-key-file, or the key was changed while the job was open.',
      'Somebody who can write to the queue, but does not know the key, made or changed the job.',
    ],
    fixes: [
      'Set the same SLUICE_QUEUE_KEY_FILE for `sluice ingest`, `sluice worker` and `sluice jobs` on each machine.',
      'If the job is from before the key, or from somebody else, remove it: `sluice jobs JOB --remove`. Then run the `sluice ingest` command again.',
      'Protect the queue with a password, and change the password if you do not know who made the job.',
    ],
    example: { job, problem: 'it is not signed' },
  },
  JOB_MALFORMED: {
    title: 'Sluice cannot read a job on the queue',
    message: '{job} on the queue is no job that Sluice can read: {problem}',
    observed: 'A worker leaves an entry of the queue to others, and `sluice jobs` lists it without an index.',
    causes: [
      'A process with another version of Sluice made the job.',
      'Something else than Sluice writes to the queue, or somebody changed the job.',
    ],
    fixes: [
      'Use the same version of Sluice for the job and its workers.',
      'If nobody needs the entry, remove it: `sluice jobs JOB --remove`.',
    ],
    example: { job, problem: 'its field sources is missing or wrong' },
  },
  JOB_RANGES_FAILED: {
    title: 'Some parts of a job could not be loaded',
    message: '{failed} of {ranges} ranges failed: {first}',
    observed: 'The receipt of a job lists ranges with their failures.',
    causes: [
      'The receipt names the failure of each range. An object may have been replaced after the job was planned.',
    ],
    fixes: [
      {
        fix: 'Correct or remove the input, then run the same `sluice ingest` command again. The job plans the inputs as they are now. Ranges of inputs that were replaced or removed no longer count.',
        if: /INPUT_/,
      },
      {
        fix: 'Remove the cause, then load the failed ranges again: `sluice jobs JOB --retry`.',
        unless: /INPUT_/,
      },
    ],
    example: { failed: 2, ranges: 1600, first: 'INPUT_CHANGED: s3://logs.example/a.ndjson changed while it was read' },
  },
  JOB_CANCELLED: {
    title: 'Somebody cancelled the job',
    message: 'job {job} was cancelled',
    observed: 'The workers stop, and the receipt of the job counts what is stored.',
    causes: ['Somebody ran `sluice jobs JOB --cancel`.'],
    fixes: ['To load the rest, run the same `sluice ingest` command again.'],
    example: { job },
  },
  JOB_CONTINUES: {
    exit: 5,
    retry: 'later',
    title: 'This process stopped, but the job continues',
    message: '{reason}: this process stopped. Job {job} stays on the queue, and other workers continue it',
    observed: 'Exit code 5 of `sluice ingest --queue`.',
    causes: ['Somebody pressed Ctrl-C, or the system ended the process that waited for the job.'],
    fixes: [
      'Run the same command again. It waits for the same job, and prints its receipt.',
      'To end the job, run `sluice jobs JOB --cancel`.',
    ],
    example: { reason: 'SIGTERM', job },
  },
  JOB_RANGE_LOST: {
    title: 'The queue gave up on a range of a job',
    message: 'the queue gave up on a range: {problem}',
    observed: '"job stalled more than allowable limit" in the list of failed jobs of BullMQ.',
    causes: [
      'Each worker that loaded the range was killed, for example because its memory was too small.',
      'Somebody changed the queue with another tool, or without the key of the queue.',
    ],
    fixes: [
      'Look at the logs of the workers and of the system, for example for the out-of-memory killer.',
      'Then load the range again: `sluice jobs JOB --retry`.',
    ],
    example: { problem: 'job stalled more than allowable limit' },
  },
  JOB_LEASE_LOST: {
    exit: 4,
    retry: 'later',
    title: 'A worker was silent for too long',
    message: 'this worker did not renew its lease on the range for {silentMs} ms, so another worker may load it',
    observed: 'A worker that was stopped, or cut off from the queue, sends nothing more when it continues.',
    causes: [
      'The process was stopped (SIGSTOP), or its machine slept or was overloaded.',
      'The worker cannot reach the queue.',
    ],
    fixes: ['You need not do anything. Another worker loads the range again, under the same ids.'],
    example: { silentMs: 31_000 },
  },
} as const satisfies Entries
