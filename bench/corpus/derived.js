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

/** The corpus as elasticdump reads it: each document in `_source`. */
export async function dumpLines(corpus) {
  const file = join(cacheFolder('derived'), `${nameOf(corpus)}.dump`)
  if (existsSync(file)) return file
  const output = createWriteStream(`${file}.part`)
  for await (const line of linesOf(corpus.file)) {
    if (!output.write(`{"_source":${line}}\n`)) await once(output, 'drain')
  }
  output.end()
  await once(output, 'finish')
  renameSync(`${file}.part`, file)
  return file
}

const bodyBytes = 5_000_000

/** The corpus as bodies of _bulk requests, action lines and all. */
export async function readyBodies(corpus) {
  const folder = join(cacheFolder('derived'), `${nameOf(corpus)}.bodies`)
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
async function* linesOf(file) {
  let rest = ''
  for await (const part of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const lines = (rest + part).split('\n')
    rest = lines.pop()
    yield* lines
  }
}
