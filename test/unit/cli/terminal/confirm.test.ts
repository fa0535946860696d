import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { confirm } from '../../../../src/cli/terminal/confirm.js'
import type { Terminal } from '../../../../src/cli/terminal/terminal.js'

function terminalOf(isTTY: boolean) {
  const stdin = Object.assign(new PassThrough(), { isTTY })
  const said: string[] = []
  const parts = { stdin, stderr: { isTTY }, err: (text: string) => said.push(text) }
  return { stdin, said, terminal: parts as unknown as Terminal }
}

test.each([
  ['y\n', true],
  ['Yes\n', true],
  ['n\n', false],
  ['\n', false],
  ['yesterday\n', false],
])('%j on a terminal is %s', async (typed, expected) => {
  const { stdin, said, terminal } = terminalOf(true)
  const answer = confirm(terminal, 'Delete?')
  stdin.write(typed)
  expect(await answer).toBe(expected)
  expect(said).toEqual(['Delete? [y/N] '])
})

test('the end of the input is no, and without a terminal there is no question', async () => {
  const { stdin, terminal } = terminalOf(true)
  stdin.end()
  expect(await confirm(terminal, 'Delete?')).toBe(false)
  const { terminal: none, said } = terminalOf(false)
  expect(await confirm(none, 'Delete?')).toBeUndefined()
  expect(said).toEqual([])
})

test('an abort is no, and ends the waiting', async () => {
  const { terminal } = terminalOf(true)
  const controller = new AbortController()
  const answer = confirm(terminal, 'Delete?', controller.signal)
  controller.abort('SIGINT')
  expect(await answer).toBe(false)
})
