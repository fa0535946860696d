/**
 * How each client is started. Each of these makes { needs, start, … } for the table of clients: `needs` names what of prepare.js has
 * to be there, `start` returns the command line; it gets
 *
 *   programs, url    what prepare.js found, and the cluster
 *   corpus           what to send; part, times: the same as a smaller corpus to be sent so many times (for `repeatsPart`)
 *   proxy            URL, or undefined on the direct way
 *   connections      requests at once where answers take long; undefined: whatever is best for the client without latency
 *   folder           its working folder, removed afterwards
 *   words            more options of Sluice, for what the scenario is about
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readyBodies } from './corpus/derived.js'
import { benchFolder } from './prepare.js'

const index = 'bench'
const node = process.execPath
/** What the peers' own programs take first. */
const sent = (corpus, url) => [corpus.file, url, index]
const peer = name => join(benchFolder, 'peers', name)

export const sluice = (...words) => ({
  needs: 'sluice',
  start: ({ programs, corpus, url, proxy, ca, words: more = [] }) => [
    node,
    programs.sluice,
    'ingest',
    corpus.file,
    '--url',
    url,
    '--index',
    index,
    '--quiet',
    ...(ca ? ['--ca', ca] : []),
    // On the way through a proxy Sluice compresses, unless told otherwise.
    ...(proxy ? ['--proxy', proxy, ...(words.includes('--compress') ? [] : ['--compress', 'none'])] : []),
    ...words,
    ...more,
  ],
})

export const bare = checking => ({
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

/** `words` converts the input to NDJSON, on stdout, and the bare loader reads it from a pipe: tools are put together so. */
export const piped = (needs, words) => ({
  needs,
  start: place => {
    const { file } = place.corpus
    const loader = bare('checked').start({ ...place, corpus: { file: '/dev/stdin' } })
    const quoted = command => command.map(word => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
    return ['bash', '-o', 'pipefail', '-c', `${quoted(words(place.programs, file))} | ${quoted(loader)}`]
  },
})

export const helpers = (form, trim) => ({
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

export const python = (helper, form, tuned) => ({
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

export const go = (program, tuned, ...more) => ({
  needs: program,
  start: ({ programs, corpus, url, proxy, connections }) => [
    programs[program],
    `-file=${corpus.file}`,
    `-url=${url}`,
    `-index=${index}`,
    ...(tuned ? ['-trim', '-queue', '100'] : []),
    ...(connections ? ['-workers', connections] : tuned ? ['-workers', '4'] : []),
    ...(proxy ? ['-proxy', proxy] : []),
    ...more,
  ],
})

export const esbulk = words => ({
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

/** Sends nothing. */
export const gunzip = { needs: 'node', delivers: false, start: ({ corpus }) => [node, peer('gunzip.js'), corpus.file] }

/** `input` returns what it reads of a corpus. */
export const elasticdump = (input, ...more) => ({
  needs: 'node',
  // It knows no http proxy.
  routes: ['direct'],
  start: async ({ corpus, url }) => [
    node,
    join(benchFolder, 'node_modules', 'elasticdump', 'bin', 'elasticdump'),
    `--input=${await input(corpus)}`,
    `--output=${url}/${index}`,
    '--type=data',
    '--limit=5000',
    '--noRefresh',
    ...more,
  ],
})

// Posts the bodies of the smaller corpus, as often as the larger is larger.
export const curl = {
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
