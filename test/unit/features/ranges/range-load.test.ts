import { expect, test } from 'vitest'
import { ofWhole } from '../../../../src/features/ranges/range-load.js'
import { table } from '../../../../src/options/table.js'

/** What each worker has of its own: how it connects, what it may spend, and what stays on its machine. */
const ofTheWorker = [
  'allowPlaintext apiKey ca caFingerprint cert cloudId key password url username',
  'direct httpsProxy ipCheckUrl noProxy proxy proxyCa requireProxy staticIps',
  'sourceCa sourceThroughProxy sourceToken tokenFile',
  'byteBudget timeBudgetMs',
  'graceMs keepDays keepRuns metrics preflightConnections spoolLimit stateDir timeoutMs',
].flatMap(names => names.split(' '))

/** A worker reads no tables. */
const ofTables = ['displayValue', 'fields', 'maxDeleted', 'pageSize', 'query', 'reconcileEveryMs']

/** It reads another cluster only with access of its own. */
const ofAnotherCluster = 'from fromApiKey fromCa fromPassword fromProxy fromUsername'.split(' ')

/** Inputs of these options are loaded whole. */
const ofWholeInputs = ['transform']

test('an option of a load goes to the queue, is one of the worker, or is refused for ranges', () => {
  const left = Object.entries(table).flatMap(([name, row]) => {
    const isOfLoad = row.as !== false && row.commands.includes('ingest')
    const isQueued = (row.queued ?? false) !== false && row.notByWorkers === undefined
    return isOfLoad && !name.startsWith('servicenow') && !isQueued ? [name] : []
  })
  const refused: readonly string[] = ofWhole
  const others = left.filter(name => !refused.includes(name))
  expect(others.toSorted()).toEqual([...ofTheWorker, ...ofTables, ...ofAnotherCluster, ...ofWholeInputs].toSorted())
})
