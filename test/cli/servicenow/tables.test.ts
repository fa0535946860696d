/** Tables on the command line: what is refused before anything is asked of anybody. */
import { expect, test } from 'vitest'
import { sluiceHere as sluice } from '../../support/command/in-process.js'

const env = {
  ELASTICSEARCH_URL: 'https://127.0.0.1:9',
  SERVICENOW_INSTANCE_URL: 'https://127.0.0.1:9',
  SERVICENOW_USERNAME: 'u',
  SERVICENOW_PASSWORD: 'p',
}

const cases: readonly [string, readonly string[], Readonly<Record<string, string>>, string][] = [
  [
    'a table beside a file',
    ['servicenow:incident', 'a.ndjson'],
    env,
    "'a.ndjson' cannot be loaded together with a table",
  ],
  ['a query for a file', ['a.ndjson', '--query', 'active=true'], env, '--query: needs a table'],
  ['ids that no row could be found by', ['servicenow:incident', '--ids', 'run'], env, "--ids: is 'run'"],
  ['ids of the environment', ['servicenow:incident'], { ...env, SLUICE_IDS: 'cluster' }, "SLUICE_IDS: is 'cluster'"],
  [
    'an array in a document',
    ['servicenow:incident', '--pick', 'result'],
    env,
    '--pick: selects an array inside a JSON document',
  ],
  ['what is no table', ['servicenow:incident/1'], env, "'servicenow:incident/1' is not a table"],
  [
    'an instance that nobody named',
    ['servicenow:incident'],
    { ELASTICSEARCH_URL: env.ELASTICSEARCH_URL },
    'the ServiceNow instance is not set. Set SERVICENOW_INSTANCE_URL',
  ],
]
test.each(cases)('%s is refused', async (_, args, surroundings, said) => {
  const { code, stderr } = await sluice(['ingest', ...args, '--index', 'i'], { env: surroundings })
  expect({ code, isSaid: stderr.includes(said), stderr }).toMatchObject({ code: 2, isSaid: true })
})
