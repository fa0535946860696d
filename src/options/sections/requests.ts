import * as kinds from '../kinds.js'
import { section, toCluster } from '../option.js'

const requests = section('Requests', ['ingest', 'replay', 'serve'])

export const requestsOptions = {
  batchBytes: requests(kinds.size({ min: 1000, max: 100_000_000 }).prefault('5_000_000'), {
    doc: 'send a request at this size',
    label: 'size',
  }),
  batchDocs: requests(kinds.whole({ min: 1, max: 1_000_000 }).optional(), {
    doc: 'send a request at this many documents',
    label: 'count',
  }),
  batchMs: requests(kinds.duration({ bare: true }).prefault('1s'), {
    doc: 'send what is there after this time',
    label: 'duration',
  }),
  concurrency: requests(kinds.whole({ min: 1, max: 256 }).prefault(16), {
    doc: 'most requests under way at once; how many there are follows the cluster',
    label: 'count',
  }),
  compress: requests(kinds.choice('auto', 'gzip', 'none').prefault('auto'), {
    doc: 'compress requests; auto: where the path leaves this machine',
    label: 'auto|gzip|none',
  }),
  timeout: requests(kinds.duration({ bare: false }).prefault('2m'), {
    doc: 'time limit of one request',
    label: 'duration',
    commands: [...toCluster, 'pull', 'login'],
  }),
  maxElapsed: requests(kinds.duration({ bare: false }).prefault('15m'), {
    doc: 'how long one batch, or one request to the instance, may be tried again',
    label: 'duration',
    commands: ['ingest', 'replay', 'pull', 'login'],
  }),
  onBlock: requests(kinds.onBlock().prefault('stop'), {
    doc: 'when proxy, IP filter, credentials or index refuse in the middle: stop, or wait and probe (30m, or as in wait=2h)',
    label: 'stop|wait[=duration]',
    commands: ['ingest', 'replay'],
  }),
}
