import { chmod, link, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { silentCluster } from '../../support/servers/silent-cluster.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder, shell, startSluice } from '../../support/command/sluice.js'
import { kill } from '../../support/command/kill.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab({ register: 'both', ports: 'random' })
})
afterAll(async () => await lab.close())

test.each(['in.ndjson', 'link.ndjson', 'hard.ndjson', './in.ndjson'])(
  'dead letters are not written into an input (%s)',
  async path => {
    await using work = await folder()
    const content = '{"n":1}\nno JSON\n'
    await writeFile(join(work.path, 'in.ndjson'), content)
    await symlink('in.ndjson', join(work.path, 'link.ndjson'))
    await link(join(work.path, 'in.ndjson'), join(work.path, 'hard.ndjson'))
    const args = ['ingest', 'in.*', '--index', 'own-letters', '--dead-letters', path, '--json']
    const { code, stdout } = await sluice(args, { cwd: work.path, env: lab.env })
    expect(JSON.parse(stdout)).toMatchObject({
      failure: {
        code: 'OPTION_INVALID',
        message: `--dead-letters: '${path}' is the input in.ndjson. Write the dead letters to another file`,
      },
    })
    expect({ code, stored: lab.control.count('own-letters') }).toEqual({ code: 2, stored: 0 })
    expect(await readFile(join(work.path, 'in.ndjson'), 'utf8')).toBe(content)
  },
)

test('the dead letters of one run are no documents of the next', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'in.ndjson'), '{"n":1}\nno JSON\n')
  for (const read of [2, 0]) {
    const { stdout } = await sluice(['ingest', '*.ndjson', '--index', 'again', '--json'], {
      cwd: work.path,
      env: lab.env,
    })
    expect(JSON.parse(stdout)).toMatchObject({ read, created: read / 2, rejected: read / 2 })
  }
})

test.each(['-', '/dev/stdin'])('a directory as stdin is no empty input (%s)', async name => {
  await using work = await folder()
  const line = `$SLUICE ingest ${name} --index directory --json < .`
  const { code, stdout } = await shell(line, { cwd: work.path, env: lab.env })
  expect(JSON.parse(stdout)).toMatchObject({ failure: { code: 'INPUT_UNREADABLE', evidence: { input: name } } })
  expect(code).toBe(3)
})

test(
  'a load of many files needs few open files, and nothing of a killed one is left after it',
  { tags: 'long' },
  async () => {
    await using work = await folder()
    await using cluster = await silentCluster()
    const state = join(work.path, 'state')
    const files = Array.from({ length: 1000 }, (_, n) => join(work.path, `${n}.ndjson`))
    for (const [n, file] of files.entries()) await writeFile(file, `{"n":${n}}\n`)
    const killed = startSluice(['ingest', '*.ndjson', '--index', 'many', '--state-dir', state, '--url', cluster.url], {
      cwd: work.path,
    })
    await cluster.bulk()
    await kill(killed)
    expect(await readdir(join(state, 'locks'))).not.toEqual([])

    const line = `ulimit -n 256; $SLUICE ingest '*.ndjson' --index many --state-dir '${state}' --json`
    const { code, stdout } = await shell(line, { cwd: work.path, env: lab.env })
    expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', read: 1000, created: 1000 })
    expect(code).toBe(0)
    expect(await readdir(join(state, 'locks'))).toEqual([])
  },
)

/** Names that a glob, a shell or a list of lines would take for something else. */
const listed = ['a[1].ndjson', '*.ndjson', '-', ' two  blanks.ndjson']
const lists: [string, string, string[], boolean, BufferEncoding?][] = [
  ['lines', '\n', ['--files-from', 'list'], false],
  ['lines with carriage returns, on stdin', '\r\n', ['--files-from', '-'], true],
  ['a BOM, as Notepad writes', '\r\n', ['--files-from', 'list'], false, 'utf8'],
  ['a BOM, on stdin', '\r\n', ['--files-from', '-'], true, 'utf8'],
  ['UTF-16, as PowerShell writes', '\r\n', ['--files-from', 'list'], false, 'utf16le'],
  ['UTF-16, on stdin', '\r\n', ['--files-from', '-'], true, 'utf16le'],
  ['NUL characters, as find -print0 writes', '\0', ['--files-from', 'list'], false],
  ['NUL characters, on stdin, in the old spelling', '\0', ['-0', '--files-from', '-'], true],
]
test.each(lists)('--files-from loads exactly the files of a list: %s', async (title, end, args, onStdin, marked) => {
  await using work = await folder()
  for (const [n, file] of [...listed, 'a1.ndjson'].entries()) await writeFile(join(work.path, file), `{"n":${n}}\n`)
  const text = listed.map(file => `${file}${end}`).join('')
  const list = Buffer.from(marked === undefined ? text : `\uFEFF${text}`, marked)
  if (!onStdin) await writeFile(join(work.path, 'list'), list)
  const index = `list-${lists.findIndex(([name]) => name === title)}`
  const { code, stdout } = await sluice(['ingest', '--index', index, '--json', ...args], {
    cwd: work.path,
    env: lab.env,
    ...(onStdin ? { input: list } : {}),
  })
  expect(JSON.parse(stdout)).toMatchObject({
    read: 4,
    created: 4,
    inputs: listed.map(file => ({ name: file, read: 1 })),
  })
  expect(code).toBe(0)
})

const wrongLists: [string, string[], string][] = [
  ['', ['--files-from', 'list'], '--files-from: list names no files'],
  ['gone.ndjson\n', ['--files-from', 'list'], 'gone.ndjson'],
  ['list\n', ['--files-from', 'nowhere'], '--files-from: cannot read nowhere: no such file'],
  ['list\n', ['--files-from', 'list', 'list'], "--files-from: cannot be used together with 'list'. Use two commands"],
  ['list\n', ['-0', 'list'], '--null: needs --files-from'],
]
test.each(wrongLists)('a wrong list loads nothing: %j, %j', async (content, args, message) => {
  await using work = await folder()
  await writeFile(join(work.path, 'list'), content)
  const { code, stderr } = await sluice(['ingest', '--index', 'wrong-list', ...args], {
    cwd: work.path,
    env: lab.env,
  })
  expect(stderr).toContain(message)
  expect([2, 3]).toContain(code)
  expect(lab.control.count('wrong-list')).toBe(0)
})

test('files of a list are known when the list has another name or order, and by a glob', { tags: 'long' }, async () => {
  await using work = await folder()
  const files = ['part-10.ndjson', 'part-9.ndjson']
  for (const file of files) await writeFile(join(work.path, file), `{"of":"${file}"}\n`)
  await writeFile(join(work.path, 'list'), files.join('\n'))
  await writeFile(join(work.path, 'other'), files.toReversed().join('\n'))
  const created = []
  for (const args of [['--files-from', 'list'], ['--files-from', 'other'], ['part-*']]) {
    const command = ['ingest', '--index', 'known-list', '--json', ...args]
    const { stdout } = await sluice(command, { cwd: work.path, env: lab.env })
    created.push((JSON.parse(stdout) as { created: number }).created)
  }
  expect(created).toEqual([2, 0, 0])
})

test('a state folder that others can write to is closed, with a warning, or refused', async () => {
  await using work = await folder()
  const state = join(work.path, 'state')
  await writeFile(join(work.path, 'in.ndjson'), '{"n":1}\n')
  await mkdir(state)
  await chmod(state, 0o777)
  const args = ['ingest', 'in.ndjson', '--index', 'open-state', '--state-dir', state]
  const { code, stderr } = await sluice(args, { cwd: work.path, env: lab.env })
  expect(stderr).toContain(
    `warning: other users could write to the state folder ${state} (mode 0777). Now only you can\n`,
  )
  expect(code).toBe(0)

  await chmod(state, 0o1777)
  const refused = await sluice(args, { cwd: work.path, env: lab.env })
  expect(refused.stderr).toContain(
    `error: cannot write ${state}: anyone can write to this folder (mode 1777). Pass a folder inside it`,
  )
  expect(refused.code).toBe(3)
})
