// @module-tag search
/** What the lab's cluster keeps after its faults is, byte for byte, what was to be sent. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ingest } from '../../../src/index.js'
import { type Faults, startLab } from '../../../src/lab/index.js'
import { BODY_DOCS, DOCS, documentLine, documentStream } from '../../support/state/known-documents.js'

/** The connection of the preflight comes first. */
const cut = { after: 1, times: 2, afterBytes: 5_000_000 }
const busy = { times: BODY_DOCS / 2, status: 429, type: 'es_rejected_execution_exception' }
const gone = { bulk: { times: 2, status: 503, stored: true }, drop: { after: 1, times: 1 } }

test.each([
  ['tunnels that are cut within a body', 'http', 'url', 'none', { cut }],
  ['plain tunnels that are cut within a body', 'socks5', 'httpUrl', 'none', { cut }],
  ['busy items, forwarded by the proxy', 'http', 'httpUrl', 'none', { items: busy }],
  ['busy items, with gzip', 'socks5', 'httpUrl', 'gzip', { items: busy, cut }],
  ['answers that were lost', 'socks5', 'httpUrl', 'none', gone],
  ['bodies that are too large', 'socks5', 'httpUrl', 'none', {}],
] as const)(
  'the cluster keeps the bytes that were sent, in spite of %s',
  async (name, proxy, url, compress, faults) => {
    await using lab = await startLab()
    lab.control.plant(faults satisfies Faults)
    if (name === 'bodies that are too large') lab.control.setMaxContentBytes(5_000_000)
    const { cluster } = lab.line
    const receipt = await ingest({
      source: documentStream(() => undefined),
      target: { url: cluster[url], apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) },
      proxy: lab.line.proxy[proxy],
      index: 'bytes',
      ids: 'field',
      idField: 'n',
      onConflict: 'skip',
      batchBytes: 12_000_000,
      batchDocs: BODY_DOCS,
      concurrency: 2,
      compress,
      preflightConnections: 1,
      deadLetters: false,
    })
    expect(receipt).toMatchObject({ read: DOCS, rejected: 0, unsent: 0, unknown: 0 })
    expect(receipt.created + receipt.skipped).toBe(DOCS)
    expect(receipt.retries > 0 || receipt.requests > DOCS / BODY_DOCS).toBe(true)
    expect(lab.control.count('bytes')).toBe(DOCS)
    for (let n = 1; n <= DOCS; n += 1) {
      const line = documentLine(n)
      const kept = lab.control.source('bytes', String(n))
      if (kept?.equals(line.subarray(0, line.length - 1)) !== true)
        throw new Error(`document ${n} is not as it was sent`)
    }
  },
)
