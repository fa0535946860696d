import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startChild } from '../../../../src/cli/application/start-child.js'
import type { Terminal } from '../../../../src/cli/terminal/terminal.js'
import { folder } from '../../../support/command/sluice.js'

test('a command that the system refuses at once is named, with the exit codes of a shell', async () => {
  await using work = await folder()
  const file = join(work.path, 'file')
  await writeFile(file, '')
  await mkdir(join(work.path, 'folder'))
  const ends = []
  for (const command of [join(file, 'command'), join(work.path, 'folder'), '']) {
    let said = ''
    const terminal = { err: (text: string) => (said += text), on: () => {}, off: () => {} } as unknown as Terminal
    const code = await startChild([command], { PATH: process.env['PATH'] }, terminal)
    ends.push([code, said.replace(work.path, '')])
  }
  expect(ends).toEqual([
    [126, 'error: cannot run /file/command: ENOTDIR\n'],
    [126, 'error: cannot run /folder: EACCES\n'],
    [127, "error: cannot run '': no such command\n"],
  ])
})
