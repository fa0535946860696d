/**
 * How each loader is started: with the settings that its documentation has for a proxy and for retries, and the same number of
 * documents in a request. `version`: its name in machine.js. `start` gets
 *
 *   programs, line   what prepare.js found, and the lab's addresses
 *   input            { file, bytesEach }
 *   batch            documents in a request
 *   refused          file for what is refused
 *   bigIntegers      whether there are integers that a double does not hold
 *   ids              'own': without ids in the data; 'field': from the field `id`
 *   folder           its working folder
 *   before           what the run before printed, where this one is the second
 */
import { join } from 'node:path'
import { benchFolder } from '../prepare.js'

const index = 'faults'
const peer = name => join(benchFolder, 'faults', 'peers', name)

const wayOf = ({ proxy, cluster }) => ({
  ELASTICSEARCH_URL: cluster.url,
  ELASTICSEARCH_API_KEY: cluster.apiKey,
  CLUSTER_CA: cluster.caFile,
  PROXY: proxy.http,
})

export const tools = {
  sluice: {
    title: 'Sluice',
    version: 'Sluice',
    about: '`sluice ingest`, all settings as they come but `--batch-docs` and `--dead-letters`',
    start: ({ programs, line, input, batch, refused, ids, folder, runId }) => ({
      command: [
        process.execPath,
        programs.sluice,
        'ingest',
        input.file,
        '--index',
        index,
        '--batch-docs',
        String(batch),
        '--dead-letters',
        refused,
        ...(ids === 'field' ? ['--ids', 'field', '--id-field', 'id', '--op', 'index'] : []),
        ...(runId === undefined ? [] : ['--run-id', runId]),
      ],
      env: {
        STATIC_PROXY_URL: line.proxy.http,
        ELASTICSEARCH_URL: line.cluster.url,
        ELASTICSEARCH_API_KEY: line.cluster.apiKey,
        SLUICE_CA: line.cluster.caFile,
        XDG_STATE_HOME: join(folder, 'state'),
      },
    }),
  },
  helpers: {
    title: 'helpers.bulk',
    version: '@elastic/elasticsearch',
    about:
      '`client.helpers.bulk` over `HttpConnection` with `proxy`; `retries: 5`, `wait: 1000`, `onDrop` writes to a file',
    start: ({ line, input, batch, refused, ids }) => ({
      command: [
        process.execPath,
        peer('helpers-bulk.js'),
        input.file,
        index,
        String(batch * (input.bytesEach + 30)),
        refused,
        ids,
      ],
      env: wayOf(line),
    }),
  },
  elasticdump: {
    title: 'elasticdump',
    version: 'elasticdump',
    about: '`HTTPS_PROXY`, `--retryAttempts=5 --retryDelay=1000`; its input is in its own form, `{"_source": …}`',
    // It is told to go on behind the last line that it said it had sent, as its documentation has it.
    start: ({ line, input, batch, bigIntegers, before = '' }) => {
      const sent = [...before.matchAll(/sent (\d+) objects, (\d+) offset/g)].at(-1)
      return {
        command: [
          process.execPath,
          join(benchFolder, 'node_modules', 'elasticdump', 'bin', 'elasticdump'),
          `--input=${input.dump}`,
          `--output=${line.cluster.url}/${index}`,
          '--type=data',
          `--limit=${batch}`,
          '--retryAttempts=5',
          '--retryDelay=1000',
          ...(bigIntegers ? ['--support-big-int'] : []),
          ...(sent === undefined ? [] : [`--offset=${Number(sent[1]) + Number(sent[2])}`]),
        ],
        env: {
          HTTPS_PROXY: line.proxy.http,
          NODE_EXTRA_CA_CERTS: line.cluster.caFile,
          ELASTICDUMP_OUTPUT_USERNAME: line.cluster.username,
          ELASTICDUMP_OUTPUT_PASSWORD: line.cluster.password,
        },
      }
    },
  },
  python: {
    title: 'streaming_bulk',
    version: 'elasticsearch (Python)',
    about:
      '`helpers.streaming_bulk` over the `requests` node with `HTTPS_PROXY`; `max_retries=5` in client and helper, `raise_on_error=False`',
    start: ({ programs, line, input, batch, refused, ids }) => ({
      command: [programs.python, peer('streaming_bulk.py'), input.file, index, String(batch), refused, ids],
      env: wayOf(line),
    }),
  },
}
