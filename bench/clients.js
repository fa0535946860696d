/**
 * Every client: how it is started, and what it leaves out. `start` returns the command line; it gets
 *
 *   programs, url    what prepare.js found, and the cluster
 *   corpus           what to send; part, times: the same as a smaller corpus to be sent so many times (for `repeatsPart`)
 *   proxy            URL, or undefined on the direct way
 *   connections      requests at once where answers take long; undefined: whatever is best for the client without latency
 *   folder           its working folder, removed afterwards
 *
 * everywhere   runs in all scenarios, not only on the direct way without latency
 * slow         runs on the smaller input only, and is compared to Sluice on the same: 'always', or 'elsewhere' than on the direct
 *              way without latency
 * real         runs on a real Elasticsearch, too
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dumpLines, readyBodies } from './corpus/derived.js'
import { benchFolder } from './prepare.js'

const index = 'bench'
const node = process.execPath
/** What the peers' own programs take first. */
const sent = (corpus, url) => [corpus.file, url, index]
const peer = name => join(benchFolder, 'peers', name)

const sluice = (...words) => ({
  needs: 'sluice',
  start: ({ programs, corpus, url, proxy }) => [
    node,
    programs.sluice,
    'ingest',
    corpus.file,
    '--url',
    url,
    '--index',
    index,
    '--quiet',
    // On the way through a proxy Sluice compresses, unless told otherwise.
    ...(proxy ? ['--proxy', proxy, ...(words.includes('--compress') ? [] : ['--compress', 'none'])] : []),
    ...words,
  ],
})

const bare = checking => ({
  needs: 'kernel',
  start: ({ programs, corpus, url, proxy, connections }) => [
    node,
    peer('bare/load.js'),
    programs.kernel,
    ...sent(corpus, url),
    connections ?? '2',
    checking,
    ...(proxy ? [proxy] : []),
  ],
})

const helpers = (form, trim) => ({
  needs: 'node',
  start: ({ corpus, url, proxy, connections }) => [
    node,
    peer('helpers-bulk.js'),
    ...sent(corpus, url),
    form,
    connections ?? '5',
    ...(trim ? ['--trim'] : []),
    ...(proxy ? ['--proxy', proxy] : []),
  ],
})

const python = (helper, form, tuned) => ({
  needs: 'python',
  start: ({ programs, corpus, url, proxy, connections }) => [
    programs.python,
    peer('bulk.py'),
    ...sent(corpus, url),
    helper,
    form,
    connections ?? '4',
    ...(tuned ? ['--trim', '--chunk', '2000'] : []),
    ...(proxy ? ['--proxy', proxy] : []),
  ],
})

const go = (program, tuned) => ({
  needs: program,
  start: ({ programs, corpus, url, proxy, connections }) => [
    programs[program],
    `-file=${corpus.file}`,
    `-url=${url}`,
    `-index=${index}`,
    ...(tuned ? ['-trim', '-queue', '100'] : []),
    ...(connections ? ['-workers', connections] : tuned ? ['-workers', '4'] : []),
    ...(proxy ? ['-proxy', proxy] : []),
  ],
})

const esbulk = words => ({
  needs: 'esbulk',
  // Go leads nothing to a loopback address through a proxy of the environment; the bench's proxy leads every name to the sink.
  start: ({ programs, corpus, url, proxy, connections }) => [
    ...(proxy ? ['env', `HTTP_PROXY=${proxy}`] : []),
    programs.esbulk,
    `-server=${proxy ? 'http://sink.invalid' : url}`,
    `-index=${index}`,
    ...(connections && words.length > 0 ? ['-w', connections, '-size', '5000'] : words),
    corpus.file,
  ],
})

const elasticdump = {
  needs: 'node',
  // It knows no http proxy.
  routes: ['direct'],
  start: async ({ corpus, url }) => [
    node,
    join(benchFolder, 'node_modules', 'elasticdump', 'bin', 'elasticdump'),
    `--input=${await dumpLines(corpus)}`,
    `--output=${url}/${index}`,
    '--type=data',
    '--limit=5000',
    '--noRefresh',
  ],
}

// Posts the bodies of the smaller corpus, as often as the larger is larger.
const curl = {
  needs: 'curl',
  start: async ({ programs, corpus, part, times, folder, url, proxy, connections }) => {
    const bodies = await readyBodies(part ?? corpus)
    const transfer = body =>
      [
        `url = "${url}/${index}/_bulk?filter_path=errors,items.*.status"`,
        `upload-file = "${body}"`,
        'request = "POST"',
        'header = "content-type: application/x-ndjson"',
        'header = "expect:"',
        'output = "/dev/null"',
        'fail',
        ...(proxy ? [`proxy = "${proxy}"`] : []),
      ].join('\n')
    const all = Array.from({ length: times ?? 1 }, () => bodies.map(transfer)).flat()
    const file = join(folder, 'transfers')
    writeFileSync(file, all.join('\nnext\n'))
    return [programs.curl, '-q', '-sS', '-Z', '--parallel-max', connections ?? '2', '-K', file]
  },
  repeatsPart: true,
}

/** In the order in which they are shown. The first is the one to which the others are compared. */
export const clients = {
  sluice: { title: 'Sluice', about: 'defaults: strict check, run ids', everywhere: true, real: true, ...sluice() },
  'sluice-field': {
    title: 'Sluice, ids from a field',
    about: '--ids field',
    ...sluice('--ids', 'field', '--id-field', 'id'),
  },
  'sluice-cluster': {
    title: 'Sluice, ids by the cluster',
    about: '--ids cluster',
    real: true,
    ...sluice('--ids', 'cluster'),
  },
  'sluice-8': { title: 'Sluice, 8 requests of 5 MB', about: '--concurrency 8', ...sluice('--concurrency', '8') },
  'sluice-gzip': {
    title: 'Sluice, gzip',
    about: '--compress gzip',
    everywhere: true,
    gzip: true,
    ...sluice('--compress', 'gzip'),
  },
  bare: {
    title: 'bare loader',
    about: 'the mechanism without the product; leaves out retries, accounting, options',
    everywhere: true,
    ...bare('checked'),
  },
  'bare-unchecked': {
    title: 'bare loader, no check, no ids',
    about: 'leaves out the check and ids as well',
    ...bare('unchecked'),
  },
  curl: {
    title: 'curl, ready-made bodies',
    about: 'a floor, no loader: reads no documents, frames and checks nothing',
    everywhere: true,
    floor: true,
    ...curl,
  },
  esutil: {
    title: 'Go esutil.BulkIndexer',
    about: 'tuned: 4 workers, queue 100, status-only answers; no check, ids by the cluster',
    everywhere: true,
    real: true,
    ...go('esutil', true),
  },
  'esutil-default': { title: 'Go esutil.BulkIndexer, defaults', about: 'whole answers', ...go('esutil', false) },
  docappender: {
    title: 'go-docappender',
    about: 'BENCH_DOCAPPENDER, tuned',
    everywhere: true,
    ...go('docappender', true),
  },
  'docappender-default': { title: 'go-docappender, defaults', about: 'its own defaults', ...go('docappender', false) },
  esbulk: {
    title: 'esbulk',
    about: 'BENCH_ESBULK, -w 4 -size 5000',
    everywhere: true,
    ...esbulk(['-w', '4', '-size', '5000']),
  },
  'esbulk-default': { title: 'esbulk, defaults', about: 'its own defaults', ...esbulk([]) },
  'helpers-strings': {
    title: 'helpers.bulk, strings',
    about: 'status-only answers; no check, ids by the cluster',
    everywhere: true,
    real: true,
    ...helpers('strings', true),
  },
  'helpers-strings-default': {
    title: 'helpers.bulk, strings, defaults',
    about: 'whole answers',
    ...helpers('strings', false),
  },
  'helpers-objects': {
    title: 'helpers.bulk, objects',
    about: 'status-only answers; JSON.parse a line, so numbers and escapes are written anew',
    everywhere: true,
    slow: 'always',
    ...helpers('objects', true),
  },
  'python-streaming-raw': {
    title: 'Python streaming_bulk, raw',
    about: 'chunks of 2,000, status-only answers; one request at a time, no check, ids by the cluster',
    everywhere: true,
    slow: 'elsewhere',
    ...python('streaming', 'raw', true),
  },
  'python-streaming-raw-default': {
    title: 'Python streaming_bulk, raw, defaults',
    about: 'chunks of 500, whole answers',
    ...python('streaming', 'raw', false),
  },
  'python-parallel-raw': {
    title: 'Python parallel_bulk, raw',
    about: 'as above, 4 threads',
    everywhere: true,
    slow: 'elsewhere',
    real: true,
    ...python('parallel', 'raw', true),
  },
  'python-streaming-dict': {
    title: 'Python streaming_bulk, dict',
    about: 'json.loads a line, so numbers and escapes are written anew',
    everywhere: true,
    slow: 'always',
    ...python('streaming', 'dict', true),
  },
  'python-parallel-dict': {
    title: 'Python parallel_bulk, dict',
    about: 'as above, 4 threads',
    slow: 'always',
    everywhere: true,
    ...python('parallel', 'dict', true),
  },
  elasticdump: {
    title: 'elasticdump',
    about: '--limit 5000 --noRefresh; input wrapped in _source beforehand; one request at a time',
    everywhere: true,
    slow: 'always',
    ...elasticdump,
  },
}

/** Connections that a client gets where answers take long; Sluice finds its own. Without latency each has its best number. */
export const connectionsFor = latency => (latency > 0 ? '8' : undefined)

/** Those that can run here, and why the others cannot. */
export function available(programs) {
  const absent = {}
  for (const [name, { needs }] of Object.entries(clients)) {
    if (needs !== 'node' && programs[needs] === undefined)
      absent[name] = programs.missing[needs] ?? `${needs} is missing`
  }
  return { names: Object.keys(clients).filter(name => absent[name] === undefined), absent }
}
