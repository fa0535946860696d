// node bench/compression.js [FILE…]
// Measures how fast bodies of log documents are compressed with gzip, in CPU time, at the levels and strategies of Node's zlib, and to
// which share of their size. Each FILE is a module of another package: it exports functions from bytes to gzip, by name.
import { openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { constants, gzipSync } from 'node:zlib'
import { corpus } from './corpus/corpora.js'
import { native } from './prepare.js'

const BODY_BYTES = 5_000_000
const BODIES = 8
const ROUNDS = 3

const { Z_FILTERED, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE } = constants
const zlib = options => body => gzipSync(body, { chunkSize: BODY_BYTES, ...options })
const ways = {
  ...Object.fromEntries([1, 2, 3, 4, 6].map(level => [`zlib, level ${level}`, zlib({ level })])),
  'zlib, level 1, memory 9': zlib({ level: 1, memLevel: 9 }),
  'zlib, level 1, filtered': zlib({ level: 1, strategy: Z_FILTERED }),
  'zlib, level 1, fixed codes': zlib({ level: 1, strategy: Z_FIXED }),
  'zlib, Huffman only': zlib({ level: 1, strategy: Z_HUFFMAN_ONLY }),
  'zlib, runs only': zlib({ level: 1, strategy: Z_RLE }),
}
for (const file of process.argv.slice(2)) Object.assign(ways, await import(pathToFileURL(resolve(file))))

const bodies = bodiesOf(await corpus('log', 50_000_000, { sink: native('null-sink') }))
for (const [name, compress] of Object.entries(ways)) {
  let best = Infinity
  let bytes = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const since = process.cpuUsage()
    bytes = bodies.reduce((sum, body) => sum + compress(body).length, 0)
    const { user, system } = process.cpuUsage(since)
    best = Math.min(best, user + system)
  }
  const all = BODY_BYTES * BODIES
  process.stdout.write(
    `${name.padEnd(28)} ${(all / best).toFixed(0).padStart(4)} MB per CPU second, ${(bytes / all).toFixed(3)}\n`,
  )
}

/** From all parts of the file. */
function bodiesOf({ file }) {
  const descriptor = openSync(file)
  const apart = Math.floor(statSync(file).size / BODIES)
  return Array.from({ length: BODIES }, (_, at) => {
    const body = Buffer.allocUnsafe(BODY_BYTES)
    readSync(descriptor, body, 0, BODY_BYTES, at * apart)
    return body
  })
}
