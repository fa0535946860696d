import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withMembers } from '../../../src/options/archive-paths.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paths-'))
  for (const name of ['a.zip', 'b.tar.gz']) await writeFile(join(folder, name), '')
  await mkdir(join(folder, 'c.zip'))
})
afterAll(async () => await rm(folder, { recursive: true }))

const at = (name: string) => join(folder, name)

test('a path into an archive is the archive and a pattern', () => {
  const source = [at('a.zip/*.csv'), at('x.csv'), at('a.zip/data/*.json')]
  expect(withMembers({ source })).toEqual({ source: [at('a.zip'), at('x.csv')], members: '*.csv,data/*.json' })
  expect(withMembers({ source: at('b.tar.gz/*.csv') })).toEqual({ source: [at('b.tar.gz')], members: '*.csv' })
  const both = { source: [at('a.zip/*.csv'), at('b.tar.gz/*.csv')] }
  expect(withMembers(both)).toEqual({ source: [at('a.zip'), at('b.tar.gz')], members: '*.csv' })
})

test.each(['c.zip/*.csv', 'none.zip/*.csv', 'a.zip', '*.zip', 'x.csv'])('%s stays as it is', name => {
  const given = { source: at(name) }
  expect(withMembers(given)).toBe(given)
})

test('URLs, streams and lists stay as they are', () => {
  for (const source of ['https://host/a.zip/*.csv', [{ n: 1 }], { files: [at('a.zip/*.csv')] }])
    expect(withMembers({ source }).source).toBe(source)
})

test.each<[string, { source: string[]; members?: string }]>([
  ['not both', { source: ['a.zip/*.csv'], members: '*.csv' }],
  ['Load them one after the other', { source: ['a.zip/*.csv', 'b.tar.gz/*.json'] }],
  ['Load them one after the other', { source: ['a.zip/*.csv', 'b.tar.gz'] }],
])('%s', (why, { source, ...more }) => {
  expect(() => withMembers({ source: source.map(at), ...more })).toThrow(why)
})
