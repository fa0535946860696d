/** Functions and packages that do harm: every line is still counted once, no line is forged, and no credential of the load is theirs. */
import { readFile, writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ingest, isSluiceError } from '../../../src/index.js'
import { visible } from '../../../src/base/text/shown.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()
afterEach(() => vi.unstubAllEnvs())

const COUNT = 6
/** The line that each attack is for. */
const HIT = 3

/** Loads six lines through a module. The third of them is attacked. */
async function loadThrough(module: string) {
  await writeFile(path('shape.mjs'), module)
  await writeFile(path('a.ndjson'), Array.from({ length: COUNT }, (_, at) => `{"n":${at + 1}}\n`).join(''))
  return await ingest({ source: path('a.ndjson'), ...smallBatches(), transform: path('shape.mjs') })
}

const attack = (code: string) => `export default document => { if (document.n === ${HIT}) { ${code} } return document }`
const stored = () =>
  lab.control.ids(index).map(id => JSON.parse(String(lab.control.source(index, id))) as { n?: unknown })

/** What the function returns or throws, and the reason of the rejection, or undefined if the document is stored. */
const results: readonly (readonly [string, string, string | undefined])[] = [
  [
    'a class whose name has line breaks',
    String.raw`return { x: { get [Symbol.toStringTag]() { return 'a\n{"forged":1}\n\u001f\u009b' } } }`,
    'it holds a a {"forged":1} , which JSON',
  ],
  [
    'a class with a very long name',
    "return { x: { get [Symbol.toStringTag]() { return 'x'.repeat(5e6) } } }",
    'it holds a xxx',
  ],
  [
    'an error with line breaks and escapes',
    String.raw`throw new Error('a\n{"index":{}}\n\u001b[2J\u009b31m')`,
    'the function threw Error: a {"index":{}} [2J 31m',
  ],
  [
    'an error whose message throws',
    "throw Object.defineProperty(new Error(), 'message', { get() { throw 1 } })",
    'something that cannot be shown',
  ],
  [
    'an error whose stack throws',
    "throw Object.defineProperty(new Error('e'), 'stack', { get() { throw 1 } })",
    'the function threw',
  ],
  ['a getter that throws', "return { get n() { throw new Error('no') } }", 'the function threw Error: no'],
  ['a then that throws', "return { get then() { throw new Error('no') } }", 'the function threw Error: no'],
  [
    'a then that settles twice',
    'return { then(yes, no) { yes(document); yes({ n: 99 }); no(new Error()) } }',
    undefined,
  ],
  [
    'a proxy whose traps throw',
    "return new Proxy({}, { ownKeys() { throw new Error('trap') } })",
    'the function threw Error: trap',
  ],
  [
    'a revoked proxy',
    'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy',
    'the function threw TypeError',
  ],
  [
    'a getter that makes levels without end',
    'return { get n() { return new Proxy({}, { ownKeys: () => ["n"], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: (at, key, self) => key === "n" ? self : undefined }) } }',
    'more than 1000 levels',
  ],
  ['a toJSON that lies', "return { toJSON() { return 'text' } }", 'its result is a string, not an object'],
  ['a field __proto__', 'return JSON.parse(\'{"n":3,"__proto__":{"polluted":1}}\')', undefined],
  [
    'a name with the mark of refused lines',
    String.raw`return { n: 3, '\u001fDOCUMENT_NOT_JSON x\u001f': '\u001f' }`,
    undefined,
  ],
  [
    'an array that says it is long',
    'return Object.defineProperty([document], "length", { value: 2 ** 31, writable: true })',
    'its result is undefined, not an object',
  ],
  ['more than a document may have', "return { n: 3, text: 'x'.repeat(200e6) }", 'more than'],
  ['objects that hold each other', 'const a = { n: 3 }; a.a = a; return a', 'or holds itself'],
]

describe('a function may return or throw', () => {
  test.each(results)('%s', async (_, code, reason) => {
    const receipt = await loadThrough(attack(code))
    const rejected = reason === undefined ? 0 : 1
    expect(receipt).toMatchObject({ read: COUNT, created: COUNT - rejected, rejected })
    const letters = reason === undefined ? '' : await readFile(path('dead.ndjson'), 'utf8')
    expect(letters.split('\n').filter(line => line !== '')).toHaveLength(rejected)
    if (reason !== undefined) expect(letters).toContain(JSON.stringify(reason).slice(1, -1))
    expect(letters.length).toBeLessThan(5000)
    expect(stored().map(({ n }) => Number(n))).toHaveLength(COUNT - rejected)
    expect(stored().some(document => 'forged' in document || 'polluted' in document)).toBe(false)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

test.each([
  [
    'the prototype of all objects',
    "Object.prototype.then = undefined; Object.prototype.polluted = 1; Object.prototype.kind = 'done'; Object.prototype.bytes = 7",
  ],
  [
    'the prototype of all functions and promises',
    'Promise.prototype.catch = () => {}; Function.prototype.call = () => 7',
  ],
])('a module that changes %s harms only its own thread', async (_, code) => {
  const receipt = await loadThrough(`${code}\nexport default document => document`)
  // Its own documents may suffer.
  expect(receipt.created + receipt.rejected).toBe(COUNT)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

test.each([
  ['its own port', 'workerData.port?.postMessage(message)'],
  ['the port of its parent', 'parentPort?.postMessage(message)'],
])('a module cannot answer for a job over %s', async (_, say) => {
  const receipt = await loadThrough(`
    import { parentPort, workerData } from 'node:worker_threads'
    const forged = [{ kind: 'done' }, { kind: 'piece', bytes: new Uint8Array([0x7b, 0x7d, 0x0a]) }, { kind: 'unfit', problem: 'x' }, 7, null]
    export default document => {
      for (const message of forged) ${say}
      if (workerData.progress) new Int32Array(workerData.progress).fill(-1)
      return document
    }`)
  expect(receipt).toMatchObject({ read: COUNT, created: COUNT, rejected: 0 })
})

test('the credentials of the load are not in its environment, and other variables are', async () => {
  const secret = 'not-for-packages'
  vi.stubEnv('ELASTICSEARCH_API_KEY', secret)
  vi.stubEnv('SLUICE_PASSWORD', secret)
  vi.stubEnv('QUOTAGUARDSTATIC_URL', `http://user:${secret}@proxy.example:9293`)
  vi.stubEnv('ELASTICSEARCH_URL', 'https://cluster.example:9243')
  vi.stubEnv('MY_TABLE', 'prices')
  await loadThrough("export default document => ({ ...document, env: Object.entries(process.env).join('\\n') })")
  const seen = JSON.stringify(stored())
  expect(seen).not.toContain(secret)
  expect(seen).toContain('MY_TABLE,prices')
  expect(seen).toContain('ELASTICSEARCH_URL,https://cluster.example:9243')
})

test.each([
  ['throws at its beginning', String.raw`throw new Error('a\nb\u001b[2J\u009b')`, 'Error: a b [2J'],
  ['exits at its beginning', 'process.exit(0)', 'ended its thread with exit code 0'],
  ['has no function', "export default 'x'", 'its default export is not a function'],
  ['is no JavaScript', 'this is not', 'SyntaxError'],
])('a module that %s loads nothing', async (_, code, problem) => {
  const error: unknown = await loadThrough(code).catch((why: unknown) => why)
  expect(isSluiceError(error) && error.code).toBe('TRANSFORM_NOT_LOADED')
  expect((error as Error).message).toContain(problem)
  expect(visible((error as Error).message)).toBe((error as Error).message)
})
