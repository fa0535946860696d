// The files of a project that uses the package: a program, the same for CommonJS, and what a compiler gets to see.

const load = `
async function main() {
  const lab = await startLab()
  const { url, apiKey, caFile: ca } = lab.line.cluster
  const receipt = await ingest({
    source: [{ a: 1 }, { a: 2 }],
    target: { url, apiKey, ca: readFileSync(ca) },
    proxy: lab.line.proxy.http,
    index: 'packed',
  })
  const { url: instance, username, password } = lab.line.servicenow
  const platform = await connectServiceNow({
    servicenow: { url: instance, username, password, ca: readFileSync(ca) },
    proxy: lab.line.proxy.http,
  })
  const { sys_id: id } = await platform.table('incident').create({ short_description: 'packed' })
  const Connection = connectionThrough({ proxy: lab.line.proxy.socks5 })
  const client = new Client({ node: url, auth: { apiKey }, tls: { ca: readFileSync(ca) }, Connection })
  const { count } = await client.count({ index: 'packed' })
  console.log(receipt.status, receipt.created, typeof id, count)
  await client.close()
  await platform.close()
  await lab.close()
}
void main()
`
const imports = `
import { readFileSync } from 'node:fs'
import { Client } from '@elastic/elasticsearch'
import { type IngestOptions, type Receipt, SluiceError, connect, ingest } from 'sluice'
import { connectionThrough } from 'sluice/connection'
import { startLab } from 'sluice/lab'
import { connectServiceNow } from 'sluice/servicenow'
`
const types = `
export const options: IngestOptions = { source: [], target: { url: 'https://localhost:9200' }, index: 'packed' }
export const loaded: Promise<Receipt> = ingest(options)
export const counted: Promise<{ readonly count: number }> = connect(options).then(({ client }) => client.count())
export const nameOf = (error: unknown) => (error instanceof SluiceError ? error.code : '')
// @ts-expect-error no such option
export const wrong: IngestOptions = { ...options, indx: 'packed' }
`
const program = imports + load + types

/** `doors`: all of them. */
export function consumer(doors) {
  const [first, ...others] = doors
  const each = others.map((door, n) => `export * as door${n} from '${door}'`)
  return {
    'package.json': JSON.stringify({ name: 'project', private: true }),
    'load.mjs': imports.replace(/\{ type .*\}/, '{ ingest }') + load,
    'load.cjs':
      imports.replace(/\{ type .*\}/, '{ ingest }').replaceAll(/import (.*) from (.*)/g, 'const $1 = require($2)') +
      load,
    'types/esm.mts': program,
    'types/cjs.cts': program,
    'types/doors.mts': [`export * from '${first}'`, ...each].join('\n'),
    'types/doors.cts': [`export * from '${first}'`, ...each].join('\n'),
  }
}

/** Settings that projects have, oldest first. The last one has no CommonJS. */
export const compilers = [
  ['--module', 'node16'],
  ['--module', 'nodenext'],
  ['--module', 'esnext', '--moduleResolution', 'bundler'],
]
