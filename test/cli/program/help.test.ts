import { describe, expect, test } from 'vitest'
import { runProgram } from '../../../src/cli/program.js'
import type { Terminal } from '../../../src/cli/terminal/terminal.js'
import { optionCommands } from '../../../src/options/option.js'
import { optionsOf } from '../../../src/options/describe-option.js'

const commands: readonly string[][] = [
  [],
  ...[...optionCommands, 'lab', 'demo', 'explain', 'completion', 'version'].map(command => [command]),
  ...['show', 'create', 'attach', 'detach'].map(task => ['filter', task]),
]

async function helpOf(args: readonly string[], colour = false): Promise<string> {
  let printed = ''
  const fake = {
    manner: { json: false, secrets: [] },
    env: {},
    stderr: { isTTY: true },
    hasColors: { out: colour, err: colour },
    draw: { out: (text: string) => void (printed += text), err: (text: string) => void (printed += text) },
  }
  expect(await runProgram(args, fake as unknown as Terminal, '0.0.0')).toBe(0)
  return printed
}

const LINES_OF_A_SCREEN = 40

describe.each(commands.map(args => ({ args, name: ['sluice', ...args].join(' ') })))('$name', ({ args }) => {
  test('no line of its help has more than 80 columns', async () => {
    const pages = [await helpOf([...args, '--help']), await helpOf([...args, '--help-all'])]
    const long = pages.flatMap(page => page.split('\n')).filter(line => line.length > 80)
    expect(long).toEqual([])
  })

  test('a blank line stands before every heading of its help', async () => {
    for (const flag of ['--help', '--help-all']) {
      const lines = (await helpOf([...args, flag])).split('\n')
      const headings = lines.flatMap((line, at) => (/^[A-Z].*:$/.test(line) ? [at] : []))
      expect(headings.filter(at => lines[at - 1] !== '').map(at => lines[at])).toEqual([])
    }
  })

  test('its help fits on a screen', async () => {
    const lines = (await helpOf([...args, '--help'])).trimEnd().split('\n')
    expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(LINES_OF_A_SCREEN)
  })
})

test('ingest --help-all shows every option, its default and its other names', async () => {
  const text = (await helpOf(['ingest', '--help-all'])).replaceAll(/\s+/g, ' ')
  const flags = optionsOf('ingest').map(({ flag }) => flag)
  for (const { flag, label, default: preset, env, replaced } of optionsOf('ingest')) {
    if (replaced !== undefined) {
      expect(text).not.toContain(` ${flag} `)
      continue
    }
    const isFileOfSecret = flag?.endsWith('-file') === true && flags.includes(flag.slice(0, -5))
    expect(text).toContain(
      isFileOfSecret ? `${flag.slice(0, -5)}[-file] ` : flags.includes(`${flag}-file`) ? `${flag}[-file] ` : `${flag} `,
    )
    if (label !== undefined && preset !== undefined) expect(text).toContain(`default: ${preset}`)
    for (const name of env.slice(1)) expect(text).toContain(name)
  }
})

test('ingest --help-all GROUP shows only the options of that group', async () => {
  const text = await helpOf(['ingest', '--help-all', 'csv'])
  expect(text).toContain('--delimiter')
  expect(text).not.toContain('--plan')
  expect(await helpOf(['ingest', '--help-all', 'route'])).toContain('Proxy and route:')
})

test('headings and options have colour only on a terminal', async () => {
  const coloured = await helpOf(['ingest', '--help'], true)
  expect(coloured).toContain('\u001b[1mDocuments:\u001b[22m')
  const plain = await helpOf(['ingest', '--help'])
  expect(plain).not.toContain('\u001b')
  // oxlint-disable-next-line no-control-regex -- colours are what is removed
  expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain)
})
