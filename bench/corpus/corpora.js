/**
 * The inputs. A corpus is named by its kind and size; the same name is the same bytes on every machine, which sha256.json
 * holds fast. A smaller corpus is the beginning of a larger one.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../cache.js'
import { say } from '../say.js'
import { logDocuments } from './log-documents.js'
import { seededRandom } from './seeded-random.js'
import { smallDocuments } from './small-documents.js'

const kinds = { log: { seed: 1, documents: logDocuments }, small: { seed: 2, documents: smallDocuments } }
const pinsFile = new URL('sha256.json', import.meta.url)

/**
 * The corpus of this kind, with the document that reaches `bytes` as its last: generated if need be, and in the page cache.
 * Resolves to { kind, file, bytes, documents, sum, sha256, pinned }; `sum` is what a sink has to come to that received it.
 * Throws when its bytes are not the pinned ones.
 */
export async function corpus(kind, bytes, { sink, pin = false }) {
  const name = `${kind}-${bytes}`
  const file = join(cacheFolder('corpora'), `${name}.ndjson`)
  if (!existsSync(file)) await generate(kind, bytes, file)
  const sha256 = await sha256Of(file)
  const pins = JSON.parse(readFileSync(pinsFile, 'utf8'))
  if (pin && pins[name] === undefined) {
    pins[name] = sha256
    writeFileSync(pinsFile, `${JSON.stringify(pins, undefined, 2)}\n`)
  }
  if (pins[name] !== undefined && pins[name] !== sha256) {
    throw new Error(
      `${file} has sha256 ${sha256}, not ${pins[name]}: remove it, and if it comes again, the generator changed`,
    )
  }
  return { kind, file, sha256, pinned: pins[name] !== undefined, ...sumOf(file, sha256, sink) }
}

async function generate(kind, bytes, file) {
  say(`making ${file}`)
  const { seed, documents } = kinds[kind]
  const next = documents(seededRandom(seed))
  const output = createWriteStream(`${file}.part`)
  let made = 0
  let waiting = []
  let waitingBytes = 0
  while (made < bytes) {
    const line = `${JSON.stringify(next())}\n`
    const size = Buffer.byteLength(line)
    waiting.push(line)
    waitingBytes += size
    made += size
    if (waitingBytes < 1 << 20 && made < bytes) continue
    const room = output.write(waiting.join(''))
    waiting = []
    waitingBytes = 0
    if (!room) await once(output, 'drain')
  }
  output.end()
  await once(output, 'finish')
  renameSync(`${file}.part`, file)
}

async function sha256Of(file) {
  const hash = createHash('sha256')
  for await (const part of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(part)
  return hash.digest('hex')
}

// By the sink's own code, so that equal sums mean equal documents and nothing else.
function sumOf(file, sha256, sink) {
  const noted = `${file}.${sha256.slice(0, 12)}.json`
  if (!existsSync(noted)) {
    const { stdout, status } = spawnSync(sink, ['-s', file], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`${file} cannot be read`)
    writeFileSync(noted, stdout)
  }
  return JSON.parse(readFileSync(noted, 'utf8'))
}
