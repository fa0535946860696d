/** What an update of Sluice must not change: it would no longer know its runs and jobs again, and would load them twice. */
import { expect, test } from 'vitest'
import type { IngestOptions } from '../../../src/options/ingest-options.js'
import { readOptions } from '../../../src/options/read-options.js'
import { resolveOptions } from '../../../src/cli/settings/resolve.js'
import { queuedJob } from '../../../src/programs/jobs/plan/queued-options.js'
import { plainIdentity, runKey } from '../../../src/run/state/resume/run-identity.js'

const loads: Readonly<Record<string, Omit<IngestOptions, 'target'>>> = {
  'a file': { source: '/data/a.ndjson', index: 'logs' },
  'a list of files with all options that only say how it is loaded': {
    source: { files: ['/data/a.ndjson', '/data/b.ndjson'] },
    index: 'logs',
    op: 'index',
    ids: 'field',
    idField: 'branch,no',
    idSeparator: '/',
    routingField: 'customer.region',
    versionField: 'changed',
    pipeline: 'geo',
    maxIndices: 7,
    onConflict: 'skip',
    deadLetters: false,
    maxRejected: '1%',
    batchDocs: 10,
  },
  CSV: {
    source: ['/data/a.csv', '/data/b.csv'],
    index: 'logs',
    format: 'csv',
    csv: {
      types: { price: 'double' },
      empty: 'null',
      columns: ['id', 'price'],
      skipHeader: true,
      delimiter: ';',
      inferTypes: false,
      quote: '',
    },
    runId: 'nightly',
  },
  'CSV as usual': {
    source: '/data/a.csv',
    index: 'logs',
    csv: { empty: 'omit', skipHeader: false, encoding: 'utf-8' },
  },
  'an update by a script': {
    source: '/data/a.json',
    index: 'logs',
    op: 'update',
    ids: 'hash',
    idField: 'no',
    script: 'ctx._source.n++',
    retryOnConflict: 5,
    pick: 'hits',
    format: 'json',
  },
  'a stored script with conditions': {
    source: '/data/a.ndjson',
    index: 'logs',
    op: 'update',
    ids: 'field',
    idField: 'no',
    scriptId: 'count',
    ifSeqNoField: '_seq_no',
    ifPrimaryTermField: '_primary_term',
    resendUnknown: true,
  },
}

const commands: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'an index': { index: 'logs' },
  'options of many kinds': {
    index: 'logs',
    op: 'index',
    ids: 'field',
    idField: 'a,b',
    columns: 'a,b',
    types: 'a:long',
    set: ['x=y'],
    drop: ['z'],
    deadLetters: 'd',
    maxRejected: '3',
    maxIndices: '4',
    onConflict: 'skip',
    resendUnknown: true,
    batchDocs: '7',
    maxRate: '5000docs/s',
    tune: true,
    sourceThroughProxy: true,
    apiKey: 'x',
    timeout: '3m',
    sample: '4',
    stateDir: '/state',
  },
  'a guarded load': {
    swapAlias: 'logs',
    checkQuery: '{"query":{}}',
    mapping: '{"properties":{}}',
    runId: 'nightly',
    compress: 'gzip',
    concurrency: '9',
    maxElapsed: '4m',
    onBlock: 'wait=9m',
  },
}

test('runs and jobs have the identity of earlier versions', async () => {
  const runs = Object.entries(loads).map(([name, given]) => {
    const { inputs, documents, state } = readOptions({ target: { url: 'https://cluster:9243' }, ...given })
    const identity = plainIdentity(inputs, documents)
    return [name, JSON.stringify(identity.options), runKey('uuid', identity, state.runId)]
  })
  const jobs = Object.entries(commands).map(([name, flags]) => {
    const effective = resolveOptions({ flags: { url: 'https://cluster:9243', ...flags }, env: {} })
    const job = queuedJob(effective, ['/data/*.ndjson'], '/data')
    return [name, job.name, JSON.stringify(job.data.settings)]
  })
  await expect([...runs, ...jobs].flat().join('\n')).toMatchFileSnapshot('same-runs.txt')
})
