import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failureCodes } from '../src/base/failure/failure.js'
import { type Lab, registers, startLab } from '../src/lab/index.js'
import { optionNames, describeOption, placedIn } from '../src/options/describe-option.js'
import { built } from './support/build.js'
import { type Folder, binary, folder, shell, sluice } from './support/command/sluice.js'

// Each example starts processes.
const root = fileURLToPath(new URL('..', import.meta.url))
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
].map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))

interface Block {
  readonly path: string
  readonly name: string
  readonly code: string
}

/** The fenced blocks of one language, named after their page and first line. */
function blocks(language: string): Block[] {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
      .filter(([, fence]) => fence === language)
      .map(([, , code = '']) => ({ path, name: `${path}: ${code.split('\n', 1)[0]}`, code })),
  )
}

let work: Folder
/** A shell finds `sluice` and the examples as a reader's does. */
let reader: { readonly cwd: string; readonly env: Record<string, string> }
beforeAll(async () => {
  work = await folder()
  const bin = join(work.path, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'sluice'), `#!/bin/sh\nexec ${process.execPath} ${binary} "$@"\n`, { mode: 0o755 })
  cpSync(join(root, 'examples'), join(work.path, 'examples'), { recursive: true })
  reader = { cwd: work.path, env: { PATH: `${bin}:${process.env['PATH']}` } }
})
afterAll(async () => await work[Symbol.asyncDispose]())

describe('pages made from the code', () => {
  test('are up to date', () => {
    const made = spawnSync(process.execPath, [join(root, 'scripts/docs/generate.js'), '--check', join(built, 'dist')])
    expect({ said: String(made.stdout) + String(made.stderr), code: made.status }).toEqual({ said: '', code: 0 })
  })
})

describe('commands in the docs', () => {
  /** What differs from run to run. */
  const changing: readonly (readonly [RegExp, string])[] = [
    [/\d{8}T\d{6}Z-[0-9a-f]{6}/g, 'RUN'],
    [/\b[0-9a-f]{32}\b/g, 'POLICY'],
    [/(localhost|127\.0\.0\.1):\d+/g, '$1:PORT'],
    [/127\.0\.0\.[23] \(\d+x\)(, 127\.0\.0\.[23] \(\d+x\))?/g, 'ADDRESSES'],
    [/\d[\d.,]* (ms|s)(?=\W)/g, 'N s'],
    [/\d[\d.,]* (B|kB|MB|documents\/s)(?=\W)/g, 'N $1'],
    [/refused \d+ of (6|16) connections/g, 'refused N of M connections'],
    [/accepted \d+ of 16 connections/g, 'accepted N of M connections'],
    [/\d+ of 16 connections refused/g, 'N of M connections refused'],
    [/\d+ connections$/gm, 'N connections'],
    [/"writer":"[a-z2-7]{16}"/g, '"writer":"WRITER"'],
    [/\d+ requests sent/g, 'N requests sent'],
    [/"[a-z2-7]{16}-(\d+)"|'[a-z2-7]{16}-(\d+)'/g, 'ID-$1$2'],
    [/ +/g, ' '],
  ]
  const settled = (text: string) => changing.reduce((rest, [what, name]) => rest.replaceAll(what, name), text).trim()

  const [ofReadme, ofGuides] = [true, false].map(isReadme =>
    blocks('console').filter(({ path }) => (path === 'README.md') === isReadme),
  )
  test.each(ofReadme ?? [])('print what $name shows', checkCommands)
  test.each(ofGuides ?? [])('print what $name shows', { tags: 'long' }, checkCommands)

  async function checkCommands({ path, code }: { path: string; code: string }): Promise<void> {
    const shown = code.split(/^\$ /m).slice(1)
    const commands = shown.map(part => part.split('\n', 1)[0] ?? '')
    // The next command sees the exit code of the one before.
    const lines = commands.map(command => `${command}\nlast=$?\necho "$ next"\n(exit $last)`)
    const { stdout } = await shell(`exec 2>&1\n${lines.join('\n')}`, reader)
    // A slow machine shows progress that a page does not.
    const progress = /^((reached|reading) .*|(\d+% · )?[\d,]+ documents? · .*)\n/gm
    const printed = stdout.split('$ next\n').map(text => text.replaceAll(progress, ''))
    const actual = commands.map((command, at) => `$ ${command}\n${settled(printed[at] ?? '')}`)
    const expected = shown.map(part => `$ ${part.split('\n', 1)[0]}\n${settled(part.slice(part.indexOf('\n') + 1))}`)
    if (process.env['SLUICE_WRITE_DOCS'] !== undefined && actual.join('') !== expected.join(''))
      rewrite(path, code, commands.map((command, at) => `$ ${command}\n${printed[at] ?? ''}`).join(''))
    else expect(actual).toEqual(expected)
  }

  /** Replaces a block of a page by what its commands print today. */
  function rewrite(path: string, code: string, printed: string): void {
    const file = join(root, path)
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(`\`\`\`console\n${code}`, () => `\`\`\`console\n${printed}`),
    )
  }
})

describe('library examples in the docs', () => {
  const examples = blocks('ts').filter(({ code }) => code.includes("from 'sluice"))
  let place: string
  let lab: Lab
  let printed: { readonly code: number | null; readonly parts: readonly string[] }
  beforeAll(async () => {
    lab = await startLab()
    place = mkdtempSync(join(built, 'examples-of-docs-'))
    for (const [at, { code }] of examples.entries()) writeFileSync(join(place, `example-${at}.ts`), code)
    // Beside the built package, which `sluice` means here.
    const compilerOptions = { target: 'es2023', module: 'nodenext', strict: true, types: ['node'] }
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    compile('--noCheck')
    // One process runs one after another: loading the library takes longer than any of them.
    const runs = examples.map((_, at) => `await import('./example-${at}.js')\nconsole.log('# next')\n`)
    writeFileSync(join(place, 'all.mjs'), runs.join(''))
    const env = { ...reader.env, ...lab.env, NODE_EXTRA_CA_CERTS: lab.line.cluster.caFile }
    const { code, stdout } = await shell(`node ${join(place, 'all.mjs')} 2>&1`, { ...reader, env })
    printed = { code, parts: stdout.split('# next\n') }
  })
  afterAll(async () => {
    rmSync(place, { recursive: true, force: true })
    await lab.close()
  })

  test('are all found', () => {
    expect(examples.length).toBeGreaterThanOrEqual(6)
  })

  const compile = (...options: string[]) =>
    String(spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', place, ...options]).stdout)

  test('have no type errors, seen from outside, with all declarations checked', { tags: 'long' }, () => {
    const compiled = compile('--noEmit')
    // The official client's own declarations name a package that it does not install.
    expect(compiled.split('\n').filter(line => line !== '' && !line.includes('node_modules/'))).toEqual([])
  })

  test.each(examples.map((example, at) => ({ ...example, at })))(
    'run on the lab: $name ($at)',
    ({ at, code: text }) => {
      const promised = [...text.matchAll(/\/\/ → (.*)$/gm)].map(([, line]) => line)
      expect(printed.parts[at]).toBe(promised.map(line => `${line}\n`).join(''))
    },
  )

  test('end by themselves, and well', () => {
    expect(printed.code).toBe(0)
    expect(printed.parts.slice(examples.length)).toEqual([''])
  })
})

describe('names in the docs exist:', () => {
  test('the README names every command', async () => {
    const { stdout } = await sluice(['--help'])
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name)
    expect(commands).toContain('ingest')
    const { text = '' } = pages[0] ?? {}
    expect(commands.filter(name => !text.includes(`sluice ${name}`))).toEqual([])
  })

  test('flags and codes', async () => {
    const all = optionNames.map(describeOption)
    const known = new Set<string>([...failureCodes, ...all.flatMap(option => [option.flag ?? '', ...option.env])])
    for (const flag of ['--register', '--ports', '--console', '--clusters', '--help', '--yes', '--force', '--port'])
      known.add(flag)
    // What the lab sets for a command that runs on it.
    for (const name of ['OTHER_CLUSTER_URL', 'OTHER_CLUSTER_API_KEY']) known.add(name)
    // What programs read that know proxies.
    for (const name of ['HTTP_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']) known.add(name)
    const unknown = pages
      .filter(({ path }) => path === 'README.md' || path.startsWith('docs/guide/'))
      .flatMap(({ text }) => [...text.matchAll(/`(--[a-z-]+|[A-Z][A-Z]+_[A-Z_]+)\b/g)].map(([, name = '']) => name))
    expect(unknown.length).toBeGreaterThan(40)
    // Those of AWS are its own.
    expect(unknown.filter(name => !known.has(name) && !name.startsWith('AWS_'))).toEqual([])
  })

  test('registrations of the lab', () => {
    const named = pages.flatMap(({ text }) => [...text.matchAll(/--register ([a-z+]+)/g)].map(([, which]) => which))
    expect(named.filter(which => !registers.some(one => one === which))).toEqual([])
  })

  test('files and links', () => {
    const missing = pages.flatMap(({ path, text }) => {
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = '']) => join(dirname(path), link))
      const files = [...text.matchAll(/`((?:src|test|scripts|examples|fixtures|bin)\/[\w./-]*\w)`/g)].map(
        ([, file = '']) => file,
      )
      return [...links, ...files].filter(file => !existsSync(join(root, file))).map(file => `${path}: ${file}`)
    })
    expect(missing).toEqual([])
  })

  test('headings that links lead to', () => {
    const anchors = new Map(
      pages.map(({ path, text }) => {
        const titles = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase())
        return [path, titles.map(title => title.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-'))]
      }),
    )
    const links = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)].map(([, page = '', anchor = '']) => ({
        path,
        page: page === '' ? path : join(dirname(path), page),
        anchor,
      })),
    )
    expect(links.length).toBeGreaterThan(20)
    expect(links.filter(({ page, anchor }) => anchors.get(page)?.includes(anchor) !== true)).toEqual([])
  })

  test('every folder of src stands in CONTRIBUTING and in the architecture', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter(entry => entry.isDirectory())
    for (const path of ['CONTRIBUTING.md', 'docs/architecture.md']) {
      const { text = '' } = pages.find(page => page.path === path) ?? {}
      expect(folders.map(({ name }) => name).filter(name => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
    }
  })

  test('every option of the library stands in the guide for programs, or is a key of the file under its own name', () => {
    const declared = ['connect', 'ingest']
      .map(name => readFileSync(join(root, `src/options/${name}-options.ts`), 'utf8'))
      .join('')
    const options = declared.matchAll(/^ {2}readonly (\w+)\??:/gm)
    const keys: readonly string[] = placedIn('').flatMap(({ name, place, flag }) =>
      flag === undefined || place.name !== name ? [] : [name],
    )
    const { text = '' } = pages.find(({ path }) => path === 'docs/guide/in-a-program.md') ?? {}
    const missing = [...options]
      .map(([, name = '']) => name)
      .filter(name => !keys.includes(name) && !new RegExp(`\`(\\w+\\.)?${name}\``).test(text))
    expect(missing).toEqual([])
  })
})
