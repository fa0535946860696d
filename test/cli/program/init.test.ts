import { chmod, chown, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { geteuid } from 'node:process'
import { describe, expect, test } from 'vitest'
import { files, index, ips, key, modeOf, proxy, start, trust, url, written } from '../../support/lab/init-world.js'
import { sluiceHere } from '../../support/command/in-process.js'
import { onScriptedTerminal, type Reply } from '../../support/command/scripted-terminal.js'
import { folder } from '../../support/command/sluice.js'

describe('on a terminal', () => {
  test('asks for everything, and a load then needs nothing more', { tags: 'long' }, async () => {
    await using lab = await start()
    await using work = await folder()
    const { line } = lab
    const replies: Reply[] = [
      [proxy, `${line.proxy.http}\n`],
      [url, `${line.cluster.url}\n`],
      [ips, `${line.staticIps.join(', ')}\n`],
      [key, `${line.cluster.apiKey}\n`],
      [index, 'orders\n'],
    ]
    const { code, stdout, stderr, unasked } = await onScriptedTerminal(
      ['init'],
      trust(lab, work.path),
      replies,
      work.path,
    )
    expect({ code, unasked }, stderr).toEqual({ code: 0, unasked: [] })
    expect(stdout).toContain('\n  sluice ingest FILE --index orders\n')
    expect(stderr).toMatch(/16 of 16 connections accepted.*The cluster asks for credentials \(401\)/)
    expect(stderr).toContain('may load into orders, which does not exist yet')
    expect(stdout + stderr).not.toContain(line.cluster.apiKey)
    expect(stdout + stderr).not.toContain(new URL(line.proxy.http).password)

    expect(await files(work.path)).toEqual(written)
    for (const name of ['.sluice/api-key', '.sluice/proxy-url']) expect(await modeOf(join(work.path, name))).toBe(0o600)
    expect(await modeOf(join(work.path, '.sluice'))).toBe(0o700)
    expect(await readFile(join(work.path, '.sluice/.gitignore'), 'utf8')).toBe('*\n')
    expect(JSON.parse(await readFile(join(work.path, 'sluice.config.json'), 'utf8'))).toEqual({
      $schema: './node_modules/sluice/schema/sluice.config.schema.json',
      url: line.cluster.url,
      apiKeyFile: '.sluice/api-key',
      ca: line.cluster.caFile,
      proxyFile: '.sluice/proxy-url',
      proxyCa: line.proxyCaFile,
      staticIps: '127.0.0.2,127.0.0.3',
    })
    await writeFile(join(work.path, 'orders.ndjson'), '{"a":1}\n')
    const load = await sluiceHere(['ingest', 'orders.ndjson', '--index', 'orders'], { cwd: work.path })
    expect(load.code, load.stderr).toBe(0)

    // Another machine gets the configuration without the secrets. Only these are asked for.
    await rm(join(work.path, '.sluice'), { recursive: true })
    const cloned: Reply[] = [
      [proxy, `${line.proxy.http}\n`],
      [key, `${line.cluster.apiKey}\n`],
      [index, '\n'],
    ]
    const again = await onScriptedTerminal(['init'], trust(lab, work.path), cloned, work.path)
    expect(again, again.stderr).toMatchObject({ code: 0, unasked: [] })
    expect(again.stdout).toContain('unchanged: sluice.config.json\n')
    expect(again.stdout).toContain('--index INDEX\n')
  })

  test.each([
    ['Ctrl-C at a hidden question', 'half a sec\u0003'],
    ['the end of the input', '\u0004'],
  ])('%s leaves no file', async (_, keys) => {
    await using work = await folder()
    const env = { XDG_STATE_HOME: join(work.path, 'state') }
    const { code, stderr } = await onScriptedTerminal(['init'], env, [[proxy, keys]], work.path)
    expect(code).toBe(5)
    expect(stderr).toContain('Sluice wrote no file')
    expect(await files(work.path)).toEqual([])
  })
})

describe('without a terminal', () => {
  test('names what is missing', async () => {
    await using work = await folder()
    const { code, stderr } = await sluiceHere(['init'], { cwd: work.path })
    expect(code).toBe(2)
    for (const name of ['STATIC_PROXY_URL', '--url', 'ELASTICSEARCH_API_KEY']) expect(stderr).toContain(name)
    expect(await files(work.path)).toEqual([])
  })

  test('lets no addresses of a file that it found through the filter', { tags: 'long' }, async () => {
    await using lab = await start('first')
    await using work = await folder()
    const { STATIC_IPS: pair, ...rest } = { ...lab.env, ...trust(lab, work.path) } as Record<string, string>
    const config = join(work.path, 'sluice.config.json')
    const text = JSON.stringify({ staticIps: '192.0.2.66,192.0.2.67' })
    await writeFile(config, text)
    const policies = () => JSON.stringify(lab.control.policies())
    const before = policies()
    const refused = await sluiceHere(['init', '--yes', '--force'], { cwd: work.path, env: rest })
    expect(refused.stderr).toContain('would let its addresses through the IP filter')
    expect(refused.code).toBe(2)
    expect(policies()).toBe(before)
    expect(await readFile(config, 'utf8')).toBe(text)

    // Who sets the addresses means them.
    const meant = await sluiceHere(['init', '--yes', '--force'], {
      cwd: work.path,
      env: { ...rest, STATIC_IPS: pair ?? lab.line.staticIps.join(',') },
    })
    expect(meant.code, meant.stderr).toBe(0)
    expect(policies()).not.toBe(before)
    expect(policies()).not.toContain('192.0.2.6')
  })
})

/** Another user is one that only root can name. Everybody can open a folder to others. */
const strangers: readonly (readonly [string, (path: string) => Promise<unknown>])[] = [
  ['to which all others can write', async path => await chmod(path, 0o777)],
  ['to which the group can write', async path => await chmod(path, 0o770)],
  ...(geteuid?.() === 0
    ? [['that belongs to another user', async (path: string) => await chown(path, 54_321, 54_321)] as const]
    : []),
]

describe('a folder .sluice', () => {
  test.each(strangers)('%s gets no secrets', async (_, give) => {
    await using lab = await start()
    await using work = await folder()
    const own = join(work.path, '.sluice')
    await mkdir(own, { mode: 0o700 })
    await give(own)
    const env = { ...lab.env, ...trust(lab, work.path) }
    const refused = await sluiceHere(['init', '--force'], { cwd: work.path, env })
    expect(refused.stderr).toContain('.sluice: belongs to another user, or others can write to it')
    expect(refused.code).toBe(2)
    expect(await files(work.path)).toEqual(['.sluice'])
    // The advice works.
    await rm(own, { recursive: true })
    const made = await sluiceHere(['init', '--force'], { cwd: work.path, env })
    expect(made.code, made.stderr).toBe(0)
    expect(await modeOf(own)).toBe(0o700)
  })

  test.each([
    ['a link to a folder', async (own: string, other: string) => await symlink(other, own)],
    ['a file', async (own: string) => await writeFile(own, '')],
  ])('that is %s gets no secrets', async (_, make) => {
    await using lab = await start()
    await using work = await folder()
    await using other = await folder()
    await make(join(work.path, '.sluice'), other.path)
    const env = { ...lab.env, ...trust(lab, work.path) }
    const { code, stderr } = await sluiceHere(['init', '--force'], { cwd: work.path, env })
    expect(stderr).toContain('.sluice: is not a folder')
    expect(code).toBe(2)
    expect(await readdir(other.path)).toEqual([])
  })
})
