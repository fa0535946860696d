import type { Entries } from '../entry.js'
import { inputEntries } from './input-failures.js'

/** Only some documents of a replay were deleted. */
const inPart = /some of its documents/

/** The run itself: its lock, its state, its budgets. */
export const runEntries = {
  RUN_INTERRUPTED: {
    exit: 5,
    retry: 'later',
    title: 'The run was interrupted',
    message: 'interrupted after {settled} documents: {reason}',
    observed: 'Exit code 130 or 143, and nothing shows how many documents were loaded.',
    causes: [
      { cause: 'Somebody pressed Ctrl-C, or a program sent SIGINT.', if: /SIGINT/ },
      { cause: 'The system or a program ended the process, for example for a shutdown.', if: /SIGTERM|SIGHUP/ },
      { cause: 'The calling program aborted the load.', if: /abort/i },
      { cause: 'The process that spooled stdin (wrote it to disk) stopped before stdin ended.', if: /stdin|spool/i },
    ],
    fixes: [
      {
        fix: 'Run the same command again. Files and spooled stdin (--spool) continue after the last document whose outcome is known. Other stdin, streams and iterables start again.',
        unless: /stdin never ended|keeps no position/,
      },
      {
        fix: 'If the state folder does not outlive the process, name the run (--run-id). Then a second load stores no document twice.',
        unless: /stdin never ended|SIGINT|keeps no position/,
      },
      ...inputEntries.INPUT_UNENDED.fixes.map(fix => ({ fix, if: /stdin never ended/ })),
      {
        fix: 'Run the same command again. It starts from the beginning. With the same --run-id or with --ids field or --ids hash, Sluice stores no document twice.',
        if: /keeps no position/,
      },
      { fix: 'A load of files, or of spooled stdin (--spool), continues where it stopped.', if: /keeps no position/ },
    ],
    example: { reason: 'SIGTERM', settled: 48_210 },
  },
  INDEX_REPLACED: {
    exit: 5,
    retry: 'later',
    title: 'The index was deleted while Sluice loaded into it',
    message: '{index} was replaced during run {run} ({load}). The documents that the run stored before are lost',
    observed:
      'Exit code 0 and a count of all documents. The index holds only the documents that came after somebody deleted it.',
    causes: ['Somebody deleted the index, and the next bulk request made a new one of the same name.'],
    fixes: [
      {
        fix: 'Make sure that nobody deletes the index. Then run the same command again. Sluice loads all documents again under the same ids, so none is stored twice.',
        if: /--ids (run|field|hash)/,
      },
      {
        fix: 'Make sure that nobody deletes the index. Then run the same replay again. It sends all dead letters again. If some have no id of their own, delete the index first, so that none is stored twice.',
        if: /a replay/,
      },
      {
        fix: 'Sluice cannot distinguish documents without ids of their own. Delete the index, and run the same command with --again.',
        if: /--ids cluster/,
      },
    ],
    example: { index: 'logs-app', run: '20261121T093000Z-4f1c2a', load: '--ids run' },
  },
  TRANSFORM_STOPPED: {
    title: 'The function of --transform does not answer',
    message: 'the function of {module} {what}, {place}',
    observed: 'The load hangs, or its process ends without a message.',
    causes: [
      { cause: 'The function has an endless loop, or waits for an answer that does not come.', if: /within/ },
      {
        cause: 'The function is slower than --transform-timeout allows for one document.',
        if: /within/,
      },
      { cause: 'The function ends its own thread, for example with `process.exit()`.', if: /exit code/ },
      {
        cause: 'The module has an error that no `try` catches, for example in a timer or a promise.',
        if: /thread with/,
      },
    ],
    fixes: [
      {
        fix: 'Correct the function, or allow it more time (--transform-timeout). Then run the same command with --again. A load with a changed function counts as a different load. Documents whose ids do not come from a field are then stored a second time.',
        if: /within/,
      },
      {
        fix: 'Correct the function, and throw an error to reject a document. Then run the same command with --again. A load with a changed function counts as a different load. Documents whose ids do not come from a field are then stored a second time.',
        unless: /within/,
      },
    ],
    example: { module: 'shape.mjs', what: 'did not return within 60 s', place: 'at orders.ndjson, line 812' },
  },
  COMMAND_INTERRUPTED: {
    exit: 5,
    retry: 'later',
    title: 'A command that loads nothing was interrupted',
    message: 'interrupted ({reason}): {left}',
    observed: 'Exit code 130 or 143, and nothing shows what was done.',
    causes: ['The process got SIGINT or SIGTERM.'],
    fixes: [
      'If the message says that something may be done already, check that first. Then run the same command again.',
    ],
    example: { reason: 'SIGINT', left: 'some checks were not made' },
  },
  RUN_NOT_FOUND: {
    exit: 2,
    title: 'Sluice does not know this run',
    message: 'there is no run {run} in {folder}',
    observed: 'Tools that keep no record of their runs can neither verify nor undo one.',
    causes: [
      'The name is mistyped.',
      '`sluice runs rm` removed it, or it is older than `--keep-runs` allows.',
      'The run loaded nothing, because it was refused at its start or found nothing new. `sluice runs` lists such runs, too.',
      'The run was loaded on another machine, by another user, or with another --state-dir.',
    ],
    fixes: ['Run `sluice runs` to list the known runs. You can also pass the path of a checkpoint.'],
    example: { run: 'nightly', folder: '/var/lib/sluice' },
  },
  RUN_UNDONE: {
    exit: 2,
    title: 'This run was undone',
    message: 'run {run} was undone on {at}: {how}',
    observed: 'Tools that keep no record of their runs cannot show what they took back.',
    causes: [
      { cause: '`sluice undo` deleted what was left of the run. Loads no longer know the run.', unless: inPart },
      {
        cause: 'The run is a replay, and `sluice undo` of a run deleted the documents that it had sent of that run.',
        if: inPart,
      },
    ],
    fixes: [
      {
        fix: 'Nothing of this run is left to verify or to undo. To load its inputs again, run the command of its load again.',
        unless: inPart,
      },
      { fix: 'Verify or undo the runs whose other documents it replayed.', if: inPart },
    ],
    example: { run: '20261121T100338Z-225173', at: '2026-11-21 10:12:07', how: '2 documents deleted' },
  },
  RUN_IDS_UNKNOWN: {
    exit: 2,
    title: "Sluice cannot determine the run's ids without its input",
    message: 'Sluice cannot find the documents of run {run} without its input, because it was loaded with {ids}',
    observed: 'Tools that let the cluster make the ids cannot find their documents afterwards.',
    causes: [
      {
        cause:
          'Ids from a field exist only in the documents. Sluice reads them again from files that are as they were when the run ended.',
        if: /--ids (?:field|hash)/,
      },
      { cause: 'Ids that the cluster makes exist only in the index.', if: /cluster/ },
      { cause: 'A function may leave documents out, or make several documents from one.', if: /--transform/ },
      {
        cause: 'The run was a replay. Its documents have their first ids, and belong to the run that rejected them.',
        if: /replay|dead letters|first/,
      },
    ],
    fixes: [
      {
        fix: 'If the run read another cluster, pass --deep, and --from with the URL of that cluster.',
        if: /in a dump/,
      },
      {
        fix: 'Put the file back as it was loaded, under the same path, and run the same command again.',
        if: /has changed|no longer there/,
      },
      { fix: 'Run the load again, so that it finishes. Then run this command again.', if: /not finished/ },
      {
        fix: 'Compare the counts in the receipt with the index. In future, load with --ids run (the default), so that you can verify and undo runs without their inputs.',
        unless: /--transform|dead letters/,
      },
      {
        fix: 'Verify or undo the run that rejected the documents. It counts the replayed documents, too. Each record of the dead letters names that run.',
        if: /dead letters/,
      },
      { fix: 'Compare the counts in the receipt with the index.', if: /--transform/ },
    ],
    example: { run: '20261121T093000Z-4f1c2a', ids: '--ids field' },
  },
  RUN_NOT_COMPARABLE: {
    exit: 2,
    title: 'The run cannot be compared with what it read',
    message: 'Sluice cannot compare the documents of run {run} with those that it read: {why}',
    observed: 'A comparison would list documents as different that are as they should be.',
    causes: [
      { cause: 'The run read files or tables. Sluice compares only indices of another cluster.', if: /something else/ },
      { cause: 'An option of the run changed its documents, or stored only parts of them.', if: /--/ },
      { cause: '--from names another cluster than the run read.', if: /another cluster than/ },
      { cause: 'Somebody deleted the index, and made a new one of the same name.', if: /made anew/ },
    ],
    fixes: [
      { fix: 'Pass the URL of the cluster that the run read: the receipt names it.', if: /another cluster than/ },
      { fix: 'Leave --deep out. Sluice then looks up the ids of the run.', if: /something else/ },
      { fix: 'Compare the counts in the receipt with the index.', unless: /another cluster than/ },
    ],
    example: { run: '20261121T093000Z-4f1c2a', why: '--set may have changed its documents' },
  },
  RUN_ELSEWHERE: {
    exit: 2,
    title: 'The run belongs to another cluster',
    message: 'run {run} was loaded into {loaded}, but {cluster} is another cluster',
    observed: 'In the wrong cluster, every document seems to be missing.',
    causes: ['--url or ELASTICSEARCH_URL names another cluster.'],
    fixes: ["Set the URL and the credentials of the run's own cluster. `sluice runs --json` shows its URL."],
    example: {
      run: '20261121T093000Z-4f1c2a',
      loaded: 'https://cluster.example:9243',
      cluster: 'https://staging.example:9243',
    },
  },
  RUN_LOCKED: {
    exit: 6,
    retry: 'later',
    title: 'Another run is loading the same input into the same index',
    message: '{input} is being {doing}: process {pid} on {host}, since {since} (lock {lock})',
    observed: 'Tools without a lock load the same file twice at once, and store documents twice.',
    causes: [
      'A scheduled run takes longer than its interval, or somebody started another run by hand.',
      'Two commands name the same file, for example with globs that overlap.',
      { cause: '`sluice undo` is undoing the run.', if: /being undone|undo/ },
      'A run was killed on another machine or in a container whose processes Sluice cannot see.',
    ],
    fixes: [
      'Wait until that run has ended. If something is left to load, run the same command again.',
      'If you are certain that the process no longer exists, remove the lock file that the message names. Sluice itself removes locks of processes that were killed on this machine.',
    ],
    example: {
      input: 'logs/app.ndjson',
      doing: 'loaded into logs-app by run 20261121T093000Z-4f1c2a',
      pid: 4711,
      host: 'loader-1',
      since: '2026-11-21T09:30:00.000Z',
      lock: '/var/lib/sluice/locks/5d1e0c2f9a7b4d63.claims',
    },
  },
  TIME_BUDGET_SPENT: {
    exit: 5,
    retry: 'later',
    title: 'The time budget is spent',
    message: 'the time budget of {seconds} s is spent after {settled} documents',
    observed: 'The platform ends the process (exit code 137, "Task timed out"), and nothing shows what was loaded.',
    causes: [
      'The load needs more time than --time-budget allows.',
      'The cluster answers slowly or not at all. The receipt then counts documents of unknown outcome.',
    ],
    fixes: [
      'Run the same command again until it ends with exit code 0 or 1. Files continue after the last document whose outcome is known.',
      'If a run makes no progress, raise --time-budget. It has to cover the start, the first checks and one request.',
      'If the state folder does not outlive the process, pass a lasting folder with --state-dir. Otherwise each run starts from the beginning.',
    ],
    example: { seconds: 840, settled: 48_210 },
  },
  BYTE_BUDGET_SPENT: {
    exit: 5,
    retry: 'later',
    title: 'The byte budget is spent',
    message:
      'the byte budget of {budget} bytes is spent after {settled} documents: {used} bytes are used, and the next request needs about {needed}',
    observed: 'The monthly plan of the proxy is used up early, and the proxy then refuses requests.',
    causes: [
      'The load sends and receives more bytes than --byte-budget allows. TLS, the first checks and answers count too.',
    ],
    fixes: [
      'Run the same command again, with a new budget. Files continue after the last document whose outcome is known.',
      'To send fewer bytes, pass --compress gzip or a smaller --preflight-connections.',
      'If a run makes no progress, raise --byte-budget. The budget has to cover the first checks and one request.',
    ],
    example: { budget: 1_000_000_000, used: 998_212_004, needed: 5_000_412, settled: 48_210 },
  },
  PLAN_LIMIT_REACHED: {
    exit: 5,
    retry: 'later',
    title: "The limit of the proxy's monthly plan is reached",
    message:
      "the limit of the proxy's plan ({limit} of {plan} bytes) is reached after {settled} documents: {used} bytes are used, and the next request needs about {needed}",
    observed: 'The proxy refuses requests for the rest of the month, or charges more.',
    causes: ['All jobs together have used the part of the plan that --plan-limit allows.'],
    fixes: [
      'Run the same command again when the next month of the plan has begun. Files continue after the last document whose outcome is known.',
      'If you have bought a larger plan, raise --plan. To use more of it, raise --plan-limit.',
    ],
    example: { limit: 95_000_000_000, plan: 100_000_000_000, used: 94_998_212_004, needed: 5_000_412, settled: 48_210 },
  },
  PLAN_SPENT: {
    exit: 4,
    retry: 'later',
    title: "The proxy's monthly plan is spent",
    message:
      "the proxy's plan is spent: {used} bytes are used, and --plan-limit allows {limit} of {plan}. The next month of the plan begins on {next}",
    observed: 'The proxy refuses requests for the rest of the month, or charges more.',
    causes: ['All jobs together have used the part of the plan that --plan-limit allows.'],
    fixes: [
      'Run the same command again when the next month of the plan has begun.',
      'If you have bought a larger plan, raise --plan. To use more of it, raise --plan-limit.',
      'If the plan is spent early, pass --compress gzip or --max-rate to large loads, or a smaller --preflight-connections to frequent ones.',
    ],
    example: { limit: 95_000_000_000, plan: 100_000_000_000, used: 95_004_313_877, next: '2026-12-01' },
  },
  STATE_UNWRITABLE: {
    title: 'Sluice cannot write the state of the run',
    message: 'cannot write {path}: {problem}',
    observed:
      'EACCES, EROFS or ENOSPC. Tools that keep no state never see these errors, and start again after every failure.',
    causes: [
      {
        cause: 'The state folder is read-only or belongs to another user.',
        if: /permission|read-only|EACCES|EPERM|EROFS|not a folder|does not exist/i,
      },
      {
        cause: 'Other users can write to the state folder, so they could make Sluice load a file twice, or not at all.',
        if: /must be only yours|anyone can write/,
      },
      { cause: 'The disk is full.', if: /disk is|ENOSPC|quota/i },
      { cause: 'This process may not write a file of this size (`ulimit -f`).', if: /larger than this process/ },
      {
        cause: 'Spooled stdin has reached its limit (--spool-limit), and Sluice cannot delete any of it yet.',
        if: /--spool-limit/,
      },
    ],
    fixes: [
      {
        fix: 'Run the command that the message shows, or name a folder of your own with --state-dir (SLUICE_STATE_DIR). Then run the same command again.',
        if: /must be only yours|anyone can write/,
      },
      {
        fix: 'Free disk space, or name a writable folder that outlives the process with --state-dir (SLUICE_STATE_DIR). Then run the same command again. It continues.',
        if: /^(?!.*(must be only yours|anyone can write))/s,
      },
      {
        fix: 'If Sluice did not read stdin to its end, the same command loads the spooled part. Pipe the rest of stdin to it, or all of stdin with --run-id, --ids field or --ids hash.',
        if: /spool/,
      },
    ],
    example: { path: '/var/lib/sluice/runs/5d1e.json', problem: 'the file system is read-only' },
  },
  STATE_UNREADABLE: {
    title: 'Sluice cannot read the state of the run',
    message: 'the checkpoint {path} cannot be used: {problem}',
    observed: 'EACCES, or "Unexpected token" from a damaged file. Some tools then silently start from the beginning.',
    causes: [
      { cause: 'A newer version of Sluice wrote the file.', if: /version|newer/i },
      { cause: 'The file belongs to another user.', if: /permission|EACCES|EPERM/i },
      { cause: 'The file was edited or damaged.', if: /JSON|token|not |missing|field|folder/i },
    ],
    fixes: [
      'Use the newer version of Sluice, grant permission to read the file, or restore it from a backup.',
      'Or delete the file. The next run then starts from the beginning, with new ids. It stores already loaded documents a second time.',
    ],
    example: { path: '/var/lib/sluice/runs/5d1e.json', problem: 'permission denied' },
  },
  DEAD_LETTERS_UNWRITABLE: {
    title: 'Sluice cannot write the dead letters',
    message: 'cannot write the dead letters to {path}: {problem}',
    observed: 'Rejected documents that are in neither the index nor any file. They are lost silently.',
    causes: [
      { cause: 'The disk is full.', if: /disk is|ENOSPC|quota/i },
      { cause: 'This process may not write a file of this size (`ulimit -f`).', if: /larger than this process/ },
      {
        cause: 'The folder is read-only or missing.',
        if: /permission|read-only|EACCES|EPERM|EROFS|folder|does not exist/i,
      },
    ],
    fixes: [
      'Free disk space, or pass a writable file with --dead-letters FILE. Then run the same command again. It sends the rejected documents again.',
    ],
    example: { path: 'rejected/app.ndjson', problem: 'the disk is full' },
  },
  OUTPUT_UNWRITABLE: {
    title: 'Sluice cannot write the file of rows',
    message: 'cannot write {path}: {problem}',
    observed: 'ENOSPC or EACCES, and a file that ends inside a row in place of the previous complete file.',
    causes: [
      { cause: 'The disk is full.', if: /disk is|ENOSPC|quota/i },
      { cause: 'This process may not write a file of this size (`ulimit -f`).', if: /larger than this process/ },
      {
        cause: 'The folder is read-only or missing.',
        if: /permission|read-only|EACCES|EPERM|EROFS|folder|does not exist/i,
      },
      { cause: 'The path is not a file.', if: /director|EISDIR|not a file|is a folder/i },
    ],
    fixes: [
      'Free disk space, or pass a writable file with --output FILE. Then run the same command again. It continues after the last row. A previous file is unchanged.',
    ],
    example: { path: 'incidents.ndjson', problem: 'the disk is full' },
  },
  CLOCK_SKEW: {
    isNotice: true,
    title: 'The clock of this machine is wrong',
    message: 'the clock of this machine is {seconds} s {direction} that of {comparedWith}',
    observed:
      'CERT_NOT_YET_VALID or CERT_HAS_EXPIRED for valid certificates. Documents that get their time from this machine have the wrong time.',
    causes: [
      'The machine does not set its clock from the network (NTP), or was asleep or suspended.',
      'A virtual machine or container takes the wrong time from its host.',
    ],
    fixes: [
      'Turn on time synchronisation on this machine or its host. On Linux with systemd, run `timedatectl set-ntp true`.',
    ],
    example: { seconds: 412, direction: 'behind', comparedWith: 'the cluster' },
  },
  INTERNAL: {
    exit: 70,
    title: 'Sluice has a bug',
    message: '{problem}',
    observed: 'A stack trace, or a wrong result that nobody notices.',
    causes: ['Sluice reached a state that it should never be in.'],
    fixes: ['Report it with the whole output, including the stack. It contains no secrets and no documents.'],
    example: { problem: "TypeError: Cannot read properties of undefined (reading 'status')" },
  },
} as const satisfies Entries
