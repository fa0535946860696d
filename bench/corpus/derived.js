/** Forms of a corpus that some clients need. Making them is not measured. */
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { cacheFolder } from '../cache.js'

const nameOf = ({ kind, sha256 }) => `${kind}-${sha256.slice(0, 12)}`

const making = new Map()

// Two clients that run side by side wait for one and the same.
function onlyOnce(name, make) {
  if (!making.has(name)) making.set(name, make(name))
  return making.get(name)
}

/** The corpus as elasticdump reads it: each document in `_source`. Resolves to the path. */
export const dumpLines = corpus => onlyOnce(`${nameOf(corpus)}.dump`, name => makeDump(corpus, name, () => ''))

/** The same, each with the `id` of its document as its id. */
export const dumpLinesWithIds = corpus =>
  onlyOnce(`${nameOf(corpus)}.ids.dump`, name => makeDump(corpus, name, line => `"_id":"${JSON.parse(line).id}",`))

async function makeDump(corpus, name, idOf) {
  const file = join(cacheFolder('derived'), name)
  if (existsSync(file)) return file
  const output = createWriteStream(`${file}.part`)
  for await (const line of linesOf(corpus.file)) {
    if (!output.write(`{${idOf(line)}"_source":${line}}\n`)) await once(output, 'drain')
  }
  output.end()
  await once(output, 'finish')
  renameSync(`${file}.part`, file)
  return file
}

const bodyBytes = 5_000_000

/** The corpus as bodies of _bulk requests, action lines and all. Resolves to the paths. */
export const readyBodies = corpus => onlyOnce(`${nameOf(corpus)}.bodies`, name => makeBodies(corpus, name))

async function makeBodies(corpus, name) {
  const folder = join(cacheFolder('derived'), name)
  if (!existsSync(folder)) {
    mkdirSync(`${folder}.part`, { recursive: true })
    let lines = []
    let bytes = 0
    let count = 0
    const write = () => {
      if (lines.length > 0)
        writeFileSync(join(`${folder}.part`, String(count++).padStart(6, '0')), `${lines.join('\n')}\n`)
      lines = []
      bytes = 0
    }
    for await (const line of linesOf(corpus.file)) {
      lines.push('{"index":{}}', line)
      bytes += Buffer.byteLength(line) + 14
      if (bytes >= bodyBytes) write()
    }
    write()
    renameSync(`${folder}.part`, folder)
  }
  return readdirSync(folder)
    .toSorted()
    .map(name => join(folder, name))
}

// node:readline would also break lines at U+2028, which JSON leaves as it is.
export async function* linesOf(file) {
  let rest = ''
  for await (const part of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const lines = (rest + part).split('\n')
    rest = lines.pop()
    yield* lines
  }
}
