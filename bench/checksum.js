// node bench/checksum.js
// Measures the checksum of inputs, as the last build has it, in CPU time: the best of several rounds. V8 has the flags of the
// command line. A load takes 1.2 to 1.5 CPU seconds per GB.
import { mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { crc32 } from 'node:zlib'

const v8 = Number.parseInt(process.versions.v8, 10)
// As bin/sluice.js sets them.
if (v8 < 12) setFlagsFromString('--interrupt-budget=1000000')
setFlagsFromString('--heap-growing-percent=100')
setFlagsFromString('--semi-space-growth-factor=1')

const { Checksum, checksumOf } = await import('../dist/base/checksum/checksum.js')
const { addStripesPlainly } = await import('../dist/base/checksum/plain-stripes.js')
const { kernelMemory } = await import('../dist/pipeline/bulk/kernel/memory.js')

// As src/cli/application/tune-engine.ts sets them, after the kernels are compiled.
if (v8 < 13) {
  setFlagsFromString('--no-wasm-dynamic-tiering')
  setFlagsFromString('--no-wasm-tier-up')
}

const MB = 1 << 20
const FILES = 100_000

const { reading } = kernelMemory(1, MB)
const [here] = reading.buffers
for (let at = 0; at < here.length; at += 1) here[at] = (at * 7) ^ (at >> 5)
const elsewhere = Buffer.from(here)

await rate('in place, 1 MiB chunks', 2000, () => add(here))
await rate('copied, 1 MiB chunks', 2000, () => add(elsewhere))
await rate('copied, 64 KiB chunks', 2000, () => addInPieces(elsewhere, 64 << 10))
await rate('in place, 1000 bytes at a time', 100, () => addInPieces(here, 1000))
await rate('plain JavaScript', 50, () => addStripesPlainly(new Uint32Array(16), here, 0, here.length))
if (crc32 !== undefined) await rate("CRC-32 of Node's zlib", 500, () => crc32(here))
await ofFile()
for (const bytes of [10, 300, 1000]) {
  await each(`a file of ${bytes} bytes, in place`, () => add(here.subarray(0, bytes)))
  await each(`a file of ${bytes} bytes, copied`, () => add(elsewhere.subarray(0, bytes)))
}

function add(bytes) {
  const checksum = new Checksum()
  checksum.add(bytes)
  return checksum.digest()
}

function addInPieces(bytes, length) {
  const checksum = new Checksum()
  for (let at = 0; at < bytes.length; at += length) checksum.add(bytes.subarray(at, at + length))
  return checksum.digest()
}

/** From the page cache, beside the bare reads. */
async function ofFile() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-checksum-'))
  try {
    const path = join(folder, 'bytes')
    writeFileSync(path, Buffer.concat(Array.from({ length: 256 }, () => elsewhere)))
    const fd = openSync(path)
    const handle = await open(path)
    const room = Buffer.alloc(MB)
    await rate('a file of 256 MiB, only read', 256, at => readSync(fd, room, 0, MB, at * MB))
    await rate('a file of 256 MiB, read and added', 1, () => checksumOf(handle, [256 * MB]), 256)
    await handle.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function rate(name, times, run, megabytes = 1) {
  const seconds = await leastSeconds(times, run)
  const gigabytes = (times * megabytes * MB) / 1e9
  say(name, `${(gigabytes / seconds).toFixed(2)} GB/s`, `${(seconds / gigabytes).toFixed(3)} s/GB`)
}

async function each(name, run) {
  say(name, `${((1e6 * (await leastSeconds(FILES, run))) / FILES).toFixed(2)} µs`)
}

async function leastSeconds(times, run, rounds = 7) {
  let least = Infinity
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage()
    for (let time = 0; time < times; time += 1) {
      const result = run(time)
      if (result instanceof Promise) await result
    }
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1e6)
  }
  return least
}

function say(name, ...values) {
  process.stdout.write([name.padEnd(36), ...values.map(value => value.padStart(12))].join('') + '\n')
}
