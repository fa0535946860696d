/** The documents that the proof of moving loads: logs, those of the benchmark, and among them what other tools break. */

/** What a document is and what becomes of it. */
export interface MovedDocument {
  readonly id: string
  readonly routing?: string
  /** As it is stored, byte for byte. */
  readonly text: string
  /** Whether the mapping of the target refuses it. */
  readonly isRefused: boolean
}

const levels = ['debug', 'info', 'info', 'info', 'warn', 'error']
/** One of so many documents is refused. */
const REFUSED_OF = 5000
/** Documents of each corpus of the benchmark. */
const BENCH_DOCUMENTS = 2000

/** Fields of the target. The old index indexes nothing, so it takes every document. */
export const targetMapping = {
  dynamic: false,
  properties: { code: { type: 'short' }, '@timestamp': { type: 'date' }, level: { type: 'keyword' } },
}

/** Texts of the two corpora of the benchmark, which come again and again under other ids. */
const benchTexts = [await textsOf('log-documents', 'logDocuments', 1), await textsOf('small-documents', 'smallDocuments', 2)] // prettier-ignore

/** The benchmark is a package of its own, without types. */
async function textsOf(file: string, name: string, seed: number): Promise<readonly string[]> {
  const load = async (path: string) =>
    (await import(`../../bench/corpus/${path}.js`)) as Readonly<Record<string, unknown>>
  const { seededRandom } = (await load('seeded-random')) as { seededRandom: (seed: number) => unknown }
  const documents = (await load(file))[name] as (random: unknown) => () => object
  const next = documents(seededRandom(seed))
  return Array.from({ length: BENCH_DOCUMENTS }, () => JSON.stringify(next()))
}

export function movedDocument(n: number): MovedDocument {
  const id = n % 997 === 0 ? `é ${n}/?#"` : `log-${n}`
  const isRefused = n % REFUSED_OF === 5
  return { id, ...(n % 10 === 0 ? { routing: `r ${n % 7}` } : {}), text: textOf(n, isRefused), isRefused }
}

function textOf(n: number, isRefused: boolean): string {
  const fields = {
    '@timestamp': new Date(1_760_000_000_000 + n * 37).toISOString(),
    level: levels[n % 6],
    service: `checkout-${n % 17}`,
    trace: (n * 2_654_435_761).toString(16).padStart(16, '0'),
    message: `GET /orders/${n % 9973} answered ${n % 23 === 0 ? 503 : 200} in ${n % 811} ms`,
    bytes: (n * 7919) % 100_000,
  }
  const usual = JSON.stringify(fields)
  if (isRefused) return usual.replace('{', '{"code":"none",')
  switch (n % 1000) {
    case 1:
      return usual.replace('{', `{"z":1.0,"order":900719925474${String(n).padStart(7, '0')},"rate":1.50E+10,"a":-0.0,`)
    case 2:
      return usual.replace('{', '{ "list" : [ 1 , 2 ] , ').replaceAll('","', '" , "')
    case 3:
      return usual.replace('{', String.raw`{"text":"\u00e9 \ud83d\ude00 \/ 😀 ü","A ü":{"b":[]},`)
    case 4:
      return usual.replace('{', `{"long":"${'x'.repeat(60_000)}",`)
    default:
      // A quarter each. The others are small logs.
      return benchTexts[n % 4]?.[(n >> 2) % BENCH_DOCUMENTS] ?? usual
  }
}

/** Returns the ids of those that the target refuses. */
export function refusedIds(documents: number): string[] {
  const ids: string[] = []
  for (let n = 5; n <= documents; n += REFUSED_OF) ids.push(movedDocument(n).id)
  return ids
}

/** Returns the bulk body that stores these documents in the old index. */
export function bulkBody(documents: readonly MovedDocument[]): string {
  return documents
    .map(({ id, routing, text }) => `${JSON.stringify({ index: { _id: id, routing } })}\n${text}\n`)
    .join('')
}

/** Yields numbers in lists. */
export function* lists(count: number, size = 2000): Generator<readonly number[]> {
  for (let from = 1; from <= count; from += size)
    yield Array.from({ length: Math.min(size, count - from + 1) }, (_, at) => from + at)
}
