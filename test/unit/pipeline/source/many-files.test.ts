import { appendFile, link, mkdir, mkdtemp, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Source } from '../../../../src/base/flow.js'
import { findSources } from '../../../../src/pipeline/source/open-sources.js'
import { rounds } from '../../../support/rounds.js'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'many-files-'))
})
afterEach(() => rm(cwd, { recursive: true }))

const never = new AbortController().signal
const write = async (...names: string[]) => {
  for (const name of names) await writeFile(join(cwd, name), `${name}\n`)
}
const find = async (source: string | string[]) => await findSources(source, { cwd })
const names = async (source: string | string[]) => (await find(source)).map(({ name }) => name)

async function text(source: Source | undefined): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of source?.open(never) ?? []) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString()
}

test('a file has its whole path, however it is named', async () => {
  await mkdir(join(cwd, 'a/b'), { recursive: true })
  await write('top.ndjson', 'a/one.ndjson', 'a/b/two.ndjson')
  const given = ['a/b/two.ndjson', 'a//b/../one.ndjson', './top.ndjson', join(cwd, 'a', 'b', '..', '..', 'top.ndjson')]
  for (const [at, path] of ['a/b/two.ndjson', 'a/one.ndjson', 'top.ndjson', 'top.ndjson'].entries()) {
    const [found] = await find(given[at] ?? '')
    expect(found?.file?.path).toBe(join(cwd, path))
  }
  const ofRoot = await findSources(cwd.slice(1) + '/top.ndjson', { cwd: '/' })
  expect(ofRoot.map(({ file }) => file?.path)).toEqual([join(cwd, 'top.ndjson')])
})

describe('globs', () => {
  test('a file called like a glob hides no other', async () => {
    await write('*.ndjson', 'a.ndjson', 'b.ndjson')
    expect(await names('*.ndjson')).toEqual(['*.ndjson', 'a.ndjson', 'b.ndjson'])
  })

  test('a name with wildcard characters means itself if nothing else matches', async () => {
    await write('a[1].ndjson', '*.json')
    expect(await names('a[1].ndjson')).toEqual(['a[1].ndjson'])
    expect(await names('*.json')).toEqual(['*.json'])
  })

  test('every file that a shell passes on is found, whatever its name', async () => {
    await write('a1.ndjson', 'a[1].ndjson', '{b,a}.ndjson', '*.ndjson')
    const passed = ['*.ndjson', 'a1.ndjson', 'a[1].ndjson', '{b,a}.ndjson']
    expect(await names(passed)).toEqual(passed)
    expect(await names(passed.toReversed())).toEqual(passed.toReversed())
  })

  test('very many folders, and one file deep below', { tags: 'long' }, async () => {
    const deep = Array.from({ length: 100 }, (_, at) => `d${at}`).join('/')
    await mkdir(join(cwd, deep), { recursive: true })
    await write(`${deep}/deep.ndjson`)
    const many = Array.from({ length: rounds(1000, 10_000) }, (_, at) => `wide/${Math.trunc(at / 100)}/${at % 100}`)
    for (let at = 0; at < many.length; at += 100)
      await Promise.all(many.slice(at, at + 100).map(name => mkdir(join(cwd, name), { recursive: true })))
    await write('wide/7/7/one.ndjson')
    expect(await names('**/*.ndjson')).toEqual([`${deep}/deep.ndjson`, 'wide/7/7/one.ndjson'])
  })

  test('a loop of symbolic links ends, and each file in it is found once', async () => {
    await mkdir(join(cwd, 'a/b'), { recursive: true })
    await write('a/one.ndjson', 'a/b/two.ndjson')
    await symlink('..', join(cwd, 'a/b/up'))
    await symlink('../a', join(cwd, 'a/again'))
    const found = await find('**/*.ndjson')
    expect(found).toHaveLength(2)
    expect((await Promise.all(found.map(text))).toSorted()).toEqual(['a/b/two.ndjson\n', 'a/one.ndjson\n'])
  })

  test('a link that leads nowhere is left out and named, if the glob matches it', async () => {
    await mkdir(join(cwd, 'deep'))
    await write('app1.ndjson', 'deep/app2.ndjson', 'a[1].ndjson')
    await symlink('gone', join(cwd, 'app3.ndjson'))
    await symlink('gone', join(cwd, 'deep/app4.ndjson'))
    await symlink('gone', join(cwd, 'other.txt'))
    await symlink('nowhere', join(cwd, 'folder'))
    const warned = async (names: string) => {
      const said: string[] = []
      const found = await findSources(names, { cwd, warn: message => said.push(message) })
      return [found.map(({ name }) => name), said.toSorted()]
    }
    const leads = (glob: string, link: string) => `${glob} matches the symbolic link ${link}, which leads nowhere`
    expect(await warned('app*.ndjson')).toEqual([['app1.ndjson'], [leads('app*.ndjson', 'app3.ndjson')]])
    expect(await warned('**/app[2-4].ndjson')).toEqual([
      ['deep/app2.ndjson'],
      [leads('**/app[2-4].ndjson', 'app3.ndjson'), leads('**/app[2-4].ndjson', 'deep/app4.ndjson')],
    ])
    expect(await warned('a[1].ndjson')).toEqual([['a[1].ndjson'], []])
    const said: string[] = []
    const none = findSources('app3*', { cwd, warn: message => said.push(message) })
    await expect(none).rejects.toMatchObject({ code: 'INPUT_NOT_FOUND', message: 'no such input: app3*' })
    expect(said).toEqual([leads('app3*', 'app3.ndjson')])
  })

  test('one file with several names is one input', async () => {
    await write('a.ndjson')
    await link(join(cwd, 'a.ndjson'), join(cwd, 'b.ndjson'))
    await symlink('a.ndjson', join(cwd, 'c.ndjson'))
    await symlink('.', join(cwd, 'here'))
    expect(await names('*.ndjson')).toEqual(['a.ndjson'])
    expect(await names(['here/b.ndjson', './a.ndjson', join(cwd, 'c.ndjson')])).toEqual(['here/b.ndjson'])
  })
})

describe('a small file that is read ahead', () => {
  const ahead = async () => {
    await write('a.ndjson')
    const [source] = await find('a.ndjson')
    source?.ahead?.()
    return source
  }

  test('is read once, and known by all that was read', async () => {
    const source = await ahead()
    expect(await text(source)).toBe('a.ndjson\n')
    const { bytes = 0, sum = () => '' } = source?.file?.reading ?? {}
    expect(await source?.file?.sums([bytes])).toEqual([sum()])
    expect(bytes).toBe(9)
  })

  test('is what it was when it was read, and known as that', async () => {
    const source = await ahead()
    // Only a read shows that the reading is over.
    await new Promise(resolve => setTimeout(resolve, 50))
    await appendFile(join(cwd, 'a.ndjson'), 'more\n')
    const read = await text(source)
    expect(['a.ndjson\n', 'a.ndjson\nmore\n']).toContain(read)
    expect(source?.file?.reading?.bytes).toBe(read.length)
  })

  test('is read a second time when it is opened a second time', async () => {
    const source = await ahead()
    await text(source)
    await truncate(join(cwd, 'a.ndjson'), 2)
    await appendFile(join(cwd, 'a.ndjson'), '\n')
    expect(await text(source)).toBe('a.\n')
  })

  test('that vanished before is not found', async () => {
    await write('a.ndjson')
    const [source] = await find('a.ndjson')
    await unlink(join(cwd, 'a.ndjson'))
    source?.ahead?.()
    await expect(text(source)).rejects.toMatchObject({ code: 'INPUT_NOT_FOUND' })
  })

  test('that has grown large is read like a large one', async () => {
    await write('a.ndjson')
    const [source] = await find('a.ndjson')
    const large = `${'x'.repeat(99)}\n`.repeat(2000)
    await writeFile(join(cwd, 'a.ndjson'), large)
    source?.ahead?.()
    expect(await text(source)).toBe(large)
  })
})
