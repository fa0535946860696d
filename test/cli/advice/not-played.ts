/** Advice that is a command and that no play follows, each with the reason. */

const browser = 'needs a browser and the page of another company'
const proxyAccount = 'needs the account of a proxy company'
const filterTasks = 'test/cli/filter plays create, attach, detach and show against the console API of the lab'
const signal = 'needs a process that gets a signal: test/cli/load/interrupt.test.ts stops and continues loads'
const stdin = 'needs a stdin that ends early, in a process of its own: test/cli/load/spool.test.ts continues such loads'
const queue = 'needs Redis or PostgreSQL: test/real/jobs.test.ts and test/real/jobs-endings.test.ts'
const npm = 'would install packages'
const remote =
  'needs a server of objects: test/lab/load/remote.test.ts and remote-kill.test.ts replace and continue objects'
const platform = 'needs a change of the instance by its administrator'
const cluster = 'needs a change of the cluster that the lab cannot make'
const month = 'waits for the next month: test/cli/load/traffic-plan.test.ts holds the clock'
const grant = 'names privileges, and no command to run now'
const shell = 'needs jq or yq, which not every machine has'
const later = 'waits until another process ends: test/cli/load/lock.test.ts'

export const notPlayed: Readonly<Record<string, string>> = {
  'OPTION_INVALID: To try Sluice': 'test/cli/program runs `sluice demo`',
  'PROXY_NOT_USED: Run `sluice config`': 'the play of OPTION_INVALID runs the same command',
  'INPUT_UNREADABLE: Save the data': stdin,
  'INPUT_UNREADABLE: Sluice has loaded': 'test/cli/load/bad-input.test.ts chooses files of an archive',
  'INPUT_UNREADABLE: Pass the archive': 'test/cli/load/bad-input.test.ts chooses files of an archive',
  'RUN_IDS_UNKNOWN: Put the file': 'test/lab/verify/field-ids.test.ts puts the file back',
  'MAPPING_NOT_COPIED: Or create': 'test/contracts/another-cluster.suite.ts copies mappings',
  'MAPPING_NOT_COPIED: Create the index template':
    'test/lab/another-cluster/streams.test.ts makes the template and copies',
  'INPUT_UNENDED: If the run had': stdin,
  'INPUT_UNENDED: The rest of': stdin,
  'INPUT_NOT_JSON: Open it in a spreadsheet program, and save': 'needs a program for spreadsheets',
  'INPUT_NOT_JSON: Open it in a spreadsheet program, remove': 'needs a program for spreadsheets',
  'INPUT_NOT_JSON: Convert it to JSON': shell,
  'INPUT_NOT_JSON: JSON has no comments': npm,
  'INPUT_MALFORMED: JSON has no comments': npm,
  'DOCUMENT_ROW_INVALID: If the type': 'the play of DOCUMENT_ROW_INVALID runs the same command',
  'INPUT_CHANGED: Put the old content back, with': queue,
  'DEAD_LETTER_BROKEN: Run the interrupted': 'has two ways and no single command: test/cli/load/replay.test.ts',
  'INPUT_REPLACED: Put the old': remote,
  'INPUT_REPLACED: Or remove': remote,
  'SOURCE_UNAVAILABLE: Run the same': remote,
  'SOURCE_NEEDS_PACKAGE: Install': npm,
  'PROXY_ACCOUNT_REFUSED: Check': proxyAccount,
  'PROXY_LIMIT_REACHED: Lower': proxyAccount,
  'PROXY_NOT_A_PROXY: Open': browser,
  'CLUSTER_UNAVAILABLE: If a firewall': 'test/lab/doctor/half-open.test.ts plants it',
  'PROXY_UNREACHABLE: Check the network':
    'this machine would lose its network. The play of the other advice runs the same command',
  'PROXY_TIMEOUT: Ask the provider': 'the play of PROXY_UNREACHABLE follows the same advice',
  'PROXY_NODE_FAILS: The load': 'test/diagnosis plants it, and the doctor names the node',
  'EGRESS_NOT_ALLOWED: Or let': filterTasks,
  'EGRESS_PARTLY_ALLOWED: Or let': filterTasks,
  'FILTER_NOT_ENFORCED: In the': filterTasks,
  'FILTER_NOT_ENFORCED: If this': 'has no end to check: nothing is wrong',
  'FILTER_NOT_ATTACHED: Run': filterTasks,
  'FILTER_MISSES_ADDRESS: Run': filterTasks,
  'FILTER_TOO_PERMISSIVE: Run': filterTasks,
  'FILTER_COVERS_CLIENT: Run': 'needs a second machine',
  'FILTER_API_UNAVAILABLE: Run': filterTasks,
  'FILTER_POLICY_UNKNOWN: Pass': filterTasks,
  'FILTER_CHANGED_MEANWHILE: Run': filterTasks,
  'REQUEST_REFUSED: Delete indices': cluster,
  'CLUSTER_PRIVILEGE_MISSING: For --swap': grant,
  'CLUSTER_PRIVILEGE_MISSING: For --tune': grant,
  'CLUSTER_PRIVILEGE_MISSING: For `sluice verify`': grant,
  'GATEWAY_LIMITED: Lower': 'the play of CLUSTER_OVERLOADED follows the same advice',
  'CLUSTER_TIMEOUT: Run': 'the doctor names its findings: test/diagnosis',
  'CLUSTER_LICENSE_ENDED: Renew': cluster,
  'GATEWAY_REFUSED: Open': browser,
  'INDEX_BLOCKED: Remove': cluster,
  'INDEX_REQUEST_REFUSED: Delete': cluster,
  'ALIAS_CONFLICT: If two loads': 'needs two loads at once: test/lab/guarded',
  'ROLLBACK_IMPOSSIBLE: Correct': 'the play of RUN_NOT_FOUND runs the same command',
  'ROLLBACK_IMPOSSIBLE: Run the interrupted': signal,
  'ROLLBACK_IMPOSSIBLE: Name the': 'test/cli/load/swap.test.ts runs it',
  'SERVICENOW_UNREACHABLE: Open': platform,
  'SERVICENOW_UNREACHABLE: Run': 'the doctor names its findings: test/diagnosis',
  'SERVICENOW_AUTH_REJECTED: Set': platform,
  'SERVICENOW_TOKEN_REFUSED: For': browser,
  'SERVICENOW_LOGIN_NEEDED: Run': browser,
  'SERVICENOW_LOGIN_FAILED: Enter': browser,
  'SERVICENOW_RATE_LIMITED: Run': platform,
  'SERVICENOW_HIBERNATING: Log': browser,
  'SERVICENOW_REQUEST_REFUSED: Correct': platform,
  'DELETIONS_INDEX_SHARED: If': 'needs tables: test/lab/tables',
  'QUEUE_NEEDS_PACKAGE: Install them where Sluice is installed: `npm install bullmq ioredis`': npm,
  'QUEUE_NEEDS_PACKAGE: Install them where Sluice is installed: `npm install bullmq pg`': npm,
  'WORKER_ADDRESSES_UNKNOWN: Run': queue,
  'JOB_RANGES_FAILED: Correct': queue,
  'JOB_RANGES_FAILED: Remove': queue,
  'JOB_CANCELLED: To load': queue,
  'JOB_CONTINUES: Run': queue,
  'JOB_CONTINUES: To end': queue,
  'JOB_RANGE_LOST: Then': queue,
  'JOB_SIGNATURE_WRONG: Set': queue,
  'JOB_SIGNATURE_WRONG: If': queue,
  'JOB_MALFORMED: If': queue,
  'WORKER_UNLIMITED: Start': queue,
  'CLUSTER_ANSWER_TOO_LONG: Ask': 'needs a change of a gateway by its operator',
  'DOCUMENT_NOT_IN_INPUT: Put': 'test/lab/replay/large-documents.test.ts puts the input back and replays it',
  'RUN_INTERRUPTED: Run the same command again. Files': signal,
  'RUN_INTERRUPTED: If the run': stdin,
  'RUN_INTERRUPTED: The rest': stdin,
  'RUN_INTERRUPTED: Run the same command again. It starts': signal,
  'INDEX_REPLACED: Make sure': 'needs an index that is deleted during a load: test/lab/load/replaced-index.test.ts',
  'INDEX_REPLACED: Sluice cannot': 'needs an index that is deleted during a load: test/lab/load/replaced-index.test.ts',
  'COMMAND_INTERRUPTED: If': signal,
  'RUN_ELSEWHERE: Set': 'needs a second cluster, and only names where to look',
  'RUN_LOCKED: Wait': later,
  'TIME_BUDGET_SPENT: Run': 'depends on time: test/cli/load/budgets.test.ts',
  'PLAN_LIMIT_REACHED: Run': month,
  'PLAN_SPENT: Run': month,
  'STATE_UNWRITABLE: Run the command':
    'the message shows a command for the owner of the folder, which needs another user',
  'STATE_UNWRITABLE: If Sluice': stdin,
  'OUTPUT_UNWRITABLE: Free': 'needs tables: test/cli/servicenow',
}
