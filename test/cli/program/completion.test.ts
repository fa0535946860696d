import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { inProcess } from '../../support/command/in-process.js'
import { sluice } from '../../support/command/sluice.js'
import { optionCommands } from '../../../src/options/option.js'
import { describeOption, isReplaced, optionNames } from '../../../src/options/describe-option.js'

const printed = async (...args: string[]) => await inProcess(args, {})

test.skipIf(!existsSync('/bin/bash'))('bash completes commands, flags, and values of choices', async () => {
  const { stdout: script } = await printed('completion', 'bash')
  const complete = (line: readonly string[]): string[] => {
    const words = line.map(word => `'${word}'`).join(' ')
    const code = `${script}\nCOMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('/bin/bash', ['--norc', '-c', code], { encoding: 'utf8' }).trim().split('\n')
  }
  expect(complete(['sluice', 'in'])).toEqual(['ingest', 'init', 'infer'])
  expect(complete(['sluice', ''])).toEqual(expect.arrayContaining([...optionCommands, 'completion', 'version', 'lab']))
  expect(complete(['sluice', '--ver'])).toEqual(['--version'])
  expect(complete(['sluice', 'ingest', 'a.ndjson', '--batch-'])).toEqual([
    '--batch-bytes',
    '--batch-docs',
    '--batch-ms',
  ])
  expect(complete(['sluice', 'ingest', '--compress', ''])).toEqual(['auto', 'gzip', 'none'])
  expect(complete(['sluice', 'ingest', '--compress', 'g'])).toEqual(['gzip'])
  // Files are for the shell to complete.
  expect(complete(['sluice', 'ingest', '--api-key-file', ''])).toEqual([''])
  expect(complete(['sluice', 'ingest', ''])).toEqual([''])
  expect(complete(['sluice', 'explain', 'EGRESS_NOT'])).toEqual(['EGRESS_NOT_ALLOWED'])
  expect(complete(['sluice', 'filter', ''])).toEqual(expect.arrayContaining(['create', 'attach']))
  expect(complete(['sluice', '--quiet', 'runs', 'r'])).toEqual(['rm'])
})

describe('every command and every flag', () => {
  const flags = optionNames.filter(name => !isReplaced(name)).flatMap(name => describeOption(name).flag ?? [])
  const pages = new Map<string, string>()
  beforeAll(async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'man'])
      pages.set(shell, (await printed('completion', shell)).stdout.replaceAll('\\-', '-'))
  })

  test.each(['bash', 'zsh', 'man', 'fish'])('but no old spelling is in %s', shell => {
    const old = optionNames.filter(isReplaced).map(name => describeOption(name).flag ?? '')
    expect(
      old.filter(flag =>
        pages
          .get(shell)
          ?.split(/[\s'|,)[]+/)
          .includes(flag),
      ),
    ).toEqual([])
  })

  test.each(['bash', 'zsh', 'man'])('is in %s', shell => {
    const page = pages.get(shell) ?? ''
    for (const name of [...flags, ...optionCommands, 'lab', 'demo', 'explain']) expect(page).toContain(name)
  })

  test('is in fish', () => {
    for (const flag of flags) expect(pages.get('fish')).toContain(` -l ${flag.slice(2)}`)
  })
})

test('an unknown shell is refused', async () => {
  expect(await printed('completion', 'tcsh')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("'tcsh' is not one of bash, zsh, fish, man") as string,
  })
})

test('version shows what a bug report needs, and -v and -V the version alone', async () => {
  const { stdout } = await printed('version')
  expect(stdout).toMatch(/^sluice +0\.0\.0\nNode\.js +\d+\.\d+\.\d+\n@elastic\/elasticsearch +\d+\.\d+\.\d+\n$/)
  expect(JSON.parse((await printed('version', '--json')).stdout)).toMatchObject({
    sluice: '0.0.0',
    node: process.versions.node,
  })
  // The bundle lies at another depth than its sources.
  const bundled = await sluice(['version'])
  expect(bundled, bundled.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('@elastic/elasticsearch') as string,
  })
  for (const flag of ['-v', '-V', '--version'])
    expect(await printed(flag)).toMatchObject({ code: 0, stdout: '0.0.0\n' })
})
