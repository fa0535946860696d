import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeFolder } from '../../../../src/base/disk/safe-files.js'

let work: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'safe-files-'))
})
afterEach(async () => await rm(work, { recursive: true }))

test('a folder is made with those above it, for its owner alone; one that is there is left', async () => {
  const folder = join(work, 'a', 'b', 'c')
  await makeFolder(folder)
  await makeFolder(folder)
  expect((await stat(join(work, 'a'))).mode & 0o777).toBe(0o700)
  await mkdir(join(work, 'real'))
  await symlink(join(work, 'real'), join(work, 'link'))
  await makeFolder(join(work, 'link', 'd'))
  expect(await readdir(join(work, 'real'))).toEqual(['d'])
  await writeFile(join(work, 'file'), '')
  await expect(makeFolder(join(work, 'file', 'e'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  await expect(makeFolder(join(work, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
})
