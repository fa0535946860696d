import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
})
