// node bench/compression.js [log|small] [FILE…]
// Measures how fast bodies are compressed with gzip on one core, in CPU time, and to which share of their size: by the kernel of the last
// build, by Node's zlib at its levels and strategies, and as floors by libraries of Python and Go. Each FILE is a module of another
// package: it exports functions from bytes to gzip, by name.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, openSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { constants, gzipSync } from 'node:zlib'
import { corpus } from './corpus/corpora.js'
import { benchFolder, goProgram, native, projectFolder, pythonEnvironment } from './prepare.js'

const BODY_BYTES = 5_000_000
const BODIES = 8
const ROUNDS = 3

const { Z_FILTERED, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE } = constants
const zlib = options => body => gzipSync(body, { chunkSize: BODY_BYTES, ...options })
const ways = {
  Sluice: await kernel(),
  ...Object.fromEntries([1, 2, 3, 4, 6].map(level => [`zlib, level ${level}`, zlib({ level })])),
  'zlib, level 1, memory 9': zlib({ level: 1, memLevel: 9 }),
  'zlib, level 1, filtered': zlib({ level: 1, strategy: Z_FILTERED }),
  'zlib, level 1, fixed codes': zlib({ level: 1, strategy: Z_FIXED }),
  'zlib, Huffman only': zlib({ level: 1, strategy: Z_HUFFMAN_ONLY }),
  'zlib, runs only': zlib({ level: 1, strategy: Z_RLE }),
}
const [kind = 'log', ...files] = process.argv.slice(2)
for (const file of files) Object.assign(ways, await import(pathToFileURL(resolve(file))))

const bodies = bodiesOf(await corpus(kind, 50_000_000, { sink: native('null-sink') }))
const all = BODY_BYTES * BODIES
for (const [name, compress] of Object.entries(ways)) {
  let best = Infinity
  let bytes = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const since = process.cpuUsage()
    bytes = bodies.reduce((sum, body) => sum + compress(body).length, 0)
    const { user, system } = process.cpuUsage(since)
    best = Math.min(best, user + system)
  }
  show(name, best / 1e6, bytes)
}
const file = join(mkdtempSync(join(tmpdir(), 'bodies-')), 'bodies')
writeFileSync(file, Buffer.concat(bodies))
const peers = join(benchFolder, 'peers/gzip')
const floors = {
  python: () => [pythonEnvironment(join(peers, 'requirements.txt')), join(peers, 'gzip.py')],
  go: () => [goProgram('gzip')],
}
for (const [name, find] of Object.entries(floors)) {
  try {
    const [program, ...words] = find()
    const said = execFileSync(program, [...words, file, BODY_BYTES, ROUNDS].map(String), { encoding: 'utf8' })
    for (const line of said.trim().split('\n')) {
      const [of, seconds, bytes] = line.split('\t')
      show(of, Number(seconds), Number(bytes))
    }
  } catch (error) {
    process.stdout.write(`${name}: not measured, because ${error.message}\n`)
  }
}
rmSync(dirname(file), { recursive: true })

function show(name, seconds, bytes) {
  const rate = (all / 1e6 / seconds).toFixed(0).padStart(4)
  process.stdout.write(`${name.padEnd(28)} ${rate} MB per CPU second, ${(bytes / all).toFixed(3)}\n`)
}

/** Compresses with the kernel of the last build. */
async function kernel() {
  const { openKernel } = await import(pathToFileURL(join(projectFolder, 'dist/route/gzip/kernel/kernel.js')))
  const opened = openKernel()
  return body => {
    let length = 0
    for (const part of opened.gzip(body)) length += part.length
    return { length }
  }
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
