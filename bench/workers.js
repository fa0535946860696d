/**
 * node bench/workers.js [--gb 20] [--objects 200] [--workers 1,2,4|none] [--rate 5000000] [--latency 100] [--jobs 4] [--folder FOLDER]
 *                       [--rounds 5] [--whole]
 *
 * Loads the same objects of S3 (versitygw) as one job of 1, 2 and 4 workers, over a queue in Redis. The sink limits each connection, as
 * a network does. Prints for each number of workers the time, the rate, the efficiency (the time of one worker over workers × time), and
 * the CPU seconds of all processes of Sluice. Then loads the first 20 of them (`--whole`: all) on one core without a limit: as a job, and
 * by one process without a queue, in turn. Prints what the queue adds.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { findParts } from '../scripts/real/parts.js'
import { corpus } from './corpus/corpora.js'
import { ending, freePort, reachable } from './other-servers.js'
import { prepare } from './prepare.js'
import { startRedis } from './redis.js'
import { say } from './say.js'
import { start } from './servers.js'
import { spread } from './statistics.js'

const { values } = parseArgs({
  options: {
    gb: { type: 'string', default: '20' },
    objects: { type: 'string', default: '200' },
    workers: { type: 'string', default: '1,2,4' },
    rate: { type: 'string', default: '5000000' },
    latency: { type: 'string', default: '100' },
    jobs: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
    whole: { type: 'boolean', default: false },
    folder: { type: 'string' },
    sluice: { type: 'string' },
  },
})
let jobsSoFar = 0
const [objects, jobs] = [Number(values.objects), Number(values.jobs)]
const user = { ROOT_ACCESS_KEY: 'sluice-bench', ROOT_SECRET_KEY: 'not-a-secret-of-anybody' }

const programs = prepare(values)
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'sluice-workers-'))
if (values.folder === undefined) process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130))

const bucket = join(folder, 'buckets', 'bench')
mkdirSync(bucket, { recursive: true })
const servers = [await start(programs.sink, []), await serveObjects(), await startRedis(join(folder, 'redis'))]
const [sink, s3, redis] = servers
const made = await makeObjects()
const cluster = ['--url', `http://127.0.0.1:${sink.port}`, '--index', 'bench', '--direct']

try {
  await growWorkers()
  await compareOnOneCore()
} finally {
  for (const server of servers) await server[Symbol.asyncDispose]()
}

/** Loads the objects with more and more workers. */
async function growWorkers() {
  say(`${objects} objects, ${(made.bytes / 1e9).toFixed(1)} GB, ${made.documents} documents`)
  await setSink({ latency: values.latency, rate: values.rate })
  let alone
  const counts = values.workers === 'none' ? [] : values.workers.split(',').map(Number)
  for (const workers of counts) {
    const { seconds, cpuSeconds, mostInFlight } = await loadAsJob('*.ndjson', made.documents, {
      workers,
      concurrency: workers * jobs,
    })
    alone ??= seconds * workers
    say(
      `${workers} workers: ${seconds.toFixed(1)} s, ${(made.bytes / 1e6 / seconds).toFixed(1)} MB/s, efficiency ${(alone / (workers * seconds)).toFixed(3)}, ` +
        `${cpuSeconds.toFixed(1)} CPU-s, at most ${mostInFlight} requests at once of ${workers * jobs} allowed`,
    )
  }
}

/** Loads a part of the objects on one core, with and without a queue in turn. */
async function compareOnOneCore() {
  await setSink({ latency: 0, rate: 0 })
  const part = values.whole ? '*.ndjson' : '00[0-1]*.ndjson'
  const documents = made.documentsPerObject * (values.whole ? objects : Math.min(objects, 20))
  const ratios = { cpu: [], wall: [] }
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const plain = await loadPlain(part, documents)
    const job = await loadAsJob(part, documents, { workers: 1, concurrency: jobs, core: 0 })
    ratios.cpu.push(job.cpuSeconds / plain.cpuSeconds)
    ratios.wall.push(job.seconds / plain.seconds)
    say(
      `one core: ${plain.cpuSeconds.toFixed(2)} CPU-s without a queue, ${job.cpuSeconds.toFixed(2)} as a job: ${(job.cpuSeconds / plain.cpuSeconds).toFixed(3)}`,
    )
  }
  for (const [name, all] of Object.entries(ratios)) {
    const { median, min, max } = spread(all)
    say(`a job over one process, ${name}: ${median.toFixed(3)} (${min.toFixed(3)} to ${max.toFixed(3)})`)
  }
}

/** Puts objects that differ in their first line only. The server knows the ETags of those alone that it was given. */
async function makeObjects() {
  const credentials = { accessKeyId: user.ROOT_ACCESS_KEY, secretAccessKey: user.ROOT_SECRET_KEY }
  const client = new S3Client({ endpoint: s3.url, region: 'us-east-1', forcePathStyle: true, credentials })
  const bytes = Math.floor((Number(values.gb) * 1e9) / objects)
  const source = await corpus('log', bytes, programs)
  const body = readFileSync(source.file)
  let total = 0
  for (let number = 0; number < objects; number += 1) {
    const first = Buffer.from(`{"object":${number}}\n`)
    const Key = `${String(number).padStart(4, '0')}.ndjson`
    total += first.length + body.length
    if (existsSync(join(bucket, Key))) continue
    await client.send(new PutObjectCommand({ Bucket: 'bench', Key, Body: Buffer.concat([first, body]) }))
  }
  client.destroy()
  const documentsPerObject = source.documents + 1
  return { bytes: total, documents: documentsPerObject * objects, documentsPerObject }
}

async function serveObjects() {
  const { versitygw } = findParts()
  if (versitygw === undefined) throw new Error('versitygw is missing: run `node scripts/real/install.js`')
  const port = await freePort()
  const child = spawn(versitygw, ['--port', `127.0.0.1:${port}`, 'posix', join(folder, 'buckets')], {
    stdio: 'ignore',
    env: { ...process.env, ...user },
  })
  const url = `http://127.0.0.1:${port}`
  await reachable(port)
  return { url, ...ending(child) }
}

async function loadAsJob(pattern, expected, { workers, concurrency, core }) {
  const queue = ['--queue', redis.url]
  const helpers = Array.from({ length: workers - 1 }, (_, number) =>
    measured(`worker-${number}`, ['worker', ...queue, '--jobs', String(jobs), '--direct', '--url', cluster[1]], core),
  )
  const lead = measured(
    'job',
    [
      'ingest',
      `s3://bench/${pattern}`,
      ...cluster,
      ...queue,
      '--jobs',
      String(jobs),
      '--concurrency',
      String(concurrency),
      // A job of the same name would be the same job, which is done.
      '--run-id',
      `bench-${(jobsSoFar += 1)}`,
      '--json',
    ],
    core,
  )
  return await counted(expected, async () => {
    const cost = await lead.done
    for (const { child } of helpers) child.kill('SIGTERM')
    const costs = [cost, ...(await Promise.all(helpers.map(async ({ done }) => await done)))]
    if (cost.exitCode !== 0) throw new Error(`the job ended with ${cost.exitCode}: ${lead.output()}`)
    return {
      seconds: cost.wallSeconds,
      cpuSeconds: costs.reduce((sum, one) => sum + one.userSeconds + one.systemSeconds, 0),
    }
  })
}

async function loadPlain(pattern, expected) {
  const load = measured(
    'plain',
    ['ingest', `s3://bench/${pattern}`, ...cluster, '--concurrency', String(jobs), '--json'],
    0,
  )
  return await counted(expected, async () => {
    const cost = await load.done
    if (cost.exitCode !== 0) throw new Error(`the load ended with ${cost.exitCode}: ${load.output()}`)
    return { seconds: cost.wallSeconds, cpuSeconds: cost.userSeconds + cost.systemSeconds }
  })
}

/** Adds what the sink saw. Throws if documents are missing. */
async function counted(expected, run) {
  await setSink({})
  const cost = await run()
  const seen = await ask('stats')
  if (seen.documents !== expected)
    throw new Error(`the sink received ${seen.documents} documents instead of ${expected}`)
  return { ...cost, mostInFlight: seen.mostInFlight }
}

async function setSink({ latency, rate }) {
  if (latency !== undefined) await ask(`latency/${latency}`)
  if (rate !== undefined) await ask(`rate/${rate}`)
  await ask('reset')
}

async function ask(path) {
  const response = await fetch(`http://127.0.0.1:${sink.port}/_sink/${path}`)
  return await response.json()
}

/** Starts the command below the program that measures it. */
function measured(name, words, core) {
  const home = mkdtempSync(join(folder, `${name}-`))
  const log = join(home, 'output')
  const output = openSync(log, 'w')
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)]
  const child = spawn(programs.measure, ['7200', ...pinned, process.execPath, programs.sluice, ...words], {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      NODE_NO_WARNINGS: '1',
      AWS_ENDPOINT_URL_S3: s3.url,
      AWS_ACCESS_KEY_ID: user.ROOT_ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: user.ROOT_SECRET_KEY,
      AWS_REGION: 'us-east-1',
    },
    stdio: ['ignore', output, output, 'pipe'],
  })
  const parts = []
  child.stdio[3].on('data', part => parts.push(part))
  const done = once(child, 'close').then(() => JSON.parse(Buffer.concat(parts).toString()))
  return { child, done, output: () => readFileSync(log, 'utf8').slice(-2000) }
}
