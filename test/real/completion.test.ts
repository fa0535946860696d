/** Completion in real shells, and the man page as groff reads it. bash is tested with the other commands. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inProcess } from '../support/command/in-process.js'
import { findParts } from './servers/parts.js'

const { zsh, fish, groff } = findParts()
let folder: string
const path = (name: string) => join(folder, name)
const env = () => ({ PATH: process.env['PATH'] ?? '', HOME: folder, TERM: 'dumb', LC_ALL: 'C.UTF-8' })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'completion-'))
  for (const [shell, name] of [
    ['zsh', '_sluice'],
    ['fish', 'sluice.fish'],
    ['man', 'sluice.1'],
  ] as const)
    await writeFile(path(name), (await inProcess(['completion', shell], {})).stdout)
})
afterAll(async () => await rm(folder, { recursive: true }))

test.skipIf(fish === undefined)('fish completes commands, flags and values', () => {
  const complete = (line: string) => {
    const code = `source ${path('sluice.fish')}; complete -C '${line}'`
    const text = execFileSync(fish ?? '', ['--no-config', '-c', code], { encoding: 'utf8', env: env() })
    return text
      .trim()
      .split('\n')
      .map(one => one.split('\t')[0])
  }
  expect(complete('sluice in')).toEqual(expect.arrayContaining(['ingest', 'infer']))
  expect(complete('sluice ingest --batch-')).toEqual(['--batch-bytes', '--batch-docs', '--batch-ms'])
  expect(complete('sluice ingest --compress ')).toEqual(['auto', 'gzip', 'none'])
  expect(complete('sluice explain EGRESS_NOT')).toContain('EGRESS_NOT_ALLOWED')
})

// A terminal of its own, in which the key is pressed.
const PRESS = `
zmodload zsh/zpty
zpty -b shell zsh -f -i
line() { zpty -w shell "$1"; }
line 'PROMPT=; fpath=('$1' $fpath); autoload -Uz compinit; compinit -u -d '$1'/dump; zstyle ":completion:*" list-colors ""; echo re''ady'
zpty -r shell text '*ready*'
zpty -n -w shell $'$2\\t'
`

test.skipIf(zsh === undefined)('zsh reads its file without an error, and completes with it', () => {
  const checked = spawnSync(zsh ?? '', ['-f', '-n', path('_sluice')], { encoding: 'utf8', env: env() })
  expect(checked).toMatchObject({ status: 0, stderr: '' })
  const complete = (line: string, until: string) => {
    const code = `${PRESS.replace('$2', line)}zpty -r shell text '*${until}*'; print -r -- "$text"`
    return execFileSync(zsh ?? '', ['-f', '-c', code, 'zsh', folder], { encoding: 'utf8', env: env(), timeout: 60_000 })
  }
  expect(complete('sluice inge', 'ingest')).toContain('ingest')
  expect(complete('sluice ingest --batch-b', '--batch-bytes')).toContain('--batch-bytes')
  expect(complete('sluice ingest --compress gz', 'gzip')).toContain('gzip')
})

test.skipIf(groff === undefined)('groff formats the man page without a warning', () => {
  const { stdout, stderr, status } = spawnSync(groff ?? '', ['-man', '-Tutf8', '-ww', '-z', path('sluice.1')], {
    encoding: 'utf8',
  })
  expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 })
  const text = execFileSync(groff ?? '', ['-man', '-Tutf8', '-P-c', '-P-b', '-P-u', path('sluice.1')], {
    encoding: 'utf8',
  })
  for (const part of ['NAME', 'SYNOPSIS', 'EXIT STATUS', '--batch-bytes', 'sluice doctor']) expect(text).toContain(part)
})
