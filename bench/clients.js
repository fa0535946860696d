/**
 * Every client: what it is, what it leaves out, and where it takes part.
 *
 * race         how it runs on the direct way without latency: 'fast' and 'slow' differ in the number of rounds, 'aside' is on the
 *              part alone, 'least' on the sample alone; or one of them for each kind of document
 * elsewhere    the input on all other ways: 'whole', 'part' or 'sample'; without it the client does not run there
 * hasSlopeGoal sends the part in as many rounds as the whole
 * real         runs on a real Elasticsearch, too
 *
 * One without `race` is not raced.
 */
import { join } from 'node:path'
import { bare, curl, elasticdump, esbulk, go, gunzip, helpers, piped, python, sluice } from './commands.js'
import { benchFolder } from './prepare.js'
import { dumpLines, dumpLinesWithIds } from './corpus/derived.js'

/** In the order in which they are shown. The first is the one to which the others are compared. */
export const clients = {
  sluice: {
    title: 'Sluice',
    about: 'all settings as they come: strict check, ids from the run, so that a second try makes no duplicates',
    real: true,
    race: 'fast',
    elsewhere: 'whole',
    hasSlopeGoal: true,
    ...sluice(),
  },
  'sluice-field': {
    title: 'Sluice, ids from a field',
    about: '--ids field: the id is a field of the document',
    race: { log: 'fast', small: 'slow' },
    ...sluice('--ids', 'field', '--id-field', 'id'),
  },
  'sluice-cluster': {
    title: 'Sluice, ids by the cluster',
    about: '--ids cluster: the cluster makes the ids, as it does for the other loaders',
    real: true,
    race: { log: 'fast', small: 'slow' },
    ...sluice('--ids', 'cluster'),
  },
  'sluice-8': {
    title: 'Sluice, 8 requests of 5 MB',
    about: '--concurrency 8, instead of finding the number of requests at once by itself',
    race: { log: 'fast', small: 'slow' },
    ...sluice('--concurrency', '8'),
  },
  'sluice-start': {
    title: 'Sluice, to its first request',
    about: '--preflight-connections 0, so that one GET / is all that comes before the first bulk request; not raced',
    ...sluice('--preflight-connections', '0'),
  },
  'sluice-gzip': {
    title: 'Sluice, gzip',
    about: '--compress gzip: compressed bodies',
    race: 'slow',
    elsewhere: 'part',
    ...sluice('--compress', 'gzip'),
  },
  bare: {
    title: 'bare loader',
    about: "Sluice's mechanism alone, strict check and ids included; leaves out retries, accounting and options",
    race: 'fast',
    elsewhere: 'whole',
    hasSlopeGoal: true,
    ...bare('checked'),
  },
  'bare-unchecked': {
    title: 'bare loader, no check, no ids',
    about: 'a floor: leaves out the check and ids as well',
    floor: true,
    race: { log: 'fast', small: 'slow' },
    ...bare('unchecked'),
  },
  curl: {
    title: 'curl, ready-made bodies',
    about: 'a floor, no loader: reads no documents, frames and checks nothing',
    floor: true,
    race: 'fast',
    elsewhere: 'whole',
    ...curl,
  },
  esutil: {
    title: 'Go esutil.BulkIndexer',
    about: 'tuned: 4 workers, queue of 100, answers cut to the status; leaves out check and ids',
    real: true,
    race: { log: 'fast', small: 'slow' },
    elsewhere: 'part',
    ...go('esutil', true),
  },
  'esutil-default': {
    title: 'Go esutil.BulkIndexer, defaults',
    about: 'every setting as it comes: a worker for each core, whole answers; leaves out check and ids',
    race: 'slow',
    ...go('esutil', false),
  },
  docappender: {
    title: 'go-docappender',
    about: 'BENCH_DOCAPPENDER, tuned',
    race: 'fast',
    elsewhere: 'part',
    ...go('docappender', true),
  },
  'docappender-default': {
    title: 'go-docappender, defaults',
    about: 'its own defaults',
    race: 'slow',
    ...go('docappender', false),
  },
  'docappender-gzip': {
    title: 'go-docappender, gzip',
    about: 'BENCH_DOCAPPENDER, -gzip 1; takes part where Sluice compresses',
    ...go('docappender', false, '-gzip', '1'),
  },
  esbulk: {
    title: 'esbulk',
    about: 'BENCH_ESBULK, -w 4 -size 5000',
    race: 'slow',
    elsewhere: 'part',
    ...esbulk(['-w', '4', '-size', '5000']),
  },
  'esbulk-default': {
    title: 'esbulk, defaults',
    about: 'its own defaults',
    race: 'slow',
    ...esbulk([]),
  },
  'helpers-strings': {
    title: 'helpers.bulk, strings',
    about: 'tuned: answers cut to the status; lines are sent as they are; leaves out check and ids',
    real: true,
    race: 'slow',
    elsewhere: 'sample',
    ...helpers('strings', true),
  },
  'helpers-strings-default': {
    title: 'helpers.bulk, strings, defaults',
    about: 'every setting as it comes: 5 requests at once, whole answers; leaves out check and ids',
    race: 'slow',
    ...helpers('strings', false),
  },
  'helpers-objects': {
    title: 'helpers.bulk, objects',
    about:
      'as above, with JSON.parse for each line, as a program does that looks at its documents; numbers and escapes are written anew',
    race: { log: 'aside', small: 'least' },
    elsewhere: 'sample',
    ...helpers('objects', true),
  },
  'python-streaming-raw': {
    title: 'Python streaming_bulk, raw',
    about:
      'tuned: chunks of 2,000, answers cut to the status; lines are sent as they are, one request at a time; leaves out check and ids',
    race: 'slow',
    elsewhere: 'sample',
    ...python('streaming', 'raw', true),
  },
  'python-streaming-raw-default': {
    title: 'Python streaming_bulk, raw, defaults',
    about: 'every setting as it comes: chunks of 500, whole answers; leaves out check and ids',
    race: 'slow',
    ...python('streaming', 'raw', false),
  },
  'python-parallel-raw': {
    title: 'Python parallel_bulk, raw',
    about: 'tuned as streaming_bulk, in 4 threads; leaves out check and ids',
    real: true,
    race: { log: 'aside', small: 'least' },
    elsewhere: 'sample',
    ...python('parallel', 'raw', true),
  },
  'python-streaming-dict': {
    title: 'Python streaming_bulk, dict',
    about:
      'tuned, with json.loads for each line, as a program does that looks at its documents; numbers and escapes are written anew',
    race: 'least',
    elsewhere: 'sample',
    ...python('streaming', 'dict', true),
  },
  'python-parallel-dict': {
    title: 'Python parallel_bulk, dict',
    about: 'as above, in 4 threads',
    race: 'least',
    elsewhere: 'sample',
    ...python('parallel', 'dict', true),
  },
  'python-array': {
    title: 'Python json + streaming_bulk',
    about:
      'json.load for the whole array, as its documentation shows for JSON; tuned as above; takes part with JSON arrays only',
    ...python('streaming', 'array', true),
  },
  'esbulk-gz': {
    title: 'esbulk, gzip',
    about: '-z, otherwise tuned as esbulk; takes part with compressed files only',
    ...esbulk(['-z', '-w', '4', '-size', '5000']),
  },
  gunzip: {
    title: "Node's gunzip",
    about: 'decodes the file and sends nothing: the limit of a loader on Node',
    ...gunzip,
  },
  elasticdump: {
    title: 'elasticdump',
    about:
      '--limit=5000 --noRefresh, one request at a time; its input is wrapped in _source beforehand; knows no http proxy; leaves out ids',
    race: 'least',
    elsewhere: 'sample',
    ...elasticdump(dumpLines),
  },
  'python-csv': {
    title: 'Python csv + streaming_bulk',
    about: 'csv.DictReader, whose rows are given to the helper; tuned as above; takes part with CSV only',
    ...python('streaming', 'csv', true),
  },
  'mlr-csv': {
    title: 'Miller, then the bare loader',
    about: 'mlr -S --icsv --ojsonl cat, with every cell as text, piped into the bare loader; takes part with CSV only',
    ...piped('mlr', ({ mlr }, file) => [mlr, '-S', '--icsv', '--ojsonl', 'cat', file]),
  },
  'qsv-csv': {
    title: 'qsv, then the bare loader',
    about:
      'qsv tojsonl, which looks at the types of all cells first, piped into the bare loader; takes part with CSV only',
    ...piped('qsv', ({ qsv }, file) => [qsv, 'tojsonl', file]),
  },
  'duckdb-csv': {
    title: 'DuckDB, then the bare loader',
    about: 'COPY from read_csv as text to JSON, with all cores, piped into the bare loader; takes part with CSV only',
    ...piped('duckdb', ({ duckdb }, file) => [duckdb, join(benchFolder, 'peers', 'duckdb-csv.py'), file]),
  },
  'elasticdump-csv': {
    title: 'elasticdump, csv://',
    about: 'reads the file as CSV; otherwise as above; takes part with CSV only',
    ...elasticdump(corpus => `csv://${corpus.file}`),
  },
  'helpers-edit': {
    title: 'helpers.bulk, edits',
    about: 'parses each line, deletes two fields and sets one; tuned as above; numbers and escapes are written anew',
    ...helpers('edit', true),
  },
  'python-edit': {
    title: 'Python streaming_bulk, edits',
    about: 'as above, with json.loads',
    ...python('streaming', 'edit', true),
  },
  'elasticdump-edit': {
    title: 'elasticdump --transform',
    about: 'a script of JavaScript changes each document; otherwise as elasticdump',
    ...elasticdump(
      dumpLines,
      '--transform=delete doc._source.host; delete doc._source.text; doc._source.from = "bench"',
    ),
  },
  'esutil-update': {
    title: 'Go esutil.BulkIndexer, updates',
    about: 'takes the id out of each line; tuned as esutil',
    ...go('esutil', true, '-update'),
  },
  'helpers-update': {
    title: 'helpers.bulk, updates',
    about: 'parses each line for its id; tuned as above',
    ...helpers('update', true),
  },
  'python-update': {
    title: 'Python streaming_bulk, updates',
    about: '_op_type update, with json.loads; tuned as above',
    ...python('streaming', 'update', true),
  },
  'elasticdump-update': {
    title: 'elasticdump --bulkAction=update',
    about: 'its input holds the ids; otherwise as elasticdump',
    ...elasticdump(dumpLinesWithIds, '--bulkAction=update'),
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
