import type { Entries } from '../entry.js'

/** The run itself: its lock, its state, its budgets. */
export const runEntries = {
  RUN_INTERRUPTED: {
    stage: 'run',
    exit: 5,
    retry: 'later',
    title: 'The run was interrupted',
    message: 'interrupted ({reason}) after {settled} documents',
    observed: 'Exit code 130 or 143, and no word of how much was loaded.',
    causes: [
      'The process got SIGINT or SIGTERM, or the caller aborted.',
      'What was loaded had been spooled (written to disk as it came in), and the process that did so was stopped before stdin ended.',
    ],
    fixes: [
      'Run the same command again: files go on behind the last document that is settled (stored, or written to the dead letters), and so does stdin where it was spooled (--spool). Without that, stdin starts anew, as do streams and iterables.',
      'Where the state folder does not outlive the process, name the run (--run-id): then a rerun doubles nothing either.',
    ],
    example: { reason: 'SIGTERM', settled: 48_210 },
  },
  RUN_NOT_FOUND: {
    stage: 'run',
    exit: 2,
    retry: 'no',
    title: 'No such run is known',
    message: 'there is no run {run} in {folder}',
    observed: 'Tools that keep no record of their runs can neither verify nor undo one.',
    causes: [
      'The name is mistyped.',
      'The run was loaded on another machine, by another user, or with another --state-dir.',
      'Its checkpoint, the file that records how far a run came, was replaced by the next run of the same command, or forgotten (`sluice runs rm`, `sluice undo`).',
    ],
    fixes: ['`sluice runs` lists the runs that are known. A checkpoint can also be named by its path.'],
    example: { run: 'nightly', folder: '/var/lib/sluice' },
  },
  RUN_IDS_UNKNOWN: {
    stage: 'run',
    exit: 2,
    retry: 'no',
    title: "The run's ids cannot be told without its input",
    message: 'run {run} was loaded with {ids}: without its input nothing tells which documents are its own',
    observed: 'Tools that let the cluster make the ids cannot tell afterwards which documents were theirs.',
    causes: [
      'Ids from a field stand in the documents alone; ids of the cluster are nowhere but there.',
      'It was a replay: its documents have the ids that they were first refused with, and belong to that run.',
    ],
    fixes: ['Compare counts, or load with --ids run (the default): its runs can be verified and undone.'],
    example: { run: '20261121T093000Z-4f1c2a', ids: '--ids field' },
  },
  RUN_ELSEWHERE: {
    stage: 'run',
    exit: 2,
    retry: 'no',
    title: 'The run was loaded into another cluster',
    message: 'run {run} was loaded into {loaded}, and {cluster} is another cluster',
    observed: 'Looked for in the wrong cluster, every document seems to be missing.',
    causes: ['--url, or ELASTICSEARCH_URL, is that of another cluster.'],
    fixes: ["Set the URL and the credentials of the run's own cluster; `sluice runs --json` tells its URL."],
    example: {
      run: '20261121T093000Z-4f1c2a',
      loaded: 'https://cluster.example:9243',
      cluster: 'https://staging.example:9243',
    },
  },
  RUN_LOCKED: {
    stage: 'run',
    exit: 6,
    retry: 'later',
    title: 'Another run is loading the same input into the same index',
    message: '{input} is being loaded into {index} by run {run}: process {pid} on {host}, since {since} (lock {lock})',
    observed: 'Tools without a lock load the same file twice at once, and documents are doubled.',
    causes: [
      'A scheduled run takes longer than the time between two of them, or a person started one by hand.',
      'Two commands name the same file, as globs that overlap do.',
      'A run was killed on another machine or in another container: from here nobody can tell whether it is gone.',
    ],
    fixes: [
      'Let that run end; then run the same command again.',
      'If that process is certainly gone, remove the file that the message names as the lock. Locks of processes that were killed on this machine need no help.',
    ],
    example: {
      input: 'logs/app.ndjson',
      index: 'logs-app',
      run: '20261121T093000Z-4f1c2a',
      pid: 4711,
      host: 'loader-1',
      since: '2026-11-21T09:30:00.000Z',
      lock: '/var/lib/sluice/locks/5d1e.lock',
    },
  },
  TIME_BUDGET_SPENT: {
    stage: 'run',
    exit: 5,
    retry: 'later',
    title: 'The time budget is spent',
    message:
      'the time budget of {seconds} s is spent: {settled} documents are settled, the same command goes on behind them',
    observed: 'The platform ends the process (exit code 137, "Task timed out"), and nothing tells what was loaded.',
    causes: [
      'The load takes longer than --time-budget allows: the run ended in time, before a platform would end it.',
      'The cluster answers slowly or not at all: then the receipt counts documents of unknown outcome.',
    ],
    fixes: [
      'Run the same command again, until it ends with exit code 0 or 1: files go on behind the last document that is settled.',
      'A run that settles nothing needs more time than it has: for the start, the preflight and one request. Raise --time-budget.',
      'Where the state folder does not outlive the process, each run begins anew: name a --state-dir that does.',
    ],
    example: { seconds: 840, settled: 48_210 },
  },
  BYTE_BUDGET_SPENT: {
    stage: 'run',
    exit: 5,
    retry: 'later',
    title: 'The byte budget is spent',
    message:
      'the byte budget of {budget} bytes is spent: {used} went over the wire, the next request needs about {needed}; {settled} documents are settled, the same command goes on behind them',
    observed: 'A plan that is used up before the month is over, and refusals by the proxy from then on.',
    causes: [
      'The load takes more bytes over the wire than --byte-budget allows: TLS, preflight and answers count too.',
    ],
    fixes: [
      'Run the same command again, with a budget of its own: files go on behind the last document that is settled.',
      'Let less go over the wire: --compress gzip, fewer --preflight-connections.',
      'A run that settles nothing has a budget smaller than the preflight and one request: raise it, or lower --batch-bytes.',
    ],
    example: { budget: 1_000_000_000, used: 998_212_004, needed: 5_000_412, settled: 48_210 },
  },
  STATE_UNWRITABLE: {
    stage: 'run',
    exit: 3,
    retry: 'no',
    title: 'The state of the run cannot be written',
    message: 'cannot write {path}: {problem}',
    observed:
      'EACCES, EROFS or ENOSPC; tools that keep no state never see it, and start from the beginning after every fault.',
    causes: ['The state folder is read-only or belongs to another user.', 'The disk is full.'],
    fixes: [
      'Name a writable folder with --state-dir (SLUICE_STATE_DIR), one that outlives the process; or free disk space. The same command then goes on.',
    ],
    example: { path: '/var/lib/sluice/runs/5d1e.json', problem: 'the file system is read-only' },
  },
  STATE_UNREADABLE: {
    stage: 'run',
    exit: 3,
    retry: 'no',
    title: 'The state of the run cannot be read',
    message: 'the checkpoint {path} cannot be used: {problem}',
    observed:
      'EACCES, or "Unexpected token" from a damaged file; some tools then start from the beginning without a word.',
    causes: ['A newer version of Sluice wrote it.', 'It was edited or damaged, or belongs to another user.'],
    fixes: [
      'Use the newer version; or put the file back from a backup.',
      'Deleting it makes the next run start from the beginning, under new ids: what is loaded stays, and is loaded again.',
    ],
    example: { path: '/var/lib/sluice/runs/5d1e.json', problem: 'permission denied' },
  },
  DEAD_LETTERS_UNWRITABLE: {
    stage: 'run',
    exit: 3,
    retry: 'no',
    title: 'Rejected documents cannot be written down',
    message: 'cannot write the dead letters to {path}: {problem}',
    observed: 'Refused documents that are in neither the index nor any file: they are lost without a word.',
    causes: ['The disk is full.', 'The folder is read-only or missing.'],
    fixes: [
      'Free disk space, or name a writable file with --dead-letters FILE. Then run the same command again: what could not be written down is sent again.',
    ],
    example: { path: 'rejected/app.ndjson', problem: 'the disk is full' },
  },
  CLOCK_SKEW: {
    stage: 'run',
    exit: 3,
    retry: 'no',
    title: 'The clock of this machine is wrong',
    message: 'the clock of this machine is {seconds} s {direction} that of {comparedWith}',
    observed:
      'CERT_NOT_YET_VALID or CERT_HAS_EXPIRED for good certificates; documents with times that nobody finds in their searches.',
    causes: [
      'The machine does not set its clock from the network (NTP), or was asleep or suspended.',
      'A virtual machine or container has the wrong time of its host.',
    ],
    fixes: [
      'Turn on time synchronisation on this machine or its host (`timedatectl set-ntp true` on Linux with systemd).',
    ],
    example: { seconds: 412, direction: 'behind', comparedWith: 'the cluster' },
  },
  INTERNAL: {
    stage: 'run',
    exit: 70,
    retry: 'no',
    title: 'A bug in Sluice',
    message: '{problem}',
    observed: 'A stack trace, or a wrong result that nobody notices.',
    causes: ['Sluice met a state that it should never be in.'],
    fixes: ['Report it with the whole output, the stack included: it holds no secrets and no documents.'],
    example: { problem: "TypeError: Cannot read properties of undefined (reading 'status')" },
  },
} as const satisfies Entries<'run'>
