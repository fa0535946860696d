import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { geteuid } from 'node:process'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isSluiceError } from '../../../../../src/base/failure/failure.js'
import { prepareStateDir } from '../../../../../src/run/state/runs/state-folder.js'

let work: string
let state: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'state-folder-'))
  state = join(work, 'state')
})
afterEach(async () => await rm(work, { recursive: true }))

const modeOf = async (path: string) => (await stat(path)).mode & 0o7777

async function problemOf(preparing: Promise<unknown>): Promise<string> {
  try {
    await preparing
    return ''
  } catch (error) {
    if (!isSluiceError(error)) throw error
    expect(error.failure).toMatchObject({ code: 'STATE_UNWRITABLE', evidence: { path: state } })
    return String(error.failure.evidence['problem'])
  }
}

test('a folder that is made is for its owner alone, and a folder that others may only read stays as it is', async () => {
  expect(await prepareStateDir(state)).toEqual([])
  expect(await modeOf(state)).toBe(0o700)
  await chmod(state, 0o755)
  expect(await prepareStateDir(state)).toEqual([])
  expect(await modeOf(state)).toBe(0o755)
})

describe('a folder that others can write to', () => {
  test.each([0o775, 0o777, 0o2770, 0o702])('is closed, with a warning: mode %o', async mode => {
    await mkdir(state)
    await chmod(state, mode)
    const had = mode.toString(8).padStart(4, '0')
    expect(await prepareStateDir(state)).toEqual([
      `other users could write to the state folder ${state} (mode ${had}). Now only you can`,
    ])
    expect(await modeOf(state)).toBe(0o700)
    expect(await prepareStateDir(state)).toEqual([])
  })

  test('is closed also if it is one of those in the state folder', async () => {
    await mkdir(join(state, 'locks'), { recursive: true })
    await chmod(join(state, 'locks'), 0o777)
    expect(await prepareStateDir(state)).toEqual([expect.stringContaining(join(state, 'locks')) as string])
    expect(await modeOf(join(state, 'locks'))).toBe(0o700)
  })

  test('is refused and stays open if everybody shares it on purpose', async () => {
    await mkdir(state)
    await chmod(state, 0o1777)
    expect(await problemOf(prepareStateDir(state))).toBe(
      `anyone can write to this folder (mode 1777). Pass a folder inside it: --state-dir '${state}/sluice'`,
    )
    expect(await modeOf(state)).toBe(0o1777)
    expect(await prepareStateDir(join(state, 'sluice'))).toEqual([])
  })

  test.skipIf(geteuid?.() !== 0)('is refused if it belongs to another user (skipped if not run by root)', async () => {
    await mkdir(state)
    await chown(state, 4711, 4711)
    const command = `chown 0 '${state}' && chmod 700 '${state}'`
    expect(await problemOf(prepareStateDir(state))).toBe(
      `it belongs to another user (id 4711), and the state in it must be only yours. Run \`${command}\``,
    )
    expect(await readdir(state)).toEqual([])
  })
})

test('a folder that cannot be made is named', async () => {
  await expect(prepareStateDir('/proc/sluice/state')).rejects.toMatchObject({
    failure: { code: 'STATE_UNWRITABLE', evidence: { problem: 'no folder can be made in /proc' } },
  })
})

test('unfinished files of a killed process are removed after an hour, and nothing else', async () => {
  const old = new Date(Date.now() - 2 * 3_600_000)
  const temporary = ['runs/a.jsonl.0123abcd.tmp', 'limits/b.json.0123abcd.tmp', 'deletions/c.json.89abcdef.tmp']
  const others = ['runs/a.jsonl', 'runs/note.tmp', 'runs/new.jsonl.0123abcd.tmp']
  for (const folder of ['runs', 'limits', 'deletions']) await mkdir(join(state, folder), { recursive: true })
  for (const name of [...temporary, ...others]) {
    await writeFile(join(state, name), '')
    if (name !== others[2]) await utimes(join(state, name), old, old)
  }
  await prepareStateDir(state)
  const left = await Promise.all(['runs', 'limits', 'deletions'].map(async name => await readdir(join(state, name))))
  expect(left.flat().toSorted()).toEqual(['a.jsonl', 'new.jsonl.0123abcd.tmp', 'note.tmp'])
})
