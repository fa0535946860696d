/** The recipes of the guides, as somebody types them: the first block of commands on each page. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type Folder, folder } from '../../support/command/sluice.js'
import { sluiceHere } from '../../support/command/in-process.js'

const guideOf = (name: string) => readFileSync(new URL(`../../../docs/guide/${name}.md`, import.meta.url), 'utf8')

interface Page {
  readonly files: Readonly<Record<string, string | Uint8Array>>
  /** What each recipe stores. With its id, if the recipe says where that comes from. */
  readonly stored: readonly (readonly (string | readonly [id: string, source: string])[])[]
}

const order = '{"id":9007199254740993, "total":1.0,"ts":"t","user":{"id":7,"name":"Zoë","email":"z@x"}}'
const branch = '{"branch":"DE","order":{"no":1001},"customer":{"address":"Kiel"}}'
const hit = (id: string, source: string) =>
  `{"_index":"old","_type":"_doc","_id":"${id}","_score":1,"_source":${source}}`

const pages: Readonly<Record<string, Page>> = {
  csv: {
    files: {
      'orders.csv': 'order,customer,total\n1001,"Ann, Bob",12.50\n',
      'from-excel.csv': Buffer.from(
        'order;customer;ordered;total\r\n1001;Müller & Söhne;2026-11-02;1249,50\r\n1002;"Lime; Cordial";;89,90\r\n',
        'latin1',
      ),
    },
    stored: [
      ['{"order":"1001","customer":"Ann, Bob","total":"12.50"}'],
      [
        '{"order":"1001","customer":"Müller & Söhne","ordered":"2026-11-02","total":1249.50}',
        '{"order":"1002","customer":"Lime; Cordial","total":89.90}',
      ],
      [['1001', '{"order":"1001","customer":"Ann, Bob","total":"12.50"}']],
    ],
  },
  dumps: {
    files: {
      'products.json.gz': gzipSync(`${hit('7', '{"price":1.0,"serial":9007199254740993}')}\n${hit('a/b', '{}')}\n`),
      'scroll-1.json': `{"_scroll_id":"x","took":1,"timed_out":false,"hits":{"hits":[${hit('1', '{"n":1}')}]}}`,
      'scroll-2.json': `{"_scroll_id":"x","took":1,"timed_out":false,"hits":{"hits":[${hit('2', '{"n":2.0}')}]}}`,
      'changes.txt':
        '{"index":{"_id":"1"}}\n{"n":1}\n{"update":{"_id":"1"}}\n{"doc":{"m":2}}\n{"delete":{"_id":"9"}}\n',
    },
    stored: [
      [
        ['7', '{"price":1.0,"serial":9007199254740993}'],
        ['a/b', '{}'],
      ],
      [
        ['1', '{"n":1}'],
        ['2', '{"n":2.0}'],
      ],
      [['1', '{"n":1,"m":2}']],
    ],
  },
  edits: {
    files: {
      'logs.ndjson': '{"n":1}\n',
      'logs/a.ndjson': '{"n":1}\n{"n":2}\n',
      'orders.csv': 'id,password,user.email\n1,x,z@x\n',
      'orders.ndjson': `${order}\n`,
      'shape.mjs': /```js\n(export default [\s\S]*?)```/.exec(guideOf('edits'))?.[1] ?? '',
    },
    stored: [
      ['{"n":1,"@timestamp":"NOW"}'],
      ['{"n":1,"source":"a.ndjson","line":"1"}', '{"n":2,"source":"a.ndjson","line":"2"}'],
      ['{"id":"1","tenant":"acme","year":2026}'],
      ['{"id":9007199254740993, "total":1.0,"@timestamp":"t","user":{"name":"Zoë","email":"z@x"},"user_id":7}'],
      [['9007199254740993', '{"id":9007199254740993, "total":1.0,"user":{"name":"Zoë"}}']],
      [
        '{"kind":"order","id":9007199254740993,"total":1.0,"ts":"t"}',
        '{"kind":"user","id":7,"name":"Zoë","email":"z@x","from":"orders.ndjson:1"}',
      ],
    ],
  },
  ids: {
    files: { 'orders.ndjson': `${branch}\n` },
    stored: [
      [['1001', branch]],
      [['DE|1001', branch]],
      [[createHash('sha256').update('DE|1001|Kiel').digest('hex'), branch]],
    ],
  },
}

let lab: Lab
let work: Folder
beforeAll(async () => {
  lab = await startLab()
  work = await folder()
})
afterAll(async () => {
  await lab.close()
  await work[Symbol.asyncDispose]()
})

describe.each(Object.entries(pages))('docs/guide/%s.md', (name, { files, stored }) => {
  const recipes = (/```sh\n([\s\S]*?)```/.exec(guideOf(name))?.[1] ?? '').trim().split('\n')
  beforeAll(async () => {
    for (const [file, text] of Object.entries(files)) {
      const path = join(work.path, name, file)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    }
  })

  test.each(recipes.map((recipe, at) => ({ recipe, at })))('$recipe', async ({ recipe, at }) => {
    const index = `${name}-${at}`
    const words = [...recipe.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
    // The recipes of a page would meet in one index.
    const args = words.slice(1).map((word, place, all) => (all[place - 1] === '--index' ? index : word))
    const { code, stderr } = await sluiceHere(args, { cwd: join(work.path, name), env: lab.env })
    expect([code, stderr]).toEqual([0, expect.any(String)])
    const expected = stored[at] ?? []
    const found = lab.control.ids(index).map((id, place) => {
      const source = String(lab.control.source(index, id)).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, 'NOW')
      return Array.isArray(expected[place]) ? [id, source] : source
    })
    expect(found).toEqual(expected)
  })

  test('has a result for each recipe', () => {
    expect(stored).toHaveLength(recipes.length)
  })
})
