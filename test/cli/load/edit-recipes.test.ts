/** The recipes of the guide, as somebody types them. */
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type Folder, folder } from '../../support/sluice.js'
import { sluiceHere } from '../../support/in-process.js'

let lab: Lab
let work: Folder
beforeAll(async () => {
  lab = await startLab()
  work = await folder()
  await mkdir(join(work.path, 'logs'))
  const order = '{"id":9007199254740993, "total":1.0,"ts":"t","user":{"id":7,"name":"Zoë","email":"z@x"}}\n'
  await writeFile(join(work.path, 'logs.ndjson'), '{"n":1}\n')
  await writeFile(join(work.path, 'logs/a.ndjson'), '{"n":1}\n{"n":2}\n')
  await writeFile(join(work.path, 'orders.csv'), 'id,password,user.email\n1,x,z@x\n')
  await writeFile(join(work.path, 'orders.ndjson'), order)
  await writeFile(join(work.path, 'shape.mjs'), shape)
})
afterAll(async () => {
  await lab.close()
  await work[Symbol.asyncDispose]()
})

const guide = readFileSync(new URL('../../../docs/guide/edits.md', import.meta.url), 'utf8')
const recipes = (/```sh\n([\s\S]*?)```/.exec(guide)?.[1] ?? '').trim().split('\n')

const shape = /```js\n(export default [\s\S]*?)```/.exec(guide)?.[1] ?? ''

/** What each recipe stores. */
const stored = [
  /^\{"n":1,"@timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"\}$/,
  '{"n":1,"source":"a.ndjson","line":"1"}|{"n":2,"source":"a.ndjson","line":"2"}',
  '{"id":"1","tenant":"acme","year":2026}',
  '{"id":9007199254740993, "total":1.0,"@timestamp":"t","user":{"name":"Zoë","email":"z@x"},"user_id":7}',
  '{"id":9007199254740993, "total":1.0,"user":{"name":"Zoë"}}',
  '{"kind":"order","id":9007199254740993,"total":1.0,"ts":"t"}|{"kind":"user","id":7,"name":"Zoë","email":"z@x","from":"orders.ndjson:1"}',
]

test.each(recipes.map((recipe, at) => [recipe, stored[at] ?? ''] as const))('%s', async (recipe, expected) => {
  const index = `recipe-${recipes.indexOf(recipe)}`
  const words = [...recipe.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
  const args = words.slice(1).map((word, at, all) => (all[at - 1] === '--index' ? index : word))
  const { code, stderr } = await sluiceHere(args, { cwd: work.path, env: lab.env })
  expect([code, stderr]).toEqual([0, expect.any(String)])
  const documents = lab.control.ids(index).map(id => String(lab.control.source(index, id)))
  expect(documents.join('|')).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
})
