/** Failures that no cause stands for here, and why. */
import type { FailureCode } from '../../src/base/failure/failure.js'

export const notPlanted: Partial<Readonly<Record<FailureCode, string>>> = {
  REJECTED_NOT_REPLAYED: 'Told of an earlier run, not of the way: `test/lab/load/unreplayed.test.ts`.',
  CLUSTER_ANSWER_TOO_LONG:
    'Told of an answer to a bulk request, after the way was open: `test/unit/route/cluster/read-answer.test.ts`.',
  REGION_MISMATCH:
    'Read from host names that lead to the services themselves; `test/unit/route/examine/regions.test.ts` has them all.',
  SERVICENOW_LOGIN_FAILED:
    'Told of a browser that does not come back, or comes back with a refusal: `test/cli/servicenow/login.test.ts`.',
  DELETIONS_TOO_MANY: 'Told of a comparison that would delete more than it may: `test/lab/tables/deletions.test.ts`.',
  DELETIONS_INDEX_SHARED: 'Told of an index that holds documents of others: `test/lab/tables/deletions.test.ts`.',
  OUTPUT_UNWRITABLE:
    'Told of the file that `pull --output` writes, not of the way: `test/lab/tables/pull-file.test.ts`.',
  COMMAND_INTERRUPTED:
    'A signal to a command that loads nothing: `test/cli/doctor/doctor.test.ts`, `test/cli/servicenow/login.test.ts`.',
  INPUT_UNENDED: 'Told of one input of a run that ends interrupted: `test/lab/spool/spool.test.ts`.',
  DOCUMENT_HIT_INVALID: 'Told of single lines of a dump: `test/contracts/dumps.suite.ts`.',
  DOCUMENT_INDEX_INVALID: 'Told of single documents: `test/contracts/index-by-field.suite.ts`.',
  TOO_MANY_INDICES: 'Told of what documents name, not of the way: `test/contracts/index-by-field.suite.ts`.',
  DOCUMENT_NOT_IN_INPUT: 'Told of single documents: `test/lab/replay/large-documents.test.ts`.',
  DOCUMENT_NOT_EDITED: 'Told of single documents: `test/lab/load/edits.test.ts`.',
  DOCUMENT_NOT_TRANSFORMED: 'Told of single documents: `test/lab/load/transform.test.ts`.',
  TRANSFORM_NOT_LOADED: "Told of a module of the user's: `test/lab/load/transform.test.ts`.",
  TRANSFORM_STOPPED: 'The same: `test/lab/load/transform-hostile.test.ts`.',
  DOCUMENT_ROW_INVALID: 'Told of single rows of a CSV file: `test/lab/load/csv.test.ts`.',
  UNDO_LOADED_AGAIN: 'Told of a later run in the same state folder: `test/lab/verify/loaded-again.test.ts`.',
  RUN_UNDONE: 'Told of a run in the state folder: `test/lab/verify/undo.test.ts`.',
  INDEX_REPLACED: 'Found at the end of a load, not on the way to it: `test/lab/load/replaced-index.test.ts`.',
  INPUT_REPLACED: 'Told of an object that changes while it is read: `test/lab/load/remote-faults.test.ts`.',
  SOURCE_REFUSED:
    'Told of the server of an input, not of the way to the cluster: `test/lab/load/remote-faults.test.ts`.',
  SOURCE_UNAVAILABLE: 'The same: `test/lab/load/remote-faults.test.ts`.',
  SOURCE_CERT_INVALID: 'The same: `test/lab/load/remote-faults.test.ts`.',
  SOURCE_REDIRECTED: 'The same: `test/lab/load/remote-faults.test.ts`.',
  SOURCE_NEEDS_PACKAGE: 'Told of a package that is not installed: `test/cli/load/without-s3.test.ts`.',
  DOCUMENT_VERSION_INVALID: 'Told of single documents: `test/contracts/versions.suite.ts`.',
  MAPPING_DIFFERS: 'Told of a file and an index, not of the way: `test/contracts/mapping.suite.ts`.',
  MAPPING_NOT_COPIED:
    'Told of the mapping of another cluster, not of the way: `test/contracts/another-cluster.suite.ts`.',
  RUN_NOT_COMPARABLE: 'Told of a run and what it read, not of the way: `test/contracts/compared.suite.ts`.',
  REHEARSAL_REFUSED: 'Told of documents of a dry run: `test/contracts/rehearsal.suite.ts`.',
  PLAN_LIMIT_REACHED: 'Told of what all commands have used in a month: `test/lab/load/traffic-plan.test.ts`.',
  PLAN_SPENT: 'The same: `test/lab/load/traffic-plan.test.ts`.',
  QUEUE_NEEDS_PACKAGE: 'Told of a package that is not installed, as SOURCE_NEEDS_PACKAGE is.',
  QUEUE_UNREACHABLE: 'Told of the queue of a job, not of the way to the cluster: `test/real/jobs.test.ts`.',
  QUEUE_REFUSED: 'The same: `test/real/jobs.test.ts`.',
  QUEUE_FULL: 'The same: `test/real/jobs-faults.proof.ts`.',
  QUEUE_UNSAFE: 'The same: `test/real/jobs.test.ts`.',
  WORKER_WITHOUT_PROXY: 'Told of the workers of a queue: `test/real/jobs-workers.test.ts`.',
  WORKER_ADDRESS_UNEXPECTED: 'The same: `test/unit/cli/application/judge-workers.test.ts`.',
  WORKER_ADDRESSES_UNKNOWN: 'The same: `test/unit/cli/application/judge-workers.test.ts`.',
  WORKER_CLOCK_SKEW: 'The same: `test/unit/cli/application/judge-workers.test.ts`.',
  JOB_RANGES_FAILED: 'Told of the ranges of a job, not of the way: the first failure of a range is named in it.',
  JOB_CANCELLED: 'Told of a job that a person ends: `test/real/jobs.test.ts`.',
  JOB_CONTINUES: 'Told of a command that leaves while its job goes on.',
  WORKER_UNLIMITED: 'Told of the options of a worker: `test/unit/cli/application/judge-workers.test.ts`.',
  JOB_SIGNATURE_WRONG: 'Told of a job on the queue: `test/lab/jobs/hostile-queue.test.ts`.',
  JOB_MALFORMED: 'The same: `test/lab/jobs/hostile-queue.test.ts`.',
  JOB_RANGE_LOST: 'Told of a range whose workers are killed again and again.',
  JOB_LEASE_LOST: 'Told of a worker that was stopped: `test/unit/programs/jobs/queue/lease.test.ts`.',
  INTERNAL: 'A bug that is known would be mended.',
}
